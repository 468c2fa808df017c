"""From judged answers to the record of a run."""

from __future__ import annotations

import logging
import math
import platform
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

import berryeval
from berryeval._internal.text import counted
from berryeval._internal.validate import is_number
from berryeval.benchmarks import name_of
from berryeval.errors import DataError, MetricError
from berryeval.metrics import parse_metrics
from berryeval.providers import PROVIDERS
from berryeval.relevance import ANSWER_FIELDS
from berryeval.runner import FAILED
from berryeval.runs import (
    CURVE,
    STANDARD,
    AnswerColumns,
    AnswerRecord,
    AnswersBuilder,
    HitRecord,
    Latency,
    MissedTarget,
    Passage,
    ProviderRecord,
    standard_of,
)
from berryeval.scoring import Scores
from berryeval.workflows.run_folder import read_json_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from berryeval.anchors import Target
    from berryeval.data import Hit, Query
    from berryeval.providers import Disorder
    from berryeval.relevance import Judged
    from berryeval.runner import Ranking
    from berryeval.workflows.plan import Plan, ProviderSpec
    from berryeval.workflows.run_answers import Answers


# What is counted of the answers of a provider while they are read, and what to say about it.


class Tally:
    """Counts answers.

    Attributes:
        seconds: that each answered query took.
        batch: the most queries that were asked together.
    """

    def __init__(self) -> None:
        self.seconds = array("d")
        self.batch = 1
        self._different = array("q")
        self._repeated = 0
        self._disorders: Counter[Disorder] = Counter()
        self._costs: dict[str, list[float]] = {}
        self._uncountable: set[str] = set()
        self._failed = 0
        self._last_error = ""

    def add(self, ranking: Ranking) -> None:
        """Count an answer."""
        self.batch = max(self.batch, ranking.batch)
        self._repeated += ranking.repeated
        if ranking.outcome in FAILED:
            self._failed += 1
            self._last_error = ranking.error
        else:
            self.seconds.append(ranking.latency)
            self._different.append(ranking.returned - ranking.repeated)
            for name, amount in ranking.cost.items():
                if is_number(amount):
                    self._costs.setdefault(name, []).append(amount)
                elif isinstance(amount, int) and not isinstance(amount, bool):
                    self._uncountable.add(name)  # of an older run: today it is an error
            if ranking.disorder:
                self._disorders[ranking.disorder] += 1

    @property
    def cost(self) -> dict[str, float]:
        """What an answered query cost on average; one that says nothing of it cost nothing."""
        return {
            name: _share(amounts, len(self.seconds))
            for name, amounts in sorted(self._costs.items())
            if name not in self._uncountable
        }

    def warnings(self, k: int, available: int | None = None) -> list[str]:
        """What the provider did that makes a comparison unfair, or a score doubtful.

        Args:
            k: how many hits it was asked for.
            available: how many there were to be had, if known.
        """
        found = []
        many = sum(count > k for count in self._different)
        if many:
            found.append(
                f"returned more than the {k} hits asked for in {_queries(many)}; cut to {k}"
            )
        few = sum(count < min(k, available or 0) for count in self._different)
        if few:
            found.append(f"returned fewer than the {k} hits asked for in {_queries(few)}")
        if self._repeated:
            found.append(f"returned {self._repeated} hits more than once; the first counts")
        found += self._about_order()
        found += [
            f"reported a cost {name!r} beyond all numbers; it has no mean"
            for name in sorted(self._uncountable)
        ]
        if self._failed:
            verb = "scores" if self._failed == 1 else "score"
            words = f"{_queries(self._failed)} failed and {verb} 0"
            found.append(f"{words}; the last: {self._last_error}")
        return found

    def _about_order(self) -> list[str]:
        """Whether the scores of the provider say something else than the order of its hits."""
        tied = self._disorders["tied"]
        found = [self._about_ties(tied)] if tied else []
        wrong = self._disorders.total() - tied
        if not wrong:
            return found
        what = "came in another order than their scores say"
        hint = "the scores decide; is the score the one that the hits were ranked by?"
        if self._disorders["reversed"] == wrong:
            what = "came with scores that grow from the first hit to the last"
            hint = "they look like distances: give 1 - distance, or negate them; the highest counts"
        return [f"the hits of {wrong} of {_queries(len(self._different))} {what}; {hint}", *found]

    def _about_ties(self, count: int) -> str:
        return (
            f"hits of equal scores were moved in {count} of {_queries(len(self._different))}: they "
            "are ordered by id, the highest first, as trec_eval does; to keep the order of the "
            "answer, give scores that differ, or none"
        )


