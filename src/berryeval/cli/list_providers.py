"""`berryeval list providers`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from cyclopts import Parameter


def providers(*, json: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Show every provider: what it does and its options.

    Args:
        json: Print JSON instead of a table.
    """
    from berryeval.cli.output import console, print_json
    from berryeval.providers import PROVIDERS

    found = [
        {"name": name, "aliases": PROVIDERS.aliases_of(name), **_facts(PROVIDERS.get(name))}
        for name in PROVIDERS
    ]
    if json:
        print_json("list providers", {"providers": found})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("provider", "what", "options"):
        table.add_column(title, overflow="fold")
    for facts in found:
        names = ", ".join([facts["name"], *facts["aliases"]])
        table.add_row(names, facts["what"], ", ".join(facts["options"]))
    console().print(table)


def _facts(provider: type) -> dict[str, Any]:
    options = (
        [field.name for field in dataclasses.fields(provider) if field.init]
        if dataclasses.is_dataclass(provider)
        else []
    )
    return {"what": (provider.__doc__ or "").partition("\n")[0], "options": options}
