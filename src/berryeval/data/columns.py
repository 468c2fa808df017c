"""Tables from columns of rows in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from berryeval._internal import backend as _backend
from berryeval._internal.text import pluralize, prefix_place
from berryeval.data.table import VALUE_OF, Kind, QueryTable, StringColumn
from berryeval.errors import DataError, RepeatedDocumentError

_VIEW = 16  # bytes of an Arrow string view


class ViewColumn:
    """Arrow string views, as in polars, with the buffers of long strings; not copied.

    Needs the native backend. Copy strings to keep them, because the frame may change.
    """

    __slots__ = ("buffers", "views")

    def __init__(self, views: npt.NDArray[np.uint8], buffers: list[npt.NDArray[np.uint8]]) -> None:
        self.views = views
        self.buffers = buffers

    @property
    def arrays(self) -> tuple[npt.NDArray[np.uint8], list[npt.NDArray[np.uint8]]]:
        """Views and buffers for native code."""
        return self.views, self.buffers

    def copy(self) -> StringColumn:
        """Copy the strings into a column."""
        native: Any = _backend.native
        return StringColumn(*native.copy_views(self.arrays, _backend.thread_count()))

    def group(self, documents: StringColumn) -> tuple[Any, ...]:
        """Group rows by query, as the native `group_rows` does."""
        native: Any = _backend.native
        threads = _backend.thread_count()
        found: tuple[Any, ...] = native.group_view_rows(self.arrays, documents.arrays, threads)
        return found

    def spread(self, codes: npt.NDArray[np.integer[Any]]) -> ViewColumn:
        """Return the views at these indices."""
        views = self.views.reshape(-1, _VIEW).take(codes, axis=0)
        return ViewColumn(views.ravel(), self.buffers)

    def take(self, places: npt.NDArray[np.int64]) -> StringColumn:
        """Return a column with the strings at these indices."""
        return self.copy().take(places)

    def __len__(self) -> int:
        return len(self.views) // _VIEW

    def __getitem__(self, index: int) -> str:
        return ViewColumn(self.views[_VIEW * index : _VIEW * (index + 1)], self.buffers).copy()[0]


def as_views(array: Any) -> ViewColumn | None:
    """Return the views of a pyarrow array of string views, or of codes of a dictionary of strings.

    None for other arrays, for missing strings or wrong codes, and without native code.
    """
    if _backend.native is None or array.null_count:
        return None
    if hasattr(array, "dictionary"):
        strings, codes = _view_dictionary(array.dictionary), array.indices.to_numpy()
        if strings is None or codes.min(initial=0) < 0 or codes.max(initial=-1) >= len(strings):
            return None
        return strings.spread(codes)
    if str(array.type) != "string_view":
        return None
    _, views, *buffers = array.buffers()
    if not len(array):
        return ViewColumn(np.zeros(0, np.uint8), [])
    start = _VIEW * array.offset
    return ViewColumn(
        np.frombuffer(views, dtype=np.uint8)[start : start + _VIEW * len(array)],
        [np.frombuffer(buffer, dtype=np.uint8) for buffer in buffers],
    )


def _view_dictionary(strings: Any) -> ViewColumn | None:
    """Return the views of a dictionary of strings; None if it is of another type."""
    if str(strings.type) not in {"string", "large_string"}:
        return None
    try:
        return as_views(strings.cast("string_view"))
    except (NotImplementedError, ValueError):  # an older pyarrow
        return None


PADDING = -1

Grouping = tuple[
    StringColumn, npt.NDArray[np.int64], "npt.NDArray[np.int64] | None", npt.NDArray[np.int64]
]


class Origin(NamedTuple):
    """The numbers of rows in their source, 0, 1, ... if None, and how to name one in a message."""

    rows: npt.NDArray[np.int64] | None
    name: Callable[[int], str]

    def locate(self, row: int) -> str:
        """Return the name of a row."""
        return self.name(row if self.rows is None else int(self.rows[row]))

    def find_first(self, places: npt.NDArray[np.int64]) -> int:
        """Return the place of the row that comes first in its source."""
        first = 0 if self.rows is None else int(np.argmin(self.rows[places]))
        return int(places[first])

    def take(self, places: npt.NDArray[np.int64]) -> Origin:
        """Return the origin of the rows at these places."""
        return self if self.rows is None else self._replace(rows=self.rows[places])


def table_from_columns(
    queries: StringColumn | ViewColumn,
    documents: StringColumn,
    values: npt.NDArray[np.float64],
    kind: Kind,
    *,
    source: str = "",
    lenient: bool = False,
    dropped: int = 0,
    origin: Origin | None = None,
) -> QueryTable:
    """Build a table; an invalid row is a `DataError`, or dropped if `lenient`.

    With an `origin`, errors name its rows, and the label "row" has their numbers.
    """
    origin = origin or Origin(None, lambda row: f"{prefix_place(source)}row {row}")
    if not len(queries) == len(documents) == len(values):
        raise DataError(
            f"{prefix_place(source)}found {pluralize(len(queries), 'query')}, "
            f"{pluralize(len(documents), 'document')} and "
            f"{len(values)} numbers; expected equal lengths"
        )
    faulty = ~np.isfinite(values) if kind == "qrels" else np.isnan(values)
    if faulty.any():
        row = int(np.argmax(faulty))
        if not lenient:
            need = "must not be NaN" if np.isnan(values[row]) else "must be finite, found "
            number = "" if np.isnan(values[row]) else repr(float(values[row]))
            raise DataError(f"{origin.locate(row)}: the {VALUE_OF[kind]} {need}{number}")
        kept = np.flatnonzero(~faulty)
        dropped += len(values) - len(kept)
        queries, documents, values = queries.take(kept), documents.take(kept), values[kept]
        origin = origin.take(kept)
    unique, offsets, order, repeated = group_rows(queries, documents)
    if len(repeated) and not lenient:
        row = origin.find_first(repeated)
        raise RepeatedDocumentError(
            f"{origin.locate(row)}: document {documents[row]!r} "
            f"appears twice in query {queries[row]!r}"
        )
    if order is not None:
        documents, values = documents.take(order), values[order]
        origin = origin.take(order)
    return QueryTable(
        unique,
        offsets,
        documents,
        values,
        labels={} if origin.rows is None else {"row": origin.rows},
        source=source,
        dropped=dropped + len(repeated),
        distinct=True,
    )


def group_rows(queries: StringColumn | ViewColumn, documents: StringColumn) -> Grouping:
    """Return the queries, the offsets of their rows, the order of the rows, and repeated rows.

    The order leaves out repeats of a document in a query; None means that rows are grouped already.
    """
    if isinstance(queries, ViewColumn):
        unique, offsets, order, repeated = queries.group(documents)
    elif _backend.native is None:
        return _group_rows(queries, documents)
    else:
        unique, offsets, order, repeated = _backend.native.group_rows(
            queries.arrays, documents.arrays, _backend.thread_count()
        )
    return StringColumn(*unique), offsets, order, repeated


def _group_rows(queries: StringColumn, documents: StringColumn) -> Grouping:
    """Group rows in Python; the native counterpart is native/src/group_rows.cpp."""
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
    """Build a table from rows of integer document ids, padded with -1, and their numbers.

    Without `queries` the query ids are "0", "1" and so on.
    """
    if not isinstance(ids, np.ndarray) or ids.ndim != 2 or ids.dtype.kind not in "iu":  # noqa: PLR2004 - rows and columns
        found = f"{ids.dtype} {ids.shape}" if isinstance(ids, np.ndarray) else type(ids).__name__
        raise DataError(f"document ids must be a 2-D NumPy array of whole numbers, found {found}")
    if np.shape(values) != ids.shape:
        raise DataError(
            f"a {VALUE_OF[kind]} per id is needed: found {np.shape(values)} for {ids.shape}"
        )
    names = string_column(np.arange(len(ids)) if queries is None else queries, "query")
    if len(names) != len(ids):
        raise DataError(f"found {len(names)} query ids for {len(ids)} rows")
    rows, places = np.nonzero(ids != PADDING)
    return table_from_columns(
        names.take(rows.astype(np.int64)),
        StringColumn.from_integers(ids[rows, places]),
        number_column(values[rows, places], kind),
        kind,
        lenient=lenient,
    )


def string_column(items: Sequence[Any] | npt.NDArray[Any], what: str) -> StringColumn:
    """Build a column of ids from strings or integers."""
    if isinstance(items, np.ndarray):
        if items.dtype.kind in "iu" and items.ndim == 1:
            return StringColumn.from_integers(items)
        items = items.tolist()
    strings = []
    for row, item in enumerate(items):
        if isinstance(item, bool) or not isinstance(item, str | int | np.integer):
            raise DataError(
                f"row {row}: a {what} id must be a str or a whole number, "
                f"found {type(item).__name__} {item!r:.80}"
            )
        strings.append(str(item))
    try:
        return StringColumn.from_strings(strings)
    except UnicodeEncodeError as error:
        raise DataError(
            f"a {what} id must be valid Unicode text, found {error.object!r:.80}"
        ) from None


def number_column(items: Sequence[Any] | npt.NDArray[Any], kind: Kind) -> npt.NDArray[np.float64]:
    """Build a column of numbers."""
    array = np.asarray(items)
    if array.dtype.kind not in "iuf" and array.size:
        raise DataError(f"a {VALUE_OF[kind]} must be a number, found an array of {array.dtype}")
    return np.array(array, dtype=np.float64)
