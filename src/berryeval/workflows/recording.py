"""Turn judged answers into the record of a run."""

from __future__ import annotations

import logging
import math
import platform
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import berryeval
from berryeval._internal.json import read_json_object
from berryeval._internal.plain import DEEPEST, was_cut
from berryeval._internal.text import pluralize, read_spelled
from berryeval._internal.validate import is_number, is_whole
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
    FoundTarget,
    HitRecord,
    Latency,
    MissedTarget,
    Passage,
    ProviderRecord,
    standard_metrics,
)
from berryeval.scoring import Scores

if TYPE_CHECKING:
    from berryeval.anchors import Corpus, Location, Target
    from berryeval.data import Hit, Query
    from berryeval.providers import Disorder
    from berryeval.relevance import Judged
    from berryeval.runner import Answers, Ranking
    from berryeval.workflows.plan import Plan, ProviderSpec
    from berryeval.workflows.scope_tally import ScopeTally


log = logging.getLogger("berryeval")
PASSAGE_LENGTH: Final = 400  # characters of a hit's text that are kept


class Tally:
    """Statistics of the answers of a provider."""

    def __init__(self) -> None:
        self.seconds = array("d")
        self.batch = 1
        self._different = array("q")
        self._available: list[int | None] = []
        self._repeated = self._cut = 0
        self._disorders: Counter[Disorder] = Counter()
        self._costs: dict[str, list[float]] = {}
        self._uncountable: set[str] = set()
        self._failed = 0
        self._last_error = ""

    def add(self, ranking: Ranking, available: int | None = None) -> None:
        """Add an answer; `available` counts the chunks in the scope of its query, if it has one."""
        self.batch = max(self.batch, ranking.batch)
        self._repeated += ranking.repeated
        if ranking.outcome in FAILED:
            self._failed += 1
            self._last_error = ranking.error
        else:
            self.seconds.append(ranking.latency)
            self._cut += any(was_cut(hit.metadata) for hit in ranking.hits)
            self._different.append(ranking.returned - ranking.repeated)
            self._available.append(available)
            for name, amount in ranking.cost.items():
                if is_number(amount):
                    self._costs.setdefault(name, []).append(amount)
                elif is_whole(amount):
                    self._uncountable.add(name)  # of an older run: now it is an error
            if ranking.disorder:
                self._disorders[ranking.disorder] += 1

    @property
    def cost(self) -> dict[str, float]:
        """Mean cost of an answered query; a query without a cost counts as 0."""
        return {
            name: _divide_sum(amounts, len(self.seconds))
            for name, amounts in sorted(self._costs.items())
            if name not in self._uncountable
        }

    def warnings(self, k: int, available: int | None = None) -> list[str]:
        """Return warnings about answers that make a comparison unfair or a score doubtful."""
        found = []
        many = sum(count > k for count in self._different)
        if many:
            found.append(
                f"returned more than the {k} hits asked for in {_queries(many)}; cut to {k}"
            )
        few = sum(
            count < min(k, (available or 0) if there is None else there)
            for count, there in zip(self._different, self._available, strict=True)
        )
        if few:
            found.append(f"returned fewer than the {k} hits asked for in {_queries(few)}")
        if self._repeated:
            found.append(f"returned {self._repeated} hits more than once; the first counts")
        if self._cut:
            found.append(
                f"returned metadata nested deeper than {DEEPEST} levels in {_queries(self._cut)}; "
                "what is deeper was left out"
            )
        found += self._check_order()
        found += [
            f"reported a cost {name!r} too large for a number; it has no mean"
            for name in sorted(self._uncountable)
        ]
        if self._failed:
            verb = "scores" if self._failed == 1 else "score"
            words = f"{_queries(self._failed)} failed and {verb} 0"
            found.append(f"{words}; the last: {self._last_error}")
        return found

    def _check_order(self) -> list[str]:
        queries = _queries(len(self._different))
        tied = self._disorders["tied"]
        wrong = self._disorders.total() - tied
        found = []
        if wrong and self._disorders["reversed"] == wrong:
            found.append(
                f"the hits of {wrong} of {queries} have scores that increase from first to last; "
                "they look like distances: give 1 - distance, or negate them; the highest score "
                "ranks first"
            )
        elif wrong:
            found.append(
                f"the hits of {wrong} of {queries} are not in the order of their scores; the "
                "scores decide: is the score the one that the hits were ranked by?"
            )
        if tied:
            found.append(
                f"hits of equal scores were moved in {tied} of {queries}: they are ordered by id, "
                "the highest first, as trec_eval does; to keep the order of the answer, give "
                "scores that differ, or none"
            )
        return found


