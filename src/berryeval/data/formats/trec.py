"""Text files with one row per line: TREC, and three columns separated by tabs.

TREC files hold qrels ("query group document grade") or a run ("query Q0 document rank score tag"),
with columns separated by spaces or tabs. Blank lines and lines that start with `#` are skipped.
Further columns of a run are ignored, as in trec_eval, and so is the rank: scores determine the
order. A document may be judged once in each of several groups.

A file whose first line names three columns separated by tabs ("query-id corpus-id score", as in
BEIR) has these three in every line. The third may be a rank, which becomes the score -rank.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval._internal import backend as _backend
from berryeval._internal.files import PathLike, display_name, read_bytes, replace_file
from berryeval._internal.text import explain_encoding
from berryeval.data.formats.layouts import (
    Layout,
    TextLayout,
    convert_ranks,
    detect_layout,
    expected_columns,
    raise_ambiguous,
    split_line,
)
from berryeval.data.table import VALUE_OF, Kind, QueryTable, StringColumn
from berryeval.errors import DataError, RepeatedDocumentError

_NUMBER = re.compile(
    rb"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf(?:inity)?))"
)
_NAN = re.compile(rb"[+-]?(?i:nan)(?:\([0-9A-Za-z_]*\))?")
# query -> (document, group) -> (number, line)
_Rows: TypeAlias = dict[bytes, dict[tuple[bytes, bytes], tuple[float, int]]]
_SHOWN = 60
_NO_GROUP = {"0", "Q0"}  # what the second column says if there are no groups
_EXACT = 2.0**53


def read_table(path: PathLike, kind: Kind, *, lenient: bool = False) -> QueryTable:
    """Read a file; an invalid line is a `DataError`, or dropped and counted if `lenient`."""
    return table_from_text(read_bytes(path), kind, display_name(path), lenient=lenient)


def table_from_text(
    text: npt.NDArray[np.uint8], kind: Kind, source: str, *, lenient: bool = False
) -> QueryTable:
    """Parse the bytes of a file."""
    layout = detect_layout(text, kind)
    table = parse_text(layout, source, lenient=lenient)
    require_rows(source, len(table.values), table.dropped, lenient=lenient)
    if layout.lines == "qrels":
        _reject_swapped(source, table.documents, table.labels["group"])
    return table if layout.named else convert_ranks(table)


def parse_text(
    layout: TextLayout, source: str, *, lenient: bool = False, lines_before: int = 0
) -> QueryTable:
    """Parse the lines of a file, or some of them that follow `lines_before` others."""
    lines, text, named = layout
    if _backend.native is None:
        found = _read_python(text.tobytes(), lines, lenient=lenient)
    else:
        found = _backend.native.read_table(lines, text, lenient)
    if not isinstance(found, dict):
        problem, line, shown = found
        raise_line_error(source, lines, problem, line + lines_before, shown, named=named)
    columns: dict[str, Any] = found
    labels: dict[str, Any] = {"line": columns["lines"] + lines_before}
    if lines == "qrels":
        labels["group"] = StringColumn(*columns["seconds"])
    elif lines == "run":
        labels["tag"] = columns["tag"].decode()
    return QueryTable(
        queries=StringColumn(*columns["queries"]),
        offsets=columns["offsets"],
        documents=StringColumn(*columns["documents"]),
        values=columns["values"],
        labels=labels,
        source=source,
        dropped=columns["dropped"],
        distinct=lines != "qrels",
    )


def require_rows(source: str, rows: int, dropped: int = 0, *, lenient: bool = False) -> None:
    """Reject a file without rows."""
    if not rows:
        left_out = f" that can be used ({dropped} left out)" if lenient else ""
        raise DataError(f"{source}: holds no rows{left_out}")


def _reject_swapped(source: str, documents: StringColumn, groups: StringColumn) -> None:
    """Reject judgments with document and group swapped: every document would be "0"."""
    if documents[0] not in _NO_GROUP or not documents.is_constant:
        return
    if groups[0] not in _NO_GROUP and not (groups.is_constant and groups[0].isdigit()):
        raise DataError(
            f"{source}: every document is {documents[0]!r}, and the second column has "
            f"{groups[0]!r:.80}: the second and third column seem to be swapped; expected query, "
            "group (usually 0), document, grade"
        )


def raise_line_error(
    source: str, layout: Layout, problem: str, line: int, found: bytes, *, named: bool = True
) -> NoReturn:
    """Raise the error for an invalid line, found by either backend."""
    text = found.decode(errors="backslashreplace").strip()
    shown = repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
    columns = split_line(found, layout)
    value = VALUE_OF["run" if layout.startswith("run") else "qrels"]
    if layout == "run ranks tsv":
        value = "rank"
    if not named and problem in {"number", "nan"}:
        raise_ambiguous(source, line, f"{shown} is not a rank")
    if problem == "columns":
        expected = expected_columns(layout, found, line, named=named)
        reason = f"expected {expected}, found {len(columns)}: {shown}"
    elif problem == "duplicate":
        document = columns[value_columns(layout)[0]].decode()
        reason = f"document {document!r} appears twice in query {columns[0].decode()!r}"
    else:
        reason = {
            "encoding": f"{explain_encoding(found)}: {shown}",
            "nan": f"the {value} must not be NaN",
            "infinite": f"the {value} must be finite, found {shown}",
            "rank": f"the rank must be a whole number from 1 up, found {shown}",
        }.get(problem, f"the {value} must be a number, found {shown}")
    raise (RepeatedDocumentError if problem == "duplicate" else DataError)(
        f"{source}:{line}: {reason}"
    )


def _read_python(
    text: bytes, layout: Layout, *, lenient: bool
) -> dict[str, Any] | tuple[str, int, bytes]:
    """Read in Python; the native counterpart is native/src/read_table.cpp."""
    rows: _Rows = {}
    dropped = 0
    tag = b""
    for number, line in enumerate(text.split(b"\n"), start=1):
        columns = split_line(line, layout)
        if not line.split() or ("tsv" not in layout and columns[0].startswith(b"#")):
            continue
        parsed = parse_columns(columns, layout, line)
        if not isinstance(parsed[1], bytes):
            document, value, second = parsed
            tag = columns[5] if layout == "run" else b""
            group = rows.setdefault(columns[0], {})
            key = document, second if layout == "qrels" else b""
            if key not in group:
                group[key] = value, number
                continue
            parsed = "duplicate", line
        if not lenient:
            return parsed[0], number, parsed[1]
        dropped += 1
    return {**_build_columns(rows, layout), "tag": tag, "dropped": dropped}


def _build_columns(rows: _Rows, layout: Layout) -> dict[str, Any]:
    flat = [row for group in rows.values() for row in group.values()]
    documents = [document for group in rows.values() for document, _ in group]
    seconds = [second for group in rows.values() for _, second in group]
    return {
        "queries": StringColumn.from_bytes(list(rows)).arrays,
        "offsets": np.cumsum([0, *map(len, rows.values())], dtype=np.int64),
        "documents": StringColumn.from_bytes(documents).arrays,
        "values": np.array([row[0] for row in flat], dtype=np.float64),
        "seconds": StringColumn.from_bytes(seconds if layout == "qrels" else []).arrays,
        "lines": np.array([row[1] for row in flat], dtype=np.int64),
    }


def value_columns(layout: Layout) -> tuple[int, int]:
    """Return the indices of the document and number columns."""
    if "tsv" in layout:
        return 1, 2
    return (2, 4) if layout == "run" else (2, 3)


def parse_columns(  # noqa: PLR0911 - one for each problem
    columns: list[bytes], layout: Layout, line: bytes
) -> tuple[bytes, float, bytes] | tuple[str, bytes]:
    """Return document, number and second column of a line, or a problem and its text."""
    if not _is_text(line):
        return "encoding", line
    document, number = value_columns(layout)
    width = 6 if layout == "run" else number + 1
    if len(columns) < width or (layout != "run" and len(columns) > width) or b"" in columns:
        return "columns", line
    text = columns[number]
    if _NAN.fullmatch(text):
        return "nan", text
    if not _NUMBER.fullmatch(text):
        return "number", text
    value = float(text)
    if layout.startswith("qrels") and math.isinf(value):
        return "infinite", text
    if layout != "run ranks tsv":
        return columns[document], value, columns[1]
    is_rank = 1 <= value < _EXACT and value.is_integer()
    return (columns[document], -value, columns[1]) if is_rank else ("rank", text)


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in line


class RawRow(NamedTuple):
    """An unchecked row of a file; the rank None stands for text that is not a number."""

    query: str
    document: str
    value: float
    line: int = 0
    rank: int | None = None
    group: str = ""


class FaultyLine(NamedTuple):
    """A line that is not a row, with the reason if known."""

    line: int
    text: str
    problem: str = ""


def read_rows(path: PathLike, kind: Kind) -> Iterator[RawRow | FaultyLine]:
    """Yield each line that is neither blank nor a comment as a row or a `FaultyLine`."""
    layout, text, named = detect_layout(read_bytes(path), kind)
    if not named:  # raises an error if the third column is ambiguous
        table_from_text(text, kind, display_name(path), lenient=True)
    document, _ = value_columns(layout)
    for number, line in enumerate(text.tobytes().split(b"\n"), start=1):
        columns = split_line(line, layout)
        if not line.split() or ("tsv" not in layout and columns[0].startswith(b"#")):
            continue
        parsed = parse_columns(columns, layout, line)
        if parsed[0] == "nan":
            value = math.nan
        elif len(parsed) == 2:  # noqa: PLR2004 - problem and text
            yield FaultyLine(number, _decode(line).strip())
            continue
        else:
            value = parsed[1] if named else -parsed[1]
        row = RawRow(_decode(columns[0]), _decode(columns[document]), value, number)
        if layout == "run":
            row = row._replace(rank=_to_rank(columns[3]))
        elif layout == "qrels":
            row = row._replace(group=_decode(columns[1]))
        yield row


def _to_rank(text: bytes) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _decode(data: bytes) -> str:
    return data.decode(errors="backslashreplace")


# Queries without rows count in every mean, so writers must not lose them.


def encode_empty_queries(table: QueryTable) -> bytes | None:
    """Encode the queries without rows for the metadata of a file; None if every query has rows.

    The number of rows is included to detect files whose rows another tool has changed.
    """
    places = _empty_places(table)
    if not places:
        return None
    queries = {place: table.queries[place] for place in places}
    return json.dumps({"rows": len(table.values), "queries": queries}).encode()


def add_empty_queries(table: QueryTable, record: bytes, rows: int) -> QueryTable:
    """Add encoded empty queries to a table, if they were encoded for `rows` rows."""
    try:
        found = json.loads(record)
        encoded_rows = found["rows"]
        queries = {int(place): name for place, name in found["queries"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return table
    if encoded_rows != rows or not all(_is_id(name) for name in queries.values()):
        return table
    names = list(table.queries)
    sizes = np.diff(table.offsets).tolist()
    known = set(names)
    for place, name in sorted(queries.items()):
        if name not in known:
            names.insert(place, name)
            sizes.insert(place, 0)
    return replace(
        table,
        queries=StringColumn.from_strings(names),
        offsets=np.cumsum([0, *sizes], dtype=np.int64),
    )


def _is_id(name: object) -> bool:
    return isinstance(name, str) and not any("\ud800" <= letter <= "\udfff" for letter in name)


def _empty_places(table: QueryTable) -> list[int]:
    return np.flatnonzero(np.diff(table.offsets) == 0).tolist()


def write_trec(
    table: QueryTable, path: PathLike, kind: Kind, name: str = "run", *, drop_empty: bool = False
) -> None:
    """Write qrels, or a run whose rows are in rank order, atomically and exactly to the bit.

    A query without rows, which the format cannot hold, is an error or left out with `drop_empty`.
    """
    if not drop_empty:
        _reject_empty(table, kind)
    with replace_file(path) as stream:
        for lines in format_trec(table, kind, name):
            stream.write(lines.encode())


def format_trec(table: QueryTable, kind: Kind, name: str = "run") -> Iterator[str]:
    """Yield the lines of each query that has rows."""
    tag = "_".join(name.encode(errors="backslashreplace").decode().split()) or "run"
    bounds = pairwise(table.offsets.tolist())
    for query, (start, end) in zip(table.queries, bounds, strict=True):
        if start == end:
            continue
        _check_id("query", query)
        documents = [
            _check_id("document", item) for item in _decode_strings(table.documents, start, end)
        ]
        values = table.values[start:end].tolist()
        if kind == "run":
            lines = [
                f"{query} Q0 {document} {rank} {score!r} {tag}\n"
                for rank, (document, score) in enumerate(zip(documents, values, strict=True), 1)
            ]
        else:
            group = table.labels.get("group")
            groups = ["0"] * len(values) if group is None else _decode_strings(group, start, end)
            lines = [
                f"{query} {second} {document} {_format_grade(value)}\n"
                for second, document, value in zip(groups, documents, values, strict=True)
            ]
        yield "".join(lines)


def _reject_empty(table: QueryTable, kind: Kind) -> None:
    empty = _empty_places(table)
    if not empty:
        return
    first = table.queries[empty[0]]
    more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
    has = "have" if more else "has"
    raise DataError(
        f"a TREC file cannot hold a query without rows, and {first!r}{more} {has} none in "
        f"{'this run' if kind == 'run' else 'these judgments'}; write JSON or Parquet, or leave "
        "such queries out with drop_empty=True"
    )


def _decode_strings(column: StringColumn, start: int, end: int) -> list[str]:
    return [item.decode() for item in column.to_bytes_list(start, end)]


def _check_id(what: str, text: str) -> str:
    """Return an id that a TREC file can hold, or raise an error."""
    data = text.encode()
    comment = what == "query" and text.startswith(("#", "\ufeff"))
    if data.split() != [data] or b"\0" in data or comment:
        why = "starts with # or a byte order mark" if comment else "is empty or contains spaces"
        raise DataError(
            f"a TREC file cannot hold the {what} id {text!r}, which {why}; write JSON or Parquet"
        )
    return text


def _format_grade(value: float) -> str:
    """Format a grade without a decimal point, as other tools expect, if that is exact."""
    whole = value.is_integer() and abs(value) < _EXACT and repr(value) != "-0.0"
    return str(int(value)) if whole else repr(value)
