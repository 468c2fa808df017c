"""The metrics of trec_eval 10: names, equivalents in the catalogue, and output lines.

`TREC_METRICS` has them in output order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from berryeval.errors import MetricError

Kind: TypeAlias = Literal["plain", "cutoffs", "levels", "numbers", "pairs"]
Summary: TypeAlias = Literal["mean", "sum", "geometric mean", "count", "text", "none"]
Judgments: TypeAlias = Literal["any", "qrels", "qrels_jg", "prefs"]
Values: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True)
class TrecMetric:
    """A metric of trec_eval.

    Attributes:
        name: Name in trec_eval.
        canonical: Name in the catalogue; empty if only the command can compute it.
        kind: Kind of parameters after the dot: none, cutoffs (integers, one line each), levels
            (fractions, one line each), numbers, or pairs `name=number`.
        default: Default parameters.
        translate: Function from the parameters to those of the catalogue's metric.
        summary: Aggregation of the topics in the line `all`.
        whole: Whether the value is printed as an integer.
        per_query: Whether there is a line per topic.
        level: Whether `-l` applies.
        judgments: Kind of judgments it needs.
        zero_if_missing: Whether topics missing from the run get 0 regardless of the formula.
        zero_if_none: Whether topics without relevant documents (by `-l`) get 0 likewise.
    """

    name: str
    canonical: str = ""
    kind: Kind = "plain"
    default: tuple[float, ...] = ()
    translate: Callable[[Values], dict[str, Any]] = lambda _: {}
    summary: Summary = "mean"
    whole: bool = False
    per_query: bool = True
    level: bool = True
    judgments: Judgments = "qrels"
    zero_if_missing: bool = False
    zero_if_none: bool = False


def _single(parameter: str) -> Callable[[Values], dict[str, Any]]:
    return lambda values: {parameter: values[0]}


def _coefficients(values: Values) -> dict[str, Any]:
    if len(values) != 4:  # noqa: PLR2004 - the cells of the contingency table
        raise MetricError(
            f"utility takes four coefficients, such as utility.1,-1,0,0, found {len(values)}"
        )
    return dict(zip("abcd", values, strict=True))


def _beta(values: Values) -> dict[str, Any]:
    if values[0] < 0:
        raise MetricError(f"set_F takes a number of at least 0, found {values[0]}")
    return {"beta": math.sqrt(values[0])}


def _gains(values: Values) -> dict[str, Any]:
    """Return the gains by grade; like trec_eval, ignore other names."""
    grades = [(name, gain) for name, gain in values if re.fullmatch(r"[+-]?[0-9]+", name)]
    gains = {float(name): gain for name, gain in reversed(grades)}  # the first of two values counts
    return {"gains": gains} if gains else {}


def _persistence(values: Values) -> dict[str, Any]:
    return {"p": next((value for name, value in reversed(values) if name == "p"), 0.9)}


def _rbp(values: Values) -> dict[str, Any]:
    return {"gain": "minmax", "rel": 0.0, **_persistence(values), **_gains(values)}


def _residual(values: Values) -> dict[str, Any]:
    return {"complete_is_zero": True, **_persistence(values)}


_CUTS: Final = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_RECALLS: Final = tuple(number / 10 for number in range(11))
_MULTIPLES: Final = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


def _cut(name: str, canonical: str, default: tuple[int, ...] = _CUTS, **more: Any) -> TrecMetric:
    return TrecMetric(name, canonical, "cutoffs", default, _single("cutoff"), **more)


def _graded(name: str, canonical: str, *, zero_if_none: bool = False) -> TrecMetric:
    return TrecMetric(
        name, canonical, "pairs", translate=_gains, level=False, zero_if_none=zero_if_none
    )


def _count(name: str, canonical: str, **more: Any) -> TrecMetric:
    return TrecMetric(name, canonical, summary="sum", whole=True, **more)


def _geometric(name: str, canonical: str) -> TrecMetric:
    return TrecMetric(name, canonical, summary="geometric mean", per_query=False)


def _preference(name: str) -> TrecMetric:
    return TrecMetric(name, judgments="prefs")


_ROWS: Final = (
    TrecMetric("runid", summary="text", per_query=False, judgments="any"),
    TrecMetric("num_q", summary="count", whole=True, per_query=False, judgments="any"),
    _count("num_ret", "NumRet", level=False),
    _count("num_rel", "NumRel"),
    _count("num_rel_ret", "NumRelRet"),
    TrecMetric("map", "AP"),
    _geometric("gm_map", "GMAP"),
    TrecMetric("Rprec", "Rprec"),
    TrecMetric("bpref", "Bpref"),
    TrecMetric("recip_rank", "RR"),
    TrecMetric("iprec_at_recall", "IPrec", "levels", _RECALLS, _single("recall")),
    _cut("P", "P"),
    TrecMetric("relstring", "", "numbers", (10,), summary="none"),
    _cut("recall", "R"),
    TrecMetric("infAP", "infAP"),
    _geometric("gm_bpref", "GMBpref"),
    TrecMetric("Rprec_mult", "RprecMult", "levels", _MULTIPLES, _single("mult")),
    TrecMetric(
        "utility", "Utility", "numbers", (1, -1, 0, 0), _coefficients, zero_if_missing=True
    ),
    TrecMetric(
        "11pt_avg", "AvgIPrec", "numbers", _RECALLS, lambda values: {"levels": values}
    ),
    TrecMetric("binG", "binG"),
    _graded("G", "G"),
    _graded("dcg", "DCG"),
    _graded("ideal_dcg", "IDCG"),
    _graded("ndcg", "nDCG"),
    _graded("ndcg_rel", "nDCGrel"),
    _graded("Rndcg", "RnDCG", zero_if_none=True),
    _cut("ndcg_cut", "nDCG", level=False),
    _cut("map_cut", "AP"),
    _cut("relative_P", "RelP"),
    _cut("success", "Success", (1, 5, 10)),
    TrecMetric("set_P", "SetP"),
    TrecMetric("set_relative_P", "SetRelP"),
    TrecMetric("set_recall", "SetR"),
    TrecMetric("set_map", "SetAP"),
    TrecMetric("set_F", "SetF", "numbers", (1.0,), _beta),
    _count("num_nonrel_judged_ret", "NumNonrelJudgedRet"),
    _count("prefs_num_prefs_poss", "", judgments="prefs"),
    _count("prefs_num_prefs_ful", "", judgments="prefs"),
    _count("prefs_num_prefs_ful_ret", "", judgments="prefs"),
    _preference("prefs_simp"),
    _preference("prefs_pair"),
    _preference("prefs_avgjg"),
    _preference("prefs_avgjg_Rnonrel"),
    _preference("prefs_simp_ret"),
    _preference("prefs_pair_ret"),
    _preference("prefs_avgjg_ret"),
    _preference("prefs_avgjg_Rnonrel_ret"),
    _preference("prefs_simp_imp"),
    _preference("prefs_pair_imp"),
    _preference("prefs_avgjg_imp"),
    TrecMetric("map_avgjg", "AP", judgments="qrels_jg"),
    _cut("P_avgjg", "P", judgments="qrels_jg"),
    TrecMetric(
        "Rprec_mult_avgjg", "RprecMult", "levels", _MULTIPLES, _single("mult"), judgments="qrels_jg"
    ),
    TrecMetric("yaap", "Yaap"),
    TrecMetric("rbp", "RBP", "pairs", translate=_rbp, level=False),
    TrecMetric(
        "rbp_resid", "RBPResidual", "pairs", translate=_residual, zero_if_missing=True
    ),
    _cut("unj", "Unjudged", (5, 10, 20)),
)  # fmt: skip
TREC_METRICS: Final[Mapping[str, TrecMetric]] = {row.name: row for row in _ROWS}

_SET = (
    "runid num_q num_ret num_rel num_rel_ret utility set_P set_recall set_relative_P set_map set_F"
)
_OFFICIAL = (
    "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P"
)
_WITHOUT_NICKNAME = {"dcg", "ideal_dcg", "yaap"}
NICKNAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "official": tuple(_OFFICIAL.split()),
    "set": tuple(_SET.split()),
    "all_trec": tuple(
        row.name
        for row in _ROWS
        if row.judgments in {"any", "qrels"} and row.name not in _WITHOUT_NICKNAME
    ),
    "all_prefs": tuple(row.name for row in _ROWS if row.judgments in {"any", "prefs"}),
    "prefs": tuple([row.name for row in _ROWS if row.judgments in {"any", "prefs"}][:8]),
    "qrels_jg": tuple(row.name for row in _ROWS if row.judgments in {"any", "qrels_jg"}),
}


@dataclass(frozen=True)
class Column:
    """A line of trec_eval's output: its name and parameters."""

    name: str
    row: TrecMetric
    values: tuple[Any, ...] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the catalogue's metric."""
        return self.row.translate(self.values)


