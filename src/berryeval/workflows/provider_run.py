"""One provider on one benchmark: ask what is missing, then score all answers."""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from berryeval._internal.masking import Masker
from berryeval._internal.optional import require_modules
from berryeval._internal.plain import describe_error, write_text
from berryeval._internal.text import NOTE, pluralize
from berryeval.chunkers import parse_chunker
from berryeval.data import index_records
from berryeval.errors import (
    BerryEvalError,
    ConfigurationError,
    MissingDependencyError,
    RunFailedError,
)
from berryeval.metrics import parse_metrics
from berryeval.providers import Renamed, build_provider
from berryeval.relevance import STRIPPED, fingerprint_queries
from berryeval.runner import FAILED, Answers, Journal, Progress, index_and_ask, remove_texts, trace
from berryeval.runs import ProviderRecord, find_open_keys, mask_secrets
from berryeval.scoring import judge_and_score
from berryeval.workflows.answer_masking import AnswerMasker
from berryeval.workflows.judged_data import hash_without_votes
from berryeval.workflows.library_versions import find_versions
from berryeval.workflows.recording import (
    Recorder,
    all_metrics,
    log_quality,
    scored_metrics,
    warn_about_relevance,
    warn_about_run_file,
)
from berryeval.workflows.run_folder import JOURNAL, SCORES, write_json_file
from berryeval.workflows.run_result import ProviderResult
from berryeval.workflows.scope_tally import ScopeTally, check_scopes, warn_about_scopes
from berryeval.workflows.selection import (
    build_relevance,
    check_chunker,
    check_documents,
    check_judged,
    check_targets,
    chunker_for,
    read_id_rules,
    select_queries,
)
from berryeval.workflows.stage_scores import record_stages
from berryeval.workflows.trec_files import TrecFiles, remove_trec_files

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark
    from berryeval.data import Chunk, Hit, Query
    from berryeval.providers import Provider
    from berryeval.relevance import Judged, UnknownIds
    from berryeval.runner import Policy, Ranking, Tracer
    from berryeval.runs import BenchmarkRecord, Secrets
    from berryeval.workflows.plan import Plan, ProviderSpec
    from berryeval.workflows.recording import Passages
    from berryeval.workflows.run_folder import RunFolder


log = logging.getLogger("berryeval")
# Shown by the command line, as warnings are; hidden from users of the library.
logging.addLevelName(NOTE, "NOTE")


class Listener(Protocol):
    """An observer of a run, such as a progress bar."""

    def start(self, benchmark: str, provider: str, total: int, done: int) -> None:
        """Handle the start of a provider; `done` queries were answered before."""

    def indexing(self, done: int, total: int) -> None:
        """Handle the progress of indexing, in chunks; called from several threads."""

    def answered(self, ranking: Ranking) -> None:
        """Handle the outcome of a query."""

    def end(self) -> None:
        """Handle the end of a provider, successful or not."""


class SilentListener:
    """A listener that does nothing."""

    def start(self, benchmark: str, provider: str, total: int, done: int) -> None:
        """Do nothing."""

    def indexing(self, done: int, total: int) -> None:
        """Do nothing."""

    def answered(self, ranking: Ranking) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class ProviderTask:
    """A provider on a benchmark: the queries to ask and the chunks to index."""

    benchmark: Benchmark
    queries: tuple[Query, ...]
    spec: ProviderSpec
    chunker: str
    chunks: Sequence[Chunk]
    passages: Passages


