"""Ties: documents of one score, and what a measure makes of the orders they could stand in.

A measure sees only which grade stands at which rank, so orders that differ in nothing but documents
of one grade are one order to it; all of these are equally likely.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval.engine import value_of
from berryeval.measures import Hit, JudgedRanking, Measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.run import RankingRule
    from berryeval.tables import QueryTable

__all__ = ["EXACT_LIMIT", "SAMPLES", "Span", "TieEffect", "TieGroup", "effect_of", "spans_of"]

EXACT_LIMIT: Final = 1000
SAMPLES: Final = 500


@dataclass(frozen=True)
class Span:
    """Ranks `first` to `last` hold documents of one score."""

    score: float
    first: int
    last: int

    def hits(self, judged: JudgedRanking) -> list[Hit]:
        """The judged documents among them."""
        return [hit for hit in judged.hits if self.first <= hit.rank <= self.last]

    def matters(self, judged: JudgedRanking) -> bool:
        """Whether another order could change a measure: the grades are not all the same."""
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
    """What a measure could be if the ties of a query were broken otherwise.

    Attributes:
        query: the query.
        measure: the measure.
        value: its value with ties broken by the rule in use.
        worst: the lowest value of any order.
        best: the highest.
        expected: the mean over all orders.
        exact: whether all orders were tried; otherwise 500 drawn at random with a fixed seed, and
            for the worst and the best also the orders by rising and by falling grade.
    """

    query: str
    measure: str
    value: float
    worst: float
    best: float
    expected: float
    exact: bool


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
    judged: JudgedRanking, spans: list[Span], measure: Measure, query: str, seed: int
) -> TieEffect:
    """The range of a measure over the orders of the ties."""
    value = value_of(measure, judged, query)
    spans = [span for span in spans if span.matters(judged)]
    exact = math.prod(_order_count(span, judged) for span in spans) <= EXACT_LIMIT
    extremes = [value]
    if exact:
        orders = list(_all_orders(judged, spans))
    else:
        generator = random.Random(f"{seed} {query}")  # noqa: S311 - a sample, not a secret
        orders = [_drawn(judged, spans, generator) for _ in range(SAMPLES)]
        sorted_orders = [_by_grade(judged, spans, falling=falling) for falling in (False, True)]
        extremes += [value_of(measure, order, query) for order in sorted_orders]
    values = [value_of(measure, order, query) for order in orders]
    extremes += values
    expected = math.fsum(values) / len(values)
    return TieEffect(query, str(measure), value, min(extremes), max(extremes), expected, exact)


def _order_count(span: Span, judged: JudgedRanking) -> int:
    """How many orders of the tie a measure can tell apart."""
    size = span.last - span.first + 1
    count = 1
    for same in Counter(hit.grade for hit in span.hits(judged)).values():
        count *= math.comb(size, same)
        size -= same
    return count


def _all_orders(judged: JudgedRanking, spans: list[Span]) -> Iterator[JudgedRanking]:
    choices = []
    for span in spans:
        grades = Counter(hit.grade for hit in span.hits(judged))
        ranks = tuple(range(span.first, span.last + 1))
        choices.append(list(_placements(ranks, sorted(grades.items()))))
    for chosen in itertools.product(*choices):
        yield _with(judged, spans, list(itertools.chain.from_iterable(chosen)))


def _placements(ranks: tuple[int, ...], grades: list[tuple[float, int]]) -> Iterator[list[Hit]]:
    """Every way to put so many documents of each grade at these ranks."""
    if not grades:
        yield []
        return
    grade, count = grades[0]
    for taken in itertools.combinations(ranks, count):
        rest = tuple(rank for rank in ranks if rank not in taken)
        for others in _placements(rest, grades[1:]):
            yield [Hit(rank, grade) for rank in taken] + others


def _drawn(judged: JudgedRanking, spans: list[Span], generator: random.Random) -> JudgedRanking:
    moved = []
    for span in spans:
        hits = span.hits(judged)
        ranks = generator.sample(range(span.first, span.last + 1), len(hits))
        moved += [Hit(rank, hit.grade) for rank, hit in zip(ranks, hits, strict=True)]
    return _with(judged, spans, moved)


def _by_grade(judged: JudgedRanking, spans: list[Span], *, falling: bool) -> JudgedRanking:
    """The relevant documents of each tie first, or last; those without a judgment in between."""
    moved = []
    for span in spans:
        grades = sorted((hit.grade for hit in span.hits(judged)), reverse=falling)
        relevant = sum(grade > 0 for grade in grades)
        top = relevant if falling else len(grades) - relevant
        end = span.last + 1 - (len(grades) - top)
        ranks = [*range(span.first, span.first + top), *range(end, span.last + 1)]
        moved += [Hit(rank, grade) for rank, grade in zip(ranks, grades, strict=True)]
    return _with(judged, spans, moved)


def _with(judged: JudgedRanking, spans: list[Span], moved: list[Hit]) -> JudgedRanking:
    tied = {hit.rank for span in spans for hit in span.hits(judged)}
    hits = sorted([hit for hit in judged.hits if hit.rank not in tied] + moved)
    return JudgedRanking(hits, judged.retrieved, judged.grades)
