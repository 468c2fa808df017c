"""`evaluate`, the whole job, and `run_benchmark`, the same job from Python."""

from __future__ import annotations

import itertools
import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from berryeval._internal.numbers import format_value_beside
from berryeval._internal.optional import require_modules
from berryeval._internal.text import format_resume_command
from berryeval.benchmarks import Benchmark
from berryeval.errors import ConfigurationError, NotWrittenError, RunFailedError
from berryeval.gates import within_budget
from berryeval.providers import is_searchable
from berryeval.runner import FAILED, open_tracer
from berryeval.runs import BenchmarkRecord, Secrets, describe_depth, mark_corpus
from berryeval.workflows.config import check_model
from berryeval.workflows.history import Remembered, choose_store, remember
from berryeval.workflows.judged_data import describe_votes, hash_without_votes
from berryeval.workflows.plan import DEFAULT_METRICS, Patience, Plan, ProviderSpec
from berryeval.workflows.provider_run import ProviderRunner, ProviderTask, SilentListener
from berryeval.workflows.recording import Passages
from berryeval.workflows.run_folder import choose_folder, config_hash, new_folder
from berryeval.workflows.run_result import BenchmarkResult
from berryeval.workflows.selection import (
    check_property,
    check_relevance,
    chunk_documents,
    chunker_for,
    load_benchmarks,
    select_queries,
    suggested_chunker,
)
from berryeval.workflows.settings import overlay
from berryeval.workflows.verdicts import check_gate, drop_note, find_failing, judge_record

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.data import Chunk
    from berryeval.gates import Verdict
    from berryeval.runs import RunRecord
    from berryeval.workflows.provider_run import Listener
    from berryeval.workflows.reporting import Exported
    from berryeval.workflows.run_folder import RunFolder
    from berryeval.workflows.run_result import ProviderResult


log = logging.getLogger("berryeval")
# `object` covers anything with `search`: providers, retrievers, custom classes.
Provider: TypeAlias = "str | Mapping[str, Any] | Callable[..., Any] | object"


@dataclass(frozen=True)
class Evaluation:
    """The outcome of `evaluate`.

    `was_complete` tells whether the folder had an answer to every query before.
    """

    plan: Plan
    folder: RunFolder
    results: tuple[BenchmarkResult, ...]
    record: RunRecord
    verdicts: tuple[Verdict, ...]
    remembered: Remembered
    exported: tuple[Exported, ...]
    was_complete: bool
    strict: bool = False  # whether inconclusive rules fail

    @property
    def note(self) -> str:
        """Explanation of all verdicts."""
        return drop_note(self.plan.gate)

    @property
    def first_plan(self) -> Plan:
        """The plan with the thresholds that the run was started with."""
        return self.folder.with_first_thresholds(self.plan)

    @property
    def config_hash(self) -> str:
        """Hash of the plan that the run was started with."""
        return config_hash(self.first_plan)

    @property
    def providers(self) -> list[tuple[BenchmarkResult, ProviderResult]]:
        """All providers on all benchmarks."""
        return [(result, one) for result in self.results for one in result.providers]

    @property
    def failures(self) -> list[str]:
        """Failed providers, each with its benchmark and the reason."""
        return [
            f"{one.name} on {result.benchmark.name}: {one.failure}"
            for result, one in self.providers
            if one.failure
        ]

    @property
    def passed(self) -> bool:
        """Whether the gate passes."""
        return not find_failing(self.verdicts, strict=self.strict)

    def count_failed(self, *, tolerant: bool = False) -> int:
        """Count failed queries; if tolerant, except those that a rule of the gate allows."""
        allowed = within_budget(self.verdicts) if tolerant else ()
        return sum(
            one.outcomes.get(outcome, 0)
            for result, one in self.providers
            if (result.benchmark.name, one.name) not in allowed
            for outcome in FAILED
        )

    def log_missed(self) -> None:
        """Log the rules that fail the gate; a provider without scores was reported before."""
        for one in find_failing(self.verdicts, strict=self.strict):
            owner = f"{one.provider} on {one.benchmark}"
            if one.status == "inconclusive":
                log.error("Rule inconclusive, which fails the gate: %s (%s)", one.sentence, owner)
            elif one.value is not None and ">=" not in one.rule:
                log.error("Rule not met: %s (%s)", one.sentence, owner)
            elif one.value is not None:
                log.error(
                    "Quality threshold not met: %s=%s < %g (%s)",
                    one.metric, format_value_beside(one.value, one.limit or 0.0), one.limit, owner,
                )  # fmt: skip


