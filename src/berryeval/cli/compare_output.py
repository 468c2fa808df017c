"""How `berryeval compare` prints what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from berryeval.cli.output import print_indented
from berryeval.reports import numbers
from berryeval.reports.differences import (
    cells_of,
    finding,
    has_family,
    pairs_of,
    summary,
    titles_of,
    why,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from berryeval.reports import Report
    from berryeval.reports.compared import ComparedBenchmark, MovedQuery
    from berryeval.stats import PairedDifference

__all__ = ["print_comparisons"]

_MARKS: Final = {"better": "+", "worse": "-", "higher": "^", "lower": "v", "cannot be said": "?"}
_STYLES: Final = {"better": "green", "worse": "bold red"}
_WIDE: Final = 100  # columns from which on the values of the baseline are shown too
_LEGEND: Final = "+ better, - worse, ^ higher, v lower, ? cannot be said; without a mark: not shown"


def print_comparisons(screen: Console, report: Report) -> None:
    """Every comparison: tables, sentences, groups, moved queries, what is doubtful."""
    for one in report.compared:
        _print_one(screen, one)


def _print_one(screen: Console, one: ComparedBenchmark) -> None:
    found = one.comparison
    screen.print(one.benchmark, style="bold")
    for warning in one.warnings:
        print_indented(screen, f"warning: {warning}", 2, style="yellow")
    for note in found.notes:
        print_indented(screen, f"note: {note}", 2)
    screen.print()
    for (baseline, system), rows in pairs_of(found).items():
        screen.print(f"{system} against {baseline}, {_queries(rows[0].n)}", style="bold")
        screen.print(_table(screen, [(row.measure, row) for row in rows], "measure", one))
        print_indented(screen, rows[0].sentence, 2)
        if len(rows) > 1:
            print_indented(screen, f"all measures: {summary(rows)}", 2)
        _print_groups(screen, one, rows[0])
        queries = [
            query for query in one.moved if (query.baseline, query.system) == (baseline, system)
        ]
        _print_moved(screen, queries)
        screen.print()
    print_indented(screen, _method(one), 0, style="dim")
    screen.print()


def _queries(count: int) -> str:
    from berryeval.benchmarks.checks.words import counted

    return counted(count, "query", "queries")


def _method(one: ComparedBenchmark) -> str:
    found, row = one.comparison, one.comparison.rows[0]
    corrected = ""
    if has_family(one):
        corrected = f", corrected ({found.correction}) for {row.comparisons} comparisons"
    return (
        f"{_LEGEND}. W/T/L: queries with a higher, an equal, a lower value. "
        f"p: {row.test}{corrected}; seed {found.seed}"
    )


def _table(
    screen: Console,
    rows: Iterable[tuple[str, PairedDifference]],
    first: str,
    one: ComparedBenchmark,
) -> Table:
    """A row per measure or group; what is shown for real has a mark, not only a colour."""
    family, wide = has_family(one), screen.width >= _WIDE
    table = Table(box=None, pad_edge=False, padding=(0, 2 if wide else 1, 0, 0))
    table.add_column("", width=1)
    table.add_column(first, overflow="fold")
    table.add_column("n", justify="right")
    hidden = 0 if wide else 1  # the value of the baseline follows from the other two
    for title in titles_of(one.comparison.level, corrected=family)[hidden:]:
        table.add_column(title, justify="right", no_wrap=True)
    for name, row in rows:
        kind = finding(row)
        cells = [_MARKS.get(kind, ""), name, str(row.n), *cells_of(row, corrected=family)[hidden:]]
        table.add_row(*(Text(cell, style=_STYLES.get(kind, "")) for cell in cells))
    return table


def _print_groups(screen: Console, one: ComparedBenchmark, whole: PairedDifference) -> None:
    """The first measure by group."""
    groups = one.comparison.groups
    if not groups:
        return
    rows = [
        (label, group.row(whole.measure, whole.system, whole.baseline))
        for label, group in groups.items()
    ]
    screen.print()
    print_indented(screen, f"{whole.measure} by {one.by}", 0, style="bold")
    screen.print(_table(screen, rows, one.by, one))
    for label, row in rows:
        if row.cannot:
            print_indented(screen, f"{label}: nothing can be said, {row.cannot}", 2)


def _print_moved(screen: Console, queries: list[MovedQuery]) -> None:
    if not queries:
        return
    screen.print()
    screen.print(f"queries that moved most, by {queries[0].measure}", style="bold")
    for query in queries:
        values = f"{numbers.measure(query.before)} → {numbers.measure(query.after)}"
        text = f"{numbers.delta(query.change)} ({values})  {query.query_id}: {query.text}"
        print_indented(screen, text, 2)
        for line in why(query):
            print_indented(screen, line, 4)
