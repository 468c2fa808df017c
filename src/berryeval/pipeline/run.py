"""Benchmarks times providers: chunk, index, ask, score. What was answered is not asked again."""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from berryeval.chunkers import parse_chunker
from berryeval.errors import (
    BerryEvalError,
    ConfigurationError,
    MissingDependencyError,
    RunFailedError,
)
from berryeval.harness.journal import Journal, read_journal
from berryeval.harness.runner import ask_all
from berryeval.hit_engine import evaluate_hits
from berryeval.pipeline.folder import RunFolder, write_json_file
from berryeval.pipeline.inputs import load_benchmarks
from berryeval.pipeline.latency import Latency
from berryeval.pipeline.log_lines import scored_and_said
from berryeval.pipeline.redaction import Secrets, masked
from berryeval.providers import make_provider
from berryeval.relevance import Relevance
from berryeval.run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from berryeval.benchmarks import Benchmark
    from berryeval.harness.ranking import Ranking
    from berryeval.pipeline.plan import Plan, ProviderSpec
    from berryeval.providers import Provider
    from berryeval.records import Chunk, Query
    from berryeval.scores import Scores

__all__ = ["BenchmarkResult", "Listener", "ProviderResult", "run_plan"]

DEFAULT_CHUNKER: Final = "section"
_FAILED: Final = ("error", "timeout")
_FIELDS: Final = ("id", "category", "difficulty")
log = logging.getLogger("berryeval")


class Listener(Protocol):
    """Hears how a run goes on; progress bars and logs are listeners."""

    def start(self, benchmark: str, provider: str, total: int, done: int) -> None:
        """A provider is about to be asked; `done` queries were answered before."""

    def answered(self, ranking: Ranking) -> None:
        """A query has an outcome."""

    def end(self) -> None:
        """The provider has been asked everything, or has failed."""


class _Silent:
    def start(self, benchmark: str, provider: str, total: int, done: int) -> None:
        pass

    def answered(self, ranking: Ranking) -> None:
        pass

    def end(self) -> None:
        pass


@dataclass(frozen=True)
class ProviderResult:
    """What one provider did on one benchmark.

    Attributes:
        name: what the plan calls the provider.
        scores: of every query that was to be asked; None if the run of the provider failed.
        outcomes: how many queries were answered, were empty, failed, or timed out.
        latency: of the answered queries.
        warnings: what was not as it should be: too many hits, repeats, queries that failed.
        failure: why there are no scores.
        folder: where the journal and the scores are.
    """

    name: str
    scores: Scores | None
    outcomes: dict[str, int] = field(default_factory=dict)
    latency: Latency = field(default_factory=Latency)
    warnings: tuple[str, ...] = ()
    failure: str = ""
    folder: Path | None = None


@dataclass(frozen=True)
class BenchmarkResult:
    """What all providers did on one benchmark; `result["bm25"]` is what one of them did."""

    benchmark: Benchmark
    queries: tuple[Query, ...]
    providers: tuple[ProviderResult, ...]

    def __getitem__(self, name: str) -> ProviderResult:
        for one in self.providers:
            if one.name == name:
                return one
        msg = f"no provider {name!r}; there are {', '.join(one.name for one in self.providers)}"
        raise KeyError(msg)


def run_plan(
    plan: Plan,
    folder: RunFolder,
    *,
    retry_errors: bool = False,
    listener: Listener | None = None,
    loaded: Sequence[Benchmark] = (),
) -> list[BenchmarkResult]:
    """Do everything the plan asks for, or what is left of it in the folder.

    Args:
        plan: what to do.
        folder: where the results go.
        retry_errors: ask queries again that failed before.
        listener: hears how it goes on.
        loaded: the benchmarks of the plan, if they are loaded already.
    """
    secrets = Secrets()
    work = _Work(plan, folder, secrets, listener or _Silent(), retry_errors=retry_errors)
    benchmarks = loaded or load_benchmarks(plan)
    for spec in plan.providers:  # what cannot be made is said before anything is run
        work.made(spec).close()
        if spec.chunker:
            parse_chunker(spec.chunker)
    for benchmark in benchmarks:
        chosen_queries(benchmark, plan)
    hashes = {benchmark.name: benchmark.content_hash for benchmark in benchmarks}
    folder.write_manifest(plan, {"benchmarks": hashes})
    return [work.on_benchmark(benchmark) for benchmark in benchmarks]


