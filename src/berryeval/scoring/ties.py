"""Ties: documents of one score, and what a metric makes of the orders they could stand in.

A metric sees only which grade stands at which rank, so orders that differ in nothing but documents
of one grade are one order to it; all of these are equally likely.
"""

from __future__ import annotations

import itertools
import math
import random
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval.data import JudgedHit, JudgedRanking
from berryeval.errors import MetricError
from berryeval.scoring.engine import value_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.data import QueryTable, RankingRule
    from berryeval.metrics import Metric


EXACT_LIMIT: Final = 1000
SAMPLES: Final = 100
_rank_of = attrgetter("rank")


@dataclass(frozen=True)
class Span:
    """Ranks `first` to `last` hold documents of one score."""

    score: float
    first: int
    last: int

    def hits(self, judged: JudgedRanking) -> list[JudgedHit]:
        """The judged documents among them."""
        start = bisect_left(judged.hits, self.first, key=_rank_of)
        return list(judged.hits[start : bisect_right(judged.hits, self.last, key=_rank_of)])

    def matters(self, judged: JudgedRanking) -> bool:
        """Whether another order could change a metric: the grades are not all the same."""
        hits = self.hits(judged)
        whole = len(hits) == self.last - self.first + 1
        return bool(hits) and not (whole and len({hit.grade for hit in hits}) == 1)


@dataclass(frozen=True)
class TieGroup:
    """Documents of one score that begin in the top k.

    Attributes:
        query: the query they were retrieved for.
        score: the score they share.
        ranks: the first and the last rank they hold together.
        relevant: how many of them are relevant (grade 1 or more).
        crosses: whether the cutoff k falls among them, so that chance decides who is in the top k.
    """

    query: str
    score: float
    ranks: tuple[int, int]
    relevant: int
    crosses: bool


@dataclass(frozen=True)
class TieEffect:
    """What a metric could be if the ties of a query were broken otherwise.

    Attributes:
        query: the query.
        metric: the metric.
        value: its value with ties broken by the rule in use.
        worst: the lowest value of any order.
        best: the highest.
        expected: the mean over all orders.
        exact: whether all orders were tried; otherwise 100 drawn at random with a fixed seed, and
            for the worst and the best also the orders by rising and by falling grade.
    """

    query: str
    metric: str
    value: float
    worst: float
    best: float
    expected: float
    exact: bool


def without_subtopics(metric: Metric) -> Metric:
    """The metric, if it can be audited: some see more than grades at ranks."""
    if metric.definition.kind != "ranking":
        what = "diversity" if metric.definition.kind == "subtopics" else "text"
        msg = f"{metric} is a metric of {what}, which cannot be audited"
        raise MetricError(msg)
    return metric


def spans_of(run: QueryTable, place: int, rule: RankingRule) -> list[Span]:
    """The ties of a ranking, best first, as the rule sees the scores."""
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


def effect_of(
    judged: JudgedRanking, spans: list[Span], metric: Metric, query: str, seed: int
) -> TieEffect:
    """The range of a metric over the orders of the ties."""
    value = value_of(metric, judged, query)
    depth = _depth(metric)
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
        values = [value_with(hits) for hits in _all_orders(tied)]
    else:
        generator = random.Random(f"{seed} {query}")  # noqa: S311 - a sample, not a secret
        values = [
            value_with([hit for one in tied for hit in one.drawn(generator)])
            for _ in range(SAMPLES)
        ]
        extremes += [
            value_with([hit for one in tied for hit in one.by_grade(falling=falling)])
            for falling in (False, True)
        ]
    extremes += values
    expected = math.fsum(values) / len(values)
    return TieEffect(query, str(metric), value, min(extremes), max(extremes), expected, exact)


def _depth(metric: Metric) -> float:
    """The rank below which the order cannot matter to the metric, where we know of one."""
    cutoff = metric.params.get("cutoff")
    ours = metric.definition.formula.__module__.startswith("berryeval.")
    if cutoff is None or not ours or metric.params.get("judged_only"):
        return math.inf
    return float(cutoff)


@dataclass(frozen=True)
class _Tied:
    """Ranks that documents of one score share, and the grades of those that are judged."""

    ranks: range
    grades: list[float]

    def order_count(self) -> int:
        """How many orders a metric can tell apart."""
        size, count = len(self.ranks), 1
        for same in Counter(self.grades).values():
            count *= math.comb(size, same)
            size -= same
        return count

    def orders(self) -> Iterator[list[JudgedHit]]:
        """Each of them once."""
        return _placements(tuple(self.ranks), sorted(Counter(self.grades).items()))

    def drawn(self, generator: random.Random) -> list[JudgedHit]:
        """One of them at random."""
        return list(map(JudgedHit, generator.sample(self.ranks, len(self.grades)), self.grades))

    def by_grade(self, *, falling: bool) -> list[JudgedHit]:
        """Relevant documents first, or last; those without a judgment in between."""
        grades = sorted(self.grades, reverse=falling)
        relevant = sum(grade > 0 for grade in grades)
        top = relevant if falling else len(grades) - relevant
        bottom = len(self.ranks) - (len(grades) - top)
        return list(map(JudgedHit, [*self.ranks[:top], *self.ranks[bottom:]], grades))


def _all_orders(tied: list[_Tied]) -> Iterator[list[JudgedHit]]:
    for chosen in itertools.product(*(list(one.orders()) for one in tied)):
        yield list(itertools.chain.from_iterable(chosen))


def _placements(
    ranks: tuple[int, ...], grades: list[tuple[float, int]]
) -> Iterator[list[JudgedHit]]:
    """Every way to put so many documents of each grade at these ranks."""
    if not grades:
        yield []
        return
    grade, count = grades[0]
    for taken in itertools.combinations(ranks, count):
        rest = tuple(rank for rank in ranks if rank not in taken)
        for others in _placements(rest, grades[1:]):
            yield [JudgedHit(rank, grade) for rank in taken] + others
