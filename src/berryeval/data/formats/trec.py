"""Text files, a row per line.

TREC files hold qrels ("query group document grade") or a run ("query Q0 document rank score tag").
Columns are separated by blanks or tabs. Blank lines and lines that begin with `#` are passed over.
A run may have more columns than six, which are ignored, as trec_eval does. The rank column is not
used: the order is that of the scores. A document may be judged once in each of several groups.

A file whose first line names three columns separated by tabs ("query-id corpus-id score", as BEIR
has it) holds these three in every line, separated by tabs. The third may be a rank instead, which
becomes the score -rank; `formats.layouts` says when a file without a header is read so.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval._internal import backend as _backend
from berryeval._internal.files import PathLike, name_of, read_bytes, writing
from berryeval.data.formats.layouts import (
    Layout,
    expected_columns,
    layout_of,
    raise_unnamed,
    split_line,
    with_ranks,
)
from berryeval.data.table import VALUE_OF, Kind, QueryTable, StringColumn
from berryeval.errors import DataError, RepeatedDocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator


_NUMBER = re.compile(
    rb"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf(?:inity)?))"
)
_NAN = re.compile(rb"[+-]?(?i:nan)(?:\([0-9A-Za-z_]*\))?")
# By query, then by document and group: the number and its line.
_Rows: TypeAlias = dict[bytes, dict[tuple[bytes, bytes], tuple[float, int]]]
_SHOWN = 60
_EXACT = 2.0**53


def read_table(path: PathLike, kind: Kind, *, lenient: bool = False) -> QueryTable:
    """Read a file. A faulty line is a `DataError`, or, with `lenient`, left out and counted."""
    return table_from_text(read_bytes(path), kind, name_of(path), lenient=lenient)


def table_from_text(
    text: npt.NDArray[np.uint8], kind: Kind, source: str, *, lenient: bool = False
) -> QueryTable:
    """The table of a file's bytes."""
    layout, text, named = layout_of(text, kind)
    if _backend.native is None:
        found = _read_python(text.tobytes(), layout, lenient=lenient)
    else:
        found = _backend.native.read_table(layout, text, lenient)
    if not isinstance(found, dict):
        raise_line_error(source, layout, *found, named=named)
    columns: dict[str, Any] = found
    if not len(columns["values"]):
        left_out = f" that can be used ({columns['dropped']} left out)" if lenient else ""
        msg = f"{source}: holds no rows{left_out}"
        raise DataError(msg)
    labels: dict[str, Any] = {"line": columns["lines"]}
    if layout == "qrels":
        labels["group"] = StringColumn(*columns["seconds"])
    elif layout == "run":
        labels["tag"] = columns["tag"].decode()
    table = QueryTable(
        queries=StringColumn(*columns["queries"]),
        offsets=columns["offsets"],
        documents=StringColumn(*columns["documents"]),
        values=columns["values"],
        labels=labels,
        source=source,
        dropped=columns["dropped"],
        distinct=layout != "qrels",
    )
    return table if named else with_ranks(table)


def raise_line_error(
    source: str, layout: Layout, problem: str, line: int, found: bytes, *, named: bool = True
) -> NoReturn:
    """Say what is wrong with a line: the one place where these words are chosen."""
    text = found.decode(errors="backslashreplace").strip()
    shown = repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
    columns = split_line(found, layout)
    value = _value_name(layout)
    if not named and problem in {"number", "nan"}:
        raise_unnamed(source, line, f"{shown} is no rank")
    if problem == "columns":
        expected = expected_columns(layout, found, line, named=named)
        said = f"expected {expected}, found {len(columns)}: {shown}"
    elif problem == "encoding":
        said = f"not UTF-8 text (a binary file?): {shown}"
    elif problem == "duplicate":
        document = columns[places(layout)[0]].decode()
        said = f"document {document!r} stands twice in query {columns[0].decode()!r}"
    elif problem == "nan":
        said = f"the {value} must not be NaN"
    elif problem == "infinite":
        said = f"the {value} must be finite, found {shown}"
    elif problem == "rank":
        said = f"the rank must be a whole number from 1 up, found {shown}"
    else:
        said = f"the {value} must be a number, found {shown}"
    msg = f"{source}:{line}: {said}"
    raise (RepeatedDocumentError if problem == "duplicate" else DataError)(msg)


def _value_name(layout: Layout) -> str:
    if layout == "run ranks tsv":
        return "rank"
    return VALUE_OF["run" if layout.startswith("run") else "qrels"]


def _read_python(
    text: bytes, layout: Layout, *, lenient: bool
) -> dict[str, Any] | tuple[str, int, bytes]:
    """The reference reader; the native twin is native/src/read_table.cpp."""
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
    return {**_columns(rows, layout), "tag": tag, "dropped": dropped}


