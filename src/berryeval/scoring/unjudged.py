"""Bounds of a score over all possible grades of the retrieved unjudged documents.

A retrieved document without a judgment (or with a negative grade) could have any grade from 0 to
the highest in the judgments (at least 1). `bounds` fills in such grades and always tries the two
extremes, all 0 and all highest. The interval is *exact* in three cases: the metric cannot drop when
a grade rises (P, Success, RR); all combinations of integer grades were tried (at most
`EXACT_LIMIT`); or nothing is unjudged.

Otherwise it is a *hull*: the span of the extremes and of up to 30 cases in which the upper or lower
part of the unjudged documents has the highest grade and the rest 0. Metrics relative to all
relevant documents (AP, nDCG, recall) drop if a document at the bottom becomes relevant, so the
extremes alone would be too narrow. The true range contains the hull and may be wider.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from berryeval._internal.aggregates import Interval, aggregate
from berryeval.data import JudgedHit, JudgedRanking, judge_all
from berryeval.metrics import Conventions, Metric, find_profile, parse_metric
from berryeval.scoring.engine import as_qrels, as_run, value_of
from berryeval.scoring.ties import require_ranking

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.data import Qrels, Run


EXACT_LIMIT: Final = 256
SPLITS: Final = 16
# Metrics that never drop when the grade of a retrieved document rises.
MONOTONE: Final = frozenset({"P", "Success", "RR"})


@dataclass(frozen=True)
class Bound:
    """The range of one query's value.

    Attributes:
        low: Lowest value found.
        high: Highest value found.
        value: Value with the given judgments.
        unjudged: Number of retrieved documents without a judgment.
        exact: Whether low and high are the true range, or a part of it.
    """

    low: float
    high: float
    value: float
    unjudged: int
    exact: bool


@dataclass(frozen=True)
class Bounds:
    """The range of a metric for every query that counts, and of its aggregate.

    Attributes:
        metric: Canonical name of the metric.
        highest: Highest grade assumed for unjudged documents.
        per_query: Range of each query.
        mean: Range of the aggregate.
        value: Aggregate with the given judgments.
        exact: Whether the ranges of all queries are exact.
    """

    metric: str
    highest: float
    per_query: Mapping[str, Bound]
    mean: Interval
    value: float
    exact: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds for JSON."""
        return {
            "metric": self.metric,
            "highest": self.highest,
            "mean": list(self.mean),
            "value": self.value,
            "exact": self.exact,
            "per_query": {query: vars(bound) for query, bound in self.per_query.items()},
        }


def bounds(
    qrels: Qrels | Mapping[str, Mapping[str, float]] | PathLike,
    run: Run | Mapping[str, Mapping[str, float]] | PathLike,
    metric: str | Metric,
    *,
    profile: str | Conventions = "berryeval",
) -> Bounds:
    """Compute the range of a metric over all grades of the retrieved unjudged documents.

    The docstring of `berryeval.scoring.unjudged` explains when the range is exact.
    """
    conventions = find_profile(profile)
    wanted = require_ranking(conventions.apply_to(parse_metric(conventions.respell(metric))))
    judgments, results = as_qrels(qrels).flat, as_run(run).table
    highest = max(1.0, float(judgments.values.max(initial=1.0)))
    found = {
        query: _bound(judged, wanted, highest, query)
        for query, _, judged in judge_all(
            judgments, results, conventions.rule, missing=conventions.every_judged_query
        )
    }
    columns = [(bound.low, bound.high, bound.value) for bound in found.values()]
    table = np.array(columns, dtype=np.float64).reshape(-1, 3)
    low, high, value = (aggregate(wanted.aggregate, row) for row in table.T)
    exact = all(bound.exact for bound in found.values())
    return Bounds(str(wanted), highest, found, Interval(low, high), value, exact)


def _bound(judged: JudgedRanking, metric: Metric, highest: float, query: str) -> Bound:
    value = value_of(metric, judged, query)
    known = {hit.rank for hit in judged.hits if hit.grade >= 0}
    holes = [rank for rank in range(1, judged.retrieved + 1) if rank not in known]
    if not holes:
        return Bound(value, value, value, 0, exact=True)
    levels = [*map(float, range(int(highest) + 1))]
    enumerable = highest.is_integer() and len(levels) ** len(holes) <= EXACT_LIMIT
    monotone = metric.definition.name in MONOTONE
    if monotone:
        fillings: Iterator[tuple[float, ...]] = _splits(len(holes), highest, parts=1)
    elif enumerable:
        fillings = itertools.product(levels, repeat=len(holes))
    else:
        fillings = _splits(len(holes), highest, parts=min(len(holes), SPLITS))
    values = [value_of(metric, _filled(judged, holes, filling), query) for filling in fillings]
    return Bound(min(values), max(values), value, len(holes), exact=monotone or enumerable)


def _splits(count: int, highest: float, parts: int) -> Iterator[tuple[float, ...]]:
    """Yield the extremes, and splits with the highest grade in the upper or lower part."""
    yield (0.0,) * count
    yield (highest,) * count
    for part in range(1, parts):
        size = count * part // parts
        yield (highest,) * size + (0.0,) * (count - size)
        yield (0.0,) * (count - size) + (highest,) * size


def _filled(judged: JudgedRanking, holes: list[int], filling: tuple[float, ...]) -> JudgedRanking:
    """Return the ranking with these grades for its unjudged documents."""
    hits = [hit for hit in judged.hits if hit.grade >= 0] + [*map(JudgedHit, holes, filling)]
    grades = list(judged.grades)
    for hit in judged.hits:
        if hit.grade < 0:
            grades.remove(hit.grade)
    return JudgedRanking(sorted(hits), judged.retrieved, sorted([*grades, *filling], reverse=True))
