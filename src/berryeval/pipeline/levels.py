"""What rankings could reach and what chance reaches, and how often the best target is missed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

from berryeval.engine import value_of
from berryeval.hit_engine import evaluate_hits
from berryeval.judged import JudgedHit, JudgedRanking
from berryeval.measures import parse_measures
from berryeval.pipeline.judging import relevance_of
from berryeval.providers.base import hit_of

if TYPE_CHECKING:
    from berryeval.pipeline.plan import Plan
    from berryeval.pipeline.run_result import BenchmarkResult, ProviderResult
    from berryeval.records import Chunk, Hit

__all__ = ["TOP", "ideal_level", "missed_primaries", "random_level"]

TOP: Final = 5
_DRAWS: Final = 20  # random rankings of each query


def ideal_level(plan: Plan, result: BenchmarkResult, chunks: list[Chunk]) -> dict[str, float]:
    """The most that the judgments allow: their targets by grade, one a hit."""
    relevance = relevance_of(result.benchmark, result.queries, chunks)
    rankings = {}
    for query in result.queries:
        grades = relevance.judge(query.id, ()).ranking.grades
        hits = [JudgedHit(rank, grade) for rank, grade in enumerate(grades[: plan.depth], start=1)]
        rankings[query.id] = JudgedRanking(hits, len(hits), grades)
    return {
        str(measure): sum(value_of(measure, one, query) for query, one in rankings.items())
        / len(rankings)
        for measure in parse_measures(plan.scored)
        if measure.definition.kind == "ranking" and measure.definition.aggregate == "mean"
    }


def random_level(plan: Plan, result: BenchmarkResult, chunks: list[Chunk]) -> dict[str, float]:
    """What chance alone reaches: the mean over rankings of sections that were drawn."""
    drawn = random.Random(plan.seed)  # noqa: S311 - nothing is secret here
    relevance = relevance_of(result.benchmark, result.queries, chunks)
    totals: dict[str, float] = {}
    for _ in range(_DRAWS):
        hits = {query.id: _drawn_hits(drawn, chunks, plan.depth) for query in result.queries}
        scores = evaluate_hits(relevance, hits, plan.scored)
        for measure, value in scores.mean.items():
            totals[measure] = totals.get(measure, 0.0) + value / _DRAWS
    return totals


def _drawn_hits(drawn: random.Random, chunks: list[Chunk], depth: int) -> list[Hit]:
    chosen = drawn.sample(chunks, min(depth, len(chunks)))
    return [hit_of(chunk, 1.0 / rank, rank) for rank, chunk in enumerate(chosen, start=1)]


def missed_primaries(one: ProviderResult) -> tuple[int, int]:
    """How many queries lack a target of their highest grade in the top, of how many."""
    missed = total = 0
    for answer in one.record.answers:
        top = [hit.grade or 0 for hit in answer.hits[:TOP]]
        grades = [hit.grade or 0 for hit in answer.hits] + [want.grade for want in answer.missed]
        best = max(grades, default=0)
        if best > 0:
            total += 1
            missed += max(top, default=0) < best
    return missed, total
