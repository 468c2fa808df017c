"""TREC files row by row, as they stand, for those who look for what is wrong with them.

Nothing is left out: a faulty line is a row too, NaN is a number, and the rank column is kept.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from berryeval.io.files import PathLike, read_bytes
from berryeval.io.trec import Kind, _parse

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
    """A line that is no row."""

    line: int
    text: str


def read_rows(path: PathLike, kind: Kind) -> Iterator[RawRow | FaultyLine]:
    """Every line that is neither blank nor a comment."""
    for number, line in enumerate(read_bytes(path).tobytes().split(b"\n"), start=1):
        columns = line.split()
        if not columns or columns[0].startswith(b"#"):
            continue
        parsed = _parse(columns, kind, line)
        if parsed[0] == "nan":
            value = math.nan
        elif len(parsed) == 2:  # noqa: PLR2004 - what is wrong, and where
            yield FaultyLine(number, _text(line).strip())
            continue
        else:
            value = parsed[1]
        row = RawRow(_text(columns[0]), _text(columns[2]), value, number)
        if kind == "run":
            yield row._replace(rank=_rank(columns[3]))
        else:
            yield row._replace(group=_text(columns[1]))


def _rank(text: bytes) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _text(data: bytes) -> str:
    return data.decode(errors="backslashreplace")
