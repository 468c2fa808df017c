"""How `berryeval compare` prints what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from berryeval.cli.output import print_indented
from berryeval.cli.wordiness import is_quiet
from berryeval.reports import numbers
from berryeval.reports.differences import (
    MIXED,
    cells_of,
    finding,
    group_rows,
    has_family,
    has_mixed,
    notes_of,
    notes_on,
    pairs_of,
    summary,
    titles_of,
    why,
)
from berryeval.reports.methods import how_tested, interval_words, shown_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from berryeval.reports import Report
    from berryeval.reports.compared import ComparedBenchmark, MovedQuery
    from berryeval.stats import PairedDifference

__all__ = ["print_comparisons"]

_MARKS: Final = {
    "better": "+", "worse": "-", "higher": "^", "lower": "v", "mixed": "~", "cannot be said": "?",
}  # fmt: skip
_STYLES: Final = {"better": "green", "worse": "bold red"}
_WIDE: Final = 100  # columns from which on the values of the baseline are shown too
_NAME: Final = 16  # letters of a name that stay on one line, if it has so many
# In this order columns are left out of narrow terminals; the baseline follows from value and delta.
_DISPENSABLE: Final = ("baseline", "effect", "W/T/L", "value", "n", "p")
_LEGEND: Final = "+ better, - worse, ^ higher, v lower, ? cannot be said; without a mark: not shown"


def print_comparisons(screen: Console, report: Report) -> None:
    """Every comparison: tables, sentences, groups, moved queries, what is doubtful."""
    for one in report.compared:
        _print_one(screen, one)


def _print_one(screen: Console, one: ComparedBenchmark) -> None:
    found = one.comparison
    screen.print(one.benchmark, style="bold")
    for warning in one.warnings if not is_quiet() else ():
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
        for note in notes_on(rows, found.notes):
            print_indented(screen, f"note: {note}", 2)
        _print_groups(screen, one, rows[0])
        queries = [
            query for query in one.moved if (query.baseline, query.system) == (baseline, system)
        ]
        _print_moved(screen, queries)
        screen.print()
    if has_mixed(one):
        print_indented(screen, f"{_MARKS['mixed']} {MIXED}", 0, style="dim")
    print_indented(screen, _method(one), 0, style="dim")
    screen.print()


def _queries(count: int) -> str:
    from berryeval.io.words import counted

    return counted(count, "query", "queries")


def _method(one: ComparedBenchmark) -> str:
    found = one.comparison
    return (
        f"{_LEGEND}. W/T/L: queries with a higher, an equal, a lower value. "
        f"CI: {interval_words(found)}. p: {how_tested(shown_rows(found))}; seed {found.seed}"
    )


def _table(
    screen: Console,
    rows: Iterable[tuple[str, PairedDifference]],
    first: str,
    one: ComparedBenchmark,
) -> Table:
    """A row per measure or group; what is shown for real has a mark, not only a colour."""
    family, gap = has_family(one), 2 if screen.width >= _WIDE else 1
    titles = ["", first, "n", *titles_of(one.comparison.level, corrected=family)]
    named = list(rows)
    lines = [
        [_MARKS.get(finding(row), ""), name, str(row.n), *cells_of(row, corrected=family)]
        for name, row in named
    ]
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0))
    table.add_column("", width=1)
    table.add_column(first, overflow="fold")
    kept = _columns_that_fit(titles, lines, screen.width, gap)
    for place in kept[2:]:
        table.add_column(titles[place], justify="right", no_wrap=True)
    for (_, row), cells in zip(named, lines, strict=True):
        style = _STYLES.get(finding(row), "")
        table.add_row(*(Text(cells[place], style=style) for place in kept))
    return table


def _columns_that_fit(titles: list[str], lines: list[list[str]], width: int, gap: int) -> list[int]:
    """The columns for this width: what tells least goes first, and the name never."""
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
    """The first measure by group."""
    rows = group_rows(one.comparison, whole)
    if not rows:
        return
    screen.print()
    print_indented(screen, f"{whole.measure} by {one.by}", 0, style="bold")
    screen.print(_table(screen, rows, one.by, one))
    for label, row in rows:
        if row.cannot:
            print_indented(screen, f"{label}: nothing can be said, {row.cannot}", 2)
    for note in notes_of(rows, one.comparison.notes):
        print_indented(screen, f"note: {note}", 2)


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