class ProviderRunner:
    """Asks and scores the providers of one run; `left` of `total` queries had no answer before."""

    def __init__(
        self,
        plan: Plan,
        folder: RunFolder,
        secrets: Secrets,
        listener: Listener,
        *,
        retry_errors: bool,
        tracer: Tracer | None = None,
    ) -> None:
        self._tracer = tracer
        self._plan = plan
        self._folder = folder
        self._secrets = secrets
        self._listener = listener
        self._retry_errors = retry_errors
        self._has_asked = False
        self._recorded = 0  # queries of the provider that is being asked
        self._local: set[str] = set()  # labels of providers that search in this process
        self._indexing: set[str] = set()  # of those that find only the chunks of the benchmark
        self._existing: dict[tuple[str, str], Mapping[str, Any]] = {}  # by benchmark and label
        self.total = self.left = 0

    def check(self, benchmarks: Sequence[Benchmark]) -> None:
        """Reject what cannot run: providers, chunkers, packages, filters, and shared folders."""
        needs: list[tuple[str, Mapping[str, str]]] = []
        providers: dict[str, Provider] = {}
        for spec in self._plan.providers:
            what = f"provider {spec.label!r} cannot be built"
            with _same_folder(spec.label), _guard(what, ConfigurationError):
                built = providers[spec.label] = self._build_provider(spec)
                needs.append((f"the provider {spec.type}", built.required()))
                self._indexing |= {spec.label} if built.needs_documents() else set()
                self._local |= {spec.label} if built.searches_in_process() else set()
            check_chunker(spec, built)
            for option in find_open_keys(spec.options):
                log.warning(
                    "%s: the path of %s seems to hold a key, which is unsafe in a file; write "
                    "${VARIABLE} in its place and set that variable of the environment",
                    spec.label, option,
                )  # fmt: skip
            names = [spec.chunker, *(chunker_for(one, spec) for one in benchmarks)]
            for name in filter(None, dict.fromkeys(names)):
                modules = getattr(parse_chunker(name), "modules", ())
                needs.append((f"the chunker {name}", dict.fromkeys(modules, "chunkers")))
        require_modules(needs)
        for benchmark in benchmarks:
            queries = select_queries(benchmark, self._plan)
            check_judged(benchmark, queries)
            check_scopes(benchmark, queries)
            check_documents(benchmark, providers)
            used = (chunker_for(benchmark, spec) for spec in self._plan.providers)
            check_targets(benchmark, providers, used)

    def _build_provider(self, spec: ProviderSpec) -> Provider:
        options = self._secrets.fill_in(spec.options)
        built = build_provider(spec.type, options)
        if not spec.strip and not spec.id_map:
            return built
        return Renamed(built, rules=read_id_rules(spec))

    def ask(self, task: ProviderTask) -> str:
        """Ask the queries without an answer; return why the provider failed, or "".

        A failure before the first query is raised if the run has scores: they would be lost.
        """
        name, benchmark = task.spec.label, task.benchmark.name
        self._recorded = 0
        try:
            with _same_folder(name):
                self._ask(task)
        except (ConfigurationError, MissingDependencyError):
            raise
        except BerryEvalError as error:
            failure = self._secrets.mask_text(str(error))
            if not self._recorded and self._had_scores(benchmark, name):
                raise RunFailedError(
                    f"{name} on {benchmark}: {failure}; nothing was asked, and the run keeps the "
                    "scores it had: it can be used as it is"
                ) from None
            log.error("%s on %s: %s", name, benchmark, failure)  # noqa: TRY400 - logged below
            log.debug("%s", self._secrets.mask_text("".join(traceback.format_exception(error))))
            return failure
        finally:
            self._listener.end()
        return ""

    def _ask(self, task: ProviderTask) -> None:
        benchmark, queries, spec = task.benchmark, task.queries, task.spec
        header = {
            "benchmark": benchmark.name,
            "benchmark_hash": hash_without_votes(benchmark),
            "provider": mask_secrets(spec.model_dump()),
            "k": self._plan.depth,
        }
        file = self._folder.part(benchmark.name, spec) / JOURNAL
        with Journal(file, header, repair=benchmark.name in self._folder.same_data) as journal:
            if journal.repaired:
                text = "%s on %s: the first line of the journal was damaged and is written again"
                log.warning(text, spec.label, benchmark.name)
            left, before = _find_unasked(queries, journal.done, retry_errors=self._retry_errors)
            self.total += len(queries)
            self.left += len(left)
            if before.done:
                text = "%s on %s: %d of %d answers are from the journal of the run of %s"
                counts = (before.done, len(queries))
                log.log(NOTE, text, spec.label, benchmark.name, *counts, self._folder.created)
            if left and journal.damaged:
                lines = pluralize(journal.damaged, "damaged line")
                text = (
                    "%s on %s: skipped %s of the journal; a query with no other line is asked again"
                )
                log.warning(text, spec.label, benchmark.name, lines)
            self._listener.start(benchmark.name, spec.label, len(queries), before.done)
            in_process = spec.label in self._local
            policy = self._plan.run.policy(self._plan.seed, in_process=in_process)
            _check_budget(before, len(queries), policy)
            if left:
                self._search(task, left, before, policy, journal)

    def _search(
        self,
        task: ProviderTask,
        queries: Sequence[Query],
        before: Progress,
        policy: Policy,
        journal: Journal,
    ) -> None:
        """Build the provider, ask it these queries, and write its answers to the journal."""
        benchmark, spec, chunk_of = task.benchmark, task.spec, index_records(task.chunks)
        with _guard("the provider could not be prepared", RunFailedError):
            provider = self._build_provider(spec)
            provider.expect(benchmark.queries)
        masker = AnswerMasker(Masker.known(), benchmark, task.chunks)

        def record(ranking: Ranking) -> None:
            clean = masker.mask(remove_texts(ranking, chunk_of))
            journal.add(clean)
            self._recorded += 1
            log.debug(
                "Query %s: retrieved %d results in %.0fms",
                clean.query_id, len(clean.hits), clean.latency * 1000,
            )  # fmt: skip
            self._listener.answered(clean)

        with suppress(Exception):  # one of the user's may be frozen
            provider.on_progress = self._listener.indexing
        self._listener.indexing(0, len(task.chunks))
        self._has_asked = True
        about = (benchmark.name, spec.label, self._folder.path.resolve().name)
        try:
            with trace(self._tracer, *about, masker.mask) as spans:
                index_and_ask(
                    provider, task.chunks, queries, self._plan.depth, record, policy, before, spans
                )
        finally:
            self._existing[benchmark.name, spec.label] = provider.existing_indexes()
        _warn_about_strip(spec, provider)
        for note in provider.describe_matches():
            log.log(NOTE, "%s on %s: %s", spec.label, benchmark.name, note)

    def score(self, task: ProviderTask, failure: str) -> ProviderResult:
        """Score the answers; one that failed before the last query, or on all, has none."""
        part = self._folder.part(task.benchmark.name, task.spec)
        with Answers.open(part / JOURNAL, task.queries, task.chunks) as answers:
            spec, outcomes = task.spec, answers.outcomes
            if failure and (len(answers) < len(task.queries) or outcomes.keys() <= {*FAILED}):
                (part / SCORES).unlink(missing_ok=True)  # of fewer queries, or of an earlier run
                record = ProviderRecord(
                    spec.label, spec.type, task.chunker, outcomes=outcomes, failure=failure
                )
            else:
                record = self._score(task, answers, part)
                record = replace(record, failure=failure or record.failure)
        record = replace(record, existing=self._find_existing(task.benchmark.name, spec.label))
        return ProviderResult(record, part, in_process=task.spec.label in self._local)

    def _score(self, task: ProviderTask, answers: Answers, part: Path) -> ProviderRecord:
        """Judge and record the answers as a stream: none of them stays in memory.

        There are no scores if the benchmark has none of the retrieved ids.
        """
        benchmark, queries, spec, chunks = task.benchmark, task.queries, task.spec, task.chunks
        relevance = build_relevance(benchmark, queries, chunks, self._plan.relevance.options)
        scopes = ScopeTally(benchmark, chunks)
        recorder = Recorder(queries, answers, task.passages, scopes, relevance.targets)
        scored = scored_metrics(self._plan, part / SCORES)
        tally, files = relevance.tally_ids(benchmark), TrecFiles(relevance.targets)

        def seen(query: str, hits: Sequence[Hit], judged: Judged) -> None:
            for one in (recorder, tally, files):
                one.add(query, hits, judged)

        scores = judge_and_score(relevance, answers, all_metrics(scored), seen=seen)
        unknown = tally.found
        if unknown is not None and unknown.is_failure:
            return _fail_for_ids(task, answers.outcomes, unknown, part)
        scores = replace(scores, run_name=spec.label)
        log_quality(scores, recorder.strategies)
        record = recorder.build_record(spec, self._plan.depth, scored, scores)
        write_json_file(part / SCORES, scores.only(scored).to_dict())
        warnings = [unknown.describe()] if unknown is not None else []
        warnings += recorder.tally.warnings(self._plan.depth, len(chunks))
        lost = relevance.find_lost(only_chunks=spec.label in self._indexing)
        judged = "" if unknown or lost.lost else tally.explain_zeros()
        warnings += filter(None, [lost.describe(), judged])
        warnings += [*warn_about_scopes(benchmark, queries), *scopes.warnings()]
        warnings += warn_about_run_file(spec, record.outcomes)
        warnings += warn_about_relevance(scores)
        warnings += files.write(part, spec.label)
        stages, more = record_stages(relevance, answers, scored, self._plan.depth, spec.label)
        warnings += more
        return replace(
            record,
            stages=stages,
            chunker=task.chunker,
            warnings=tuple(warnings),
            fingerprints=fingerprint_queries(benchmark, queries, relevance),
            judging=relevance.judging,
            unknown_ids={} if unknown is None else unknown.to_json(),
            added=tuple(map(str, parse_metrics(scored[len(self._plan.scored) :]))),
        )

    def _had_scores(self, benchmark: str, provider: str) -> bool:
        earlier = self._earlier_records(benchmark, provider)
        return any(one.scores is not None and not one.failure for one in earlier)

    def _find_existing(self, benchmark: str, provider: str) -> Mapping[str, Any]:
        """Return the existing indexes that were searched, now or when the answers were written."""
        earlier = (one.existing for one in self._earlier_records(benchmark, provider))
        return self._existing.get((benchmark, provider)) or next(earlier, {})

    def _earlier_records(self, benchmark: str, provider: str) -> Iterator[ProviderRecord]:
        earlier = self._folder.find_record()
        for part in earlier.benchmarks if earlier else ():
            yield from (
                one for one in part.providers if (part.name, one.name) == (benchmark, provider)
            )

    def versions(self, parts: Sequence[BenchmarkRecord]) -> Mapping[str, Any]:
        """Return the versions of libraries in use; the recorded ones if nothing was asked now."""
        earlier = self._folder.find_record()
        before: Mapping[str, Any] = earlier.versions if earlier else {}
        if before and not self._has_asked:
            return before
        chunkers = {one.chunker for part in parts for one in part.providers}
        return {**before, **find_versions(self._plan.providers, chunkers)}