class _Work:
    def __init__(
        self,
        plan: Plan,
        folder: RunFolder,
        secrets: Secrets,
        listener: Listener,
        *,
        retry_errors: bool,
    ) -> None:
        self.plan = plan
        self.folder = folder
        self.secrets = secrets
        self.listener = listener
        self.retry_errors = retry_errors

    def made(self, spec: ProviderSpec) -> Provider:
        """The provider, with its secrets filled in."""
        return make_provider(spec.type, self.secrets.filled_in(spec.options))

    def on_benchmark(self, benchmark: Benchmark) -> BenchmarkResult:
        queries = chosen_queries(benchmark, self.plan)
        log.info("Starting quality evaluation with %d queries", len(queries))
        results = [self._on_provider(benchmark, queries, spec) for spec in self.plan.providers]
        return BenchmarkResult(benchmark, queries, tuple(results))

    def _on_provider(
        self, benchmark: Benchmark, queries: tuple[Query, ...], spec: ProviderSpec
    ) -> ProviderResult:
        part = self.folder.part(benchmark.name, spec)
        chunks = chunked(benchmark, spec)
        failure = ""
        try:
            self._ask(benchmark, queries, spec, chunks, part)
        except (ConfigurationError, MissingDependencyError):
            raise
        except BerryEvalError as error:
            failure = self.secrets.removed_from(str(error))
            log.error("%s on %s: %s", spec.label, benchmark.name, failure)  # noqa: TRY400
        finally:
            self.listener.end()
        return self._scored(benchmark, queries, spec, chunks, part, failure)

    def _ask(
        self,
        benchmark: Benchmark,
        queries: tuple[Query, ...],
        spec: ProviderSpec,
        chunks: list[Chunk],
        part: Path,
    ) -> None:
        header = {
            "benchmark": benchmark.name,
            "benchmark_hash": benchmark.content_hash,
            "provider": masked(spec.model_dump(mode="json")),
            "k": self.plan.depth,
        }
        with Journal(part / "results.jsonl", header) as journal:
            again = set(_FAILED) if self.retry_errors else set()
            done = {name for name, outcome in journal.done.items() if outcome not in again}
            left = [query for query in queries if query.id not in done]
            self.listener.start(benchmark.name, spec.label, len(queries), len(queries) - len(left))
            if not left:
                return

            def record(ranking: Ranking) -> None:
                clean = replace(ranking, error=self.secrets.removed_from(ranking.error))
                journal.add(lean(clean, chunks_of))
                log.debug(
                    "Query %s: retrieved %d results in %.0fms",
                    clean.query_id, len(clean.hits), clean.latency * 1000,
                )  # fmt: skip
                self.listener.answered(clean)

            chunks_of = {chunk.id: chunk for chunk in chunks}
            with closing(self.made(spec)) as provider:
                provider.index(chunks)
                ask_all(
                    provider, left, self.plan.depth, record, self.plan.run.policy(self.plan.seed)
                )

    def _scored(
        self,
        benchmark: Benchmark,
        queries: tuple[Query, ...],
        spec: ProviderSpec,
        chunks: list[Chunk],
        part: Path,
        failure: str,
    ) -> ProviderResult:
        journal = part / "results.jsonl"
        asked = {query.id for query in queries}
        rankings = [
            whole(ranking, {chunk.id: chunk for chunk in chunks})
            for ranking in (read_journal(journal) if journal.exists() else ())
            if ranking.query_id in asked
        ]
        outcomes: Counter[str] = Counter(ranking.outcome for ranking in rankings)
        if failure and len(rankings) < len(queries):
            return ProviderResult(spec.label, None, dict(outcomes), failure=failure, folder=part)
        scores = scored_and_said(
            lambda measures: score(benchmark, queries, chunks, rankings, measures, spec.label),
            self.plan.scored,
        )
        write_json_file(part / "scores.json", scores.to_dict())
        _as_run(rankings, spec.label).to_trec(part / "run.trec")
        answered = [r.latency for r in rankings if r.outcome not in _FAILED]
        return ProviderResult(
            spec.label,
            scores,
            dict(outcomes),
            Latency.of(answered),
            tuple(warnings_about(rankings, self.plan.depth)),
            failure,
            part,
        )