def evaluate(
    plan: Plan,
    folder: RunFolder,
    listener: Listener | None = None,
    *,
    benchmarks: Sequence[Benchmark] = (),
    retry_errors: bool = False,
    group_by: Sequence[str] = (),
    store: str | None = None,
    export: Sequence[str] = (),
) -> Evaluation:
    """Run a plan: ask every provider, score the answers, save the run, and judge it.

    Queries that the folder has an answer to are not asked again. `benchmarks` are those of the plan
    if they are loaded already; `group_by` is checked before the run; without a `store` the run is
    added to none.
    """
    loaded = list(benchmarks) or load_benchmarks(plan)
    for benchmark in loaded:
        check_relevance(benchmark, plan)
    for benchmark, name in itertools.product(loaded, group_by):
        check_property(benchmark.name, select_queries(benchmark, plan), name)
    _check_exporters(export)
    secrets = Secrets()
    with open_tracer(plan.trace) as tracer, secrets.mask_errors(), _explain_interrupt(folder):
        runner = ProviderRunner(
            plan, folder, secrets, listener or SilentListener(), retry_errors=retry_errors,
            tracer=tracer,
        )  # fmt: skip
        runner.check(loaded)
        baseline = check_gate(plan, loaded, folder)
        with _open_folder(folder, plan, loaded) as first_plan:
            results = [_run_benchmark(runner, plan, benchmark) for benchmark in loaded]
            parts = [result.record for result in results]
            record = folder.build_record(first_plan, parts, runner.versions(parts))
            folder.write_record(record)
    remembered = remember(record, store, folder.path if folder.kept else None)
    verdicts = tuple(judge_record(plan.whole_gate, record, baseline))
    strict = plan.gate.on_inconclusive == "fail"
    return Evaluation(
        plan,
        folder,
        tuple(replace(result, run=record, verdicts=verdicts) for result in results),
        record,
        verdicts,
        remembered,
        _export(export, record, verdicts, plan, folder, strict=strict),
        was_complete=bool(runner.total) and not runner.left,
        strict=strict,
    )


@contextmanager
def _open_folder(folder: RunFolder, plan: Plan, benchmarks: Sequence[Benchmark]) -> Iterator[Plan]:
    """Lock and check the folder, write the manifest, and yield the plan as first started."""
    chunkers = {benchmark.name: suggested_chunker(benchmark) for benchmark in benchmarks}
    hashes = {benchmark.name: hash_without_votes(benchmark) for benchmark in benchmarks}
    with folder.locked():
        folder.check_same_run(plan)
        folder.check_same_chunkers(plan, chunkers)
        first_plan = folder.with_first_thresholds(plan)
        folder.write_manifest(first_plan, {"benchmarks": hashes, "chunkers": chunkers})
        try:
            yield first_plan
        except NotWrittenError as error:  # a full disk fails the run; it is no usage error
            advice = "nothing is kept, because the run had a temporary folder; give one with room "
            advice += "(folder=)"
            if folder.kept:
                resume = format_resume_command(folder.path)
                advice = f"the answers so far are kept, to resume: {resume}"
            raise RunFailedError(f"{error}; {advice}") from None


@contextmanager
def _explain_interrupt(folder: RunFolder) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if not folder.kept or not folder.manifest_file.exists():
            raise
        raise KeyboardInterrupt(
            f"interrupted; to resume: {format_resume_command(folder.path)}"
        ) from None


def _run_benchmark(runner: ProviderRunner, plan: Plan, benchmark: Benchmark) -> BenchmarkResult:
    queries, passages = select_queries(benchmark, plan), Passages()
    asked = {query.id for query in queries}
    chunks: dict[str, Sequence[Chunk]] = {}  # by chunker: providers with the same one share them
    results = []
    log.info("Starting quality evaluation with %d queries", len(queries))
    for spec in plan.providers:
        chunker = chunker_for(benchmark, spec)
        if chunker not in chunks:
            chunks[chunker] = chunk_documents(benchmark, chunker)
        task = ProviderTask(benchmark, queries, spec, chunker, chunks[chunker], passages)
        failure = runner.ask(task)
        results.append(runner.score(task, failure))
    deeper = describe_depth(plan.depth, plan.scored)
    record = BenchmarkRecord(
        benchmark.name,
        benchmark.content_hash,
        plan.depth,
        queries,
        tuple(one.record for one in results),
        tuple(passages),
        benchmark.thresholds,
        tuple(filter(None, (*map(str, benchmark.remarks), deeper))),
        mark_corpus(benchmark.documents),
        tuple(one.id for one in benchmark.queries if one.id not in asked),
        describe_votes(benchmark),
    )
    return BenchmarkResult(benchmark, queries, tuple(results), record)


def _check_exporters(formats: Sequence[str]) -> None:
    """Require the packages of the exporters before the first query is asked."""
    if formats:
        from berryeval.reports import EXPORTERS

        require_modules((f"the exporter {name}", EXPORTERS.get(name).modules) for name in formats)


