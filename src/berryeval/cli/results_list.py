"""`berryeval results list`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Final

from berryeval.cli.results_options import (
    Flag,
    Several,
    failures_of,
    read_filters,
    refuse_measures,
    refuse_unknown,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from berryeval.store import StoredResult, StoredRun

SHOWN: Final = 20  # runs
_OWNERS: Final = ("benchmark", "provider")
_COLUMNS: Final = 3  # measures, where nobody says which


def list_runs(
    *,
    benchmark: str | None = None,
    provider: str | None = None,
    since: str | None = None,
    until: str | None = None,
    limit: int = SHOWN,
    measures: Several = None,
    store: str | None = None,
    json: Flag = False,
) -> None:
    """Show past runs, the newest first.

    Example: berryeval results list --benchmark technical-docs --since 30d -m nDCG@10 RR

    Args:
        benchmark: Only runs on this benchmark.
        provider: Only runs of this provider.
        since: Only runs from then on: a date (2026-02-21), a time, or an age (30d, 12h).
        until: Only runs up to then.
        limit: At most so many runs; 0 shows all.
        measures: Which values to show; by default the first that each run was asked for.
        store: Where runs are remembered, if not .berryeval/results.db.
        json: Print JSON, in full precision.
    """
    from berryeval.cli.output import console, print_json
    from berryeval.errors import ConfigurationError
    from berryeval.pipeline.remember import opened_store, store_place
    from berryeval.reports.methods import OF_A_VALUE

    if limit < 0:
        msg = f"--limit must be 0 or more, found {limit}"
        raise ConfigurationError(msg)
    names = _names(measures)
    filters = read_filters(benchmark, provider, since, until)
    with opened_store(store_place(store)) as opened:
        found = opened.list_runs(filters, limit=limit, measures=names or None)
        if not found:
            refuse_unknown(opened, filters)
        if names:
            refuse_measures(opened, names, filters, store)
        shown = opened.shown
    if json:
        print_json("results list", {"store": shown, "runs": [asdict(run) for run in found]})
        return
    screen = console()
    if not found:
        screen.print(f"no such runs in the store {shown}")
        return
    _print(screen, found, _columns(found, names))
    if any(value.low is not None for run in found for one in run.results for value in one.values):
        screen.print(f"with each value its {OF_A_VALUE}", style="dim")


def _names(measures: Sequence[str] | None) -> list[str]:
    """The measures that were asked for; what reads them is imported only then."""
    if not measures:
        return []
    from berryeval.measures.listing import split_names

    return split_names(measures)


def _columns(found: Sequence[StoredRun], names: Sequence[str]) -> list[str]:
    """The measures that are shown: those of `names` in their order, or the first of each result."""
    if names:
        from berryeval.store.store import canonical

        return list(dict.fromkeys(map(canonical, names)))
    results = [result for run in found for result in run.results]
    return list({one.values[0].measure: None for one in results if one.values})[:_COLUMNS]


def _print(screen: Console, found: Sequence[StoredRun], columns: Sequence[str]) -> None:
    """One table if there is room; else a line and a table per run, as names are to be copied."""
    from rich.measure import Measurement

    failing = any(one.failed for run in found for one in run.results)
    titles = [*columns, *(["queries"] * failing)]
    table = _empty(("run", "when", *_OWNERS), titles)
    for run in found:
        head = [run.id, _when(run)]
        for row in _rows(run, columns) or [[]]:
            table.add_row(*head, *row)
            head = ["", ""]
    if Measurement.get(screen, screen.options.update(width=10_000), table).maximum <= screen.width:
        screen.print(table)
        return
    for run in found:
        screen.print(f"{run.id}  {_when(run)}", style="bold")
        table = _empty(_OWNERS, titles)
        for row in _rows(run, columns):
            table.add_row(*row)
        if run.results:
            screen.print(table)
        screen.print()


def _empty(owners: Sequence[str], titles: Sequence[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for owner in owners:
        table.add_column(owner, overflow="fold")
    for title in titles:
        table.add_column(title, no_wrap=True)
    return table


def _rows(run: StoredRun, columns: Sequence[str]) -> list[list[str]]:
    """A row per result; what failed comes last, and rows may be shorter than the table."""
    rows = []
    for one in run.results:
        cells = [one.benchmark, one.provider, *(_cell(one, measure) for measure in columns)]
        failed = failures_of(one.failed, one.queries)
        rows.append([*cells, failed] if failed else cells)
    return rows


def _when(run: StoredRun) -> str:
    """When it was started, by the clock of this place: runs may come from several."""
    from berryeval.store.times import moment_of

    moment = datetime.fromtimestamp(moment_of(run.created, run.id)).astimezone()
    return moment.strftime("%Y-%m-%d %H:%M")


def _cell(result: StoredResult, measure: str) -> str:
    from berryeval.reports import numbers

    if result.failure and not result.values:
        return "failed"
    for value in result.values:
        if value.measure == measure:
            around = numbers.interval_around(value.value, value.low, value.high, value.n)
            return f"{numbers.measure(value.value)} {around}".rstrip()
    return numbers.NOTHING