def _columns(rows: _Rows, layout: Layout) -> dict[str, Any]:
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


def places(layout: Layout) -> tuple[int, int]:
    """Which columns are the document and the number."""
    if "tsv" in layout:
        return 1, 2
    return (2, 4) if layout == "run" else (2, 3)


def parse_columns(  # noqa: PLR0911 - one for each thing that can be wrong
    columns: list[bytes], layout: Layout, line: bytes
) -> tuple[bytes, float, bytes] | tuple[str, bytes]:
    """Document, number and second column of a line, or what is wrong with which text."""
    if not _is_text(line):
        return "encoding", line
    document, number = places(layout)
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


# Text files row by row, as they stand, for those who look for what is wrong with them.


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


# Queries without rows: they count in every mean, so that no writer may lose them silently.


def empty_queries(table: QueryTable) -> list[str]:
    """The queries that have no rows."""
    return [table.queries[place] for place in _places(table)]


def record_of_empty(table: QueryTable) -> bytes | None:
    """What a file of rows can carry beside them: the empty queries by place; None without any.

    The number of rows goes with it: where another tool changed the rows and kept the record, the
    record tells of a table that is gone.
    """
    places = _places(table)
    if not places:
        return None
    queries = {place: table.queries[place] for place in places}
    return json.dumps({"rows": len(table.values), "queries": queries}).encode()


def with_queries(table: QueryTable, record: bytes, rows: int) -> QueryTable:
    """The table with the empty queries of a record, if that was made of a table of `rows` rows."""
    try:
        found = json.loads(record)
        told, queries = (
            found["rows"],
            {int(place): name for place, name in found["queries"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return table
    if told != rows or not all(_is_id(name) for name in queries.values()):
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


def _places(table: QueryTable) -> list[int]:
    return np.flatnonzero(np.diff(table.offsets) == 0).tolist()


# Writing TREC files, all or nothing.


def write_trec(
    table: QueryTable, path: PathLike, kind: Kind, name: str = "run", *, drop_empty: bool = False
) -> None:
    """Write qrels, or a run whose rows stand in the order of their ranks.

    Numbers are written so that reading them gives the same bits. The format has no way to tell of
    a query without rows, so that one is an error unless `drop_empty` leaves it out.
    """
    if not drop_empty:
        _refuse_empty(table, kind)
    tag = "_".join(name.split()) or "run"
    with writing(path) as stream:
        for query, start, end in _groups(table):
            documents = [_word("document", item) for item in _strings(table.documents, start, end)]
            values = table.values[start:end].tolist()
            if kind == "run":
                lines = [
                    f"{query} Q0 {document} {rank} {score!r} {tag}\n"
                    for rank, (document, score) in enumerate(zip(documents, values, strict=True), 1)
                ]
            else:
                group = table.labels.get("group")
                groups = ["0"] * len(values) if group is None else _strings(group, start, end)
                lines = [
                    f"{query} {second} {document} {_grade(value)}\n"
                    for second, document, value in zip(groups, documents, values, strict=True)
                ]
            stream.write("".join(lines).encode())


def _refuse_empty(table: QueryTable, kind: Kind) -> None:
    empty = empty_queries(table)
    if not empty:
        return
    more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
    has = "have" if more else "has"
    msg = (
        f"a TREC file cannot hold a query without rows, and {empty[0]!r}{more} {has} none in "
        f"{'this run' if kind == 'run' else 'these judgments'}; write JSON or Parquet, or leave "
        "such queries out with drop_empty=True"
    )
    raise DataError(msg)


def _groups(table: QueryTable) -> Iterator[tuple[str, int, int]]:
    for index, query in enumerate(table.queries):
        start, end = int(table.offsets[index]), int(table.offsets[index + 1])
        if start < end:
            yield _word("query", query), start, end


def _strings(column: StringColumn, start: int, end: int) -> list[str]:
    return [item.decode() for item in column.to_bytes_list(start, end)]


def _word(what: str, text: str) -> str:
    """The id, if a TREC file can hold it."""
    data = text.encode()
    comment = what == "query" and text.startswith(("#", "\ufeff"))
    if data.split() != [data] or b"\0" in data or comment:
        why = "begins with # or a byte order mark" if comment else "is empty, or has blanks in it"
        msg = f"a TREC file cannot hold the {what} id {text!r}, which {why}; write JSON or Parquet"
        raise DataError(msg)
    return text


def _grade(value: float) -> str:
    """A whole number without a point, as other tools expect it, where that loses nothing."""
    whole = value.is_integer() and abs(value) < _EXACT and repr(value) != "-0.0"
    return str(int(value)) if whole else repr(value)
