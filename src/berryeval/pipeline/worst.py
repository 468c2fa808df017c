"""Where it fails: the worst queries, what came back for them, and what was wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks.checks.naming import name_of
from berryeval.harness.journal import read_journal
from berryeval.pipeline.judging import relevance_of
from berryeval.pipeline.rankings import whole
from berryeval.pipeline.run import chunked
from berryeval.relevance.overlap import ANSWER_FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.harness.ranking import Ranking
    from berryeval.pipeline.plan import ProviderSpec
    from berryeval.pipeline.run import BenchmarkResult, ProviderResult
    from berryeval.records import Hit, Query
    from berryeval.relevance import Judged, Relevance

__all__ = ["Missed", "Returned", "WorstQuery", "worst_queries"]

_SHOWN: Final = 5  # hits of each query


@dataclass(frozen=True)
class Returned:
    """A hit, and its grade: None if nobody judged it."""

    hit: Hit
    grade: float | None


@dataclass(frozen=True)
class Missed:
    """A target that no hit covers."""

    name: str
    grade: float


@dataclass(frozen=True)
class WorstQuery:
    """A query with a low score.

    Attributes:
        query: the query.
        measure: which measure is low.
        value: its value.
        outcome: what became of the query.
        error: what went wrong, if something did.
        returned: the first hits.
        retrieved: how many there were.
        missed: the targets that were not found, the highest grade first.
        expected: where words decide, the expected answer.
    """

    query: Query
    measure: str
    value: float
    outcome: str
    error: str
    returned: tuple[Returned, ...]
    retrieved: int
    missed: tuple[Missed, ...]
    expected: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "query": self.query.to_json(),
            "measure": self.measure,
            "value": self.value,
            "outcome": self.outcome,
            "error": self.error,
            "retrieved": self.retrieved,
            "returned": [{"hit": one.hit.to_json(), "grade": one.grade} for one in self.returned],
            "missed": [{"target": one.name, "grade": one.grade} for one in self.missed],
            "expected": self.expected,
        }


def worst_queries(
    result: BenchmarkResult, provider: ProviderResult, spec: ProviderSpec, count: int
) -> list[WorstQuery]:
    """The queries with the lowest values of the first measure, the lowest first."""
    scores = provider.scores
    if scores is None or provider.folder is None or not scores.measures:
        return []
    measure = scores.measures[0]
    value_of = scores.per_query(measure)
    there = dict(zip(scores.queries, scores.outcomes, strict=True))
    worst = sorted(
        (q for q in result.queries if there.get(q.id) not in {None, "no relevant documents"}),
        key=lambda query: value_of[query.id],
    )[:count]
    chunks = chunked(result.benchmark, spec)
    chunk_of = {chunk.id: chunk for chunk in chunks}
    wanted = {query.id for query in worst}
    rankings = {
        ranking.query_id: whole(ranking, chunk_of)
        for ranking in read_journal(provider.folder / "results.jsonl")
        if ranking.query_id in wanted
    }
    relevance = relevance_of(result.benchmark, worst, chunks)
    return [_explained(query, measure, value_of[query.id], rankings, relevance) for query in worst]


def _explained(
    query: Query,
    measure: str,
    value: float,
    rankings: Mapping[str, Ranking],
    relevance: Relevance,
) -> WorstQuery:
    ranking = rankings.get(query.id)
    hits = ranking.hits if ranking else ()
    judged = relevance.judge(query.id, hits)
    grade_of = {hit.rank: hit.grade for hit in judged.ranking.hits}
    return WorstQuery(
        query,
        measure,
        value,
        ranking.outcome if ranking else "missing",
        ranking.error if ranking else "",
        tuple(Returned(hit, grade_of.get(rank)) for rank, hit in enumerate(hits[:_SHOWN], start=1)),
        len(hits),
        tuple(_missed(query, judged, relevance)),
        _answer(query) if judged.strategy == "token-fallback" else "",
    )


def _answer(query: Query) -> str:
    given = (query.metadata.get(name) for name in ANSWER_FIELDS)
    return next((str(value) for value in given if value), "")


def _missed(query: Query, judged: Judged, relevance: Relevance) -> list[Missed]:
    """What judgments want and nobody found; packs and words do not name what is missing."""
    if judged.strategy != "qrels":
        return []
    joined = relevance.targets.join(query.id, judged.hits)
    lost = [
        Missed(" or ".join(name_of(member.anchor) for member in target.members), target.grade)
        for target, credit in zip(relevance.targets.of(query.id), joined.credits, strict=True)
        if credit is None and target.grade > 0
    ]
    return sorted(lost, key=lambda one: -one.grade)