def _share(amounts: list[float], count: int) -> float:
    """The sum of so many amounts or fewer, divided by the count."""
    try:
        return math.fsum(amounts) / count
    except OverflowError:  # of the sum: the quotient is no larger than the largest of them
        return float(sum(map(Fraction, amounts)) / count)


def _queries(count: int) -> str:
    return counted(count, "query", "queries")


log = logging.getLogger("berryeval")
PASSAGE_LENGTH: Final = 400  # characters of a hit's text that are kept


def all_metrics(scored: Sequence[str]) -> list[str]:
    """What was asked for, and what every run has; the log says some whatever is recorded."""
    return list(dict.fromkeys((*scored, *STANDARD, *CURVE)))


def scored_metrics(plan: Plan, file: Path) -> list[str]:
    """What the plan asks for, and what was added to the scores in this file since.

    A file that is not there, or is damaged, has nothing: all that the plan asks for is made again.
    """
    try:
        before = Scores.from_dict(read_json_object(file), str(file)) if file.exists() else None
    except DataError:
        before = None
    asked = set(map(str, parse_metrics(plan.scored)))
    added = [name for name in before.metrics if name not in asked] if before else []
    spelled = {name: text for text, name in before.spellings.items()} if before else {}
    return [*plan.scored, *(spelled.get(name, name) for name in added if _is_known(name))]


def _is_known(metric: str) -> bool:
    try:
        parse_metrics([metric])
    except MetricError as error:
        log.warning("%s cannot be computed again, and is not kept: %s", metric, error)
        return False
    return True


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


class Recorder:
    """Takes the judged answers of a provider one by one, in the order of the queries.

    Attributes:
        strategies: who decided about each query that was answered, be it without hits.
        tally: what is counted of the answers.
    """

    def __init__(self, queries: Sequence[Query], answers: Answers, passages: Passages) -> None:
        self._query_of = {query.id: query for query in queries}
        self._answers = answers
        self._passages = passages
        self._built = AnswersBuilder()
        self.strategies: dict[str, str] = {}
        self.tally = Tally()

    def seen(self, query_id: str, hits: Sequence[Hit], judged: Judged) -> None:
        """Record an answer."""
        ranking = self._answers.ranking(query_id) if query_id in self._answers else None
        if ranking is not None:
            self.tally.add(ranking)
            if ranking.outcome not in FAILED:
                self.strategies[query_id] = judged.strategy
        query = self._query_of[query_id]
        self._built.add(_answer(query, ranking, hits, judged, self._passages))

    def record(
        self, spec: ProviderSpec, depth: int, scored: Sequence[str], everything: Scores
    ) -> ProviderRecord:
        """What the provider did; warnings are added by those who know them."""
        return ProviderRecord(
            name=spec.label,
            type=spec.type,
            chunker=spec.chunker,
            scores=everything.only(scored),
            standard=everything.only(standard_of(depth)),
            curve=tuple(everything.mean[name] for name in CURVE),
            answers=AnswerColumns.of(self._built),
            outcomes=self._answers.outcomes,
            latency=Latency.of(self.tally.seconds, self.tally.batch),
            cost=self.tally.cost,
        )


