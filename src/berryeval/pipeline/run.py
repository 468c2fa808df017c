"""Benchmarks times providers: chunk, index, ask, score. What was answered is not asked again."""

from __future__ import annotations

import logging
import traceback
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from berryeval.chunkers import parse_chunker
from berryeval.errors import (
    BerryEvalError,
    ConfigurationError,
    DataError,
    MissingDependencyError,
    NotWrittenError,
    RunFailedError,
)
from berryeval.harness.journal import Journal
from berryeval.harness.lifecycle import index_and_ask
from berryeval.harness.outcomes import FAILED
from berryeval.hit_engine import judge_and_score
from berryeval.io.command_lines import to_go_on
from berryeval.pipeline.choice import chosen_queries
from berryeval.pipeline.cutting import chunker_for, cut, suggested_chunker
from berryeval.pipeline.folder import RunFolder, write_json_file
from berryeval.pipeline.inputs import load_benchmarks
from berryeval.pipeline.judging import relevance_of
from berryeval.pipeline.left import check_budget, left_to_ask
from berryeval.pipeline.log_lines import say_damaged, say_quality, say_taken
from berryeval.pipeline.rankings import Answers, lean
from berryeval.pipeline.recording import Passages, Recorder, all_measures, scored_measures
from berryeval.pipeline.redaction import Secrets, masked
from berryeval.pipeline.run_result import BenchmarkResult, ProviderResult
from berryeval.pipeline.scoring import warnings_of_run_file, warnings_of_scores, write_trec_run
from berryeval.pipeline.versions import versions_of
from berryeval.providers import make_provider
from berryeval.results import BenchmarkRecord, ProviderRecord
from berryeval.results.standard import depth_note

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from berryeval.benchmarks import Benchmark
    from berryeval.harness.ranking import Ranking
    from berryeval.pipeline.plan import Plan, ProviderSpec
    from berryeval.providers import Provider
    from berryeval.records import Chunk, Query

__all__ = ["Listener", "failed_queries", "failed_runs", "run_plan"]

_LONGEST_ERROR: Final = 2000  # characters; some errors bring a whole web page along
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
    with secrets.kept_out_of_errors():
        benchmarks = loaded or load_benchmarks(plan)
        work.check(benchmarks)
        hashes = {benchmark.name: benchmark.content_hash for benchmark in benchmarks}
        chunkers = {benchmark.name: suggested_chunker(benchmark) for benchmark in benchmarks}
        with folder.locked():
            folder.check_same_run(plan)
            folder.check_same_chunkers(plan, chunkers)
            asked = folder.as_asked(plan)
            folder.write_manifest(asked, {"benchmarks": hashes, "chunkers": chunkers})
            with _failed_in_the_middle(folder):
                results = [work.on_benchmark(benchmark) for benchmark in benchmarks]
                parts = [result.record for result in results]
                record = folder.record(asked, parts, work.versions(parts))
                folder.write_record(record)
    return [replace(result, run=record) for result in results]