def chosen_queries(benchmark: Benchmark, plan: Plan) -> tuple[Query, ...]:
    """The queries the plan asks for: those that pass the filter, up to the limit."""
    queries = benchmark.queries
    for name, wanted in plan.filter.items():
        known = {property_of(query, name) for query in queries}
        kept = tuple(q for q in queries if property_of(q, name).lower() == wanted.lower())
        if not kept:
            there = ", ".join(sorted(value for value in known if value)) or "none"
            msg = f"no query of {benchmark.name} has {name}={wanted}; there are {there}"
            raise ConfigurationError(msg)
        queries = kept
    return queries[: plan.limit]


def property_of(query: Query, name: str) -> str:
    """What a query says about itself under this name: a field, or a part of its metadata."""
    value = getattr(query, name, None) if name in _FIELDS else None
    return str(query.metadata.get(name, "") if value is None else value)


def chunked(benchmark: Benchmark, spec: ProviderSpec) -> list[Chunk]:
    """The corpus as the provider gets it: cut as the plan says, or as the benchmark suggests."""
    text = spec.chunker or str(benchmark.metadata.get("chunker", DEFAULT_CHUNKER))
    chunker = parse_chunker(text)
    return [chunk for document in benchmark.documents for chunk in chunker.chunk(document)]


def score(
    benchmark: Benchmark,
    queries: Sequence[Query],
    chunks: Sequence[Chunk],
    rankings: Sequence[Ranking],
    measures: Sequence[str],
    name: str,
) -> Scores:
    """The scores of rankings on the queries that were asked; a failed query scores 0."""
    asked = replace(benchmark, queries=tuple(queries), judgments=_about(benchmark, queries))
    relevance = Relevance.of(asked, chunks=chunks)
    hits = {ranking.query_id: list(ranking.hits) for ranking in rankings}
    return replace(evaluate_hits(relevance, hits, measures), run_name=name)


def _about(benchmark: Benchmark, queries: Sequence[Query]) -> Any:
    asked = {query.id for query in queries}
    return tuple(judgment for judgment in benchmark.judgments if judgment.query_id in asked)


def lean(ranking: Ranking, chunks: dict[str, Chunk]) -> Ranking:
    """The ranking without the texts that the corpus holds anyway."""
    return replace(
        ranking,
        hits=tuple(
            replace(hit, text="") if hit.id in chunks and hit.text == chunks[hit.id].text else hit
            for hit in ranking.hits
        ),
    )


def whole(ranking: Ranking, chunks: dict[str, Chunk]) -> Ranking:
    """The ranking with these texts again."""
    return replace(
        ranking,
        hits=tuple(
            replace(hit, text=chunks[hit.id].text) if not hit.text and hit.id in chunks else hit
            for hit in ranking.hits
        ),
    )


def warnings_about(rankings: Sequence[Ranking], k: int) -> list[str]:
    """What a provider did that makes a comparison unfair, or a score doubtful."""
    found = []
    many = sum(ranking.returned - ranking.repeated > k for ranking in rankings)
    if many:
        found.append(f"returned more than the {k} hits asked for in {many} queries; cut to {k}")
    repeats = sum(ranking.repeated for ranking in rankings)
    if repeats:
        found.append(f"returned {repeats} hits more than once; the first counts")
    failed = [ranking for ranking in rankings if ranking.outcome in _FAILED]
    if failed:
        found.append(f"{len(failed)} queries failed and score 0; the last: {failed[-1].error}")
    return found


def _as_run(rankings: Sequence[Ranking], name: str) -> Run:
    return Run.from_dict(
        {r.query_id: {hit.id: hit.score for hit in r.hits} for r in rankings if r.hits}, name=name
    )


def failed_runs(results: Sequence[BenchmarkResult]) -> list[RunFailedError]:
    """What failed, for exit codes."""
    return [
        RunFailedError(f"{one.name} on {result.benchmark.name}: {one.failure}")
        for result in results
        for one in result.providers
        if one.failure
    ]
