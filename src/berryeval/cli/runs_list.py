"""`berryeval runs list` and `berryeval runs show`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from berryeval.cli.flags import Flag, Metrics

if TYPE_CHECKING:
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

_LIMIT: Final = 20  # runs
_WORST: Final = 3  # queries
_OWNERS: Final = ("benchmark", "provider")
_COLUMNS: Final = 3  # metrics, without --metrics
_GAP: Final = 2  # blanks between columns


def show(
    run: str = "latest",
    /,
    *,
    worst: Annotated[list[int] | None, Parameter(consume_multiple=(0, 1), negative="")] = None,
    store: str | None = None,
    json: Flag = False,
) -> None:
    """Show one run: its versions, and its tables as `eval` printed them.

    Args:
        run: Name of a run or the start of it, its folder, a file, `latest`, or `latest~1`.
        worst: Show the worst queries of every provider (3, or the given number).
        store: Path or PostgreSQL URL of the store; default: .berryeval/results.db.
        json: JSON output, in full precision.
    """
    from berryeval._internal.validate import require
    from berryeval.cli.eval_tables import print_worst
    from berryeval.cli.logs import error_screen, log_level, log_lines
    from berryeval.cli.output import console, print_json
    from berryeval.workflows import find_run, worst_queries

    count = 0 if worst is None else (worst or [_WORST])[0]
    require(worst is None or count >= 1, "--worst", "1 or more", count)
    with log_lines(error_screen(), log_level()):
        found = find_run(run, store)
    record = found.record
    if json:
        folder = None if found.folder is None else str(found.folder)
        print_json("runs show", {**_describe(record, count), "folder": folder})
        return
    screen = console()
    screen.print(f"run {record.id}, {record.created}", style="bold")
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    screen.print(f"{record.config_hash}; {versions}", style="dim")
    screen.print()
    for part in record.benchmarks:
        _print_part(screen, part)
        for one in part.providers if count else ():
            if queries := worst_queries(part, one, count):
                print_worst(screen, one.name, queries)
        screen.print()
    if found.folder is not None:
        screen.print(f"results: {found.folder}", style="bold")


def _print_part(screen: Console, part: BenchmarkRecord) -> None:
    from berryeval._internal.text import pluralize
    from berryeval.cli.eval_tables import (
        print_legend,
        print_stages,
        print_tables,
        print_warnings,
        strategy_note,
    )

    queries = pluralize(len(part.queries), "query")
    about = f"{queries}, {part.k} hits each{strategy_note(part.providers)}"
    screen.print(f"{part.name}: {about}", style="bold")
    screen.print(part.content_hash, style="dim")
    screen.print()
    rows = {one.name: one.scores for one in part.providers}
    metrics = _shared_metrics(part)
    print_tables(screen, rows, metrics, part.providers)
    print_legend(screen, list(rows.values()), metrics)
    print_stages(screen, part.providers)
    print_warnings(screen, part.providers)


def _shared_metrics(part: BenchmarkRecord) -> list[str]:
    tables = [one.scores.metrics for one in part.providers if one.scores]
    return [name for name in tables[0] if all(name in table for table in tables)] if tables else []


def _describe(record: RunRecord, worst: int = 0) -> dict[str, Any]:
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
                "providers": [_describe_provider(part, one, worst) for one in part.providers],
            }
            for part in record.benchmarks
        ],
    }


def _describe_provider(part: BenchmarkRecord, one: ProviderRecord, worst: int) -> dict[str, Any]:
    from berryeval.cli.eval_view import describe_stages
    from berryeval.workflows import worst_queries

    queries = [query.to_dict() for query in worst_queries(part, one, worst)] if worst else None
    return {
        **({} if queries is None else {"where_it_fails": queries}),
        "provider": one.name,
        "failure": one.failure,
        "outcomes": dict(one.outcomes),
        "latency_seconds": one.latency.to_json() if one.latency else None,
        "cost_per_query": dict(one.cost),
        "stages": describe_stages(one),
        "out_of_scope": one.out_of_scope,
        "warnings": list(one.warnings),
        "unknown_ids": dict(one.unknown_ids) or None,
        "scores": one.scores.summary() if one.scores else None,
    }


def list_runs(
    *,
    benchmark: str | None = None,
    provider: str | None = None,
    since: str | None = None,
    until: str | None = None,
    limit: int = _LIMIT,
    metrics: Metrics = None,
    store: str | None = None,
    json: Flag = False,
) -> None:
    """List past runs, newest first.

    Args:
        benchmark: Only runs on this benchmark.
        provider: Only runs of this provider.
        since: Earliest start: a date (2026-02-21), a time, or an age (30d, 12h).
        until: Latest start.
        limit: Maximum number of runs; 0 for all.
        metrics: Metrics to show; default: the first metric of each run.
        store: Path or PostgreSQL URL of the store; default: .berryeval/results.db.
        json: JSON output, in full precision.
    """
    from berryeval.cli.logs import error_screen, log_level, log_lines
    from berryeval.cli.output import console, print_json
    from berryeval.errors import ConfigurationError
    from berryeval.reports import INTERVAL_NAME
    from berryeval.workflows import open_history

    if limit < 0:
        raise ConfigurationError(f"--limit must be 0 or more, found {limit}")
    names = _split_metrics(metrics)
    filters = read_filters(benchmark, provider, since, until)
    with log_lines(error_screen(), log_level()), open_history(store) as opened:
        found = opened.list_runs(filters, limit=limit, metrics=names or None)
        if not found:
            reject_unknown_names(opened, filters)
        if names:
            reject_unknown_metrics(opened, names, filters, store)
        shown = opened.shown
    if json:
        print_json("runs list", {"store": shown, "runs": [asdict(run) for run in found]})
        return
    screen = console()
    if not found:
        screen.print(f"no matching runs in the store {shown}")
        return
    _print(screen, found, _choose_columns(found, names))
    if any(value.low is not None for run in found for one in run.results for value in one.values):
        screen.print(f"each value with its {INTERVAL_NAME}", style="dim")


def read_filters(
    benchmark: str | None = None,
    provider: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Filters:
    """Build the filters that the options ask for."""
    from berryeval._internal.text import parse_time
    from berryeval.runs import Filters

    return Filters(
        benchmark,
        provider,
        None if since is None else parse_time(since, "--since"),
        None if until is None else parse_time(until, "--until", end=True),
    )


def reject_unknown_names(store: Store, filters: Filters) -> None:
    """Reject a benchmark or provider that no run has, and suggest the closest one."""
    from berryeval._internal.validate import suggest
    from berryeval.errors import DataError

    for kind, wanted, known in (
        ("benchmark", filters.benchmark, store.benchmarks),
        ("provider", filters.provider, store.providers),
    ):
        if wanted is not None and (names := known()) and wanted not in names:
            hint = suggest(wanted, names)
            raise DataError(f"no run in the store {store.shown} has a {kind} {wanted!r}; {hint}")


def reject_unknown_tag(store: Store, tag: str) -> None:
    """Reject a tag that no run has, and suggest the closest one."""
    from berryeval._internal.validate import suggest
    from berryeval.errors import DataError

    if tag not in (names := store.tags()):
        hint = suggest(tag, names)
        raise DataError(f"no run in the store {store.shown} has a tag {tag!r}; {hint}")


def reject_unknown_cost(store: Store, unit: str | None) -> None:
    """Reject a unit that no run has a cost in, and suggest the closest one."""
    from berryeval._internal.validate import suggest
    from berryeval.errors import DataError

    if unit is not None and unit not in (units := store.costs()):
        hint = suggest(unit, units) if units else "no provider reported a cost"
        raise DataError(f"no run in the store {store.shown} has a cost in {unit!r}; {hint}")


def reject_unknown_metrics(
    store: Store, metrics: Sequence[str], filters: Filters, asked: str | None
) -> None:
    """Reject a metric that no run has, with the command that computes it."""
    from berryeval._internal.text import format_rescore_command
    from berryeval._internal.validate import suggest
    from berryeval.errors import MetricError
    from berryeval.metrics import parse_metric

    names = store.metrics()
    for metric in metrics:
        try:
            known = str(parse_metric(metric))
            runs = store.names(filters) or store.names() or ["latest"]
            hint = f"{format_rescore_command(runs[0], metric, store=asked)} adds it to that run"
        except MetricError:
            if not names:
                raise
            known, hint = metric, suggest(metric, names)
        if names and known not in names:
            raise MetricError(f"no run in the store {store.shown} has {metric!r}; {hint}")


def format_failures(failed: int, queries: int) -> str:
    """Format the number of failed queries, which count as 0 in the value beside it."""
    return f"{failed} of {queries} failed" if failed else ""


def _split_metrics(metrics: Sequence[str] | None) -> list[str]:
    """Split the names of metrics; without any, the metrics package is not imported."""
    if not metrics:
        return []
    from berryeval.metrics import split_names

    return split_names(metrics)


def _choose_columns(found: Sequence[StoredRun], names: Sequence[str]) -> list[str]:
    if names:
        from berryeval.runs import canonical_metric

        return list(dict.fromkeys(map(canonical_metric, names)))
    results = [result for run in found for result in run.results]
    return list({one.values[0].metric: None for one in results if one.values})[:_COLUMNS]


def _print(screen: Console, found: Sequence[StoredRun], columns: Sequence[str]) -> None:
    """Print one table if it fits; otherwise a line and a table per run, which keeps names whole."""
    failing = any(one.failed for run in found for one in run.results)
    titles = [*columns, *(["queries"] * failing)]
    rows = []
    for run in found:
        head = [run.id, _format_start(run)]
        for row in _build_rows(run, columns) or [[]]:
            rows.append([*head, *row])
            head = ["", ""]
    if _print_lines(screen, ("run", "when", *_OWNERS, *titles), rows):
        return
    for run in found:
        screen.print(f"{run.id}  {_format_start(run)}", style="bold")
        rows = _build_rows(run, columns)
        if rows and not _print_lines(screen, (*_OWNERS, *titles), rows):
            table = _build_empty(_OWNERS, titles)
            for row in rows:
                table.add_row(*row)
            screen.print(table)
        screen.print()


def _print_lines(screen: Console, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Print a table if it fits; return whether it did. Rich takes a millisecond for each row."""
    from rich.cells import cell_len
    from rich.text import Text

    from berryeval._internal.text import escape_line

    lines = [[escape_line(cell) for cell in row] for row in (titles, *rows)]
    if any("\t" in cell for row in lines for cell in row):
        return False
    columns = zip_longest(*lines, fillvalue="")
    widths = [max(map(cell_len, column)) + _GAP for column in columns]
    if sum(widths) > screen.width:
        return False
    texts = [
        "".join(
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=False)
        ).rstrip()
        for row in lines
    ]
    screen.print(texts[0], style="bold")
    screen.print(Text("\n".join(texts[1:])))
    return True


