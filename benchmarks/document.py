"""Parts of documents that programs write, delimited by two marks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["markdown_table", "marked", "marked_parts", "put_between_marks"]


def marked(name: str, text: str) -> str:
    """Wrap the text in its marks."""
    return f"<!-- begin {name} -->\n{text.strip()}\n<!-- end {name} -->\n"


def marked_parts(document: str) -> list[str]:
    """Return every marked part of a document, including its marks."""
    pattern = r"<!-- begin ([a-z0-9 -]+) -->\n.*?<!-- end \1 -->\n"
    return [found.group(0) for found in re.finditer(pattern, document, re.DOTALL)]


def put_between_marks(path: Path, name: str, text: str) -> None:
    """Replace the named part of a document, or append it."""
    document = path.read_text(encoding="utf-8")
    new = marked(name, text)
    for old in marked_parts(document):
        if old.startswith(f"<!-- begin {name} -->"):
            path.write_text(document.replace(old, new), encoding="utf-8")
            return
    path.write_text(f"{document.rstrip()}\n\n{new}", encoding="utf-8")


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """Format a Markdown table."""
    lines = [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