def parse_choices(texts: Iterable[str]) -> dict[str, str]:
    """Parse the values of `-m`, such as `P.5,10`, `ndcg.1=3,2=9` and `official`.

    Returns the parameters by metric. If a metric has parameters twice, the first ones count, as in
    trec_eval.
    """
    chosen: dict[str, str] = {}
    for text in texts:
        name, dot, parameters = text.partition(".")
        if (dot and not parameters) or (name not in TREC_METRICS and name not in NICKNAMES):
            raise MetricError(f"unknown metric {text!r}; berryeval trec-eval -h lists all metrics")
        if name in TREC_METRICS:
            chosen[name] = chosen.get(name) or parameters
        else:
            chosen = {**dict.fromkeys(NICKNAMES[name], ""), **chosen}
    return chosen


def build_columns(chosen: Mapping[str, str]) -> list[Column]:
    """Return the columns of the chosen metrics, in trec_eval's order."""
    found: list[Column] = []
    for row in TREC_METRICS.values():
        if row.name in chosen:
            found.extend(_build_metric_columns(row, chosen[row.name]))
    return found


def _build_metric_columns(row: TrecMetric, text: str) -> list[Column]:
    if row.kind == "plain":
        return [Column(row.name, row)]
    parts = text.split(",") if text else []
    if row.kind == "cutoffs":
        cutoffs = _sort_distinct(
            row, [_parse_integer(row, part) for part in text.split(",")] if text else []
        )
        return [Column(f"{row.name}_{cutoff}", row, (cutoff,)) for cutoff in cutoffs]
    if row.kind == "levels":
        levels = _sort_distinct(
            row, [_parse_number(row, part) for part in text.split(",")] if text else []
        )
        return [Column(f"{row.name}_{level:3.2f}", row, (level,)) for level in levels]
    if not text:
        return [Column(row.name, row, row.default)]
    values: list[Any]
    if row.kind == "numbers":
        values = [_parse_number(row, part) for part in parts]
    else:
        values = [_parse_pair(row, part) for part in parts]
    return [Column(f"{row.name}_{text}", row, tuple(values))]


def _sort_distinct(row: TrecMetric, numbers: list[Any]) -> list[Any]:
    if not numbers:
        return list(row.default)
    numbers.sort()
    if len(set(numbers)) < len(numbers):
        raise MetricError(f"{row.name} has the same cutoff twice: {', '.join(map(str, numbers))}")
    return numbers


def _parse_integer(row: TrecMetric, text: str) -> int:
    """Parse leading digits and ignore the rest, as `atol` does."""
    match = re.match(r"\s*[+-]?[0-9]+", text)
    if match is None or int(match[0]) < 1:
        raise MetricError(
            f"a cutoff of {row.name} must be an integer of at least 1, found {text!r}"
        )
    return int(match[0])


def _parse_number(row: TrecMetric, text: str) -> float:
    match = re.match(r"\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", text)
    if match is None:
        raise MetricError(f"a parameter of {row.name} must be a number, found {text!r}")
    return float(match[0])


def _parse_pair(row: TrecMetric, text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    if not equals:
        raise MetricError(f"parameters of {row.name} must be pairs like 1=3,2=9, found {text!r}")
    return name, _parse_number(row, value)
