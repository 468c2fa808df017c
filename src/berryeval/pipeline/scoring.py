"""From answers to scores, and what to say about them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from berryeval.errors import DataError
from berryeval.io.words import counted
from berryeval.providers import PROVIDERS
from berryeval.run import Run
from berryeval.tables import QueryTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from berryeval.benchmarks import Benchmark
    from berryeval.pipeline.plan import ProviderSpec
    from berryeval.results import AnswerRecord
    from berryeval.scores import Scores

__all__ = ["warnings_of_run_file", "warnings_of_scores", "write_trec_run"]


_TOGETHER: Final = 1000  # queries that are made rows at once


def warnings_of_scores(benchmark: Benchmark, scores: Scores) -> list[str]:
    """What makes the scores of anybody doubtful on this benchmark."""
    found = []
    if not benchmark.documents:
        found.append(
            f"{benchmark.name} holds no documents: there was nothing to index; if they lie "
            "elsewhere, name the place in the configuration (options: {corpus: FOLDER})"
        )
    nothing = scores.outcome_counts["no relevant documents"]
    if nothing:
        verbs = ("has", "scores") if nothing == 1 else ("have", "score")
        queries = counted(nothing, "query", "queries")
        found.append(f"{queries} {verbs[0]} nothing relevant and {verbs[1]} 0")
    return found


def warnings_of_run_file(spec: ProviderSpec, outcomes: Mapping[str, int]) -> list[str]:
    """Which queries a run file does not have: they look like those of one that found none."""
    empty = outcomes.get("empty", 0) if PROVIDERS.canonical(spec.type) == "run-file" else 0
    if not empty:
        return []
    queries = counted(sum(outcomes.values()), "query", "queries")
    verbs = ("has", "scores") if empty == 1 else ("have", "score")
    return [f"{empty} of {queries} {verbs[0]} no hits in the run file and {verbs[1]} 0"]


def write_trec_run(answers: Iterable[AnswerRecord], name: str, path: Path) -> list[str]:
    """Write the rankings for other tools; what cannot be written so is a warning."""
    found = ((one.query_id, {hit.id: hit.score for hit in one.hits}) for one in answers if one.hits)
    try:
        tables = []
        while rows := dict(itertools.islice(found, _TOGETHER)):
            tables.append(QueryTable.from_dict(rows, kind="run"))
        Run(QueryTable.joined(tables), name=name).to_trec(path)
    except DataError as error:
        path.unlink(missing_ok=True)
        return [f"{path.name} was not written: {error}"]
    return []
