"""How `berryeval eval` prints its results for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.cli.eval_notes import notes_about_times, shown_remarks
from berryeval.cli.eval_tables import print_legend, print_tables, quality_tables
from berryeval.cli.eval_worst import print_worst
from berryeval.cli.gate import print_verdicts
from berryeval.cli.output import console, print_indented
from berryeval.measures import parse_measures
from berryeval.results.standard import deeper_than

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from berryeval.cli.eval_view import View
    from berryeval.pipeline.run_result import BenchmarkResult, ProviderResult
    from berryeval.results import ProviderRecord

__all__ = ["print_view", "print_warnings", "strategy_note"]

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
    from berryeval.io.words import counted

    measures = [str(measure) for measure in parse_measures(view.plan.scored)]
    queries = counted(len(result.queries), "query", "queries")
    about = f"{queries}, {view.plan.depth} hits each{strategy_note(result.providers)}"
    screen.print(f"{result.benchmark.name}: {about}", style="bold")
    screen.print()
    rows = {one.name: one.scores for one in result.providers}
    print_tables(screen, rows, measures, result.record.providers)
    if not quiet:
        _print_legend(screen, view, result, measures)
    _print_groups(screen, view, result, measures)
    print_warnings(screen, result.providers, quiet=quiet)
    for one in result.providers:
        worst = view.worst.get((result.benchmark.name, one.name))
        if worst:
            print_worst(screen, one.name, worst)


def strategy_note(providers: Sequence[ProviderResult | ProviderRecord]) -> str:
    """Who decided what is relevant, where it was not judgments alone."""
    found = {strategy for one in providers if one.scores for strategy in one.scores.strategies}
    return "" if found <= {"qrels"} else f"; relevance decided by {', '.join(sorted(found))}"


def _print_legend(
    screen: Console, view: View, result: BenchmarkResult, measures: list[str]
) -> None:
    print_legend(screen, [one.scores for one in result.providers], measures)
    deeper = deeper_than(view.plan.depth, measures)
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
            f"{measure} {value:g}"
            for (name, value), measure in zip(
                least.items(), parse_measures(list(least)), strict=True
            )
            if str(measure) in measures
        )
        if shown:
            print_indented(screen, f"the benchmark's own thresholds: {shown}", 0, style="dim")


def _print_groups(
    screen: Console, view: View, result: BenchmarkResult, measures: list[str]
) -> None:
    from berryeval.io.words import counted

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
        for table in quality_tables(rows, measures, screen.width):
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
