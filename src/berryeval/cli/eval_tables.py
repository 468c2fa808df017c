"""The tables of `berryeval eval`: one table if it fits the terminal, else several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from berryeval._internal import numbers
from berryeval._internal.text import escape_line, pluralize, truncate
from berryeval.cli.eval_view import explain_times, limit_remarks
from berryeval.cli.gate import print_verdicts
from berryeval.cli.output import console, print_indented, safe_screen
from berryeval.metrics import parse_metrics
from berryeval.reports import build_legend, build_scores_table, list_stage_tables
from berryeval.runs import find_deeper

if TYPE_CHECKING:
    from rich.console import Console

    from berryeval.cli.eval_view import View
    from berryeval.reports import Cell
    from berryeval.reports import Table as NeutralTable
    from berryeval.runs import BenchmarkRecord, ProviderRecord
    from berryeval.scoring import Scores
    from berryeval.workflows import BenchmarkResult, WorstQuery


BEST: Final = "*"
_SPEED: Final = ("p50", "p95", "p99")


def quality_tables(
    rows: Mapping[str, Scores | None],
    metrics: Sequence[str],
    width: int,
    providers: Sequence[ProviderRecord] = (),
) -> list[Table]:
    """Build tables of providers by metrics, each value with its interval.

    With `providers`, times and outcomes are part of the table; the result is empty if it does not
    fit. Otherwise narrow terminals get intervals below their values, and further tables for columns
    that do not fit.
    """
    one = _build_table(rows, metrics, providers, stacked=False)
    if _measure(one) <= width:
        return [one]
    if providers:
        return []
    tables = []
    left = list(metrics)
    while left:
        fits = len(left)
        while fits > 1 and _measure(_build_table(rows, left[:fits], (), stacked=True)) > width:
            fits -= 1
        tables.append(_build_table(rows, left[:fits], (), stacked=True))
        left = left[fits:]
    return tables


def print_tables(
    screen: Console,
    rows: Mapping[str, Scores | None],
    metrics: Sequence[str],
    providers: Sequence[ProviderRecord],
) -> None:
    """Print quality, times and outcomes in one table if it fits, else in several."""
    wide = quality_tables(rows, metrics, screen.width, providers)
    for table in wide or quality_tables(rows, metrics, screen.width):
        screen.print(table)
        screen.print()
    if not wide:
        screen.print(build_speed_table({one.name: one for one in providers}))
        screen.print()


def print_legend(screen: Console, tables: Sequence[Scores | None], metrics: Sequence[str]) -> None:
    """Explain the marks and intervals of the tables, if there are any."""
    if words := build_legend(f"{BEST} best in column", tables, metrics):
        print_indented(screen, words, 0, style="dim")


def build_speed_table(providers: Mapping[str, ProviderRecord]) -> Table:
    """Build the table of times, costs and outcomes by the name of the provider."""
    scores = {name: one.scores for name, one in providers.items()}
    return _show(build_scores_table(scores, (), list(providers.values()), percentiles=_SPEED))


def print_stages(
    screen: Console, providers: Sequence[ProviderRecord], *, quiet: bool = False
) -> None:
    """Print what each stage of a provider with several changes, takes and could reach."""
    for one in list_stage_tables({one.name: one for one in providers}):
        screen.print()
        screen.print(f"stages of {one.provider}", style="bold")
        for table in (one.quality, one.speed):
            if table.rows:
                screen.print(_show(table))
        if not quiet:
            print_indented(screen, one.note, 0, style="dim")


def _show(whole: NeutralTable) -> Table:
    table = _start_table(whole.columns[0].title)
    for column in whole.columns[1:]:
        how: dict[str, Any] = {"justify": "right"} if column.numeric else {"overflow": "fold"}
        table.add_column(column.title, **how)
    for row in whole.rows:
        table.add_row(*(cell.text for cell in row))
    return table


def _start_table(title: str = "provider") -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(title, overflow="fold")
    return table


def _build_table(
    rows: Mapping[str, Scores | None],
    metrics: Sequence[str],
    providers: Sequence[ProviderRecord],
    *,
    stacked: bool,
) -> Table:
    whole = build_scores_table(rows, metrics, providers, percentiles=_SPEED)
    table = _start_table()
    for column in whole.columns[1:]:
        right = column.numeric and column.key not in metrics  # marks follow the values
        table.add_column(column.title, justify="right" if right else "left", no_wrap=True)
    for name, *cells in whole.rows:
        scores, others = cells[: len(metrics)], cells[len(metrics) :]
        shown = [_format_score(cell, stacked=stacked) for cell in scores]
        table.add_row(name.text, *shown, *(cell.text for cell in others))
    return table


def _format_score(cell: Cell, *, stacked: bool) -> Text:
    if cell.value is None:
        return Text(escape_line(cell.text))
    text = Text(f"{cell.text}{BEST if cell.bold else ' '}", style="bold" if cell.bold else "")
    if cell.detail:
        text.append("\n" if stacked else " ")
        text.append(cell.detail, style="dim not bold")
    return text


def _measure(table: Table) -> int:
    wide = safe_screen(width=10_000)
    return Measurement.get(wide, wide.options, table).maximum


# The worst queries.

_TEXT: Final = 160  # characters of a hit


def print_worst(screen: Console, provider: str, queries: Sequence[WorstQuery]) -> None:
    """Print the worst queries of one provider."""
    screen.print()
    screen.print(f"where {provider} fails", style="bold")
    for one in queries:
        screen.print()
        about = ", ".join(word for word in (one.query.category, one.query.difficulty) if word)
        title = (
            f"{one.metric} {numbers.format_metric(one.value)}  query {one.query.id}"
            f"{f' ({about})' if about else ''}"
        )
        print_indented(screen, title, 2, style="bold")
        print_indented(screen, one.query.text, 4)
        if one.answer.error:
            print_indented(screen, f"{one.answer.outcome}: {one.answer.error}", 4, style="red")
        _print_returned(screen, one)
        _print_wanted(screen, one)


def _print_returned(screen: Console, one: WorstQuery) -> None:
    if not one.returned:
        print_indented(screen, "returned no hits", 4)
        return
    print_indented(
        screen, f"returned {pluralize(len(one.answer.hits), 'hit')}, the first of them:", 4
    )
    for rank, returned in enumerate(one.returned, start=1):
        print_indented(screen, f"{rank}. {returned.hit.describe_grade()}  {returned.name}", 6)
        print_indented(screen, truncate(returned.text, _TEXT), 9, style="dim")


def _print_wanted(screen: Console, one: WorstQuery) -> None:
    if one.answer.expected:
        print_indented(screen, f"expected: {truncate(one.answer.expected, _TEXT)}", 4)
    if one.wanted:
        print_indented(screen, f"wanted ({len(one.wanted)}):", 4)
    ranks = [want.describe_rank() for want in one.wanted]
    width = max(map(len, ranks), default=0)
    for rank, want in zip(ranks, one.wanted, strict=True):
        style = "yellow" if want.rank is None else ""
        line = f"{rank.ljust(width)}  grade {want.grade:g}  {want.target}"
        print_indented(screen, line, 6, style=style)


# The whole view.

_PARTS: Final = {
    "scores.json": "scores of every query, in full precision",
    "run.trec": "rankings, for other tools; qrels.trec judges them",
    "run.documents.trec": "rankings of documents; qrels.documents.trec judges them",
    "results.jsonl": "journal, a line per query",
}
_NOTES: Final = 3  # notes about judging, for each provider


def print_view(view: View, *, quiet: bool) -> None:
    """Print a table per benchmark, warnings, verdicts, and the places of all files."""
    screen, done = console(), view.done
    for result in done.results:
        _print_benchmark(screen, view, result, quiet=quiet)
        screen.print()
    if done.verdicts:
        print_verdicts(screen, done.verdicts, "" if quiet else done.note)
        screen.print()
    if not quiet:
        if view.done.plan.thresholds != done.first_plan.thresholds:
            text = "judged by other thresholds than those of the first run, kept in manifest.json"
            print_indented(screen, f"note: {text}", 0, style="yellow")
        _print_places(screen, view)


def _print_benchmark(screen: Console, view: View, result: BenchmarkResult, *, quiet: bool) -> None:
    part = result.record
    metrics = [str(metric) for metric in parse_metrics(view.done.plan.scored)]
    queries = pluralize(len(part.queries), "query")
    about = f"{queries}, {part.k} hits each{strategy_note(part.providers)}"
    screen.print(f"{part.name}: {about}", style="bold")
    screen.print()
    print_tables(screen, {one.name: one.scores for one in part.providers}, metrics, part.providers)
    if not quiet:
        _print_legend(screen, view, result, metrics)
    print_stages(screen, part.providers, quiet=quiet)
    _print_groups(screen, view, part, metrics)
    print_warnings(screen, part.providers, quiet=quiet)
    for one in part.providers:
        worst = view.find_worst(part, one)
        if worst:
            print_worst(screen, one.name, worst)


def strategy_note(providers: Sequence[ProviderRecord]) -> str:
    """Return the relevance strategies, unless judgments alone decided."""
    found = {strategy for one in providers if one.scores for strategy in one.scores.strategies}
    return "" if found <= {"qrels"} else f"; relevance decided by {', '.join(sorted(found))}"


def _print_legend(screen: Console, view: View, result: BenchmarkResult, metrics: list[str]) -> None:
    part = result.record
    print_legend(screen, [one.scores for one in part.providers], metrics)
    for note in explain_times(view.done.plan, result):
        print_indented(screen, note, 0, style="dim")
    for remark in limit_remarks(result.benchmark.remarks):
        print_indented(screen, f"note: {remark}", 0, style="yellow")
    deeper = find_deeper(part.k, metrics)
    if deeper:
        text = f"note: {', '.join(deeper)} would use more than the {part.k} hits"
        print_indented(screen, text, 0, style="yellow")
    least = part.thresholds
    if least and not view.done.plan.thresholds:
        shown = ", ".join(
            f"{metric} {value:g}"
            for (name, value), metric in zip(least.items(), parse_metrics(list(least)), strict=True)
            if str(metric) in metrics
        )
        if shown:
            goal = result.benchmark.metadata.get("threshold_note")
            shown += f" ({goal})" if goal else ""
            print_indented(screen, f"thresholds of the benchmark: {shown}", 0, style="dim")


def _print_groups(screen: Console, view: View, part: BenchmarkRecord, metrics: list[str]) -> None:
    for by, groups in view.group(part).items():
        parts = {one.name: one.scores.by(groups) if one.scores else {} for one in part.providers}
        _print_group_tables(screen, by, parts, metrics)


def _print_group_tables(
    screen: Console, by: str, parts: Mapping[str, Mapping[str, Scores]], metrics: list[str]
) -> None:
    names = sorted({name for by_group in parts.values() for name in by_group})
    for name in names:
        rows = {provider: by_group.get(name) for provider, by_group in parts.items()}
        count = max(scores.count for scores in rows.values() if scores)
        screen.print()
        queries = pluralize(count, "query")
        screen.print(f"{by} {name}: {queries}", style="bold")
        for table in quality_tables(rows, metrics, screen.width):
            screen.print(table)


def print_warnings(
    screen: Console, providers: Sequence[ProviderRecord], *, quiet: bool = False
) -> None:
    """Print failures and, unless quiet, warnings and the first notes about judging."""
    about: dict[tuple[str, str], list[str]] = {}  # providers by kind and text
    for one in providers:
        lines = [("failed", one.failure)] if one.failure else []
        notes = one.scores.notes if one.scores else ()
        if not quiet:
            lines += [("warning", warning) for warning in one.warnings]
            lines += [("note", note) for note in notes[:_NOTES]]
            more = len(notes) - _NOTES
            lines += [("note", f"… and {more} more in scores.json")] if more > 0 else []
        for line in lines:
            about.setdefault(line, []).append(one.name)
    if about:
        screen.print()
    for (kind, text), names in about.items():
        style = "red" if kind == "failed" else "yellow"
        print_indented(screen, f"{kind}: {', '.join(names)}: {text}", 0, style=style)


def _print_places(screen: Console, view: View) -> None:
    done = view.done
    screen.print(f"results: {done.folder.path}", style="bold")
    print_indented(screen, "manifest.json: plan, hashes, versions", 2)
    print_indented(screen, "run.json: record of the run, for reports", 2)
    parts = [one.folder for result in done.results for one in result.providers]
    for name, what in _PARTS.items():
        if any((part / name).exists() for part in parts):
            print_indented(screen, f"BENCHMARK/PROVIDER/{name}: {what}", 2)
    for one in done.exported:
        for path in one.paths:
            screen.print(f"{one.format}: {path}", style="bold")
        if one.place:
            screen.print(one.place, style="bold")
