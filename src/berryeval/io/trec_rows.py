"""Text files row by row, as they stand, for those who look for what is wrong with them.

Nothing is left out: a faulty line is a row too, NaN is a number, and the rank column is kept.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from berryeval.io.files import PathLike, name_of, read_bytes
from berryeval.io.layouts import layout_of, split_line
from berryeval.io.trec import Kind, parse_columns, places, table_from_text

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FaultyLine", "RawRow", "read_rows"]


class RawRow(NamedTuple):
    """One line; the rank is None where the file gives none that is a number."""

    query: str
    document: str
    value: float
    line: int = 0
    rank: int | None = None
    group: str = ""


class FaultyLine(NamedTuple):
    """A line that is no row, and why, where that is known."""

    line: int
    text: str
    problem: str = ""


def read_rows(path: PathLike, kind: Kind) -> Iterator[RawRow | FaultyLine]:
    """Every line that is neither blank nor a comment."""
    layout, text, named = layout_of(read_bytes(path), kind)
    if not named:  # ranks or scores: an error, if nobody can tell
        table_from_text(text, kind, name_of(path), lenient=True)
    document, _ = places(layout)
    for number, line in enumerate(text.tobytes().split(b"\n"), start=1):
        columns = split_line(line, layout)
        if not line.split() or ("tsv" not in layout and columns[0].startswith(b"#")):
            continue
        parsed = parse_columns(columns, layout, line)
        if parsed[0] == "nan":
            value = math.nan
        elif len(parsed) == 2:  # noqa: PLR2004 - what is wrong, and where
            yield FaultyLine(number, _text(line).strip())
            continue
        else:
            value = parsed[1] if named else -parsed[1]
        row = RawRow(_text(columns[0]), _text(columns[document]), value, number)
        if layout == "run":
            row = row._replace(rank=_rank(columns[3]))
        elif layout == "qrels":
            row = row._replace(group=_text(columns[1]))
        yield row


def _rank(text: bytes) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _text(data: bytes) -> str:
    return data.decode(errors="backslashreplace")
