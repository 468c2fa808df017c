"""`berryeval results show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import Console

    from berryeval.results import BenchmarkRecord, ProviderRecord, RunRecord

Flag = Annotated[bool, Parameter(negative="")]


def show(run: str = "latest", /, *, store: str | None = None, json: Flag = False) -> None:
    """Show one run: what it measured, as `eval` printed it, and what it was.

    Example: berryeval results show latest~1

    Args:
        run: Its name or the beginning of it, its folder, a file, `latest`, or `latest~1`.
        store: Where runs are remembered, if not .berryeval/results.db.
        json: Print JSON, in full precision.
    """
    from berryeval.cli.logs import error_screen, log_level, log_lines
    from berryeval.cli.output import console, print_json
    from berryeval.pipeline.find_run import find_run

    with log_lines(error_screen(), log_level(quiet=False, verbose=False)):
        found = find_run(run, store)
    record = found.record
    if json:
        folder = None if found.folder is None else str(found.folder)
        print_json("results show", {**_about(record), "folder": folder})
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
    from berryeval.cli.eval_output import print_warnings, strategy_note
    from berryeval.cli.eval_tables import print_legend, print_tables
    from berryeval.io.words import counted

    queries = counted(len(part.queries), "query", "queries")
    about = f"{queries}, {part.k} hits each{strategy_note(part.providers)}"
    screen.print(f"{part.name}: {about}", style="bold")
    screen.print(part.content_hash, style="dim")
    screen.print()
    rows = {one.name: one.scores for one in part.providers}
    measures = _shared_measures(part)
    print_tables(screen, rows, measures, part.providers)
    print_legend(screen, list(rows.values()), measures)
    print_warnings(screen, part.providers)


def _shared_measures(part: BenchmarkRecord) -> list[str]:
    """The measures that every provider with scores has, in their order."""
    tables = [set(one.scores.measures) for one in part.providers if one.scores]
    first = next((one.scores for one in part.providers if one.scores), None)
    names = first.measures if first else ()
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
