"""Small pieces of Markdown that the generated pages share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; empty if it has no rows."""
    lines = [f"| {' | '.join(_cell(one) for one in row)} |" for row in rows]
    if not lines:
        return ""
    rule = "| " + " | ".join("---" for _ in head) + " |"
    return "\n".join([f"| {' | '.join(head)} |", rule, *lines]) + "\n"


def code(text: str, language: str = "text") -> str:
    """Return a block of code; a session ends with an empty line, as doctest needs it."""
    fence = "````" if "```" in text else "```"
    end = "\n" if language == "pycon" else ""
    return f"{fence}{language}\n{text.rstrip()}\n{end}{fence}\n"


def cut(text: str, lines: int) -> str:
    """Return the first lines of a text, with a mark if there are more."""
    found = text.rstrip().splitlines()
    return "\n".join([*found[:lines], "…"] if len(found) > lines else found)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
