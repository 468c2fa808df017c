"""`berryeval compare`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal

from rich.table import Table
from rich.text import Text

from berryeval._internal import numbers
from berryeval._internal.text import escape_line, pluralize
from berryeval.cli.app import is_quiet
from berryeval.cli.eval_tables import build_speed_table
from berryeval.cli.eval_view import describe_speed
from berryeval.cli.flags import STDOUT, Flag, Format, Metrics, Output
from berryeval.cli.output import console, print_document, print_indented, print_json, render_text
from berryeval.reports import (
    MIXED,
    build_differences_table,
    collect_group_notes,
    collect_notes,
    describe_interval,
    describe_test,
    displayed_rows,
    explain_change,
    group_by_pair,
    has_mixed,
    result_keys,
    rows_by_group,
    summarize_findings,
)

if TYPE_CHECKING:
    from rich.console import Console

    from berryeval.reports import ComparedBenchmark, MovedQuery, Report
    from berryeval.stats import PairedDifference

_MARKS: Final = {
    "better": "+", "worse": "-", "higher": "^", "lower": "v", "mixed": "~", "not tested": "?",
}  # fmt: skip
_STYLES: Final = {"better": "green", "worse": "bold red"}
_WIDE: Final = 100  # narrower terminals do not show the values of the baseline
_NAME: Final = 16  # characters of a name that stay on one line
# Columns that narrow terminals leave out, in this order; value and delta give the baseline.
_DISPENSABLE: Final = ("baseline", "effect", "W/T/L", "value", "n", "p")
_LEGEND: Final = "+ better, - worse, ^ higher, v lower, ? not tested; no mark: not significant"


def compare(  # noqa: PLR0913 - the options of the command
    *runs: str,
    baseline: str | None = None,
    metrics: Metrics = None,
    test: str = "randomization",
    correction: str = "holm",
    interval: Literal["t", "bca", "percentile"] = "t",
    level: float = 0.95,
    seed: int = 0,
    by: str | None = None,
    moved: int = 3,
    benchmark: str | None = None,
    anyway: Flag = False,
    strict_data: Flag = False,
    qrels: str | None = None,
    judged_by: str | None = None,
    ledger: str | None = None,
    output: Output = None,
    format: Format = None,  # noqa: A002 - the name of the option
    title: str = "",
    json: Flag = False,
) -> None:
    """Compare runs, or the providers of one run, and test the differences for significance.

    One run compares its providers. Several runs compare the providers they share, old against new;
    RUN#PROVIDER names one provider of a run.

    Args:
        runs: Folders, run.json files, names or `latest`; RUN#PROVIDER selects one provider. With
            --qrels: run files, as `berryeval score` reads them.
        baseline: Run or system that the others are compared with; default: the first. `all`
            compares every pair.
        metrics: Metrics to compare: -m nDCG@10 AP; default: those that all runs share.
        test: Significance test: randomization, t, wilcoxon, sign or bootstrap.
        correction: Multiple-comparison correction: holm, bonferroni, benjamini-hochberg, tukey,
            none.
        interval: Confidence interval of the difference: t, bca or percentile.
        level: Confidence level.
        seed: Random seed.
        by: Query property to group by: category, difficulty, or a metadata field.
        moved: Number of queries to explain, those that changed most.
        benchmark: Only this benchmark.
        anyway: Compare the queries that changed between versions of a benchmark, too.
        strict_data: Refuse to compare runs on different versions of a benchmark.
        qrels: Judgments; the runs are then run files.
        judged_by: Model judge: compare by its judgments of all queries, corrected by those of
            people of some.
        ledger: Folder or store with these judgments; default: beside the benchmark.
        output: File or folder for a report (.md .tex .json .csv .html); - for stdout.
        format: Report format, a name of `berryeval list exporters`. Without --output, a format
            with a single file (markdown, latex, ...) is printed.
        title: Title of the report.
        json: JSON output, in full precision.
    """
    from berryeval.errors import ConfigurationError
    from berryeval.metrics import split_names
    from berryeval.reports import EXPORTERS, find_format, is_folder, write_in_format
    from berryeval.workflows import compare_runs

    if not runs:
        raise ConfigurationError(
            "no run to compare; give two runs, or one with several providers, or latest"
        )
    if format and output is None and EXPORTERS.get(format).home != "stdout":
        raise ConfigurationError(
            f"--format {format} needs --output FILE, which says where the report goes"
        )
    report = compare_runs(
        runs,
        title,
        qrels=qrels,
        baseline=baseline,
        metrics=split_names(metrics or []) or None,
        test=test,
        correction=correction,
        interval=interval,
        level=level,
        seed=seed,
        by=by,
        moved=moved,
        benchmark=benchmark,
        anyway=anyway,
        strict_data=strict_data,
        judged_by=judged_by or "",
        ledger=ledger,
    )
    to_stdout = output == STDOUT or (output is None and bool(format))
    text = render_text(report, format or "markdown") if to_stdout else None
    files: list[str] = []
    if output is not None and not to_stdout:
        name = format or ("markdown" if is_folder(output) else find_format(output))
        files = [str(path) for path in write_in_format(report, name, output)]
    if json:
        data: dict[str, Any] = {
            "title": report.title,
            "runs": [run.id for run in report.runs],
            "compared": [one.to_json() for one in report.compared],
            "systems": {
                benchmark: {name: describe_speed(record) for name, record in records.items()}
                for benchmark, records in report.systems.items()
            },
            "files": files,
        }
        print_json("compare", data if text is None else {**data, "text": text})
    elif text is not None:
        print_document(text, format or "markdown")
    else:
        screen = console()
        print_comparisons(screen, report)
        print_speeds(screen, report)
        for path in files:
            screen.print(f"written: {path}")


def print_comparisons(screen: Console, report: Report) -> None:
    """Print the comparisons of a report."""
    for one in report.compared:
        _print_comparison(screen, one)


def print_speeds(screen: Console, report: Report) -> None:
    """Print times and costs of the compared systems, where they are known."""
    for benchmark, records in report.systems.items():
        if any(one.latency or one.cost for one in records.values()):
            screen.print(f"{benchmark}: times and costs", style="bold")
            screen.print(build_speed_table(records))
            screen.print()


def _print_comparison(screen: Console, one: ComparedBenchmark) -> None:
    found = one.comparison
    screen.print(one.benchmark, style="bold")
    for warning in one.warnings if not is_quiet() else ():
        print_indented(screen, f"warning: {warning}", 2, style="yellow")
    for note in found.notes:
        print_indented(screen, f"note: {note}", 2)
    screen.print()
    for (baseline, system), rows in group_by_pair(found).items():
        queries = pluralize(rows[0].n, "query")
        screen.print(f"{system} against {baseline}, {queries}", style="bold")
        screen.print(_build_table(screen, [("", row) for row in rows], "metric", one))
        print_indented(screen, rows[0].sentence, 2)
        if len(rows) > 1:
            print_indented(screen, f"all metrics: {summarize_findings(rows)}", 2)
        for note in collect_notes(rows, found.notes):
            print_indented(screen, f"note: {note}", 2)
        _print_groups(screen, one, rows[0])
        moved = [
            query for query in one.moved if (query.baseline, query.system) == (baseline, system)
        ]
        _print_moved(screen, moved)
        screen.print()
    if has_mixed(one):
        print_indented(screen, f"{_MARKS['mixed']} {MIXED}", 0, style="dim")
    method = (
        f"{_LEGEND}. W/T/L: queries with a higher, equal and lower value. "
        f"CI: {describe_interval(found)}. p: {describe_test(displayed_rows(found))}; "
        f"seed {found.seed}"
    )
    print_indented(screen, method, 0, style="dim")
    screen.print()


def _build_table(
    screen: Console,
    rows: Iterable[tuple[str, PairedDifference]],
    first: Literal["metric", "group"],
    one: ComparedBenchmark,
) -> Table:
    gap = 2 if screen.width >= _WIDE else 1
    whole = build_differences_table(rows, level=one.comparison.level, by=one.by)
    shown = whole.select([first, "queries", *result_keys(one)], {"queries": "n"})
    findings = [cell.text for cell in whole.cells("finding")]
    titles = ["", *shown.titles]
    lines = [
        [_MARKS.get(finding, ""), *(cell.text for cell in cells)]
        for finding, cells in zip(findings, shown.rows, strict=True)
    ]
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0))
    table.add_column("", width=1)
    table.add_column(titles[1], overflow="fold")
    kept = _fit_columns(titles, lines, screen.width, gap)
    for place in kept[2:]:
        table.add_column(titles[place], justify="right", no_wrap=True)
    for finding, cells in zip(findings, lines, strict=True):
        style = _STYLES.get(finding, "")
        table.add_row(*(Text(escape_line(cells[place]), style=style) for place in kept))
    return table


def _fit_columns(titles: list[str], lines: list[list[str]], width: int, gap: int) -> list[int]:
    """Return the columns that fit; the least informative go first, the name never."""
    widths = [max(map(len, column)) for column in zip(titles, *lines, strict=True)]
    widths[0], widths[1] = 1, min(widths[1], _NAME)
    kept = list(range(len(titles)))
    for title in (*_DISPENSABLE, *(one for one in titles if one.endswith(" CI"))):
        fits = sum(widths[place] + gap for place in kept) - gap <= width
        if title == "p" and "corrected" not in titles:
            continue
        if not fits or (title == "baseline" and width < _WIDE):
            kept.remove(titles.index(title))
    return kept


def _print_groups(screen: Console, one: ComparedBenchmark, whole: PairedDifference) -> None:
    rows = rows_by_group(one.comparison, whole)
    if not rows:
        return
    screen.print()
    print_indented(screen, f"{whole.metric} by {one.by}", 0, style="bold")
    screen.print(_build_table(screen, rows, "group", one))
    for note in collect_group_notes(rows, one.comparison.notes):
        print_indented(screen, f"note: {note}", 2)


def _print_moved(screen: Console, queries: list[MovedQuery]) -> None:
    if not queries:
        return
    screen.print()
    screen.print(f"queries that changed most, by {queries[0].metric}", style="bold")
    for query in queries:
        values = f"{numbers.format_metric(query.before)} → {numbers.format_metric(query.after)}"
        text = f"{numbers.format_delta(query.change)} ({values})  {query.query_id}: {query.text}"
        print_indented(screen, text, 2)
        for line in explain_change(query):
            print_indented(screen, line, 4)
