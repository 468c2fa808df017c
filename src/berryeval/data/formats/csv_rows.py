"""Strict reading of files with a header whose cells are separated by commas, semicolons or tabs."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass

from berryeval._internal.files import PathLike, display_name, plain_suffix, read_bytes
from berryeval.errors import ConfigurationError, DataError

_LONGEST_FIELD = 1 << 30
_SHOWN = 60
UTF_8 = "utf-8"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks


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


def read_header(path: PathLike, encoding: str = UTF_8) -> list[str]:
    """Return the column names."""
    return next(_parse_rows(path, encoding))[1]


def read_rows(path: PathLike, *, short_rows: bool = False, encoding: str = UTF_8) -> Iterator[Row]:
    """Yield the rows; with `short_rows`, missing cells at the end are empty."""
    source = display_name(path)
    rows = _parse_rows(path, encoding)
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


def _decode(path: PathLike, encoding: str) -> str:
    data = read_bytes(path).tobytes()
    try:
        text = data.decode(encoding)
    except LookupError:
        raise ConfigurationError(
            f"encoding must be a Python encoding, found {encoding!r:.80}"
        ) from None
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError) else 0
        line = data.count(b"\n", 0, start) + 1
        likely = "utf-16" if data[:2] in _UTF_16 else "cp1252"
        raise DataError(
            f"{display_name(path)}:{line}: not {encoding.upper()} text "
            f"(byte 0x{data[start]:02X}); save it as UTF-8, or name its encoding: "
            f"--options encoding={likely}"
        ) from None
    return text.removeprefix("\ufeff")


def _choose_delimiter(path: PathLike, text: str) -> str:
    """Return the separator that the header has most of; a tab or comma by the file's suffix."""
    header = text.lstrip("\r\n").partition("\n")[0]
    usual = "\t" if plain_suffix(path) == ".tsv" else ","
    return max((usual, ",", ";", "\t"), key=header.count)


def _parse_rows(path: PathLike, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and the rows, each with its first line number."""
    source = display_name(path)
    text = _decode(path, encoding)
    delimiter = _choose_delimiter(path, text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
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