@contextmanager
def _failed_in_the_middle(folder: RunFolder) -> Iterator[None]:
    """A disk that is full when a run has begun is no mistake of who asked for it."""
    try:
        yield
    except NotWrittenError as error:
        if folder.kept:
            advice = f"what was answered is kept, to go on: {to_go_on(folder.path)}"
        else:
            advice = (
                "nothing is kept, for the run had a temporary folder; give one with room (folder=)"
            )
        msg = f"{error}; {advice}"
        raise RunFailedError(msg) from None


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
        self._has_asked = False

    def versions(self, parts: Sequence[BenchmarkRecord]) -> Mapping[str, Any]:
        """The versions of what answered: those of before stay where nothing was asked today."""
        before: Mapping[str, Any] = {}
        with suppress(DataError):  # a damaged record is made again
            before = self.folder.read_record().versions if self.folder.record_file.exists() else {}
        if before and not self._has_asked:
            return before
        chunkers = {one.chunker for part in parts for one in part.providers}
        return {**before, **versions_of(self.plan.providers, chunkers)}

    def made(self, spec: ProviderSpec) -> Provider:
        """The provider, with its secrets filled in."""
        options = self.secrets.filled_in(spec.options)
        try:
            return make_provider(spec.type, options)
        except BerryEvalError:
            raise
        except (TypeError, ValueError) as error:
            msg = f"provider {spec.label!r} cannot be made: {error}"
            raise ConfigurationError(msg) from error

    def check(self, benchmarks: Sequence[Benchmark]) -> None:
        """Say what cannot be done before anything is done."""
        for spec in self.plan.providers:
            self.made(spec)
            if spec.chunker:
                parse_chunker(spec.chunker)
        owners: dict[str, str] = {}
        for benchmark in benchmarks:
            chosen_queries(benchmark, self.plan)
            for spec in self.plan.providers:
                owner = f"{spec.label} on {benchmark.name}"
                part = str(self.folder.part(benchmark.name, spec))
                other = owners.setdefault(part.lower(), owner)
                if other is not owner:
                    msg = f"{other} and {owner} would share the folder {part}; rename one of them"
                    raise ConfigurationError(msg)

    def on_benchmark(self, benchmark: Benchmark) -> BenchmarkResult:
        """Ask every provider, one after the other."""
        queries = chosen_queries(benchmark, self.plan)
        log.info("Starting quality evaluation with %d queries", len(queries))
        pieces: dict[str, list[Chunk]] = {}
        passages = Passages()
        results = []
        for spec in self.plan.providers:
            chunker = chunker_for(benchmark, spec)
            if chunker not in pieces:
                pieces[chunker] = cut(benchmark, chunker)
            asked = _Asked(benchmark, queries, spec, chunker, pieces[chunker], passages)
            results.append(self._on_provider(asked))
        deeper = depth_note(self.plan.depth, self.plan.scored)
        record = BenchmarkRecord(
            benchmark.name,
            benchmark.content_hash,
            self.plan.depth,
            queries,
            tuple(one.record for one in results),
            tuple(passages),
            benchmark.thresholds,
            tuple(filter(None, (*map(str, benchmark.remarks), deeper))),
        )
        return BenchmarkResult(benchmark, queries, tuple(results), record)

    def _on_provider(self, asked: _Asked) -> ProviderResult:
        name, benchmark = asked.spec.label, asked.benchmark.name
        part = self.folder.part(benchmark, asked.spec)
        failure = ""
        try:
            self._ask(asked, part)
        except (ConfigurationError, MissingDependencyError):
            raise
        except BerryEvalError as error:
            failure = self.secrets.removed_from(str(error))
            log.error("%s on %s: %s", name, benchmark, failure)  # noqa: TRY400 - it is at debug
            log.debug("%s", self.secrets.removed_from("".join(traceback.format_exception(error))))
        finally:
            self.listener.end()
        return ProviderResult(self._scored(asked, part, failure), part)

    def _ask(self, asked: _Asked, part: Path) -> None:
        benchmark, queries, spec = asked.benchmark, asked.queries, asked.spec
        header = {
            "benchmark": benchmark.name,
            "benchmark_hash": benchmark.content_hash,
            "provider": masked(spec.model_dump()),
            "k": self.plan.depth,
        }
        with Journal(part / "results.jsonl", header) as journal:
            left, before = left_to_ask(queries, journal.done, retry_errors=self.retry_errors)
            taken = before.done
            say_taken(spec.label, benchmark.name, taken, len(queries), self.folder.created)
            say_damaged(spec.label, benchmark.name, journal.damaged if left else 0)
            self.listener.start(benchmark.name, spec.label, len(queries), taken)
            if not left:
                return

            def record(ranking: Ranking) -> None:
                error = self.secrets.removed_from(ranking.error)[:_LONGEST_ERROR]
                clean = replace(ranking, error=error) if ranking.error else ranking
                journal.add(lean(clean, chunks_of))
                log.debug(
                    "Query %s: retrieved %d results in %.0fms",
                    clean.query_id, len(clean.hits), clean.latency * 1000,
                )  # fmt: skip
                self.listener.answered(clean)

            chunks_of = {chunk.id: chunk for chunk in asked.chunks}
            policy = self.plan.run.policy(self.plan.seed)
            check_budget(before, len(queries), policy)
            provider = self.made(spec)
            provider.expect(benchmark.queries)
            self._has_asked = True
            index_and_ask(provider, asked.chunks, left, self.plan.depth, record, policy, before)

    def _scored(self, asked: _Asked, part: Path, failure: str) -> ProviderRecord:
        with Answers.opened(part / "results.jsonl", asked.queries, asked.chunks) as answers:
            if failure and len(answers) < len(asked.queries):
                (part / "scores.json").unlink(missing_ok=True)  # of fewer queries, or another day
                spec, outcomes = asked.spec, answers.outcomes
                return ProviderRecord(
                    spec.label, spec.type, asked.chunker, outcomes=outcomes, failure=failure
                )
            return replace(self._judged(asked, answers, part), failure=failure)

    def _judged(self, asked: _Asked, answers: Answers, part: Path) -> ProviderRecord:
        """Judge and record one answer after the other: none of them is held."""
        benchmark, queries, spec, chunks = asked.benchmark, asked.queries, asked.spec, asked.chunks
        relevance = relevance_of(benchmark, queries, chunks)
        recorder = Recorder(queries, answers, asked.passages)
        scored = scored_measures(self.plan, part / "scores.json")
        scores = judge_and_score(relevance, answers, all_measures(scored), seen=recorder.seen)
        scores = replace(scores, run_name=spec.label)
        say_quality(scores, recorder.strategies)
        record = recorder.record(spec, self.plan.depth, scored, scores)
        write_json_file(part / "scores.json", scores.only(scored).to_dict())
        warnings = recorder.tally.warnings(self.plan.depth, len(chunks))
        warnings += warnings_of_run_file(spec, record.outcomes)
        warnings += warnings_of_scores(benchmark, scores)
        warnings += write_trec_run(record.answers, spec.label, part / "run.trec")
        return replace(record, chunker=asked.chunker, warnings=tuple(warnings))


@dataclass(frozen=True)
class _Asked:
    """A provider on a benchmark: what it is asked about, and how the corpus is cut for it."""

    benchmark: Benchmark
    queries: tuple[Query, ...]
    spec: ProviderSpec
    chunker: str
    chunks: list[Chunk]
    passages: Passages


def failed_runs(results: Sequence[BenchmarkResult]) -> list[RunFailedError]:
    """What failed, for exit codes."""
    return [
        RunFailedError(f"{one.name} on {result.benchmark.name}: {one.failure}")
        for result in results
        for one in result.providers
        if one.failure
    ]


def failed_queries(
    results: Sequence[BenchmarkResult], allowed: Collection[tuple[str, str]] = ()
) -> int:
    """How many queries ended in an error or a timeout, for exit codes.

    Args:
        results: of the run.
        allowed: the benchmark and provider of whom they do not count.
    """
    return sum(
        one.outcomes.get(outcome, 0)
        for result in results
        for one in result.providers
        if (result.benchmark.name, one.name) not in allowed
        for outcome in FAILED
    )