def _build_empty(owners: Sequence[str], titles: Sequence[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for owner in owners:
        table.add_column(owner, overflow="fold")
    for title in titles:
        table.add_column(title, no_wrap=True)
    return table


def _build_rows(run: StoredRun, columns: Sequence[str]) -> list[list[str]]:
    """Build a row per result; a row without failures is one cell shorter."""
    rows = []
    for one in run.results:
        cells = [one.benchmark, one.provider, *(_format_value(one, metric) for metric in columns)]
        failed = format_failures(one.failed, one.queries)
        rows.append([*cells, failed] if failed else cells)
    return rows


def _format_start(run: StoredRun) -> str:
    """Format the start of a run in local time; runs may come from several time zones."""
    from berryeval._internal.text import parse_timestamp

    moment = datetime.fromtimestamp(parse_timestamp(run.created, run.id)).astimezone()
    return moment.strftime("%Y-%m-%d %H:%M")


def _format_value(result: StoredResult, metric: str) -> str:
    from berryeval._internal import numbers

    if result.failure and not result.values:
        return "failed"
    for value in result.values:
        if value.metric == metric:
            around = numbers.format_interval_around(value.value, value.low, value.high, value.n)
            return f"{numbers.format_metric(value.value)} {around}".rstrip()
    return numbers.NOTHING
