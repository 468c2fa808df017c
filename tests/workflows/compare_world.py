"""Runs of small rankings to compare."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import berryeval as be
from berryeval.data.records import Query
from berryeval.runs.answers import AnswerRecord, HitRecord, Passage
from berryeval.runs.record import STANDARD, BenchmarkRecord, ProviderRecord, RunRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["BEST", "POOR", "WORLD", "mixed", "provider", "run_of", "save"]

COUNT = 20
GRADES = {"tea": 2.0, "cup": 1.0}
BEST = ("tea", "cup", "fog")
POOR = ("fog", "rain", "cup")
WORLD = ("drinks", "sha256:one")
METRICS = ("nDCG@3", "RR")


def mixed(*better: int) -> list[tuple[str, ...]]:
    """Return rankings of all queries: the best for these, poor for the others."""
    return [BEST if place in better else POOR for place in range(COUNT)]


def _ids(count: int) -> list[str]:
    return [f"q{place:02}" for place in range(count)]


def provider(
    name: str, rankings: Sequence[Sequence[str]], metrics: Sequence[str] = METRICS
) -> ProviderRecord:
    """Build a provider with these rankings; an empty one has failed."""
    ids = _ids(len(rankings))
    hits = {
        query: {doc: float(len(ranking) - place) for place, doc in enumerate(ranking)}
        for query, ranking in zip(ids, rankings, strict=True)
    }
    scores = be.evaluate(dict.fromkeys(ids, GRADES), hits, [*metrics, *STANDARD])
    answers = tuple(
        AnswerRecord(
            query,
            "ok" if found else "timeout",
            tuple(HitRecord(doc, score, GRADES.get(doc), passage=0 if doc == "tea" else None)
                  for doc, score in found.items()),
        )
        for query, found in hits.items()
    )  # fmt: skip
    return ProviderRecord(
        name,
        "callable",
        scores=scores.only(list(metrics)),
        standard=scores.only(STANDARD),
        answers=answers,
    )


def run_of(
    name: str,
    rankings: Mapping[str, Sequence[Sequence[str]]],
    *,
    world: tuple[str, str] = WORLD,
    k: int = 10,
    metrics: Sequence[str] = METRICS,
) -> RunRecord:
    """Build a run of providers; even queries are factual, odd ones conceptual."""
    count = max(map(len, rankings.values()))
    queries = tuple(
        Query(query, f"Question {query}?", "conceptual" if place % 2 else "factual")
        for place, query in enumerate(_ids(count))
    )
    part = BenchmarkRecord(
        *world,
        k,
        queries,
        tuple(provider(label, found, metrics) for label, found in rankings.items()),
        (Passage("About tea.", "guide > Tea"),),
    )
    return RunRecord(name, "2026-11-15T10:00:00+00:00", (part,))


def save(run: RunRecord, folder: object) -> str:
    """Save the run as a folder and return its path."""
    from pathlib import Path

    path = Path(str(folder)) / run.id
    path.mkdir(parents=True)
    (path / "run.json").write_text(run.dumps(), encoding="utf-8")
    return str(path)


def without_scores(record: ProviderRecord) -> ProviderRecord:
    """Return the same provider, failed."""
    return replace(record, scores=None, standard=None, failure="the server went away")
