"""The measures of ir_measures 0.4, each with its parameters."""

from __future__ import annotations

from typing import Any

from berryeval.compat.ir_measures.measures.base import Measure, ParamInfo, register

_CUT = {"cutoff": ParamInfo(int, desc="number of documents that count")}
_NEEDED_CUT = {"cutoff": ParamInfo(int, required=True, desc="number of documents that count")}
_REL = {"rel": ParamInfo(int, default=1, desc="lowest relevant grade")}
_JUDGED = {"judged_only": ParamInfo(bool, default=False, desc="leave out unjudged documents")}
_SCALE = {
    "min_rel": ParamInfo(int, default=0, desc="lowest grade of the scale"),
    "max_rel": ParamInfo(int, required=True, desc="highest grade of the scale"),
}
_GOAL = {"T": ParamInfo(float, default=1.0, desc="gain that the user wants")}
_ALPHA = {"alpha": ParamInfo(float, default=0.5, desc="how much repeated information loses")}
_BETA = {"beta": ParamInfo(float, default=0.5, desc="patience of the user")}


def _declare(
    name: str,
    pretty: str,
    *params: dict[str, ParamInfo],
    aliases: tuple[str, ...] = (),
    **members: Any,
) -> Measure:
    joined = {key: info for group in params for key, info in group.items()}
    members = {
        "NAME": name, "__name__": name, "PRETTY_NAME": pretty, "SHORT_DESC": pretty,
        "SUPPORTED_PARAMS": joined, "__module__": __name__, "__doc__": _describe(pretty, joined),
        **members,
    }  # fmt: skip
    kind = globals()[f"_{name}"] = type(f"_{name}", (Measure,), members)  # where pickle finds it
    measure: Measure = kind()
    register(measure, aliases)
    return measure


def _describe(pretty: str, params: dict[str, ParamInfo]) -> str:
    """Return the text that `help` shows."""
    listed = [f"    {name}: {info.desc}" for name, info in params.items()]
    return "\n".join([f"{pretty}.", *(["", "Parameters:", *listed] if listed else [])])


def _persistence(default: float) -> dict[str, ParamInfo]:
    return {"p": ParamInfo(float, default=default, desc="persistence of the user")}


def _dcg(*choices: str) -> dict[str, ParamInfo]:
    return {"dcg": ParamInfo(str, choices=list(choices), default="log2", desc="gains of grades")}


Accuracy = _declare("Accuracy", "Relevant documents before others", _CUT, _REL)
AP = _declare("AP", "Average precision", _CUT, _REL, _JUDGED, aliases=("MAP",))
BPM = _declare("BPM", "Bejeweled player model", _NEEDED_CUT, _GOAL, _SCALE)
Bpref = _declare("Bpref", "Binary preference", _REL, aliases=("BPref",))
Compat = _declare(
    "Compat",
    "Compatibility with an ideal ranking",
    _persistence(0.95),
    {"normalize": ParamInfo(bool, default=True, desc="divide by the best possible value")},
)
ERR_IA = _declare("ERR_IA", "Intent-aware ERR", _CUT, _REL, _JUDGED)
nERR_IA = _declare("nERR_IA", "Normalized intent-aware ERR", _CUT, _REL, _JUDGED)
alpha_DCG = _declare("alpha_DCG", "Alpha DCG", _CUT, _REL, _ALPHA, _JUDGED, aliases=("α_DCG",))
alpha_nDCG = _declare("alpha_nDCG", "Alpha nDCG", _CUT, _REL, _ALPHA, _JUDGED, aliases=("α_nDCG",))
NRBP = _declare("NRBP", "Novelty- and rank-biased precision", _REL, _ALPHA, _BETA)
nNRBP = _declare("nNRBP", "Normalized NRBP", _REL, _ALPHA, _BETA)
AP_IA = _declare("AP_IA", "Intent-aware average precision", _REL, _JUDGED, aliases=("MAP_IA",))
P_IA = _declare("P_IA", "Intent-aware precision", _CUT, _REL, _JUDGED)
StRecall = _declare("StRecall", "Subtopic recall", _CUT, _REL)
ERR = _declare("ERR", "Expected reciprocal rank", _CUT)
infAP = _declare("infAP", "Inferred average precision", _REL)
INST = _declare("INST", "INST", _GOAL, _SCALE)
INSQ = _declare("INSQ", "INSQ", _GOAL, _SCALE)
IPrec = _declare(
    "IPrec",
    "Interpolated precision at a recall",
    {"recall": ParamInfo(float, required=True, desc="recall to reach")},
    _REL,
    _JUDGED,
    AT_PARAM="recall",
)
Judged = _declare("Judged", "Share of judged documents", _CUT)
nDCG = _declare(
    "nDCG",
    "Normalized discounted cumulative gain",
    _CUT,
    _dcg("log2", "exp-log2"),
    {"gains": ParamInfo(dict, desc="gain of each grade")},
    _JUDGED,
    aliases=("NDCG",),
)
NERR8 = _declare("NERR8", "Nearly ERR, equation 8", _NEEDED_CUT, _SCALE)
NERR9 = _declare("NERR9", "Nearly ERR, equation 9", _NEEDED_CUT, _SCALE)
NERR10 = _declare("NERR10", "Nearly ERR, equation 10", _persistence(0.9), _SCALE)
NERR11 = _declare("NERR11", "Nearly ERR, equation 11", _GOAL, _SCALE)
NumQ = _declare("NumQ", "Number of queries", SUMMED=True)
NumRel = _declare("NumRel", "Number of relevant documents", _REL, SUMMED=True)
NumRet = _declare(
    "NumRet",
    "Number of retrieved documents",
    {"rel": ParamInfo(int, desc="lowest grade that counts; all documents without it")},
    SUMMED=True,
)
P = _declare("P", "Precision", _NEEDED_CUT, _REL, _JUDGED, aliases=("Precision",))
R = _declare("R", "Recall", _NEEDED_CUT, _REL, _JUDGED, aliases=("Recall",))
RBP = _declare(
    "RBP",
    "Rank-biased precision",
    _CUT,
    _persistence(0.8),
    {"rel": ParamInfo(int, desc="lowest relevant grade")},
)
Rprec = _declare("Rprec", "Precision at R", _REL, _JUDGED, aliases=("RPrec",))
RR = _declare("RR", "Reciprocal rank", _CUT, _REL, _JUDGED, aliases=("MRR",))
SDCG = _declare("SDCG", "Scaled DCG", _NEEDED_CUT, _dcg("log2"), _SCALE)
SetP = _declare(
    "SetP",
    "Precision of the set",
    _REL,
    {"relative": ParamInfo(bool, default=False, desc="divide by the best possible value")},
    _JUDGED,
)
SetR = _declare("SetR", "Recall of the set", _REL)
SetF = _declare(
    "SetF",
    "F measure of the set",
    _REL,
    {"beta": ParamInfo(float, default=1.0, desc="weight of recall")},
    _JUDGED,
)
SetAP = _declare("SetAP", "Precision times recall of the set", _REL, _JUDGED)
Success = _declare("Success", "Any relevant document", _NEEDED_CUT, _REL, _JUDGED)

MAP, BPref, NDCG, Precision, Recall, RPrec, MRR, MAP_IA = AP, Bpref, nDCG, P, R, Rprec, RR, AP_IA
α_DCG, α_nDCG = alpha_DCG, alpha_nDCG
NumRelRet = NumRet(rel=1)
SetRelP = SetP(relative=True)
register(NumRelRet, name="NumRelRet")
register(SetRelP, name="SetRelP")
