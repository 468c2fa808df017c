"""Text files, a row per line.

TREC files hold qrels ("query group document grade") or a run ("query Q0 document rank score tag").
Columns are separated by blanks or tabs. Blank lines and lines that begin with `#` are passed over.
A run may have more columns than six, which are ignored, as trec_eval does. The rank column is not
used: the order is that of the scores. A document may be judged once in each of several groups.

A file whose first line names three columns separated by tabs ("query-id corpus-id score", as BEIR
has it) holds these three in every line, separated by tabs. The third may be a rank instead, which
becomes the score -rank; `berryeval.io.layouts` says when a file without a header is read so.
"""

from __future__ import annotations

import math
import re
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval import _backend
from berryeval.errors import DataError, RepeatedDocumentError
from berryeval.io.files import PathLike, name_of, read_bytes
from berryeval.io.layouts import (
    Layout,
    expected_columns,
    layout_of,
    raise_unnamed,
    split_line,
    with_ranks,
)
from berryeval.tables import VALUE_OF, Kind, QueryTable, StringColumn

__all__ = [
    "Kind",
    "parse_columns",
    "places",
    "raise_line_error",
    "read_table",
    "table_from_text",
]

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