def _divide_sum(amounts: list[float], count: int) -> float:
    try:
        return math.fsum(amounts) / count
    except OverflowError:  # only the sum overflows: the quotient is at most the largest amount
        return float(sum(map(Fraction, amounts)) / count)


def _queries(count: int) -> str:
    return pluralize(count, "query", "queries")


def all_metrics(scored: Sequence[str]) -> list[str]:
    """Return the requested metrics and those that every run has or logs."""
    return list(dict.fromkeys((*scored, *STANDARD, *CURVE)))


def scored_metrics(plan: Plan, file: Path) -> list[str]:
    """Return the metrics of the plan, and those added to this file of scores since.

    A missing or damaged file adds nothing.
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
        log.warning("%s cannot be computed again and is dropped: %s", metric, error)
        return False
    return True


class Passages:
    """The texts of hits and of missed targets for display, each kept once."""

    def __init__(self) -> None:
        self._places: dict[Passage, int] = {}
        self._targets: set[str] = set()

    def add(self, hit: Hit) -> int | None:
        """Add the passage of a hit and return its index; None if the hit has no text."""
        if not hit.text:
            return None
        return self._keep(hit.text, " > ".join([hit.doc_id, *hit.section]) if hit.doc_id else "")

    def add_target(self, name: str, target: Target, corpus: Corpus) -> None:
        """Add the text of a target by its name, if it is known."""
        if name in self._targets:
            return
        self._targets.add(name)
        if text := next(filter(None, (_find_text(one, corpus) for one in target.members)), ""):
            self._keep(text, name)

    def _keep(self, text: str, name: str) -> int:
        if len(text) > PASSAGE_LENGTH:
            text = f"{text[: PASSAGE_LENGTH - 1]}…"
        return self._places.setdefault(Passage(text, name), len(self._places))

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._places)


class Recorder:
    """Builds the record of a provider from its judged answers, in the order of the queries."""

    def __init__(
        self,
        queries: Sequence[Query],
        answers: Answers,
        passages: Passages,
        scopes: ScopeTally,
        corpus: Corpus,
    ) -> None:
        self._corpus = corpus
        self._query_of = {query.id: query for query in queries}
        self._answers = answers
        self._passages = passages
        self._scopes = scopes
        self._built = AnswersBuilder()
        self.strategies: dict[str, str] = {}
        self.tally = Tally()

    def add(self, query_id: str, hits: Sequence[Hit], judged: Judged) -> None:
        """Add an answer."""
        ranking = self._answers.ranking(query_id) if query_id in self._answers else None
        query = self._query_of[query_id]
        if ranking is not None:
            self.tally.add(ranking, self._scopes.count_chunks(query))
            self._scopes.add(query, hits)
            if ranking.outcome not in FAILED:
                self.strategies[query_id] = judged.strategy
        for one in judged.joined.missed:
            self._passages.add_target(_name_target(one), one, self._corpus)
        self._built.add(_build_answer(query, ranking, hits, judged, self._passages))

    def build_record(
        self, spec: ProviderSpec, depth: int, scored: Sequence[str], everything: Scores
    ) -> ProviderRecord:
        """Build the record of the provider, without warnings."""
        return ProviderRecord(
            name=spec.label,
            type=spec.type,
            chunker=spec.chunker,
            scores=everything.only(scored),
            standard=everything.only(standard_metrics(depth)),
            curve=tuple(everything.mean[name] for name in CURVE),
            answers=AnswerColumns.of(self._built),
            outcomes=self._answers.outcomes,
            latency=Latency.of(self.tally.seconds, self.tally.batch),
            cost=self.tally.cost,
            out_of_scope=self._scopes.share,
        )


def _build_answer(
    query: Query, ranking: Ranking | None, hits: Sequence[Hit], judged: Judged, passages: Passages
) -> AnswerRecord:
    given = (read_spelled(query.metadata, name) for name in ANSWER_FIELDS)
    known = next((str(value) for value in given if value), "")
    expected = known if judged.strategy == "token-fallback" else ""
    missed = tuple(
        MissedTarget(_name_target(one), one.grade)
        for one in sorted(judged.joined.missed, key=lambda one: -one.grade)
    )
    found = tuple(
        FoundTarget(_name_target(one), one.grade, rank)
        for one, rank in sorted(judged.joined.found, key=lambda one: (-one[0].grade, one[1]))
    )
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
                passage=passages.add(hit),
            )
            for place, hit in enumerate(hits)
        ),
        missed,
        None if ranking.outcome in FAILED else ranking.latency,
        ranking.error,
        expected,
        ranking.cost,
        found,
        ranking.answer,
    )


def _find_text(place: Location, corpus: Corpus) -> str:
    name, start, end = place.spans[0] if place.spans else (place.anchor.document, 0, None)
    text = corpus.text(name) if place.spans or place.is_document else None
    return text.text[start:end] if text else place.anchor.quote


def _name_target(target: Target) -> str:
    return " or ".join(name_of(member.anchor) for member in target.members)


# Versions of the libraries that a run depends on.

_EMBEDDING: Final = "embedder"  # placeholder for the package of the embedder in use
_VECTORS: Final = frozenset({_EMBEDDING, "sqlite-vec"})  # not needed by text search
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
# Packages that custom providers may use, by module.
_CUSTOM: Final[Mapping[str, str]] = {
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


def find_versions(specs: Iterable[ProviderSpec], chunkers: Iterable[str] = ()) -> dict[str, str]:
    """Return the versions of packages that may change the outcome of a run."""
    packages = {"numpy"}
    for spec in specs:
        packages.update(_find_packages(spec.type, spec.options))
    packages.update(_CHUNKERS.get(chunker.partition("-")[0], "") for chunker in chunkers)
    versions = {"berryeval": berryeval.__version__, "python": platform.python_version()}
    for package in sorted(packages):
        installed = _find_version(package)
        if installed:
            versions[package] = installed
    return versions


def _find_packages(name: str, options: Mapping[str, Any]) -> Iterator[str]:
    known = PROVIDERS.canonical(name)
    if known == "hybrid":
        for child, given in _list_fused(options):
            yield from _find_packages(child, given)
        return
    if known not in _PROVIDERS:
        yield from (package for module, package in _CUSTOM.items() if module in sys.modules)
        return
    asked = {"mode": "", "embedder": "", **_default_options(known), **options}
    for package in _PROVIDERS[known]:
        if package not in _VECTORS or asked["mode"] != "text":
            embedder = str(asked["embedder"])
            yield _EMBEDDERS.get(embedder, embedder) if package == _EMBEDDING else package


def _default_options(provider: str) -> dict[str, Any]:
    kind = PROVIDERS.get(provider)
    return {one.name: one.default for one in fields(kind)} if is_dataclass(kind) else {}


def _list_fused(options: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the providers that a hybrid one fuses, each with its options."""
    by_name = options.get("options")
    for child in options.get("providers") or _default_options("hybrid")["providers"]:
        given = child.get("options") if isinstance(child, Mapping) else None
        name = child.get("type") if isinstance(child, Mapping) else child
        if isinstance(name, str) and given is None and isinstance(by_name, Mapping):
            given = by_name.get(name)
        yield str(name), given if isinstance(given, Mapping) else {}


@cache
def _find_version(package: str) -> str:
    try:
        return metadata.version(package) if package else ""
    except metadata.PackageNotFoundError:
        return ""
