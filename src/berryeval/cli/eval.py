"""`berryeval eval`."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from berryeval._internal.text import command_line, to_go_on
from berryeval.cli.app import EXIT_FAILED, EXIT_PASSED, EXIT_RUN_FAILED
from berryeval.cli.eval_view import View, say_how_to_go_on, worst_of
from berryeval.cli.flags import Depth, Flag, Metrics, OutputFolder, Quiet, Several, Verbose
from berryeval.cli.logs import error_screen, log_level, log_lines, progress_on
from berryeval.errors import ConfigurationError
from berryeval.gates import within_budget
from berryeval.reports import Report
from berryeval.workflows import (
    NO_RULE,
    PATIENCE,
    Plan,
    Remembered,
    check_gate,
    check_model,
    check_property,
    chosen_queries,
    export,
    failed_queries,
    failed_runs,
    folder_for,
    gate_with,
    load_benchmarks,
    no_drop_rules,
    passed,
    planned,
    read_limits,
    read_list,
    read_pairs,
    remember,
    resumed,
    run_plan,
    say_missed,
    store_place,
    verdicts_of,
    with_baseline,
)

if TYPE_CHECKING:
    from berryeval.gates import Verdict
    from berryeval.workflows import BenchmarkResult, Exported, RunFolder


WORST: Final = 3  # queries, where nobody says how many


def evaluate(  # noqa: PLR0913 - the options of the command
    *,
    benchmarks: Several = None,
    providers: Several = None,
    metrics: Metrics = None,
    k: Depth = None,
    limit: int | None = None,
    filter: Several = None,  # noqa: A002 - its name
    seed: int | None = None,
    concurrency: int | None = None,
    timeout: float | None = None,
    batch: int | None = None,
    config: str | None = None,
    output: OutputFolder = None,
    resume: str | None = None,
    store: str | None = None,
    retry_errors: Flag = False,
    by: str | None = None,
    where_it_fails: Annotated[
        list[int] | None, Parameter(consume_multiple=(0, 1), negative="")
    ] = None,
    fail_below: Several = None,
    baseline: str | None = None,
    max_drop: Several = None,
    strict: Flag = False,
    export: Several = None,
    baseline_doc: str | None = None,
    json: Flag = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Run providers on benchmarks, score what they return, and print the table.

    Settings come from flags, then BERRYEVAL_* variables, then berryeval.yaml.

    Example: berryeval eval --benchmarks technical-docs --providers bm25 hybrid bm25:fixed-400

    Args:
        benchmarks: Bundled benchmarks, or files or folders in any format that can be loaded.
        providers: What is compared: a name, or a name and a chunker, as bm25:fixed-400. These too
            may have commas between them.
        metrics: What to compute: --metrics nDCG@10 AP, --metrics nDCG@10,AP, or repeated.
        k: How many hits every provider is asked for; 20, or the largest cutoff of the metrics.
        limit: Ask only the first so many queries.
        filter: Ask only some queries: --filter category=factual difficulty=hard.
        seed: Of everything that is drawn by chance.
        concurrency: How many queries are asked at once (4).
        timeout: Seconds an attempt may take (30).
        batch: Ask so many queries in one call, where a provider takes several (1).
        config: The configuration file; ./berryeval.yaml if there is one.
        output: The folder of the run; a new one below .berryeval/runs unless given.
        resume: Go on with the run of this folder; the plan is taken from there.
        store: Where the run is remembered: a path, the URL of a PostgreSQL, or none.
        retry_errors: With --resume: ask queries again that failed.
        by: Show groups of queries too: category, difficulty, or a name of their metadata.
        where_it_fails: Show the worst queries of every provider (3, or as many as you say).
        fail_below: Exit with 1 if a provider is below: --fail-below recall@10=0.80.
        baseline: What drops are measured against: a file of `berryeval baseline set`, or a run.
            Without a rule about drops, any significant fall of a metric fails.
        max_drop: Exit with 1 if a metric fell for real: --max-drop nDCG@10=0.01.
        strict: Exit with 1 where a rule cannot be decided.
        export: What to write besides (csv html): --export csv markdown junit, --export none.
        baseline_doc: Write the measured baseline to this Markdown file.
        json: Print JSON, in full precision.
        quiet: Print nothing but the tables and errors: no warnings, notes or progress.
        verbose: Show the log, a line per query.
    """
    asked = Asked(
        settings={
            "benchmarks": benchmarks, "providers": providers, "metrics": metrics, "k": k,
            "limit": limit, "filter": filter, "seed": seed, "thresholds": fail_below,
            "concurrency": concurrency, "timeout": timeout, "batch": batch,
            "export": export,
        },
        config=config,
        output=output,
        resume=resume,
        store=store,
        retry_errors=retry_errors,
        baseline=baseline,
        max_drop=max_drop,
    )  # fmt: skip
    worst = None if where_it_fails is None else (where_it_fails or [WORST])[0]
    shown = Shown(by, worst, baseline_doc, strict=strict, json=json, quiet=quiet, verbose=verbose)
    return run_eval(asked, shown)