@contextmanager
def _guard(failed: str, kind: type[BerryEvalError]) -> Iterator[None]:
    """Convert any error of a provider's own code, also an exit, to a `BerryEvalError`."""
    try:
        yield
    except (BerryEvalError, KeyboardInterrupt):
        raise
    except BaseException as error:
        plain = issubclass(type(error), (TypeError, ValueError))
        raise kind(f"{failed}: {(write_text if plain else describe_error)(error)}") from error


@contextmanager
def _same_folder(provider: str) -> Iterator[None]:
    """Restore the current folder if a provider changes it: paths of the run are relative."""
    before = Path.cwd()
    try:
        yield
    finally:
        if Path.cwd() != before:
            log.warning("%s changed the current folder; it was changed back", provider)
            os.chdir(before)


def _fail_for_ids(
    task: ProviderTask, outcomes: dict[str, int], unknown: UnknownIds, part: Path
) -> ProviderRecord:
    """Return the record of a provider without any known id: zeros would look like a result."""
    (part / SCORES).unlink(missing_ok=True)  # of an earlier run
    remove_trec_files(part)
    failure = unknown.describe()
    log.error("%s on %s: %s", task.spec.label, task.benchmark.name, failure)
    return ProviderRecord(
        task.spec.label, task.spec.type, task.chunker, outcomes=outcomes, failure=failure,
        unknown_ids=unknown.to_json(),
    )  # fmt: skip


