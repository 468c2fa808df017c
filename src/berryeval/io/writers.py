"""Writing TREC files, all or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.errors import DataError
from berryeval.io.empty_queries import empty_queries
from berryeval.io.files import PathLike, writing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.tables import Kind, QueryTable, StringColumn

__all__ = ["write_trec"]

_EXACT = 2.0**53


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
