"""`berryeval list chunkers`."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter


def chunkers(*, json: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Show every chunker: what it makes, its options, and how it is written.

    Args:
        json: Print JSON instead of a table.
    """
    from berryeval.chunkers import CHUNKERS
    from berryeval.cli.output import console, print_json

    found = [_facts(name, CHUNKERS.get(name)) for name in CHUNKERS]
    if json:
        print_json("list chunkers", {"chunkers": found})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("chunker", "makes", "options"):
        table.add_column(title, overflow="fold")
    for facts in found:
        options = ", ".join(f"{known['name']}={known['default']}" for known in facts["options"])
        table.add_row(facts["usual"], facts["makes"], options)
    console().print(table)


def _facts(name: str, chunker: type) -> dict[str, Any]:
    """What is known of a chunker; of one that others made, perhaps its name alone."""
    from berryeval.chunkers.options import options_of

    known = options_of(chunker)
    options = [
        {
            "name": option.name,
            "default": option.default,
            "wanted": option.kind.wanted or "a word",
            "text": option.text,
        }
        for option in known.values()
    ]
    makes = getattr(chunker, "summary", "") or (chunker.__doc__ or "").partition("\n")[0]
    return {
        "name": name,
        "usual": str(chunker()) if known else name,
        "makes": makes,
        "options": options,
    }
