"""`berryeval eval`."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from berryeval._internal.text import format_command, format_resume_command, pluralize
from berryeval._internal.validate import require
from berryeval.cli.app import EXIT_FAILED, EXIT_PASSED, EXIT_RUN_FAILED
from berryeval.cli.eval_view import View
from berryeval.cli.flags import Depth, Flag, Format, Metrics, OutputFolder, Quiet, Several, Verbose
from berryeval.cli.inspect import read_options
from berryeval.cli.logs import error_screen, log_level, log_lines, progress_on
from berryeval.workflows import RunRequest, evaluate, plan_run, read_list, write_baseline_page

if TYPE_CHECKING:
    from berryeval.workflows import Evaluation


WORST: Final = 3  # default of --where-it-fails
log = logging.getLogger("berryeval")


def run_eval(  # noqa: PLR0913 - the options of the command
    benchmarks: Several = None,
    *,
    format: Format = None,  # noqa: A002 - its name
    options: Several = None,
    providers: Several = None,
    metrics: Metrics = None,
    k: Depth = None,
    limit: int | None = None,
    filter: Several = None,  # noqa: A002 - its name
    tag: Several = None,
    seed: int | None = None,
    concurrency: int | None = None,
    timeout: float | None = None,
    batch: int | None = None,
    config: str | None = None,
    output: OutputFolder = None,
    resume: str | None = None,
    store: str | None = None,
    retry_errors: Flag = False,
    trust: Flag = False,
    by: Several = None,
    where_it_fails: Annotated[
        list[int] | None, Parameter(consume_multiple=(0, 1), negative="")
    ] = None,
    judged: str | None = None,
    fail_below: Several = None,
    baseline: str | None = None,
    max_drop: Several = None,
    strict: Flag = False,
    strict_data: Flag = False,
    export: Several = None,
    label: str | None = None,
    eval_dir: str | None = None,
    baseline_doc: str | None = None,
    trace: str | None = None,
    json: Flag = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Run providers on benchmarks, score their answers, and print the table.

    Settings come from flags, then BERRYEVAL_* variables, then berryeval.yaml.

    Args:
        benchmarks: Bundled benchmarks, or files or folders in any format that can be loaded.
        format: Benchmark format, if it cannot be detected.
        options: Options of the format (`berryeval list formats`): --options corpus=docs split=dev.
        providers: Providers to compare, with or without a chunker, separated by spaces or commas.
        metrics: Metrics to compute: --metrics nDCG@10 AP, --metrics nDCG@10,AP, or repeated.
        k: Number of hits per query; by default 20, or the largest cutoff of the metrics.
        limit: Number of queries to ask (the first N).
        filter: Properties of the queries to ask: --filter category=factual difficulty=hard.
        tag: Tags of the run, for reports and trends: --tag model=small prompt=v2.
        seed: Random seed.
        concurrency: Number of queries asked at once (4; 1 for providers in this process).
        timeout: Seconds per attempt (30).
        batch: Queries per call, for providers that take several (1).
        config: Configuration file, or none; ./berryeval.yaml by default. The functions it names
            are run.
        output: Folder of the run; a new one below .berryeval/runs by default.
        resume: Folder or name of a run to resume, or `latest`; the plan is read from it, with the
            functions it names.
        store: Store of past runs: a path, the URL of a PostgreSQL, or none.
        retry_errors: With --resume: ask failed queries again.
        trust: With --resume: run functions from outside the current folder and its configuration.
        by: Properties of queries to group by: --by category difficulty, or a key of their metadata.
        where_it_fails: Show the worst queries of every provider (3, or the given number).
        judged: Votes of judges that count: auto (those in BENCHMARK.judged, if there are any),
            none, or the folder or store of a ledger.
        fail_below: Exit with 1 if a provider is below: --fail-below recall@10=0.80.
        baseline: Baseline file or run; without a rule about drops, any significant drop fails.
        max_drop: Exit with 1 if a metric dropped significantly: --max-drop nDCG@10=0.01.
        strict: Exit with 1 if a rule is inconclusive.
        strict_data: Refuse a baseline that was measured on other data.
        export: Formats of reports to write (csv html): --export csv markdown junit, --export none.
        label: Label in the names of the CSV files, for BENCHMARK-PROVIDER.
        eval_dir: Folder that collects the CSV files of all runs; the folder of the run by default.
        baseline_doc: Markdown file for the page of measured baselines.
        trace: OpenTelemetry spans: spans, contents (with texts), none, auto (if a tracer is set).
        json: Print JSON, in full precision.
        quiet: Print only tables and errors: no warnings, notes or progress.
        verbose: Show the log, a line per query.
    """
    request = RunRequest(
        settings={
            "benchmarks": benchmarks, "format": format, "options": read_options(options),
            "providers": providers, "metrics": metrics, "k": k,
            "limit": limit, "filter": filter, "tags": tag, "seed": seed, "judged": judged,
            "thresholds": fail_below,
            "concurrency": concurrency, "timeout": timeout, "batch": batch,
            "export": export, "label": label, "eval_dir": eval_dir, "trace": trace,
        },
        config=config, output=output, resume=resume, retry_errors=retry_errors, trust=trust,
        baseline=baseline, max_drop=max_drop, strict=strict, strict_data=strict_data,
        store=store,
    )  # fmt: skip
    level = log_level(quiet=quiet, verbose=verbose)
    worst = 0
    if where_it_fails is not None:
        worst = (where_it_fails or [WORST])[0]
        require(worst >= 1, "--where-it-fails", "1 or more", worst)
    groups = tuple(read_list("properties", by, "--by")) if by else ()
    plan, folder, place = plan_run(request)
    screen = error_screen()
    with log_lines(screen, level):
        with progress_on(screen, hidden=quiet or json) as listener:
            done = evaluate(
                plan, folder, listener, retry_errors=retry_errors, group_by=groups, store=place,
                export=plan.export,
            )  # fmt: skip
        _report_exports(done)
        if baseline_doc:
            write_baseline_page(baseline_doc, plan, done.results)
        view = View(done, by=groups, worst=worst)
        if json:
            view.print_json()
        else:
            from berryeval.cli.eval_tables import print_view
            from berryeval.cli.output import print_line

            print_view(view, quiet=quiet)
            if baseline_doc and not quiet:
                print_line(f"baseline written to {baseline_doc}")
        sys.stdout.flush()
        done.log_missed()
        _suggest_resuming(done)
    if done.failures or done.count_failed(tolerant=True):
        return EXIT_RUN_FAILED
    return EXIT_PASSED if done.passed else EXIT_FAILED


def _report_exports(done: Evaluation) -> None:
    for one in done.exported:
        if one.text:
            print(one.text, end="", file=sys.stderr)  # a GitHub runner reads stderr, too
        if one.problem:
            again = ""
            if any(provider.record.scores is not None for _, provider in done.providers):
                command = format_command("report", done.folder.path, "--format", one.format)
                again = f"; again: {command}"
            log.error("%s was not written: %s%s", one.format, one.problem, again)


def _suggest_resuming(done: Evaluation) -> None:
    path = done.folder.path
    if any(
        one.failure and sum(one.outcomes.values()) < len(of.queries) for of, one in done.providers
    ):
        # Errors count against the budget: without asking them again it may be used up.
        options = ["--retry-errors"] if done.count_failed() else []
        log.warning("the run is not complete; to resume: %s", format_resume_command(path, *options))
    failed = done.count_failed(tolerant=True)
    if failed:
        log.warning(
            "%s failed and --resume alone keeps that as 0; to ask again: %s",
            pluralize(failed, "query"), format_resume_command(path, "--retry-errors"),
        )  # fmt: skip