def _answer(
    query: Query,
    ranking: Ranking | None,
    hits: Sequence[Hit],
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
            for place, hit in enumerate(hits)
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


# The versions of what decides what comes back: of the libraries of providers and chunkers in use.

_EMBEDDING: Final = "embedder"  # stands for whichever embedder is asked for
_OF_VECTORS: Final = frozenset({_EMBEDDING, "sqlite-vec"})  # a search for words does without
_PROVIDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "bm25": ("bm25s", "snowballstemmer"),
    "dense": (_EMBEDDING,),
    "hybrid": (),
    "postgres": ("psycopg", _EMBEDDING),
    "sqlite": ("apsw", "sqlite-vec", _EMBEDDING),
    "lancedb": ("lancedb", _EMBEDDING),
    "chroma": ("chromadb", _EMBEDDING),
    "qdrant": ("qdrant-client", _EMBEDDING),
    "elasticsearch": ("httpx", _EMBEDDING),
    "http": ("httpx",),
    "run-file": (),
}
_EMBEDDERS: Final[Mapping[str, str]] = {
    "wordllama": "wordllama",
    "model2vec": "model2vec",
    "openai": "httpx",
    "sentence-transformers": "sentence-transformers",
}
_CHUNKERS: Final[Mapping[str, str]] = {
    "chonkie": "chonkie",
    "code": "tree-sitter",
    "langchain": "langchain-text-splitters",
}
# What code of others may search with: the module to look for, the package that brings it.
_ANY: Final[Mapping[str, str]] = {
    "apsw": "apsw",
    "bm25s": "bm25s",
    "chromadb": "chromadb",
    "httpx": "httpx",
    "lancedb": "lancedb",
    "langchain_core": "langchain-core",
    "llama_index.core": "llama-index-core",
    "model2vec": "model2vec",
    "psycopg": "psycopg",
    "qdrant_client": "qdrant-client",
    "sentence_transformers": "sentence-transformers",
    "snowballstemmer": "snowballstemmer",
    "sqlite_vec": "sqlite-vec",
    "wordllama": "wordllama",
}


def versions_of(specs: Iterable[ProviderSpec], chunkers: Iterable[str] = ()) -> dict[str, str]:
    """The versions of what may change the outcome of a run.

    Args:
        specs: the providers in use.
        chunkers: those in use.
    """
    packages = {"numpy"}
    for spec in specs:
        packages.update(_of_provider(spec.type, spec.options))
    packages.update(_CHUNKERS.get(chunker.partition("-")[0], "") for chunker in chunkers)
    versions = {"berryeval": berryeval.__version__, "python": platform.python_version()}
    for package in sorted(packages):
        installed = _installed(package)
        if installed:
            versions[package] = installed
    return versions


def _of_provider(name: str, options: Mapping[str, Any]) -> Iterator[str]:
    known = PROVIDERS.canonical(name)
    if known == "hybrid":
        for child, given in _fused(options):
            yield from _of_provider(child, given)
        return
    if known not in _PROVIDERS:
        yield from (package for module, package in _ANY.items() if module in sys.modules)
        return
    asked = {"mode": "", "embedder": "", **_defaults(known), **options}
    for package in _PROVIDERS[known]:
        if package not in _OF_VECTORS or asked["mode"] != "text":
            yield _of_embedder(str(asked["embedder"])) if package == _EMBEDDING else package


def _defaults(provider: str) -> dict[str, Any]:
    """What the options of a provider are where it is not told."""
    kind = PROVIDERS.get(provider)
    return {one.name: one.default for one in fields(kind)} if is_dataclass(kind) else {}


def _fused(options: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The providers that a hybrid one fuses, each with its options."""
    by_name = options.get("options")
    for child in options.get("providers") or _defaults("hybrid")["providers"]:
        given = child.get("options") if isinstance(child, Mapping) else None
        name = child.get("type") if isinstance(child, Mapping) else child
        if isinstance(name, str) and given is None and isinstance(by_name, Mapping):
            given = by_name.get(name)
        yield str(name), given if isinstance(given, Mapping) else {}


def _of_embedder(name: str) -> str:
    return _EMBEDDERS.get(name, name)


def _installed(package: str) -> str:
    try:
        return metadata.version(package) if package else ""
    except metadata.PackageNotFoundError:
        return ""
