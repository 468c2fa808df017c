"""From answers to scores, and what to say about them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from berryeval.benchmarks.checks.words import counted
from berryeval.errors import DataError
from berryeval.harness.ranking import FAILED
from berryeval.hit_engine import judge_and_score
from berryeval.run import Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from berryeval.benchmarks import Benchmark
    from berryeval.harness.ranking import Ranking
    from berryeval.records import Hit
    from berryeval.relevance import Judged, Relevance
    from berryeval.scores import Scores

__all__ = ["score", "warnings_about", "warnings_of_scores", "write_trec_run"]


def score(
    relevance: Relevance, hits: Mapping[str, list[Hit]], measures: Sequence[str], name: str
) -> tuple[Scores, dict[str, Judged]]:
    """The scores of hits on the queries that were asked, and the judged hits; a failure is 0."""
    scores, judged = judge_and_score(relevance, hits, measures)
    return replace(scores, run_name=name), judged


def warnings_about(rankings: Sequence[Ranking], k: int, available: int | None = None) -> list[str]:
    """What a provider did that makes a comparison unfair, or a score doubtful.

    Args:
        rankings: its answers.
        k: how many hits it was asked for.
        available: how many there were to be had, if known.
    """
    found = []
    different = [r.returned - r.repeated for r in rankings if r.outcome not in FAILED]
    many = sum(count > k for count in different)
    if many:
        found.append(f"returned more than the {k} hits asked for in {_queries(many)}; cut to {k}")
    few = sum(count < min(k, available or 0) for count in different)
    if few:
        found.append(f"returned fewer than the {k} hits asked for in {_queries(few)}")
    repeats = sum(ranking.repeated for ranking in rankings)
    if repeats:
        found.append(f"returned {repeats} hits more than once; the first counts")
    failed = [ranking for ranking in rankings if ranking.outcome in FAILED]
    if failed:
        verb = "scores" if len(failed) == 1 else "score"
        words = f"{_queries(len(failed))} failed and {verb} 0"
        found.append(f"{words}; the last: {failed[-1].error}")
    return found


def _queries(count: int) -> str:
    return counted(count, "query", "queries")


def warnings_of_scores(benchmark: Benchmark, scores: Scores) -> list[str]:
    """What makes the scores of anybody doubtful on this benchmark."""
    found = []
    if not benchmark.documents:
        found.append(f"{benchmark.name} holds no documents: there was nothing to index")
    nothing = scores.outcome_counts["no relevant documents"]
    if nothing:
        verbs = ("has", "scores") if nothing == 1 else ("have", "score")
        found.append(f"{_queries(nothing)} {verbs[0]} nothing relevant and {verbs[1]} 0")
    return found


def write_trec_run(hits: Mapping[str, list[Hit]], name: str, path: Path) -> list[str]:
    """Write the rankings for other tools; what cannot be written so is a warning."""
    rows = {query: {hit.id: hit.score for hit in found} for query, found in hits.items() if found}
    try:
        Run.from_dict(rows, name=name).to_trec(path)
    except DataError as error:
        path.unlink(missing_ok=True)
        return [f"{path.name} was not written: {error}"]
    return []
