"""TREC files: qrels ("query group document grade") and runs ("query Q0 document rank score tag").

Columns are separated by blanks or tabs. Blank lines and lines that begin with `#` are passed over.
A run may have more columns than six, which are ignored, as trec_eval does. The rank column is not
used: the order is that of the scores.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from berryeval import _backend
from berryeval.errors import DataError
from berryeval.io.files import PathLike, name_of, read_bytes
from berryeval.tables import QueryTable, StringColumn

__all__ = ["Kind", "raise_line_error", "read_table", "table_from_text"]

Kind = Literal["run", "qrels"]

_NUMBER = re.compile(
    rb"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf(?:inity)?))"
)
_NAN = re.compile(rb"[+-]?(?i:nan)(?:\([0-9A-Za-z_]*\))?")
_LAYOUT = {
    "run": "6 columns (query Q0 document rank score tag)",
    "qrels": "4 columns (query group document grade)",
}
_VALUE = {"run": "score", "qrels": "grade"}
_SHOWN = 60


def read_table(path: PathLike, kind: Kind, *, lenient: bool = False) -> QueryTable:
    """Read a file. A faulty line is a `DataError`, or, with `lenient`, left out and counted."""
    return table_from_text(read_bytes(path), kind, name_of(path), lenient=lenient)


def table_from_text(
    text: npt.NDArray[np.uint8], kind: Kind, source: str, *, lenient: bool = False
) -> QueryTable:
    """The table of a file's bytes."""
    if _backend.native is None:
        found = _read_python(text.tobytes(), kind, lenient=lenient)
    else:
        found = _backend.native.read_table(kind, text, lenient)
    if not isinstance(found, dict):
        raise_line_error(source, kind, *found)
    columns: dict[str, Any] = found
    labels: dict[str, Any] = {"line": columns["lines"]}
    if kind == "qrels":
        labels["group"] = StringColumn(*columns["seconds"])
    else:
        labels["tag"] = columns["tag"].decode(errors="replace")
    return QueryTable(
        queries=StringColumn(*columns["queries"]),
        offsets=columns["offsets"],
        documents=StringColumn(*columns["documents"]),
        values=columns["values"],
        labels=labels,
        source=source,
        dropped=columns["dropped"],
    )


def raise_line_error(source: str, kind: Kind, problem: str, line: int, found: bytes) -> NoReturn:
    """Say what is wrong with a line: the one place where these words are chosen."""
    text = found.decode(errors="backslashreplace").strip()
    shown = repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
    if problem == "columns":
        count = len(found.split())
        msg = f"{source}:{line}: expected {_LAYOUT[kind]}, found {count}: {shown}"
    elif problem == "nan":
        msg = f"{source}:{line}: the {_VALUE[kind]} must not be NaN"
    else:
        msg = f"{source}:{line}: the {_VALUE[kind]} must be a number, found {shown}"
    raise DataError(msg)


def _read_python(
    text: bytes, kind: Kind, *, lenient: bool
) -> dict[str, Any] | tuple[str, int, bytes]:
    """The reference reader; the native twin is native/src/read_table.cpp."""
    rows: dict[bytes, list[tuple[bytes, float, bytes, int]]] = {}
    dropped = 0
    tag = b""
    for number, line in enumerate(text.split(b"\n"), start=1):
        columns = line.split()
        if not columns or columns[0].startswith(b"#"):
            continue
        parsed = _parse(columns, kind, line)
        if len(parsed) == 2:  # noqa: PLR2004 - what is wrong, and where
            if not lenient:
                return parsed[0], number, parsed[1]
            dropped += 1
            continue
        document, value, second = parsed
        rows.setdefault(columns[0], []).append((document, value, second, number))
        if kind == "run":
            tag = columns[5]
    flat = [row for group in rows.values() for row in group]
    sizes = [0, *(len(group) for group in rows.values())]
    documents = StringColumn.from_bytes([row[0] for row in flat])
    seconds = StringColumn.from_bytes([row[2] for row in flat])
    queries = StringColumn.from_bytes(list(rows))
    return {
        "queries": (queries.data, queries.offsets),
        "offsets": np.cumsum(sizes, dtype=np.int64),
        "documents": (documents.data, documents.offsets),
        "values": np.array([row[1] for row in flat], dtype=np.float64),
        "seconds": (seconds.data, seconds.offsets),
        "lines": np.array([row[3] for row in flat], dtype=np.int64),
        "tag": tag,
        "dropped": dropped,
    }


def _parse(
    columns: list[bytes], kind: Kind, line: bytes
) -> tuple[bytes, float, bytes] | tuple[str, bytes]:
    wrong = len(columns) < 6 if kind == "run" else len(columns) != 4  # noqa: PLR2004
    if wrong:
        return "columns", line
    text = columns[4] if kind == "run" else columns[3]
    if _NAN.fullmatch(text):
        return "nan", text
    if not _NUMBER.fullmatch(text):
        return "number", text
    return columns[2], float(text), columns[1]