def _find_unasked(
    queries: Sequence[Query], outcomes: Mapping[str, str], *, retry_errors: bool
) -> tuple[list[Query], Progress]:
    """Return the queries to ask, and the progress of the run without them."""
    again = FAILED if retry_errors else ()
    kept = {query: outcome for query, outcome in outcomes.items() if outcome not in again}
    left = [query for query in queries if query.id not in kept]
    failed = sum(kept.get(query.id) in FAILED for query in queries)
    return left, Progress(len(queries) - len(left), failed)


def _check_budget(before: Progress, total: int, policy: Policy) -> None:
    """Reject a run whose error budget was used up before: the next query would end it."""
    if policy.is_hopeless(before.failed, before.done, total):
        raise RunFailedError(
            f"nothing was asked: {before.failed} of {before.done} queries failed before (of "
            f"{total}; the error budget is {policy.error_budget:g}); ask them again "
            "(--retry-errors, in Python retry_errors=True), or start a new run"
        )


def _warn_about_strip(spec: ProviderSpec, provider: Provider) -> None:
    """Warn of texts to strip that occur in no id: they may be misspelt."""
    used = provider.rules.used if isinstance(provider, Renamed) else ()
    for word in spec.strip:
        if word not in STRIPPED and word not in used:
            text = (
                "%s: strip: no id outside the benchmark begins or ends with %r; there are also %s"
            )
            log.warning(text, spec.label, word, ", ".join(STRIPPED))
