"""From judged answers to the record of a run."""

from __future__ import annotations

import platform
import sys
from collections import Counter
from importlib import metadata
from typing import TYPE_CHECKING, Final

import berryeval
from berryeval.benchmarks.checks.naming import name_of
from berryeval.harness.ranking import FAILED
from berryeval.relevance.overlap import ANSWER_FIELDS
from berryeval.results import (
    AnswerRecord,
    HitRecord,
    Latency,
    MissedTarget,
    Passage,
    ProviderRecord,
)
from berryeval.results.standard import CURVE, STANDARD, standard_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from berryeval.anchors import Target
    from berryeval.harness.ranking import Ranking
    from berryeval.pipeline.plan import Plan, ProviderSpec
    from berryeval.pipeline.rankings import Answers
    from berryeval.records import Hit, Query
    from berryeval.relevance import Judged
    from berryeval.scores import Scores

__all__ = ["Passages", "all_measures", "loaded_versions", "recorded"]

PASSAGE_LENGTH: Final = 400  # characters of a hit's text that are kept
# Libraries that decide what comes back: the module to look for, the package that brings it.
_LIBRARIES: Final = {
    "apsw": "apsw",
    "bm25s": "bm25s",
    "chonkie": "chonkie",
    "chromadb": "chromadb",
    "httpx": "httpx",
    "lancedb": "lancedb",
    "langchain_core": "langchain-core",
    "langchain_text_splitters": "langchain-text-splitters",
    "llama_index.core": "llama-index-core",
    "model2vec": "model2vec",
    "numpy": "numpy",
    "psycopg": "psycopg",
    "qdrant_client": "qdrant-client",
    "sentence_transformers": "sentence-transformers",
    "snowballstemmer": "snowballstemmer",
    "sqlite_vec": "sqlite-vec",
    "tree_sitter": "tree-sitter",
    "wordllama": "wordllama",
}


def all_measures(plan: Plan) -> list[str]:
    """What was asked for, and what every run has; the log says some whatever is recorded."""
    return list(dict.fromkeys((*plan.scored, *STANDARD, *CURVE)))


def loaded_versions() -> dict[str, str]:
    """The versions of what may change the outcome of this run: of libraries, those in use."""
    versions = {"berryeval": berryeval.__version__, "python": platform.python_version()}
    for module, package in _LIBRARIES.items():
        if module in sys.modules:
            versions[package] = metadata.version(package)
    return versions


class Passages:
    """What hits show to people, each kept once."""

    def __init__(self) -> None:
        self._places: dict[Passage, int] = {}

    def place_of(self, hit: Hit) -> int | None:
        """Where the passage of this hit is kept; None if it has no text."""
        if not hit.text:
            return None
        start = hit.text
        if len(start) > PASSAGE_LENGTH:
            start = f"{start[: PASSAGE_LENGTH - 1]}…"
        name = " > ".join([hit.doc_id, *hit.section]) if hit.doc_id else ""
        return self._places.setdefault(Passage(start, name), len(self._places))

    def __iter__(self) -> Iterator[Passage]:
        """All of them, in their order."""
        return iter(self._places)


def recorded(
    spec: ProviderSpec,
    plan: Plan,
    queries: Sequence[Query],
    answers: Answers,
    everything: Scores,
    judged: Mapping[str, Judged],
    passages: Passages,
) -> ProviderRecord:
    """What a provider did on a benchmark; warnings are added by those who know them."""
    ranking_of = {ranking.query_id: ranking for ranking in answers.rankings}
    seconds = [one.latency for one in answers.rankings if one.outcome not in FAILED]
    return ProviderRecord(
        name=spec.label,
        type=spec.type,
        chunker=spec.chunker,
        scores=everything.only(plan.scored),
        standard=everything.only(standard_of(plan.depth)),
        curve=tuple(everything.mean[name] for name in CURVE),
        answers=tuple(
            _answer(query, ranking_of.get(query.id), answers.hits, judged[query.id], passages)
            for query in queries
        ),
        outcomes=dict(Counter(str(one.outcome) for one in answers.rankings)),
        latency=Latency.of(seconds, max((one.batch for one in answers.rankings), default=1)),
    )


def _answer(
    query: Query,
    ranking: Ranking | None,
    hits: Mapping[str, Sequence[Hit]],
    judged: Judged,
    passages: Passages,
) -> AnswerRecord:
    expected = _expected(query) if judged.strategy == "token-fallback" else ""
    missed = tuple(sorted(map(_missed, judged.joined.missed), key=lambda one: -one.grade))
    if ranking is None:
        return AnswerRecord(query.id, "missing", missed=missed, expected=expected)
    grade_of = {hit.rank: hit.grade for hit in judged.ranking.hits if hit.grade >= 0}
    return AnswerRecord(
        query.id,
        ranking.outcome,
        tuple(
            HitRecord(
                hit.id,
                hit.score,
                grade_of.get(place + 1),
                again=place in judged.joined.again,
                passage=passages.place_of(hit),
            )
            for place, hit in enumerate(hits.get(query.id, ()))
        ),
        missed,
        None if ranking.outcome in FAILED else ranking.latency,
        ranking.error,
        expected,
        ranking.cost,
    )


def _missed(target: Target) -> MissedTarget:
    return MissedTarget(
        " or ".join(name_of(member.anchor) for member in target.members), target.grade
    )


def _expected(query: Query) -> str:
    given = (query.metadata.get(name) for name in ANSWER_FIELDS)
    return next((str(value) for value in given if value), "")