# What `berryeval eval` does: plan, run, print, and the exit code.

log = logging.getLogger("berryeval")
_FREE: Final = ("thresholds", "export")  # may change when a run goes on
_FLAGS: Final = {"metrics": "metrics", "thresholds": "fail-below"}


@dataclass(frozen=True)
class Asked:
    """What the command line asks for: settings by the names of the plan, None if not given."""

    settings: dict[str, Any]
    config: str | None = None
    output: str | None = None
    resume: str | None = None
    retry_errors: bool = False
    baseline: str | None = None
    max_drop: list[str] | None = None
    store: str | None = None

    def planned(self) -> tuple[Plan, RunFolder]:
        """The plan with its gate, and the folder it goes to."""
        plan, folder = self._planned()
        drops = read_limits(self.max_drop, "--max-drop", "nDCG@10=0.01")
        gate = gate_with(plan.gate, {}, drops)
        return plan.model_copy(update={"gate": with_baseline(gate, self.baseline)}), folder

    def _planned(self) -> tuple[Plan, RunFolder]:
        settings = self._read()
        if self.resume is None:
            if self.retry_errors and self.output is None:
                msg = "--retry-errors needs --resume FOLDER, which says whose errors"
                raise ConfigurationError(msg)
            plan = planned(settings, self.config)
            retry = self.retry_errors
            return plan, folder_for(plan, self.output, finished=False, retry_errors=retry)
        fixed = [name for name, value in settings.items() if value and name not in PATIENCE]
        given = [name for name in fixed if name not in _FREE] + ["output"] * bool(self.output)
        if given:
            flag = _FLAGS.get(given[0], given[0])
            msg = f"--resume takes the plan from its folder; leave out --{flag}"
            raise ConfigurationError(msg)
        changes = {name: settings[name] for name in (*PATIENCE, "export")}
        plan, folder = resumed(self.resume, changes, self.config)
        return _judged_by(plan, settings["thresholds"]), folder

    def _read(self) -> dict[str, Any]:
        """The settings with lists of words made into what they mean."""
        given = dict(self.settings)
        for name in ("benchmarks", "providers", "metrics", "export"):
            if given.get(name):
                given[name] = read_list(name, given[name], f"--{_FLAGS.get(name, name)}")
        given["filter"] = read_pairs(given.get("filter") or [], "--filter")
        given["thresholds"] = read_limits(given.get("thresholds"), "--fail-below", "recall@10=0.80")
        return given


def _judged_by(plan: Plan, thresholds: dict[str, float]) -> Plan:
    """The plan of a run that was made, with other thresholds if some are given."""
    if not thresholds:
        return plan
    judged: Plan = check_model(Plan, {**plan.model_dump(), "thresholds": thresholds}, None)
    if judged.depth != plan.depth:
        msg = (
            f"--fail-below looks at {judged.depth} hits, the run asked for {plan.depth} each; "
            "make a new run with it"
        )
        raise ConfigurationError(msg)
    return judged


