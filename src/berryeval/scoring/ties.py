"""Ties: documents with equal scores, and the values of a metric over their possible orders.

A metric depends only on the grade at each rank, so orders that swap documents of equal grade count
as one. All orders are equally likely.
"""

from __future__ import annotations

import itertools
import math
import random
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval.data import JudgedHit, JudgedRanking
from berryeval.errors import MetricError
from berryeval.scoring.engine import value_of

if TYPE_CHECKING:
    from berryeval.data import QueryTable, RankingRule
    from berryeval.metrics import Metric


EXACT_LIMIT: Final = 1000
SAMPLES: Final = 100
_rank_of = attrgetter("rank")


@dataclass(frozen=True)
class Span:
    """Ranks `first` to `last`, which hold documents of equal score."""

    score: float
    first: int
    last: int

    def hits(self, judged: JudgedRanking) -> list[JudgedHit]:
        """Return the judged documents in the span."""
        start = bisect_left(judged.hits, self.first, key=_rank_of)
        return list(judged.hits[start : bisect_right(judged.hits, self.last, key=_rank_of)])

    def matters(self, judged: JudgedRanking) -> bool:
        """Whether another order could change a metric, because the grades differ."""
        hits = self.hits(judged)
        whole = len(hits) == self.last - self.first + 1
        return bool(hits) and not (whole and len({hit.grade for hit in hits}) == 1)


@dataclass(frozen=True)
class TieGroup:
    """Documents of equal score that begin in the top k.

    Attributes:
        query: Query of the ranking.
        score: Score of the documents.
        ranks: First and last rank of the documents.
        relevant: Number of relevant documents among them (grade 1 or more).
        crosses: Whether the tie extends beyond rank k, so that it decides which are in the top k.
    """

    query: str
    score: float
    ranks: tuple[int, int]
    relevant: int
    crosses: bool

    def __str__(self) -> str:
        first, last = self.ranks
        return f"{self.query} ranks {first}-{last} (score {self.score:g}, {self.relevant} relevant)"


@dataclass(frozen=True)
class TieEffect:
    """The range of a metric over the possible orders of a query's ties.

    Attributes:
        query: Query of the ranking.
        metric: Canonical name of the metric.
        value: Value with ties broken by the ranking rule.
        worst: Lowest value of any order.
        best: Highest value of any order.
        expected: Mean over all orders.
        exact: Whether all orders were tried. Otherwise 100 orders were sampled with a fixed seed;
            worst and best also include the orders by ascending and by descending grade.
    """

    query: str
    metric: str
    value: float
    worst: float
    best: float
    expected: float
    exact: bool


@dataclass(frozen=True)
class TieRange:
    """The aggregate of a metric with ties broken in the worst, the best and a random way."""

    value: float
    worst: float
    best: float
    expected: float
    exact: bool

    def __str__(self) -> str:
        how = "" if self.exact else " (sampled, fixed seed)"
        if self.worst == self.best:
            return f"{self.value:.4f}: ties change nothing{how}"
        return (
            f"{self.value:.4f}: ties could make it {self.worst:.4f} to {self.best:.4f}, "
            f"{self.expected:.4f} on average{how}"
        )


def require_ranking(metric: Metric) -> Metric:
    """Require a metric of grades at ranks, the only kind that can be audited."""
    if metric.definition.kind != "ranking":
        kind = "diversity" if metric.definition.kind == "subtopics" else "passage"
        raise MetricError(f"{metric} is a {kind} metric and cannot be audited")
    return metric


def find_ties(run: QueryTable, place: int, rule: RankingRule) -> list[Span]:
    """Return the ties of a ranking, best first, in the precision of the rule."""
    start, end = int(run.offsets[place]), int(run.offsets[place + 1])
    scores = run.values[start:end]
    keys = (scores.astype(np.float32) if rule.single_precision else scores).tolist()
    order = rule.order(run.documents.to_bytes_list(start, end), scores.tolist())
    spans, rank = [], 1
    for key, members in itertools.groupby(order, key=lambda place: keys[place]):
        size = len(list(members))
        if size > 1:
            spans.append(Span(key, rank, rank + size - 1))
        rank += size
    return spans


def compute_effect(
    judged: JudgedRanking, spans: list[Span], metric: Metric, query: str, seed: int
) -> TieEffect:
    """Compute the range of a metric over the orders of the ties."""
    value = value_of(metric, judged, query)
    # The rank below which the order cannot change the metric, if known.
    depth = metric.params.get("cutoff")
    ours = metric.definition.formula.__module__.startswith("berryeval.")
    if depth is None or not ours or metric.params.get("judged_only"):
        depth = math.inf
    tied = [
        _Tied(range(span.first, span.last + 1), [hit.grade for hit in span.hits(judged)])
        for span in spans
        if span.first <= depth and span.matters(judged)
    ]
    moving = {rank for one in tied for rank in one.ranks}
    still = [hit for hit in judged.hits if hit.rank not in moving]

    def value_with(hits: list[JudgedHit]) -> float:
        order = JudgedRanking(sorted(still + hits), judged.retrieved, judged.grades)
        return value_of(metric, order, query)

    exact = math.prod(one.order_count() for one in tied) <= EXACT_LIMIT
    extremes = [value]
    if exact:
        orders = itertools.product(*(list(one.orders()) for one in tied))
        values = [value_with([*itertools.chain.from_iterable(order)]) for order in orders]
    else:
        generator = random.Random(f"{seed} {query}")  # noqa: S311 - a sample, not a secret
        values = [
            value_with([hit for one in tied for hit in one.draw(generator)]) for _ in range(SAMPLES)
        ]
        extremes += [
            value_with([hit for one in tied for hit in one.by_grade(descending=descending)])
            for descending in (False, True)
        ]
    extremes += values
    expected = math.fsum(values) / len(values)
    return TieEffect(query, str(metric), value, min(extremes), max(extremes), expected, exact)


@dataclass(frozen=True)
class _Tied:
    """Ranks of documents with equal score, and the grades of the judged ones."""

    ranks: range
    grades: list[float]

    def order_count(self) -> int:
        """Number of distinct orders of the grades."""
        size, count = len(self.ranks), 1
        for same in Counter(self.grades).values():
            count *= math.comb(size, same)
            size -= same
        return count

    def orders(self) -> Iterator[list[JudgedHit]]:
        """Yield each distinct order."""
        return _placements(tuple(self.ranks), sorted(Counter(self.grades).items()))

    def draw(self, generator: random.Random) -> list[JudgedHit]:
        """Sample one order."""
        return list(map(JudgedHit, generator.sample(self.ranks, len(self.grades)), self.grades))

    def by_grade(self, *, descending: bool) -> list[JudgedHit]:
        """Order by grade, with unjudged documents between relevant and nonrelevant ones."""
        grades = sorted(self.grades, reverse=descending)
        relevant = sum(grade > 0 for grade in grades)
        top = relevant if descending else len(grades) - relevant
        bottom = len(self.ranks) - (len(grades) - top)
        return list(map(JudgedHit, [*self.ranks[:top], *self.ranks[bottom:]], grades))


def _placements(
    ranks: tuple[int, ...], grades: list[tuple[float, int]]
) -> Iterator[list[JudgedHit]]:
    """Yield every assignment of the grades, each with its count, to the ranks."""
    if not grades:
        yield []
        return
    grade, count = grades[0]
    for taken in itertools.combinations(ranks, count):
        rest = tuple(rank for rank in ranks if rank not in taken)
        for others in _placements(rest, grades[1:]):
            yield [JudgedHit(rank, grade) for rank in taken] + others
