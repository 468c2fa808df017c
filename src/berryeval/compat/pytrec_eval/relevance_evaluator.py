"""`RelevanceEvaluator`: the metrics of trec_eval 9.0.8 for runs in dicts."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from berryeval.data import table_from_text
from berryeval.errors import DataError, MetricError, RepeatedDocumentError
from berryeval.metrics import PROFILES, definitions
from berryeval.scoring import DictPlan, DictScorer
from berryeval.trec_eval import NICKNAMES, TREC_METRICS, build_columns

if TYPE_CHECKING:
    from typing import Literal

    from berryeval.data import QueryTable
    from berryeval.metrics import Metric
    from berryeval.trec_eval import Column

_ADDED_IN_10: Final = {"unj", "rbp", "rbp_resid"}

supported_nicknames: dict[str, set[str]] = {
    name: set(metrics) - _ADDED_IN_10 for name, metrics in NICKNAMES.items()
}
supported_measures: set[str] = set(supported_nicknames["all_trec"])

_NUMBERS: Final = re.compile(r"[._]([0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*)")
_CONVENTIONS: Final = PROFILES["trec_eval-9"]
_RETRIEVED: Final = "\0num_ret"  # columns that correct others, and are not shown
_RELEVANT: Final = "\0num_rel"


class RelevanceEvaluator(DictScorer):
    """Score runs against one set of judgments.

    Args:
        query_relevance: `{query: {document: grade}}` with whole grades; a query without judgments
            is left out.
        measures: Names of trec_eval, such as `map`, `ndcg_cut_10` and `P.5,10`, or nicknames.
        relevance_level: Lowest grade that is relevant.
        judged_docs_only_flag: Whether documents without a judgment leave the rankings first.
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        if type(relevance_level) is not int or relevance_level < 1:
            relevance_level = _check_level(relevance_level)
        # Small runs are read and scored in a microsecond: every name that is looked up counts.
        plan = _plan(frozenset(measures), relevance_level, judged_docs_only_flag)
        self._plan: _Plan = plan
        try:
            self._native = plan.read(query_relevance, None)
        except TypeError:
            if not isinstance(query_relevance, dict):
                query_relevance = {query: row for query, row in query_relevance.items() if len(row)}
            super().__init__(query_relevance, plan)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Return `{query: {measure: value}}` of the queries of the run that are judged."""
        if not scores:
            return {}
        found = None if self._native is None else self._native.score(scores, None)
        if found is None:  # a fault, which Python reports
            found = self.score(scores)
        if self._plan.corrected:
            for values in found.values():
                self._plan.correct(values)
        return found


def _check_level(level: Any) -> int:
    if not hasattr(level, "__index__") or level < 1:
        raise TypeError(f"relevance_level must be an int from 1 up, found {level!r}")
    return int(level)


class _Plan(DictPlan):
    """The columns of an evaluator.

    Args:
        metrics: Metric of each column.
        corrected: Columns to change, and how: constants, logarithms, NaN without documents.
        judged_only: Whether documents without a judgment leave the rankings first.
    """

    def __init__(
        self,
        metrics: Mapping[str, Metric],
        corrected: Sequence[tuple[str, Literal["zero", "log", "nan", "relevant"], float]],
        *,
        judged_only: bool,
    ) -> None:
        super().__init__(metrics, _CONVENTIONS.rule, judged_only=judged_only)
        self.corrected = corrected

    def correct(self, values: dict[str, float]) -> None:
        """Turn our values of one query into those of trec_eval 9."""
        retrieved = values.pop(_RETRIEVED, 1.0)
        relevant = values.pop(_RELEVANT, 1.0)
        for name, change, level in self.corrected:
            if change == "log":
                values[name] = math.log(values[name])
            elif change == "zero" or (change == "relevant" and not relevant):
                values[name] = 0.0
            elif change == "nan" and not retrieved and int(level * relevant + 0.9) == 0:
                values[name] = math.nan


@lru_cache(maxsize=256)
def _plan(measures: frozenset[str], level: int, judged_only: bool) -> _Plan:
    columns = build_columns(_combine(sorted(measures)))
    metrics: dict[str, Metric] = {}
    corrected: list[Any] = []
    for column in columns:
        name = column.name if column.row.kind in {"cutoffs", "levels"} else column.row.name
        metrics[name] = _metric_of(column, level)
        if column.row.name in {"runid", "relstring"}:
            corrected.append((name, "zero", 0.0))
        elif column.row.summary == "geometric mean":
            corrected.append((name, "log", 0.0))
        elif column.row.zero_if_none:
            corrected.append((name, "relevant", 0.0))
        elif column.row.canonical in {"IPrec", "AvgIPrec"}:
            corrected.append((name, "nan", column.values[0]))
    if any(change in {"relevant", "nan"} for _, change, _ in corrected):
        metrics[_RETRIEVED] = definitions()["NumRet"]()
        metrics[_RELEVANT] = definitions()["NumRel"](rel=level)
    return _Plan(metrics, corrected, judged_only=bool(judged_only))


def _metric_of(column: Column, level: int) -> Metric:
    definition = definitions()[column.row.canonical or "NumQ"]
    chosen = column.parameters if column.row.canonical else {}
    if column.row.level and any(one.name == "rel" for one in definition.parameters):
        chosen["rel"] = level
    return _CONVENTIONS.apply_to(definition(**chosen))


def _combine(measures: Iterable[str]) -> dict[str, str]:
    """Return the parameters by metric: `P_5` and `P.10` are one metric with two cutoffs."""
    found: dict[str, set[str]] = {}
    for text in measures:
        for name in supported_nicknames.get(text, {text}):
            base, numbers = _split(name)
            found.setdefault(base, set()).update(numbers)
    return {
        name: "" if TREC_METRICS[name].kind == "plain" else ",".join(sorted(numbers))
        for name, numbers in found.items()
    }


def _split(text: str) -> tuple[str, list[str]]:
    if text in supported_measures:
        return text, []
    for name in supported_measures:
        match = _NUMBERS.match(text, len(name))
        if match and text.startswith(name):
            return name, match[1].split(",")
    raise MetricError(
        f"unsupported measure {text!r}; supported_measures has the names of trec_eval 9, and "
        "berryeval.evaluate has more metrics"
    )


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Parse the lines of a TREC run: `{query: {document: score}}`."""
    return _rows_of(_read(f_run, "run"), float)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Parse the lines of TREC judgments: `{query: {document: grade}}`."""
    return _rows_of(_read(f_qrel, "qrels"), int)


def _read(lines: Iterable[str], kind: Literal["run", "qrels"]) -> QueryTable | None:
    read = getattr(lines, "read", None)
    text = read() if callable(read) else "\n".join(line.rstrip("\n") for line in lines)
    encoded = text.encode() if isinstance(text, str) else text
    if not encoded.strip():
        return None
    source = f"the lines of {kind}"
    try:
        return table_from_text(np.frombuffer(encoded, dtype=np.uint8), kind, source)
    except RepeatedDocumentError as error:
        raise AssertionError(str(error)) from None


def _rows_of(table: QueryTable | None, number: type) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    if table is None:
        return found
    documents = list(table.documents)
    values = table.values.tolist()
    if number is int:
        if not holds_ints(table.values):
            raise DataError(
                "the lines of qrels: grades must be whole numbers; berryeval.Qrels.from_trec reads "
                "fractions"
            )
        values = [int(value) for value in values]
    bounds = table.offsets.tolist()
    for place, query in enumerate(table.queries):
        rows = slice(bounds[place], bounds[place + 1])
        found[query] = dict(zip(documents[rows], values[rows], strict=True))
    return found


def holds_ints(values: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
    """Whether all values are whole numbers that float64 holds exactly."""
    return bool(((values == np.floor(values)) & (np.abs(values) < 2.0**53)).all())


def compute_aggregated_measure(measure: str, values: list[float]) -> float:
    """Return the aggregate of the values of all queries: a sum, a geometric mean, or a mean."""
    if measure.startswith("num_"):
        return float(np.sum(values))
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))
