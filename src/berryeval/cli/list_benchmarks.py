"""`berryeval list benchmarks` and `berryeval list formats`."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter


def benchmarks(*, json: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Show the benchmarks that come with the package.

    Args:
        json: Print JSON instead of a table.
    """
    from berryeval.benchmarks import bundled_benchmarks

    found = [_facts(name) for name in bundled_benchmarks()]
    if not found and not json:
        print("no benchmarks are bundled with this installation")
        return
    _show("benchmarks", found, json=json)


def formats(*, json: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Show the formats that benchmarks are read from, and how each is known.

    Args:
        json: Print JSON instead of a table.
    """
    from berryeval.benchmarks.load import options_of
    from berryeval.benchmarks.loaders import LOADERS

    found = []
    for name in LOADERS:
        loader = LOADERS.get(name)
        options = ", ".join(options_of(loader))
        found.append(
            {"format": name, "what": loader.summary, "signs": loader.signs, "options": options}
        )
    _show("formats", found, json=json)


def _facts(name: str) -> dict[str, Any]:
    from berryeval.benchmarks import load_benchmark

    benchmark = load_benchmark(name)
    return {
        "benchmark": name,
        "version": benchmark.version,
        "documents": len(benchmark.documents),
        "queries": len(benchmark.queries),
        "judgments": len(benchmark.judgments),
        "pack": benchmark.pack,
        "description": benchmark.description,
    }


def _show(what: str, rows: list[dict[str, Any]], *, json: bool) -> None:
    from berryeval.cli.output import console, print_json

    if json:
        print_json(f"list {what}", {what: rows})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in rows[0]:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*map(str, row.values()))
    console().print(table)
