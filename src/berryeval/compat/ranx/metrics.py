"""Metrics of ranx: their names, and their functions of arrays.

Each function takes a sequence of arrays with a row (document id, number) per document, one array
per query, and returns a value per query. Documents of a run are ranked in the given order; those of
the judgments may be in any order. A document that is repeated in a ranking counts once, at its
first rank.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval import data
from berryeval._internal.validate import suggest
from berryeval.data import QueryTable, StringColumn
from berryeval.errors import DataError, MetricError, RepeatedDocumentError
from berryeval.metrics import Metric, find_profile, parse_metric
from berryeval.scoring import evaluate

if TYPE_CHECKING:
    from berryeval.data import Kind
    from berryeval.scoring import Scores

Floats: TypeAlias = npt.NDArray[np.float64]
Judged: TypeAlias = Sequence[npt.NDArray[Any]] | npt.NDArray[Any]

# Our metric for each name of ranx: of the whole ranking, and of its top k.
_METRICS: Final = {
    "hits": ("NumRelRet", "NumRelRet"),
    "hit_rate": ("Success", "Success"),
    "precision": ("SetP", "P"),
    "recall": ("SetR", "R"),
    "f1": ("SetF", "F1"),
    "r-precision": ("Rprec", ""),  # ranx ignores its cutoff, and that of bpref
    "mrr": ("RR", "RR"),
    "map": ("AP", "AP"),
    "dcg": ("dcg", "dcg"),
    "dcg_burges": ("dcg_burges", "dcg_burges"),
    "ndcg": ("nDCG", "nDCG"),
    "ndcg_burges": ("ndcg_burges", "ndcg_burges"),
    "bpref": ("Bpref", ""),
}
_NAME: Final = re.compile(r"(?P<name>[a-z_1-]+?)(?:@(?P<cutoff>[0-9]+))?(?:-l(?P<level>[0-9]+))?")
_RBP: Final = re.compile(r"rbp[.@](?P<digits>[0-9]+)(?:-l(?P<level>[0-9]+))?")


def read_name(text: str) -> Metric:
    """Return the metric that a name means in ranx; other names mean what they mean in BerryEval.

    >>> print(read_name("precision"), read_name("map@100-l2"), read_name("rbp.95"))
    SetP AP(rel=2)@100 RBP(p=0.95,gain='raw')
    """
    if not isinstance(text, str):
        raise MetricError(
            f"a metric must be named by a str, found {type(text).__name__} {text!r:.80}"
        )
    level = ""
    if match := _RBP.fullmatch(text):
        level, meant = match["level"], f"rbp.{match['digits']}"
    elif (match := _NAME.fullmatch(text)) and match["name"] in _METRICS:
        level, cutoff = match["level"], int(match["cutoff"] or 0)
        whole, top = _METRICS[match["name"]]
        meant = f"{top}@{cutoff}" if cutoff and top else whole
    elif text.startswith("rbp"):
        raise MetricError(f"{text!r} has no persistence; write it as in rbp.95")
    else:
        meant = text
    metric = parse_metric(meant + (f"-l{level}" if level else ""))
    return find_profile("ranx").apply_to(metric)


def score_columns(
    judgments: data.Qrels, run: data.Run, names: Iterable[str]
) -> tuple[Scores, dict[str, Floats]]:
    """Score a run in the profile ranx; return the scores, and the values of each name."""
    metrics = {name: read_name(name) for name in names}
    scores = evaluate(judgments, run, list(metrics.values()), profile="ranx")
    rows = {
        name: scores.values[scores.metrics.index(str(metric))] for name, metric in metrics.items()
    }
    judged = judgments.flat
    if (judged.values < 0).any():  # ranx: judged not relevant; BerryEval: not judged
        clipped = data.Qrels(replace(judged, values=np.maximum(judged.values, 0.0)))
        for name, metric in metrics.items():
            if metric.definition.name == "Bpref":
                rows[name] = evaluate(clipped, run, [metric], profile="ranx").values[0]
    return scores, rows


def score_lists(
    qrels: Judged, run: Judged, names: Iterable[str]
) -> tuple[Scores, dict[str, Floats]]:
    """Score arrays of (document id, number), one per query; queries are numbered."""
    if len(qrels) != len(run):
        raise DataError(
            f"the judgments have {len(qrels)} queries and the run has {len(run)}; arrays are "
            "paired by their place, so both need the same queries in the same order"
        )
    judged, ranked = _read_arrays(qrels), _read_arrays(run)
    try:
        return score_columns(*_build_tables(judged, ranked), names)
    except RepeatedDocumentError:
        judged = [rows[np.sort(_find_firsts(rows))] for rows in judged]
        ranked = [_rename_copies(rows) for rows in ranked]
        return score_columns(*_build_tables(judged, ranked), names)


def _read_arrays(arrays: Judged) -> list[Floats]:
    found = [np.asarray(array, dtype=np.float64) for array in arrays]
    for place, rows in enumerate(found):
        if rows.ndim != 2 or rows.shape[1] != 2:  # noqa: PLR2004 - id and number
            raise DataError(
                f"query {place}: expected rows of (document id, number), found an array of shape "
                f"{rows.shape}"
            )
    return found


def _find_firsts(rows: Floats) -> npt.NDArray[np.intp]:
    """Return the place at which each id is first."""
    return np.unique(rows[:, 0], return_index=True)[1]


def _rename_copies(rows: Floats) -> Floats:
    """Give the copies of a document ids that no document has."""
    copies = np.setdiff1d(np.arange(len(rows)), _find_firsts(rows))
    ids = rows[:, 0].copy()
    ids.view(np.int64)[copies] = np.iinfo(np.int64).min + 1 + copies  # tiny negative numbers
    return np.column_stack([ids, rows[:, 1]])


def _build_tables(judged: list[Floats], ranked: list[Floats]) -> tuple[data.Qrels, data.Run]:
    return data.Qrels(_build_table(judged, "qrels")), data.Run(_build_table(ranked, "run"))


def _build_table(arrays: list[Floats], kind: Kind) -> QueryTable:
    rows = np.concatenate([np.zeros((0, 2)), *arrays])
    ids = (rows[:, 0] + 0.0).view(np.int64)  # -0.0 becomes 0.0
    width = len(str(len(arrays)))
    return QueryTable(
        StringColumn.from_strings(f"{place:0{width}}" for place in range(len(arrays))),
        np.cumsum([0, *map(len, arrays)], dtype=np.int64),
        StringColumn.from_integers(ids),
        rows[:, 1].copy() if kind == "qrels" else -np.arange(len(rows), dtype=np.float64),
    )


def _score_metric(qrels: Judged, run: Judged, name: str) -> Floats:
    return score_lists(qrels, run, [name])[1][name]


MetricFunction: TypeAlias = Callable[..., Floats]


def _make_function(name: str, called: str = "") -> MetricFunction:
    """Return the function of a metric, as ranx has it."""

    def compute(qrels: Judged, run: Judged, k: int = 0, rel_lvl: int = 1) -> Floats:
        if k < 0:
            raise MetricError(f"k must be 0 (the whole ranking) or more, found {k}")
        return _score_metric(qrels, run, f"{name}@{k}-l{rel_lvl}")

    compute.__name__ = compute.__qualname__ = called or name
    compute.__doc__ = f"Return `{name}` of the top k documents of each query; k=0 means all."
    return compute


average_precision: Final = _make_function("map", "average_precision")
bpref: Final = _make_function("bpref")
dcg: Final = _make_function("dcg")
dcg_burges: Final = _make_function("dcg_burges")
f1: Final = _make_function("f1")
hit_rate: Final = _make_function("hit_rate")
hits: Final = _make_function("hits")
ndcg: Final = _make_function("ndcg")
ndcg_burges: Final = _make_function("ndcg_burges")
precision: Final = _make_function("precision")
r_precision: Final = _make_function("r-precision", "r_precision")
recall: Final = _make_function("recall")
reciprocal_rank: Final = _make_function("mrr", "reciprocal_rank")


def rank_biased_precision(qrels: Judged, run: Judged, p: float, rel_lvl: int = 1) -> Floats:
    """Return rank-biased precision of each query, with grades as gains."""
    return _score_metric(qrels, run, f"RBP(p={p!r},gain='raw',rel={rel_lvl})")


def interpolated_precision_at_recall(qrels: Judged, run: Judged, rel_lvl: int = 1) -> Floats:
    """Return interpolated precision of each query at the recalls 0, 0.1, ..., 1."""
    names = [f"IPrec(rel={rel_lvl})@{level / 10}" for level in range(11)]
    found = score_lists(qrels, run, names)[1]
    return np.column_stack([found[name] for name in names])


def get_hit_lists(qrels: Judged, run: Judged, k: int = 0, rel_lvl: int = 1) -> list[Floats]:
    """Return for each query an array with 1 at the ranks of relevant documents, else 0."""
    found = []
    for judged, ranking in zip(map(np.asarray, qrels), map(np.asarray, run), strict=True):
        relevant = judged[judged[:, 1] >= rel_lvl, 0]
        found.append(np.isin(ranking[: k or None, 0], relevant).astype(np.float64))
    return found


_FUNCTIONS: Final[dict[str, MetricFunction]] = {
    "hits": hits, "hit_rate": hit_rate, "precision": precision, "recall": recall, "f1": f1,
    "r-precision": r_precision, "mrr": reciprocal_rank, "map": average_precision, "dcg": dcg,
    "dcg_burges": dcg_burges, "ndcg": ndcg, "ndcg_burges": ndcg_burges, "bpref": bpref,
    "rbp": rank_biased_precision,
}  # fmt: skip


def metric_switch(metric: str) -> MetricFunction:
    """Return the function of a metric by its name in ranx."""
    if metric not in _FUNCTIONS:
        raise MetricError(f"ranx has no metric {metric!r}; {suggest(metric, _FUNCTIONS)}")
    return _FUNCTIONS[metric]


# In ranx each function has a module of its own, as in `from ranx.metrics.f1 import f1`.
_PARTS: Final = {one.__name__ for one in _FUNCTIONS.values()}
_PARTS.update({"get_hit_lists", "interpolated_precision_at_recall"})
sys.modules.update({f"{__name__}.{part}": sys.modules[__name__] for part in _PARTS})
