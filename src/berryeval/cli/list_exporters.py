"""`berryeval list exporters`."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter


def exporters(*, json: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Show every format of reports: what it writes, and which endings mean it.

    Args:
        json: Print JSON instead of a table.
    """
    from berryeval.cli.output import console, print_json
    from berryeval.reports.table import EXPORTERS

    found = [_facts(name) for name in EXPORTERS]
    if json:
        print_json("list exporters", {"exporters": found})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("exporter", "writes", "endings", "goes to"):
        table.add_column(title, overflow="fold")
    for facts in found:
        names = ", ".join([facts["name"], *facts["aliases"]])
        table.add_row(names, facts["writes"], " ".join(facts["endings"]), facts["home"])
    console().print(table)


def _facts(name: str) -> dict[str, Any]:
    from berryeval.reports.table import EXPORTERS

    exporter = EXPORTERS.get(name)
    return {
        "name": name,
        "aliases": EXPORTERS.aliases_of(name),
        "writes": exporter.summary,
        "endings": list(exporter.endings),
        "home": exporter.home,
    }
