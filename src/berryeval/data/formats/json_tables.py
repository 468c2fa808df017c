"""JSON files: `{query: {document: number}}`."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from berryeval._internal.files import PathLike, name_of, read_bytes, writing
from berryeval._internal.json import parse_json, read_text, repeated_name
from berryeval.data.formats.layouts import choose_columns
from berryeval.data.formats.trec import FaultyLine, RawRow
from berryeval.data.table import VALUE_OF, Kind, QueryTable, StringColumn
from berryeval.errors import DataError, RepeatedDocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class _Repeated(dict[str, Any]):
    """A JSON object in which a name stood more than once: its first values, and how often."""

    count = 0


def read_json(path: PathLike, kind: Kind, *, lenient: bool = False) -> QueryTable:
    """Read a file. With `lenient` a document that stands twice counts as it stands first."""
    source = name_of(path)
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
        msg = f"{source}: {repeated_name(text)}"
        raise DataError(msg)
    try:
        table = QueryTable.from_dict(rows, kind=kind, source=source)
    except DataError as error:
        msg = f"{source}: {error}"
        raise DataError(msg) from None
    if not len(table.values):
        msg = f"{source}: holds no rows"
        raise DataError(msg)
    dropped = sum(row.count for row in repeated)
    return replace(table, dropped=dropped)


def write_json(table: QueryTable, path: PathLike) -> None:
    """Write a file, a line per query."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    with writing(path) as stream:
        stream.write(b"{")
        for index, (query, row) in enumerate(table.to_dict().items()):
            start = "\n" if index == 0 else ",\n"
            stream.write(f"{start}{encode(query)}: {encode(row)}".encode())
        stream.write(b"\n}\n")


# JSON lines: an object per line, as in `{"query_id": "q1", "doc_id": "d7", "score": 1.5}`.


def read_json_lines(
    path: PathLike, kind: Kind, names: Mapping[str, str], *, lenient: bool = False
) -> QueryTable:
    """Read a file. A faulty line is a `DataError`, or, with `lenient`, left out and counted."""
    source = name_of(path)
    rows: dict[str, dict[str, tuple[float, int]]] = {}
    dropped = 0
    for row in read_json_rows(path, kind, names):
        if isinstance(row, RawRow) and _is_number(row.value, kind):
            group = rows.setdefault(row.query, {})
            if row.document not in group:
                group[row.document] = row.value, row.line
                continue
        if not lenient:
            raise _problem(row, kind, source)
        dropped += 1
    if not rows:
        left_out = f" that can be used ({dropped} left out)" if lenient else ""
        msg = f"{source}: holds no rows{left_out}"
        raise DataError(msg)
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


def _is_number(value: float, kind: Kind) -> bool:
    return not math.isnan(value) if kind == "run" else math.isfinite(value)


def _problem(row: RawRow | FaultyLine, kind: Kind, source: str) -> DataError:
    where = f"{source}:{row.line}"
    if isinstance(row, FaultyLine):
        return DataError(f"{where}: {row.problem}: {row.text[:60]!r}")
    if math.isnan(row.value):
        return DataError(f"{where}: the {VALUE_OF[kind]} must not be NaN")
    if kind == "qrels" and math.isinf(row.value):
        return DataError(f"{where}: the {VALUE_OF[kind]} must be finite, found {row.value!r}")
    said = f"document {row.document!r} stands twice in query {row.query!r}"
    return RepeatedDocumentError(f"{where}: {said}")


def read_json_rows(
    path: PathLike, kind: Kind, names: Mapping[str, str]
) -> Iterator[RawRow | FaultyLine]:
    """Every line as it stands: a row, or what is wrong with it."""
    chosen: dict[tuple[str, ...], tuple[str, str, str]] = {}
    for number, line in enumerate(read_bytes(path).tobytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            found = _parsed(line)
            keys = tuple(found)
            if keys not in chosen:
                chosen[keys] = choose_columns(keys, kind, names)
            query, document, value = chosen[keys]
            yield RawRow(
                _id(found[query], "query"),
                _id(found[document], "document"),
                _number(found[value], VALUE_OF[kind]),
                number,
            )
        except DataError as error:
            text = line.decode(errors="backslashreplace").strip()
            yield FaultyLine(number, text, str(error))


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = _DECODER.decode(line.decode())
    except UnicodeDecodeError:
        msg = "not UTF-8 text (a binary file?)"
    except json.JSONDecodeError as error:
        msg = f"not valid JSON ({error.msg}, column {error.colno})"
    except RecursionError:
        msg = "not an object with a query, a document and a number, but nested too deep to read"
    except DataError:
        raise
    except ValueError as error:  # a whole number of thousands of digits
        msg = f"not valid JSON ({error})"
    else:
        if isinstance(found, dict):
            return found
        msg = f"expected an object with a query, a document and a number, found {_shown(found)}"
    raise DataError(msg) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        msg = f"{twice!r} stands twice in one object"
        raise DataError(msg)
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def _id(value: Any, what: str) -> str:
    if isinstance(value, str) and value.isascii():
        return value
    if isinstance(value, bool) or not isinstance(value, str | int):
        msg = f"a {what} id must be a str or a whole number, found {_shown(value)}"
        raise DataError(msg)
    text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        msg = f"a {what} id must be valid Unicode text, found {_shown(value)}"
        raise DataError(msg) from None
    return text


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        msg = f"the {what} must be a number, found {_shown(value)}"
        raise DataError(msg)
    try:
        return float(value)
    except OverflowError:
        msg = f"the {what} is too large for a number"
        raise DataError(msg) from None


def _shown(value: object) -> str:
    return f"{type(value).__name__} {value!r:.80}"
