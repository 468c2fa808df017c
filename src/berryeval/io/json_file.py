"""JSON files: `{query: {document: number}}`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from berryeval.errors import DataError
from berryeval.io.files import PathLike, name_of, writing
from berryeval.io.json_text import parse_json, read_text, repeated_name
from berryeval.tables import Kind, QueryTable

__all__ = ["read_json", "write_json"]


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