def _export(
    formats: Sequence[str],
    record: RunRecord,
    verdicts: Sequence[Verdict],
    plan: Plan,
    folder: RunFolder,
    *,
    strict: bool,
) -> tuple[Exported, ...]:
    if not formats:
        return ()
    from berryeval.reports import Report
    from berryeval.workflows.reporting import export_report

    report = Report.of([record], verdicts=verdicts, note=drop_note(plan.gate), strict=strict)
    places = {"label": plan.label, "eval_dir": plan.eval_dir}
    return tuple(export_report(report, formats, folder.path, **places))


def run_benchmark(
    benchmark: str | Benchmark,
    providers: Provider | Sequence[Provider],
    metrics: str | Sequence[str] = DEFAULT_METRICS,
    *,
    folder: PathLike | None = None,
    store: PathLike | None = None,
    retry_errors: bool = False,
    listener: Listener | None = None,
    **options: Any,
) -> BenchmarkResult:
    """Ask providers every query of a benchmark and score their answers.

        >>> import berryeval as be
        >>> result = be.run_benchmark("rag-template", ["bm25", "bm25:fixed-400"], ["nDCG@5"])
        >>> [one.name for one in result.providers], len(result.queries)
        (['bm25', 'bm25:fixed-400'], 10)
        >>> sorted(result["bm25"].outcomes.items())
        [('ok', 10)]

    Args:
        benchmark: Bundled name, path, or `Benchmark`.
        providers: Names such as "bm25" or "bm25:fixed-400", mappings with `type`, `chunker`, `name`
            and `options`, functions of a text and a number of hits, or objects with `index` and
            `search` (docs/providers.md). A single provider needs no list; a mapping names each.
        metrics: Metrics to compute.
        folder: Folder for the journal, scores and rankings. Queries that it has an answer to are
            not asked again; a warning is logged if that is all of them. A temporary folder is used
            and removed by default.
        store: Path of the store, or URL of a PostgreSQL; none by default.
        retry_errors: Ask failed queries again.
        listener: Observer of the progress.
        options: Other settings of a plan: `k`, `limit`, `filter`, `tags`, `seed`, `relevance`;
            settings of `run`, such as `concurrency`, `timeout`, `batch` and `error_budget`;
            `thresholds` and `gate`, whose verdicts are part of the result; `export`, names of
            `berryeval list exporters`, none by default. A rule or an export that fails is logged
            and raises nothing.
    """
    asked_export = "export" in options  # the default of a plan is meant for the command line
    patience = {name: options.pop(name) for name in Patience.model_fields if name in options}
    data = {
        **options,
        "benchmarks": [benchmark.name if isinstance(benchmark, Benchmark) else str(benchmark)],
        "providers": _name_providers(providers),
        "metrics": as_list(metrics),
    }
    overlay(data, patience)
    plan: Plan = check_model(Plan, data, None)
    loaded = [benchmark] if isinstance(benchmark, Benchmark) else load_benchmarks(plan)
    place = choose_store(store) if store is not None else None
    export = plan.export if asked_export else []
    if folder is None:
        _require_trackers(export)

    def run(where: RunFolder) -> Evaluation:
        return evaluate(
            plan, where, listener, benchmarks=loaded, retry_errors=retry_errors, store=place,
            export=export,
        )  # fmt: skip

    if folder is not None:
        done = run(choose_folder(plan, folder))
    else:
        with tempfile.TemporaryDirectory(prefix="berryeval-") as temporary:
            done = run(new_folder(plan, Path(temporary), kept=False))
    if done.was_complete and folder is not None:
        log.warning(
            "%s holds the whole run of %s: nothing was asked, and these are the scores of its "
            "answers; to ask again, give another folder or remove this one",
            folder,
            done.record.created,
        )
    for one in done.exported:
        if one.problem:
            log.error("%s was not written: %s", one.format, one.problem)
    done.log_missed()
    return done.results[0]


def _require_trackers(formats: Sequence[str]) -> None:
    """Reject formats whose files would be removed with the temporary folder of the run."""
    from berryeval.reports import EXPORTERS

    for name in formats:
        if EXPORTERS.get(name).track is None:
            raise ConfigurationError(
                f"export: {name} is written to the folder of the run; give one (folder=), or use "
                "be.write_report(result, path)"
            )


def as_list(given: Any) -> list[Any]:
    """Wrap a single value in a list; a string is a single value."""
    is_single = isinstance(given, str | Mapping) or not isinstance(given, Iterable)
    return [given] if is_single or is_searchable(given) else list(given)


def _name_providers(providers: Any) -> list[Any]:
    """Return a list of providers; a mapping without a `type` names several."""
    if not isinstance(providers, Mapping) or isinstance(providers.get("type"), str):
        return as_list(providers)
    return [
        check_model(ProviderSpec, one, None).model_copy(update={"name": str(name)})
        for name, one in providers.items()
    ]
