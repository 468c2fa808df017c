"""`berryeval list measures`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from berryeval.measures import Definition


def measures(*, json: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Show every measure: its names, parameters and formula, and who else computes it.

    Args:
        json: Print JSON instead of a table.
    """
    from berryeval.cli.output import console, print_json
    from berryeval.measures import definitions

    found = [_facts(definition) for definition in definitions().values()]
    if json:
        print_json("list measures", {"measures": found})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("measure", "other names", "parameters", "formula", "also in"):
        table.add_column(title, overflow="fold")
    for facts in found:
        table.add_row(
            facts["name"],
            ", ".join(facts["aliases"]),
            ", ".join(map(_shown, facts["parameters"])),
            facts["formula"],
            ", ".join(facts["peers"]),
        )
    console().print(table)


def _facts(definition: Definition) -> dict[str, Any]:
    parameters = [
        {
            "name": parameter.name,
            "kind": parameter.kind,
            "required": parameter.required,
            "default": None if parameter.required else parameter.default,
        }
        for parameter in definition.parameters
    ]
    return {
        "name": definition.name,
        "aliases": list(definition.aliases),
        "parameters": parameters,
        "formula": definition.text,
        "summary": definition.summary,
        "aggregate": definition.aggregate,
        "peers": dict(definition.peers),
    }


def _shown(parameter: dict[str, Any]) -> str:
    if parameter["required"]:
        return f"{parameter['name']}"
    return f"{parameter['name']}={parameter['default']}"
