"""Comma- and tab-separated files with a header, read strictly."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from berryeval._internal.files import PathLike, name_of, plain_suffix
from berryeval._internal.json import read_text
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator


_LONGEST_FIELD = 1 << 30
_SHOWN = 60


@dataclass(frozen=True)
class Row:
    """One row: its cells by the names of their columns, and where it begins."""

    cells: dict[str, str]
    where: str
    line: int

    def number(self, column: str) -> float:
        """The cell as a finite number."""
        text = self.cells[column].strip()
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or "_" in text:
            msg = f"{self.where}: {column}: expected a number, found {text[:_SHOWN]!r}"
            raise DataError(msg)
        return number

    def id(self, column: str) -> str:
        """The cell, which must not be empty."""
        text = self.cells[column]
        if not text:
            msg = f"{self.where}: {column}: is empty, expected an id"
            raise DataError(msg)
        return text


def read_header(path: PathLike) -> list[str]:
    """The names of the columns."""
    return next(_cells(path))[1]


def read_rows(path: PathLike, *, short_rows: bool = False) -> Iterator[Row]:
    """The rows after the header. With `short_rows` cells that are missing at the end are empty."""
    source = name_of(path)
    rows = _cells(path)
    _, names = next(rows)
    for line, cells in rows:
        if not any(cells):
            continue
        missing = len(names) - len(cells)
        if missing < 0 or (missing and not short_rows):
            msg = (
                f"{source}:{line}: expected {len(names)} columns ({', '.join(names):.200}), "
                f"found {len(cells)}: {','.join(cells)[:_SHOWN]!r}"
            )
            raise DataError(msg)
        padded = [*cells, *[""] * missing]
        yield Row(dict(zip(names, padded, strict=True)), f"{source}:{line}", line)


def _cells(path: PathLike) -> Iterator[tuple[int, list[str]]]:
    """The header and the rows, each with the line in which it begins."""
    source = name_of(path)
    delimiter = "\t" if plain_suffix(path) == ".tsv" else ","
    text = io.StringIO(read_text(path), newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    line, rows = 1, []
    limit = csv.field_size_limit(_LONGEST_FIELD)  # it holds for the whole process
    try:
        for cells in reader:
            rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        msg = f"{source}:{line}: cannot be read as CSV ({error})"
        raise DataError(msg) from None
    finally:
        csv.field_size_limit(limit)
    header = [name.strip() for name in rows[0][1]] if rows else []
    _check_header(header, source)
    yield 1, header
    yield from rows[1:]


def _check_header(header: list[str], source: str) -> None:
    if not any(header):
        msg = f"{source}: is empty, expected a first line with the names of the columns"
        raise DataError(msg)
    twice = {name for name in header if header.count(name) > 1}
    if twice:
        msg = f"{source}:1: the column {min(twice)!r} stands twice"
        raise DataError(msg)