@dataclass(frozen=True)
class Shown:
    """What the command line wants to see, and whether what cannot be decided fails."""

    by: str | None = None
    worst: int | None = None
    baseline_doc: str | None = None
    strict: bool = False
    json: bool = False
    quiet: bool = False
    verbose: bool = False


def run_eval(asked: Asked, shown: Shown) -> int:
    """Do it, and return the exit code."""
    level = log_level(quiet=shown.quiet, verbose=shown.verbose)
    if shown.worst is not None and shown.worst < 1:
        msg = f"--where-it-fails must be 1 or more, found {shown.worst}"
        raise ConfigurationError(msg)
    plan, folder = asked.planned()
    gate, place = plan.whole_gate, store_place(asked.store, asked.config)
    screen = error_screen()
    with log_lines(screen, level):
        benchmarks = load_benchmarks(plan)
        if shown.by is not None:
            for benchmark in benchmarks:
                check_property(benchmark.name, chosen_queries(benchmark, plan), shown.by)
        baseline = check_gate(gate, plan, benchmarks, folder)
        try:
            with progress_on(screen, hidden=shown.quiet) as listener:
                results = run_plan(
                    plan,
                    folder,
                    retry_errors=asked.retry_errors,
                    listener=listener,
                    loaded=benchmarks,
                )
        except KeyboardInterrupt:
            if not folder.manifest_file.exists():
                raise
            msg = f"interrupted; to go on: {to_go_on(folder.path)}"
            raise KeyboardInterrupt(msg) from None
        kept = Remembered()
        if results[0].run is not None:
            kept = remember(results[0].run, place, folder.path)
        found = verdicts_of(gate, results[0].run, baseline) if results[0].run else []
        _show(plan, folder, results, shown, found, kept)
        say_missed(found)
        allowed = within_budget(found)
        say_how_to_go_on(folder, results, allowed)
    if failed_runs(results) or failed_queries(results, allowed):
        return EXIT_RUN_FAILED
    return EXIT_PASSED if passed(found, strict=shown.strict) else EXIT_FAILED


def _show(
    plan: Plan,
    folder: RunFolder,
    results: list[BenchmarkResult],
    shown: Shown,
    found: list[Verdict],
    kept: Remembered,
) -> None:
    view = View(
        plan,
        folder,
        results,
        found,
        by=shown.by,
        worst=worst_of(results, shown.worst) if shown.worst else {},
        exported=_exported(plan, folder, results, found),
        strict=shown.strict,
        kept=kept,
    )
    if shown.baseline_doc:
        from berryeval.workflows import write_baseline

        write_baseline(shown.baseline_doc, plan, results)
    if shown.json:
        view.print_json()
    else:
        from berryeval.cli.eval_tables import print_view

        print_view(view, quiet=shown.quiet)
        if shown.baseline_doc and not shown.quiet:
            print(f"baseline written to {shown.baseline_doc}")
    sys.stdout.flush()


def _exported(
    plan: Plan, folder: RunFolder, results: list[BenchmarkResult], found: list[Verdict]
) -> list[Exported]:
    """Write what the plan wants besides; what fails is said, and the run itself is safe."""
    record = results[0].run if plan.export else None
    if record is None:
        return []
    note = NO_RULE if no_drop_rules(plan.gate) else ""
    report = Report.of([record], verdicts=found, note=note)
    done = export(report, plan.export, folder.path)
    for one in done:
        if one.text:
            print(one.text, end="", file=sys.stderr)  # a runner reads its commands there, too
        if one.problem:
            again = command_line("report", folder.path, "--format", one.format)
            log.error("%s was not written: %s; again: %s", one.format, one.problem, again)
    return done
