"""The tables of `berryeval eval`: as one where there is room, in parts where there is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from berryeval._internal import numbers
from berryeval._internal.text import cut
from berryeval.cli.eval_view import notes_about_times, shown_remarks
from berryeval.cli.gate import print_verdicts
from berryeval.cli.output import SafeScreen, console, print_indented, safe_screen
from berryeval.metrics import parse_metrics
from berryeval.reports import build_legend, build_scores_table
from berryeval.runs import deeper_than

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from berryeval.cli.eval_view import View
    from berryeval.reports import Cell
    from berryeval.runs import ProviderRecord
    from berryeval.scoring import Scores
    from berryeval.workflows import BenchmarkResult, ProviderResult, WorstQuery


BEST: Final = "*"
_SPEED: Final = ("p50", "p95", "p99")


def quality_tables(
    rows: Mapping[str, Scores | None],
    metrics: Sequence[str],
    width: int,
    providers: Sequence[ProviderRecord] = (),
) -> list[Table]:
    """Providers as rows, metrics as columns, each value with its interval.

    With `providers` the times and outcomes stand in the same table; there is none if it does not
    fit. Without, intervals go below their values where it is narrow, and columns that do not fit go
    to further tables.
    """
    one = _table(rows, metrics, providers, stacked=False)
    if _width(one) <= width:
        return [one]
    if providers:
        return []
    tables = []
    left = list(metrics)
    while left:
        fits = len(left)
        while fits > 1 and _width(_table(rows, left[:fits], (), stacked=True)) > width:
            fits -= 1
        tables.append(_table(rows, left[:fits], (), stacked=True))
        left = left[fits:]
    return tables


def print_tables(
    screen: Console,
    rows: Mapping[str, Scores | None],
    metrics: Sequence[str],
    providers: Sequence[ProviderRecord],
) -> None:
    """Quality, times and outcomes: in one table where it fits, in several where it does not."""
    wide = quality_tables(rows, metrics, screen.width, providers)
    for table in wide or quality_tables(rows, metrics, screen.width):
        screen.print(table)
        screen.print()
    if not wide:
        screen.print(speed_table(providers))
        screen.print()


def print_legend(screen: Console, tables: Sequence[Scores | None], metrics: Sequence[str]) -> None:
    """Say what the marks and intervals of the tables are, if there are any."""
    if words := build_legend(f"{BEST} best in column", tables, metrics):
        print_indented(screen, words, 0, style="dim")


def speed_table(providers: Sequence[ProviderRecord]) -> Table:
    """How long answers took, what they cost, and what became of the queries."""
    scores = {one.name: one.scores for one in providers}
    whole = build_scores_table(scores, (), providers, percentiles=_SPEED, with_costs=True)
    table = _empty()
    for column in whole.columns[1:]:
        if column.numeric:
            table.add_column(column.title, justify="right")
        else:
            table.add_column(column.title, overflow="fold")
    for row in whole.rows:
        table.add_row(*(cell.text for cell in row))
    return table


def _empty() -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("provider", overflow="fold")
    return table


def _table(
    rows: Mapping[str, Scores | None],
    metrics: Sequence[str],
    providers: Sequence[ProviderRecord],
    *,
    stacked: bool,
) -> Table:
    whole = build_scores_table(rows, metrics, providers, percentiles=_SPEED, with_costs=True)
    table = _empty()
    for column in whole.columns[1:]:
        right = column.numeric and column.key not in metrics  # marks follow the values
        table.add_column(column.title, justify="right" if right else "left", no_wrap=True)
    for name, *cells in whole.rows:
        scores, others = cells[: len(metrics)], cells[len(metrics) :]
        shown = [_score_text(cell, stacked=stacked) for cell in scores]
        table.add_row(name.text, *shown, *(cell.text for cell in others))
    return table


def _score_text(cell: Cell, *, stacked: bool) -> Text:
    """Format a value with its mark, and its interval behind or below it."""
    if cell.value is None:
        return Text(cell.text)
    text = Text(f"{cell.text}{BEST if cell.bold else ' '}", style="bold" if cell.bold else "")
    if cell.detail:
        text.append("\n" if stacked else " ")
        text.append(cell.detail, style="dim not bold")
    return text


def _width(table: Table) -> int:
    wide = safe_screen(SafeScreen, width=10_000)
    return Measurement.get(wide, wide.options, table).maximum


# How `berryeval eval --where-it-fails` prints the worst queries.

_TEXT: Final = 160  # characters of a hit
_MISSED: Final = 8


def print_worst(screen: Console, provider: str, queries: Sequence[WorstQuery]) -> None:
    """The worst queries of one provider."""
    screen.print()
    screen.print(f"where {provider} fails", style="bold")
    for one in queries:
        screen.print()
        about = ", ".join(word for word in (one.query.category, one.query.difficulty) if word)
        title = (
            f"{one.metric} {numbers.metric(one.value)}  query {one.query.id}"
            f"{f' ({about})' if about else ''}"
        )
        print_indented(screen, title, 2, style="bold")
        print_indented(screen, one.query.text, 4)
        if one.answer.error:
            print_indented(screen, f"{one.answer.outcome}: {one.answer.error}", 4, style="red")
        _print_returned(screen, one)
        _print_missed(screen, one)


def _print_returned(screen: Console, one: WorstQuery) -> None:
    if not one.returned:
        print_indented(screen, "returned nothing", 4)
        return
    print_indented(screen, f"returned {len(one.answer.hits)}, of these the first:", 4)
    for rank, returned in enumerate(one.returned, start=1):
        print_indented(screen, f"{rank}. {returned.grade}  {returned.name}", 6)
        print_indented(screen, cut(returned.text, _TEXT), 9, style="dim")


def _print_missed(screen: Console, one: WorstQuery) -> None:
    expected, missed_targets = one.answer.expected, one.answer.missed
    if expected:
        print_indented(screen, f"expected: {cut(expected, _TEXT)}", 4)
    if not missed_targets:
        return
    print_indented(screen, f"wanted and not found ({len(missed_targets)}):", 4)
    for missed in missed_targets[:_MISSED]:
        print_indented(screen, f"grade {missed.grade:g}  {missed.name}", 6, style="yellow")
    if len(missed_targets) > _MISSED:
        print_indented(screen, f"… and {len(missed_targets) - _MISSED} more", 6)


# How `berryeval eval` prints its results for people.

_PARTS: Final = {
    "scores.json": "every query's scores, in full precision",
    "run.trec": "the rankings, for other tools",
    "results.jsonl": "the journal, a line per query",
}
_NOTES: Final = 3  # of how hits were judged, for each provider


def print_view(view: View, *, quiet: bool) -> None:
    """A table per benchmark, what is doubtful about it, and where everything is."""
    screen = console()
    for result in view.results:
        _print_benchmark(screen, view, result, quiet=quiet)
        screen.print()
    if view.verdicts:
        print_verdicts(screen, view.verdicts, "" if quiet else view.note)
        screen.print()
    if not quiet:
        if view.plan.thresholds != view.folder.as_asked(view.plan).thresholds:
            text = "judged by other thresholds than those asked first, which manifest.json keeps"
            print_indented(screen, f"note: {text}", 0, style="yellow")
        _print_places(screen, view)


def _print_benchmark(screen: Console, view: View, result: BenchmarkResult, *, quiet: bool) -> None:
    from berryeval._internal.text import counted

    metrics = [str(metric) for metric in parse_metrics(view.plan.scored)]
    queries = counted(len(result.queries), "query", "queries")
    about = f"{queries}, {view.plan.depth} hits each{strategy_note(result.providers)}"
    screen.print(f"{result.benchmark.name}: {about}", style="bold")
    screen.print()
    rows = {one.name: one.scores for one in result.providers}
    print_tables(screen, rows, metrics, result.record.providers)
    if not quiet:
        _print_legend(screen, view, result, metrics)
    _print_groups(screen, view, result, metrics)
    print_warnings(screen, result.providers, quiet=quiet)
    for one in result.providers:
        worst = view.worst.get((result.benchmark.name, one.name))
        if worst:
            print_worst(screen, one.name, worst)


def strategy_note(providers: Sequence[ProviderResult | ProviderRecord]) -> str:
    """Who decided what is relevant, where it was not judgments alone."""
    found = {strategy for one in providers if one.scores for strategy in one.scores.strategies}
    return "" if found <= {"qrels"} else f"; relevance decided by {', '.join(sorted(found))}"


def _print_legend(screen: Console, view: View, result: BenchmarkResult, metrics: list[str]) -> None:
    print_legend(screen, [one.scores for one in result.providers], metrics)
    deeper = deeper_than(view.plan.depth, metrics)
    for note in notes_about_times(view.plan, result):
        print_indented(screen, note, 0, style="dim")
    for remark in shown_remarks(result.benchmark.remarks):
        print_indented(screen, f"note: {remark}", 0, style="yellow")
    if deeper:
        text = f"note: {', '.join(deeper)} would look at more than the {view.plan.depth} hits"
        print_indented(screen, text, 0, style="yellow")
    least = result.benchmark.thresholds
    if least and not view.plan.thresholds:
        shown = ", ".join(
            f"{metric} {value:g}"
            for (name, value), metric in zip(least.items(), parse_metrics(list(least)), strict=True)
            if str(metric) in metrics
        )
        if shown:
            print_indented(screen, f"the benchmark's own thresholds: {shown}", 0, style="dim")


def _print_groups(screen: Console, view: View, result: BenchmarkResult, metrics: list[str]) -> None:
    from berryeval._internal.text import counted

    groups = view.groups(result)
    if not groups:
        return
    parts = {one.name: one.scores.by(groups) if one.scores else {} for one in result.providers}
    names = sorted({name for by_group in parts.values() for name in by_group})
    for name in names:
        rows = {provider: by_group.get(name) for provider, by_group in parts.items()}
        count = max(scores.count for scores in rows.values() if scores)
        screen.print()
        queries = counted(count, "query", "queries")
        screen.print(f"{view.by} {name}: {queries}", style="bold")
        for table in quality_tables(rows, metrics, screen.width):
            screen.print(table)


def print_warnings(
    screen: Console, providers: Sequence[ProviderResult | ProviderRecord], *, quiet: bool = False
) -> None:
    """What failed; and unless quiet, what is doubtful, and first notes of how hits were judged."""
    lines = []
    for one in providers:
        if one.failure:
            lines.append(f"failed: {one.name}: {one.failure}")
        if quiet:
            continue
        lines += [f"warning: {one.name}: {warning}" for warning in one.warnings]
        notes = one.scores.notes if one.scores else ()
        lines += [f"note: {one.name}: {note}" for note in notes[:_NOTES]]
        if len(notes) > _NOTES:
            lines.append(f"note: {one.name}: … and {len(notes) - _NOTES} more in scores.json")
    if lines:
        screen.print()
    for line in lines:
        style = "red" if line.startswith("failed") else "yellow"
        print_indented(screen, line, 0, style=style)


def _print_places(screen: Console, view: View) -> None:
    screen.print(f"results: {view.folder.path}", style="bold")
    print_indented(screen, "manifest.json: what was asked, hashes, versions", 2)
    print_indented(screen, "run.json: everything that reports are made of", 2)
    parts = [one.folder for result in view.results for one in result.providers]
    for name, what in _PARTS.items():
        if any((part / name).exists() for part in parts):
            print_indented(screen, f"BENCHMARK/PROVIDER/{name}: {what}", 2)
    for one in view.exported:
        for path in one.paths:
            screen.print(f"{one.format}: {path}", style="bold")
