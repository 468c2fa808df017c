"""Where it fails: the worst queries, what came back for them, and what was wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from berryeval.measures.direction import direction_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.records import Query
    from berryeval.results import AnswerRecord, BenchmarkRecord, HitRecord, ProviderRecord

__all__ = ["Returned", "WorstQuery", "worst_queries"]

_SHOWN: Final = 5  # hits of each query


@dataclass(frozen=True)
class Returned:
    """A hit, with its name and the beginning of its text for people."""

    hit: HitRecord
    name: str
    text: str

    @property
    def grade(self) -> str:
        """What it counts, in words."""
        if self.hit.again:
            return "found above"
        return "not judged" if self.hit.grade is None else f"grade {self.hit.grade:g}"

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        hit = self.hit
        return {
            "id": hit.id,
            "score": hit.score,
            "grade": hit.grade,
            "name": self.name,
            "text": self.text,
        }


@dataclass(frozen=True)
class WorstQuery:
    """A query with a low score.

    Attributes:
        query: the query.
        measure: which measure is low.
        value: its value.
        answer: what the provider answered.
        returned: the first hits.
    """

    query: Query
    measure: str
    value: float
    answer: AnswerRecord
    returned: tuple[Returned, ...]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        answer = self.answer
        return {
            "query": self.query.to_json(),
            "measure": self.measure,
            "value": self.value,
            "outcome": answer.outcome,
            "error": answer.error,
            "retrieved": len(answer.hits),
            "returned": [one.to_dict() for one in self.returned],
            "missed": [{"target": one.name, "grade": one.grade} for one in answer.missed],
            "expected": answer.expected,
        }


def worst_queries(
    benchmark: BenchmarkRecord,
    provider: ProviderRecord,
    count: int,
    measure: str = "",
    queries: Sequence[Query] | None = None,
) -> list[WorstQuery]:
    """The queries with the worst values of a measure, the worst first.

    Args:
        benchmark: whose queries.
        provider: whose answers.
        count: how many at most.
        measure: which one; the first of the run unless given.
        queries: look at these only.
    """
    scores = provider.scores
    if measure and scores is not None and measure not in scores.measures:
        scores = provider.standard
    if scores is None or not scores.measures:
        return []
    measure = measure or scores.measures[0]
    if measure not in scores.measures:
        return []
    value_of = scores.per_query(measure)
    there = dict(zip(scores.queries, scores.outcomes, strict=True))
    answers = {answer.query_id: answer for answer in provider.answers}
    looked_at = benchmark.queries if queries is None else queries
    sign = -1 if direction_of(measure) == "down" else 1
    worst = sorted(
        (q for q in looked_at if there.get(q.id) not in {None, "no relevant documents"}),
        key=lambda query: sign * value_of[query.id],
    )[:count]
    return [
        WorstQuery(
            query,
            measure,
            value_of[query.id],
            answers[query.id],
            tuple(_returned(benchmark, hit) for hit in answers[query.id].hits[:_SHOWN]),
        )
        for query in worst
    ]


def _returned(benchmark: BenchmarkRecord, hit: HitRecord) -> Returned:
    if hit.passage is None:
        return Returned(hit, hit.id, "")
    passage = benchmark.passages[hit.passage]
    return Returned(hit, passage.name or hit.id, passage.text)
