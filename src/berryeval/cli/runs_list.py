"""`berryeval runs list`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from berryeval.cli.options import Flag, Metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from berryeval.runs import (
        BenchmarkRecord,
        Filters,
        ProviderRecord,
        RunRecord,
        Store,
        StoredResult,
        StoredRun,
    )


# `berryeval runs show`.


def show(run: str = "latest", /, *, store: str | None = None, json: Flag = False) -> None:
    """Show one run: what it measured, as `eval` printed it, and what it was.

    Example: berryeval runs show latest~1

    Args:
        run: Its name or the beginning of it, its folder, a file, `latest`, or `latest~1`.
        store: Where runs are remembered, if not .berryeval/results.db.
        json: Print JSON, in full precision.
    """
    from berryeval.cli.logs import error_screen, log_level, log_lines
    from berryeval.cli.output import console, print_json
    from berryeval.workflows import find_run

    with log_lines(error_screen(), log_level(quiet=False, verbose=False)):
        found = find_run(run, store)
    record = found.record
    if json:
        folder = None if found.folder is None else str(found.folder)
        print_json("runs show", {**_about(record), "folder": folder})
        return
    screen = console()
    screen.print(f"run {record.id}, {record.created}", style="bold")
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    screen.print(f"{record.config_hash}; {versions}", style="dim")
    screen.print()
    for part in record.benchmarks:
        _print_part(screen, part)
        screen.print()
    if found.folder is not None:
        screen.print(f"results: {found.folder}", style="bold")


def _print_part(screen: Console, part: BenchmarkRecord) -> None:
    from berryeval._internal.text import counted
    from berryeval.cli.eval_tables import print_legend, print_tables, print_warnings, strategy_note

    queries = counted(len(part.queries), "query", "queries")
    about = f"{queries}, {part.k} hits each{strategy_note(part.providers)}"
    screen.print(f"{part.name}: {about}", style="bold")
    screen.print(part.content_hash, style="dim")
    screen.print()
    rows = {one.name: one.scores for one in part.providers}
    metrics = _shared_metrics(part)
    print_tables(screen, rows, metrics, part.providers)
    print_legend(screen, list(rows.values()), metrics)
    print_warnings(screen, part.providers)


def _shared_metrics(part: BenchmarkRecord) -> list[str]:
    """The metrics that every provider with scores has, in their order."""
    tables = [set(one.scores.metrics) for one in part.providers if one.scores]
    first = next((one.scores for one in part.providers if one.scores), None)
    names = first.metrics if first else ()
    return [name for name in names if all(name in table for table in tables)]


def _about(record: RunRecord) -> dict[str, Any]:
    return {
        "run": record.id,
        "created": record.created,
        "config_hash": record.config_hash,
        "versions": dict(record.versions),
        "plan": dict(record.plan),
        "benchmarks": [
            {
                "benchmark": part.name,
                "content_hash": part.content_hash,
                "queries": len(part.queries),
                "k": part.k,
                "providers": [_provider(one) for one in part.providers],
            }
            for part in record.benchmarks
        ],
    }


def _provider(one: ProviderRecord) -> dict[str, Any]:
    return {
        "provider": one.name,
        "failure": one.failure,
        "outcomes": dict(one.outcomes),
        "latency_seconds": one.latency.to_json() if one.latency else None,
        "cost_per_query": dict(one.cost),
        "warnings": list(one.warnings),
        "scores": one.scores.summary() if one.scores else None,
    }


# Options that the commands about past runs share.


def read_filters(
    benchmark: str | None = None,
    provider: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Filters:
    """What the options ask for."""
    from berryeval._internal.text import read_time
    from berryeval.runs import Filters

    return Filters(
        benchmark,
        provider,
        None if since is None else read_time(since, "--since"),
        None if until is None else read_time(until, "--until", end=True),
    )


def refuse_unknown(store: Store, filters: Filters) -> None:
    """Say so if no run has such a benchmark or provider at all, with the nearest."""
    from berryeval._internal.validate import nearest
    from berryeval.errors import DataError

    for kind, wanted, known in (
        ("benchmark", filters.benchmark, store.benchmarks),
        ("provider", filters.provider, store.providers),
    ):
        if wanted is None or wanted in (names := known()):
            continue
        near = nearest(wanted, names)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
        if names:
            msg = f"no run in the store {store.shown} has a {kind} {wanted!r}; {hint}"
            raise DataError(msg)


def refuse_metrics(
    store: Store, metrics: Sequence[str], filters: Filters, asked: str | None
) -> None:
    """Say so if no run has one of these metrics at all, and how one gets it.

    Args:
        store: that is looked into.
        metrics: by their names.
        filters: of the runs that are meant; one of them is named, if there is one.
        asked: what `--store` said.
    """
    from berryeval._internal.text import to_score_again
    from berryeval._internal.validate import nearest
    from berryeval.errors import MetricError
    from berryeval.metrics import parse_metric

    names = store.metrics()
    for metric in metrics:
        try:
            known = str(parse_metric(metric))
            runs = store.names(filters) or store.names() or ["latest"]
            hint = f"{to_score_again(runs[0], metric, store=asked)} adds it to one"
        except MetricError:
            if not names:
                raise
            known = metric
            hint = f"there are {', '.join(nearest(metric, names) or names)}"
        if names and known not in names:
            msg = f"no run in the store {store.shown} has {metric!r}; {hint}"
            raise MetricError(msg)


def failures_of(failed: int, queries: int) -> str:
    """How many queries ended without an answer, beside a value that counts them as 0."""
    return f"{failed} of {queries} failed" if failed else ""


SHOWN: Final = 20  # runs
_OWNERS: Final = ("benchmark", "provider")
_COLUMNS: Final = 3  # metrics, where nobody says which


def list_runs(
    *,
    benchmark: str | None = None,
    provider: str | None = None,
    since: str | None = None,
    until: str | None = None,
    limit: int = SHOWN,
    metrics: Metrics = None,
    store: str | None = None,
    json: Flag = False,
) -> None:
    """Show past runs, the newest first.

    Example: berryeval runs list --benchmark technical-docs --since 30d -m nDCG@10 RR

    Args:
        benchmark: Only runs on this benchmark.
        provider: Only runs of this provider.
        since: Only runs from then on: a date (2026-02-21), a time, or an age (30d, 12h).
        until: Only runs up to then.
        limit: At most so many runs; 0 shows all.
        metrics: Which values to show; by default the first that each run was asked for.
        store: Where runs are remembered, if not .berryeval/results.db.
        json: Print JSON, in full precision.
    """
    from berryeval.cli.output import console, print_json
    from berryeval.errors import ConfigurationError
    from berryeval.reports import INTERVAL_NAME
    from berryeval.workflows import opened_store, store_place

    if limit < 0:
        msg = f"--limit must be 0 or more, found {limit}"
        raise ConfigurationError(msg)
    names = _names(metrics)
    filters = read_filters(benchmark, provider, since, until)
    with opened_store(store_place(store)) as opened:
        found = opened.list_runs(filters, limit=limit, metrics=names or None)
        if not found:
            refuse_unknown(opened, filters)
        if names:
            refuse_metrics(opened, names, filters, store)
        shown = opened.shown
    if json:
        print_json("runs list", {"store": shown, "runs": [asdict(run) for run in found]})
        return
    screen = console()
    if not found:
        screen.print(f"no such runs in the store {shown}")
        return
    _print(screen, found, _columns(found, names))
    if any(value.low is not None for run in found for one in run.results for value in one.values):
        screen.print(f"each value with its {INTERVAL_NAME}", style="dim")


def _names(metrics: Sequence[str] | None) -> list[str]:
    """The metrics that were asked for; what reads them is imported only then."""
    if not metrics:
        return []
    from berryeval.metrics import split_names

    return split_names(metrics)


def _columns(found: Sequence[StoredRun], names: Sequence[str]) -> list[str]:
    """The metrics that are shown: those of `names` in their order, or the first of each result."""
    if names:
        from berryeval.runs import canonical

        return list(dict.fromkeys(map(canonical, names)))
    results = [result for run in found for result in run.results]
    return list({one.values[0].metric: None for one in results if one.values})[:_COLUMNS]


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
        cells = [one.benchmark, one.provider, *(_cell(one, metric) for metric in columns)]
        failed = failures_of(one.failed, one.queries)
        rows.append([*cells, failed] if failed else cells)
    return rows


def _when(run: StoredRun) -> str:
    """When it was started, by the clock of this place: runs may come from several."""
    from berryeval._internal.text import moment_of

    moment = datetime.fromtimestamp(moment_of(run.created, run.id)).astimezone()
    return moment.strftime("%Y-%m-%d %H:%M")


def _cell(result: StoredResult, metric: str) -> str:
    from berryeval._internal import numbers

    if result.failure and not result.values:
        return "failed"
    for value in result.values:
        if value.metric == metric:
            around = numbers.interval_around(value.value, value.low, value.high, value.n)
            return f"{numbers.metric(value.value)} {around}".rstrip()
    return numbers.NOTHING
