"""JSON files with `{query: {document: number}}`, and JSON lines with one object per row."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from berryeval._internal.files import PathLike, display_name, read_bytes, replace_file
from berryeval._internal.json import find_repeated_name, parse_json, read_text
from berryeval._internal.text import explain_encoding
from berryeval.data.formats.layouts import choose_columns
from berryeval.data.formats.trec import FaultyLine, RawRow
from berryeval.data.table import VALUE_OF, Kind, QueryTable, StringColumn, describe
from berryeval.errors import DataError, RepeatedDocumentError


class _Repeated(dict[str, Any]):
    """A JSON object with repeated names: the first values, and the number of repeats."""

    count = 0


def read_json(path: PathLike, kind: Kind, *, lenient: bool = False) -> QueryTable:
    """Read a file; with `lenient`, only the first value of a repeated document counts."""
    source = display_name(path)
    repeated: list[_Repeated] = []

    def as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        plain = dict(reversed(pairs))
        if len(plain) == len(pairs):
            return dict(pairs)
        first = _Repeated({name: plain[name] for name, _ in pairs})
        first.count = len(pairs) - len(plain)
        repeated.append(first)
        return first

    expected = "{query: {document: number}}"
    text = read_text(path)
    rows = parse_json(text, source, as_dict=as_dict, expected=expected)
    if repeated and not (lenient and all(row is not rows for row in repeated)):
        raise DataError(f"{source}: {find_repeated_name(text)}")
    try:
        table = QueryTable.from_dict(rows, kind=kind, source=source)
    except DataError as error:
        raise DataError(f"{source}: {error}") from None
    if not len(table.values):
        raise DataError(f"{source}: holds no rows")
    dropped = sum(row.count for row in repeated)
    return replace(table, dropped=dropped)


def write_json(table: QueryTable, path: PathLike) -> None:
    """Write a file with one line per query."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    with replace_file(path) as stream:
        stream.write(b"{")
        for index, (query, row) in enumerate(table.to_dict().items()):
            start = "\n" if index == 0 else ",\n"
            stream.write(f"{start}{encode(query)}: {encode(row)}".encode())
        stream.write(b"\n}\n")


def read_json_lines(
    path: PathLike, kind: Kind, names: Mapping[str, str], *, lenient: bool = False
) -> QueryTable:
    """Read JSON lines; an invalid line is a `DataError`, or dropped and counted if `lenient`."""
    source = display_name(path)
    rows: dict[str, dict[str, tuple[float, int]]] = {}
    dropped = 0
    is_faulty = math.isnan if kind == "run" else lambda value: not math.isfinite(value)
    for row in read_json_rows(path, kind, names):
        if isinstance(row, RawRow) and not is_faulty(row.value):
            group = rows.setdefault(row.query, {})
            if row.document not in group:
                group[row.document] = row.value, row.line
                continue
        if not lenient:
            raise _row_error(row, kind, source)
        dropped += 1
    if not rows:
        left_out = f" that can be used ({dropped} left out)" if lenient else ""
        raise DataError(f"{source}: holds no rows{left_out}")
    flat = [row for group in rows.values() for row in group.values()]
    return QueryTable(
        queries=StringColumn.from_strings(rows),
        offsets=np.cumsum([0, *map(len, rows.values())], dtype=np.int64),
        documents=StringColumn.from_strings(name for group in rows.values() for name in group),
        values=np.array([row[0] for row in flat], dtype=np.float64),
        labels={"line": np.array([row[1] for row in flat], dtype=np.int64)},
        source=source,
        dropped=dropped,
        distinct=True,
    )


def _row_error(row: RawRow | FaultyLine, kind: Kind, source: str) -> DataError:
    where = f"{source}:{row.line}"
    if isinstance(row, FaultyLine):
        return DataError(f"{where}: {row.problem}: {row.text[:60]!r}")
    if math.isnan(row.value):
        return DataError(f"{where}: the {VALUE_OF[kind]} must not be NaN")
    if kind == "qrels" and math.isinf(row.value):
        return DataError(f"{where}: the {VALUE_OF[kind]} must be finite, found {row.value!r}")
    problem = f"document {row.document!r} appears twice in query {row.query!r}"
    return RepeatedDocumentError(f"{where}: {problem}")


def read_json_rows(
    path: PathLike, kind: Kind, names: Mapping[str, str]
) -> Iterator[RawRow | FaultyLine]:
    """Yield each line as a row, or as a `FaultyLine` with the reason."""
    chosen: dict[tuple[str, ...], tuple[str, str, str]] = {}
    for number, line in enumerate(read_bytes(path).tobytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            found = _parse_line(line)
            keys = tuple(found)
            if keys not in chosen:
                chosen[keys] = choose_columns(keys, kind, names)
            query, document, value = chosen[keys]
            yield RawRow(
                _to_id(found[query], "query"),
                _to_id(found[document], "document"),
                _to_number(found[value], VALUE_OF[kind]),
                number,
            )
        except DataError as error:
            text = line.decode(errors="backslashreplace").strip()
            yield FaultyLine(number, text, str(error))


def _parse_line(line: bytes) -> dict[str, Any]:
    try:
        found = _DECODER.decode(line.decode())
    except UnicodeDecodeError:
        msg = explain_encoding(line)
    except json.JSONDecodeError as error:
        msg = f"not valid JSON ({error.msg}, column {error.colno})"
    except RecursionError:
        msg = "not an object with a query, a document and a number, but nested too deep to read"
    except DataError:
        raise
    except ValueError as error:  # an integer with thousands of digits
        msg = f"not valid JSON ({error})"
    else:
        if isinstance(found, dict):
            return found
        msg = f"expected an object with a query, a document and a number, found {describe(found)}"
    raise DataError(msg) from None


def _reject_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise DataError(f"{twice!r} appears twice in one object")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_reject_repeats)


def _to_id(value: Any, what: str) -> str:
    if isinstance(value, str) and value.isascii():
        return value
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise DataError(f"a {what} id must be a str or a whole number, found {describe(value)}")
    text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DataError(
            f"a {what} id must be valid Unicode text, found {describe(value)}"
        ) from None
    return text


def _to_number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"the {what} must be a number, found {describe(value)}")
    try:
        return float(value)
    except OverflowError:
        raise DataError(f"the {what} is too large for a number") from None
