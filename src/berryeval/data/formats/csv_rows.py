"""Strict reading of comma- and tab-separated files with a header."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass

from berryeval._internal.files import PathLike, display_name, plain_suffix
from berryeval._internal.json import read_text
from berryeval.errors import DataError

_LONGEST_FIELD = 1 << 30
_SHOWN = 60


@dataclass(frozen=True)
class Row:
    """A row: its cells by column name, and its first line."""

    cells: dict[str, str]
    where: str
    line: int

    def number(self, column: str) -> float:
        """Return a cell as a finite number."""
        text = self.cells[column].strip()
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or "_" in text:
            raise DataError(f"{self.where}: {column}: expected a number, found {text[:_SHOWN]!r}")
        return number

    def id(self, column: str) -> str:
        """Return a cell, which must not be empty."""
        text = self.cells[column]
        if not text:
            raise DataError(f"{self.where}: {column}: is empty, expected an id")
        return text


def read_header(path: PathLike) -> list[str]:
    """Return the column names."""
    return next(_parse_rows(path))[1]


def read_rows(path: PathLike, *, short_rows: bool = False) -> Iterator[Row]:
    """Yield the rows; with `short_rows`, missing cells at the end are empty."""
    source = display_name(path)
    rows = _parse_rows(path)
    _, names = next(rows)
    for line, cells in rows:
        if not any(cells):
            continue
        missing = len(names) - len(cells)
        if missing < 0 or (missing and not short_rows):
            raise DataError(
                f"{source}:{line}: expected {len(names)} columns ({', '.join(names):.200}), "
                f"found {len(cells)}: {','.join(cells)[:_SHOWN]!r}"
            )
        padded = [*cells, *[""] * missing]
        yield Row(dict(zip(names, padded, strict=True)), f"{source}:{line}", line)


def _parse_rows(path: PathLike) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and the rows, each with its first line number."""
    source = display_name(path)
    delimiter = "\t" if plain_suffix(path) == ".tsv" else ","
    text = io.StringIO(read_text(path), newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    line, rows = 1, []
    limit = csv.field_size_limit(_LONGEST_FIELD)  # a setting of the whole process
    try:
        for cells in reader:
            rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{source}:{line}: cannot be read as CSV ({error})") from None
    finally:
        csv.field_size_limit(limit)
    header = [name.strip() for name in rows[0][1]] if rows else []
    if not any(header):
        raise DataError(f"{source}: is empty, expected a header line with column names")
    twice = {name for name in header if header.count(name) > 1}
    if twice:
        raise DataError(f"{source}:1: the column {min(twice)!r} appears twice")
    yield 1, header
    yield from rows[1:]
