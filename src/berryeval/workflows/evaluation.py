"""Benchmarks times providers: chunk, index, ask, score. What was answered is not asked again."""

from __future__ import annotations

import itertools
import logging
import traceback
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from berryeval._internal.text import NOTE, counted, to_go_on
from berryeval.chunkers import parse_chunker
from berryeval.data import QueryTable, Run
from berryeval.errors import (
    BerryEvalError,
    ConfigurationError,
    DataError,
    MissingDependencyError,
    NotWrittenError,
    RunFailedError,
)
from berryeval.providers import PROVIDERS, build_provider
from berryeval.runner import FAILED, Journal, Progress, index_and_ask
from berryeval.runs import BenchmarkRecord, ProviderRecord, Secrets, depth_note, masked
from berryeval.scoring import judge_and_score
from berryeval.workflows.recording import (
    Passages,
    Recorder,
    all_metrics,
    scored_metrics,
    versions_of,
)
from berryeval.workflows.run_answers import Answers, lean
from berryeval.workflows.run_folder import RunFolder, write_json_file
from berryeval.workflows.run_result import BenchmarkResult, ProviderResult
from berryeval.workflows.selection import (
    chosen_queries,
    chunker_for,
    cut,
    load_benchmarks,
    relevance_of,
    suggested_chunker,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from berryeval.benchmarks import Benchmark
    from berryeval.data import Chunk, Query
    from berryeval.providers import Provider
    from berryeval.runner import Policy, Ranking
    from berryeval.runs import AnswerRecord
    from berryeval.scoring import Scores
    from berryeval.workflows.plan import Plan, ProviderSpec


# What is left to be asked in a run that was begun, and whether that is worth it.


def left_to_ask(
    queries: Sequence[Query], outcomes: Mapping[str, str], *, retry_errors: bool
) -> tuple[list[Query], Progress]:
    """The queries to be asked, and how far the run is without them.

    Args:
        queries: all of the run.
        outcomes: of queries that were asked before.
        retry_errors: ask those that failed again; until then they have no outcome.
    """
    again = FAILED if retry_errors else ()
    kept = {query: outcome for query, outcome in outcomes.items() if outcome not in again}
    left = [query for query in queries if query.id not in kept]
    failed = sum(kept.get(query.id) in FAILED for query in queries)
    return left, Progress(len(queries) - len(left), failed)


def check_budget(before: Progress, total: int, policy: Policy) -> None:
    """Give a run up again whose error budget was used up before: it would be in the next query."""
    if policy.is_hopeless(before.failed, before.done, total):
        msg = (
            f"nothing was asked: {before.failed} of {before.done} queries failed before (of "
            f"{total}; the error budget is {policy.error_budget:g}); ask them again "
            "(--retry-errors, in Python retry_errors=True), or make a new run"
        )
        raise RunFailedError(msg)


# What the log says about a run: its quality, and what of it is older than it looks.

# The command shows it, as it shows warnings; who uses the library is not bothered with it.
logging.addLevelName(NOTE, "NOTE")

# Whatever is asked for, the log says the same three, by the names people know.
_QUALITY: Final = {"P@5": "P@5", "P@10": "P@10", "RR": "MRR"}


def say_quality(scores: Scores, strategies: Mapping[str, str]) -> None:
    """Log what every run should say.

    Args:
        scores: hold at least the standard metrics.
        strategies: who decided about each query that was answered. Where words did, nobody knows
            what there is to find: only what was found can be relevant.
    """
    from berryeval._internal import numbers

    means = ", ".join(
        f"{shown}={numbers.metric(scores.mean[name])}" for name, shown in _QUALITY.items()
    )
    log.info("Quality metrics: %s", means)
    first = scores.per_query("RR")
    for query, outcome in zip(scores.queries, scores.outcomes, strict=True):
        known = outcome != "no relevant documents" or strategies.get(query) == "token-fallback"
        if query in strategies and first[query] == 0 and known:
            log.warning("Query %s returned no relevant results", query)


def say_taken(provider: str, benchmark: str, taken: int, total: int, since: str) -> None:
    """Log how many answers of a provider are not asked for again, and of when they are."""
    if taken:
        text = "%s on %s: %d of %d answers are from the journal of the run of %s"
        log.log(NOTE, text, provider, benchmark, taken, total, since)


def say_damaged(provider: str, benchmark: str, damaged: int) -> None:
    """Log how many lines of a journal could not be read."""
    if damaged:
        lines = counted(damaged, "damaged line")
        text = "%s on %s: %s of the journal left out; a query with no other line is asked again"
        log.warning(text, provider, benchmark, lines)


# From answers to scores, and what to say about them.

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
            return build_provider(spec.type, options)
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
        scored = scored_metrics(self.plan, part / "scores.json")
        scores = judge_and_score(relevance, answers, all_metrics(scored), seen=recorder.seen)
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
