"""Rows as columns, in any order: checked, and grouped by query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from berryeval import _backend
from berryeval.errors import DataError, RepeatedDocumentError
from berryeval.io.views import ViewColumn
from berryeval.tables import VALUE_OF, Kind, QueryTable, StringColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["group_rows", "string_column", "table_from_arrays", "table_from_columns"]

PADDING = -1

Grouping = tuple[
    StringColumn, npt.NDArray[np.int64], "npt.NDArray[np.int64] | None", npt.NDArray[np.int64]
]


def table_from_columns(
    queries: StringColumn | ViewColumn,
    documents: StringColumn,
    values: npt.NDArray[np.float64],
    kind: Kind,
    *,
    source: str = "",
    lenient: bool = False,
    dropped: int = 0,
) -> QueryTable:
    """The table of these rows. What is wrong with one is a `DataError`, or dropped if lenient."""
    if not len(queries) == len(documents) == len(values):
        msg = (
            f"{_start(source)}found {len(queries)} queries, {len(documents)} documents and "
            f"{len(values)} numbers; there must be as many of each"
        )
        raise DataError(msg)
    faulty = ~np.isfinite(values) if kind == "qrels" else np.isnan(values)
    if faulty.any():
        row = int(np.argmax(faulty))
        if not lenient:
            need = "must not be NaN" if np.isnan(values[row]) else "must be finite, found "
            number = "" if np.isnan(values[row]) else repr(float(values[row]))
            msg = f"{_start(source)}row {row}: the {VALUE_OF[kind]} {need}{number}"
            raise DataError(msg)
        kept = np.flatnonzero(~faulty)
        dropped += len(values) - len(kept)
        queries, documents, values = queries.take(kept), documents.take(kept), values[kept]
    unique, offsets, order, repeated = group_rows(queries, documents)
    if len(repeated) and not lenient:
        row = int(repeated[0])
        msg = (
            f"{_start(source)}row {row}: document {documents[row]!r} "
            f"stands twice in query {queries[row]!r}"
        )
        raise RepeatedDocumentError(msg)
    if order is not None:
        documents, values = documents.take(order), values[order]
    return QueryTable(
        unique,
        offsets,
        documents,
        values,
        source=source,
        dropped=dropped + len(repeated),
        distinct=True,
    )


def group_rows(queries: StringColumn | ViewColumn, documents: StringColumn) -> Grouping:
    """The queries, where the rows of each begin, the order of the rows, and the repeated rows.

    A row is repeated if its query has its document already; the order leaves it out. The order is
    None where the rows stand grouped as they are.
    """
    if isinstance(queries, ViewColumn):
        unique, offsets, order, repeated = queries.grouped(documents)
    elif _backend.native is None:
        return _group_rows(queries, documents)
    else:
        unique, offsets, order, repeated = _backend.native.group_rows(
            queries.arrays, documents.arrays, _backend.thread_count()
        )
    return StringColumn(*unique), offsets, order, repeated


def _group_rows(queries: StringColumn, documents: StringColumn) -> Grouping:
    """The reference; the native twin is native/src/group_rows.cpp."""
    groups: dict[bytes, dict[bytes, int]] = {}
    repeated = []
    pairs = zip(queries.to_bytes_list(), documents.to_bytes_list(), strict=True)
    for row, (query, document) in enumerate(pairs):
        if groups.setdefault(query, {}).setdefault(document, row) != row:
            repeated.append(row)
    order = [row for group in groups.values() for row in group.values()]
    offsets = np.cumsum([0, *(len(group) for group in groups.values())], dtype=np.int64)
    in_place = order == list(range(len(queries)))
    return (
        StringColumn.from_bytes(list(groups)),
        offsets,
        None if in_place else np.array(order, dtype=np.int64),
        np.array(repeated, dtype=np.int64),
    )


def table_from_arrays(
    ids: npt.NDArray[np.integer[Any]],
    values: npt.NDArray[Any],
    queries: Sequence[Any] | None,
    kind: Kind,
    *,
    lenient: bool = False,
) -> QueryTable:
    """From one row of whole-number document ids per query, padded with -1, and their numbers.

    Without `queries` the rows are called "0", "1" and so on.
    """
    if not isinstance(ids, np.ndarray) or ids.ndim != 2 or ids.dtype.kind not in "iu":  # noqa: PLR2004 - rows and columns
        found = f"{ids.dtype} {ids.shape}" if isinstance(ids, np.ndarray) else type(ids).__name__
        msg = f"document ids must be a 2-D NumPy array of whole numbers, found {found}"
        raise DataError(msg)
    if np.shape(values) != ids.shape:
        msg = f"a {VALUE_OF[kind]} per id is needed: found {np.shape(values)} for {ids.shape}"
        raise DataError(msg)
    names = string_column(np.arange(len(ids)) if queries is None else queries, "query")
    if len(names) != len(ids):
        msg = f"found {len(names)} query ids for {len(ids)} rows"
        raise DataError(msg)
    rows, places = np.nonzero(ids != PADDING)
    return table_from_columns(
        names.take(rows.astype(np.int64)),
        StringColumn.from_integers(ids[rows, places]),
        number_column(values[rows, places], kind),
        kind,
        lenient=lenient,
    )


def string_column(items: Sequence[Any] | npt.NDArray[Any], what: str) -> StringColumn:
    """The column of these ids: strings as they are, whole numbers in decimal."""
    if isinstance(items, np.ndarray):
        if items.dtype.kind in "iu" and items.ndim == 1:
            return StringColumn.from_integers(items)
        items = items.tolist()
    strings = []
    for row, item in enumerate(items):
        if isinstance(item, bool) or not isinstance(item, str | int | np.integer):
            msg = (
                f"row {row}: a {what} id must be a str or a whole number, "
                f"found {type(item).__name__} {item!r:.80}"
            )
            raise DataError(msg)
        strings.append(str(item))
    try:
        return StringColumn.from_strings(strings)
    except UnicodeEncodeError as error:
        msg = f"a {what} id must be valid Unicode text, found {error.object!r:.80}"
        raise DataError(msg) from None


def number_column(items: Sequence[Any] | npt.NDArray[Any], kind: Kind) -> npt.NDArray[np.float64]:
    """The column of these numbers."""
    array = np.asarray(items)
    if array.dtype.kind not in "iuf" and array.size:
        msg = f"a {VALUE_OF[kind]} must be a number, found an array of {array.dtype}"
        raise DataError(msg)
    return np.array(array, dtype=np.float64)


def _start(source: str) -> str:
    return f"{source}: " if source else ""
