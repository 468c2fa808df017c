"""`berryeval results list`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from berryeval.cli.results_options import Flag, Several, read_filters, refuse_unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from berryeval.store import StoredResult, StoredRun

SHOWN: Final = 20  # runs
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
    from berryeval.measures.listing import split_names
    from berryeval.pipeline.remember import opened_store, store_place

    if limit < 0:
        msg = f"--limit must be 0 or more, found {limit}"
        raise ConfigurationError(msg)
    names = split_names(measures or [])
    filters = read_filters(benchmark, provider, since, until)
    with opened_store(store_place(store)) as opened:
        found = opened.list_runs(filters, limit=limit or None, measures=names or None)
        if not found:
            refuse_unknown(opened, filters)
        shown = opened.shown
    if json:
        print_json("results list", {"store": shown, "runs": [asdict(run) for run in found]})
        return
    screen = console()
    if not found:
        screen.print(f"no such runs in the store {shown}")
        return
    screen.print(_table(found, names))


def _table(found: Sequence[StoredRun], names: Sequence[str]) -> Table:
    from rich.table import Table

    results = [result for run in found for result in run.results]
    asked = {value.measure: None for result in results for value in result.values}
    first = {result.values[0].measure: None for result in results if result.values}
    columns = list(asked) if names else list(first)[:_COLUMNS]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("run", "when", "benchmark", "provider"):
        table.add_column(title, overflow="fold")
    for measure in columns:
        table.add_column(measure, no_wrap=True)
    for run in found:
        head = [run.id, run.created[:16].replace("T", " ")]
        for result in run.results:
            cells = [_cell(result, measure) for measure in columns]
            table.add_row(*head, result.benchmark, result.provider, *cells)
            head = ["", ""]
        if not run.results:
            table.add_row(*head)
    return table


def _cell(result: StoredResult, measure: str) -> str:
    if result.failure and not result.values:
        return "failed"
    for value in result.values:
        if value.measure == measure:
            interval = "" if value.low is None else f" {value.low:.2f}-{value.high:.2f}"
            return f"{value.value:.3f}{interval}"
    return "-"
