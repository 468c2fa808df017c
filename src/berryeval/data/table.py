"""`StringColumn` and `QueryTable`: strings as bytes and offsets, and rows grouped by query.

Dicts, files and frames are all converted to this form, which native code reads without copying.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from berryeval._internal import backend as _backend
from berryeval.errors import DataError, RepeatedDocumentError

Kind = Literal["run", "qrels"]

VALUE_OF: dict[Kind, str] = {"run": "score", "qrels": "grade"}  # name of the number of a row

# Types that native code accepts besides dict, float and int.
_DICTS = (defaultdict,)
_NUMBERS = (
    np.float32, np.float16, np.int64, np.int32, np.int16, np.int8,
    np.uint64, np.uint32, np.uint16, np.uint8,
)  # fmt: skip


class StringColumn:
    """Concatenated UTF-8 strings with the offset of each."""

    __slots__ = ("data", "offsets")

    def __init__(self, data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> None:
        self.data = _freeze(data)
        self.offsets = _freeze(offsets)

    @classmethod
    def from_strings(cls, strings: Iterable[str]) -> StringColumn:
        """Build a column from strings."""
        return cls.from_bytes([string.encode() for string in strings])

    @classmethod
    def from_bytes(cls, items: list[bytes]) -> StringColumn:
        """Build a column from encoded strings."""
        offsets = np.zeros(len(items) + 1, dtype=np.int64)
        np.cumsum(
            np.fromiter((len(item) for item in items), dtype=np.int64, count=len(items)),
            out=offsets[1:],
        )
        return cls(np.frombuffer(b"".join(items), dtype=np.uint8).copy(), offsets)

    @classmethod
    def joined(cls, columns: Sequence[StringColumn]) -> StringColumn:
        """Concatenate columns."""
        data = np.concatenate([np.zeros(0, dtype=np.uint8), *(one.data for one in columns)])
        return cls(data, _cumulate([np.diff(one.offsets) for one in columns]))

    @classmethod
    def from_integers(cls, numbers: npt.NDArray[np.integer[Any]]) -> StringColumn:
        """Build a column from integers, written in decimal."""
        if _backend.native is None or numbers.dtype == np.uint64:
            return cls.from_strings(map(str, numbers.tolist()))
        plain = np.ascontiguousarray(numbers, dtype=np.int64)
        return cls(*_backend.native.decimal_strings(plain))

    @property
    def arrays(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Bytes and offsets for native code."""
        return self.data, self.offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def bytes_at(self, index: int) -> bytes:
        """Return the bytes of one string."""
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()

    @property
    def is_constant(self) -> bool:
        """Whether all strings are equal."""
        count = len(self)
        if count == 0:
            return True
        lengths = np.diff(self.offsets)
        if (lengths != lengths[0]).any():
            return False
        rows = self.data[: self.offsets[-1]].reshape(count, int(lengths[0]))
        return bool((rows == rows[0]).all())

    def __getitem__(self, index: int) -> str:
        return self.bytes_at(index).decode()

    def __iter__(self) -> Iterator[str]:
        whole = self.data.tobytes()
        bounds = itertools.pairwise(self.offsets.tolist())
        if whole.isascii():  # a character is a byte
            text = whole.decode()
            return iter([text[start:end] for start, end in bounds])
        return (whole[start:end].decode() for start, end in bounds)

    def to_bytes_list(self, start: int = 0, end: int | None = None) -> list[bytes]:
        """Return the bytes of the strings from `start` to `end`."""
        bounds = self.offsets[start : None if end is None else end + 1].tolist()
        if not bounds:
            return []
        whole = self.data[bounds[0] : bounds[-1]].tobytes()
        base = bounds[0]
        return [whole[a - base : b - base] for a, b in itertools.pairwise(bounds)]

    def take(self, places: Iterable[int] | npt.NDArray[np.int64]) -> StringColumn:
        """Return a column with the strings at these indices."""
        if _backend.native is not None:
            wanted = places if isinstance(places, np.ndarray) else list(places)
            column = np.ascontiguousarray(wanted, dtype=np.int64)
            return StringColumn(*_backend.native.take_strings(self.arrays, column))
        return StringColumn.from_bytes([self.bytes_at(place) for place in places])


@dataclass(frozen=True, eq=False, repr=False)
class QueryTable:
    """Rows of a document and a number, grouped by query.

    Attributes:
        queries: Query ids, each once, in order of appearance.
        offsets: First row of each query, and the end of the last.
        documents: Document id of each row.
        values: Grade or score of each row.
        labels: Further columns, such as line numbers or groups of judgments; the tag of a run.
        source: Origin of the rows, for messages.
        dropped: Number of invalid or repeated rows that a lenient reader left out.
        distinct: Whether each document is known to appear once per query.
    """

    queries: StringColumn
    offsets: npt.NDArray[np.int64]
    documents: StringColumn
    values: npt.NDArray[np.float64]
    labels: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    dropped: int = 0
    distinct: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", _freeze(self.offsets))
        object.__setattr__(self, "values", _freeze(self.values))

    @property
    def arrays(self) -> tuple[Any, ...]:
        """Columns for native code."""
        ids = self.queries.arrays, self.offsets, self.documents.arrays
        return *ids, self.values, self.distinct

    @classmethod
    def from_dict(
        cls, rows: Mapping[str, Mapping[str, float]], *, kind: Kind, source: str = ""
    ) -> QueryTable:
        """Build a table from `{query: {document: number}}`."""
        if not isinstance(rows, Mapping):
            raise DataError(
                f"expected {{query: {{document: {VALUE_OF[kind]}}}}}, found {describe(rows)}"
            )
        columns = None
        if _backend.native is not None:
            columns = _backend.native.table_from_dict(rows, kind == "qrels", _DICTS, _NUMBERS)
        queries, offsets, documents, values = columns or _convert_dict(rows, kind)
        return cls(
            StringColumn(*queries),
            offsets,
            StringColumn(*documents),
            values,
            source=source,
            distinct=True,
        )

    @classmethod
    def joined(cls, tables: Sequence[QueryTable]) -> QueryTable:
        """Concatenate tables of different queries, without their labels."""
        sizes = [np.diff(table.offsets) for table in tables]
        return cls(
            StringColumn.joined([table.queries for table in tables]),
            _cumulate(sizes),
            StringColumn.joined([table.documents for table in tables]),
            np.concatenate([np.zeros(0), *(table.values for table in tables)]),
            distinct=all(table.distinct for table in tables),
        )

    def without_repeats(self) -> QueryTable:
        """Return the table with only the first row of each document of a query (and group)."""
        groups = self.labels.get("group")
        kept: list[int] = []
        offsets = [0]
        for start, end in itertools.pairwise(self.offsets.tolist()):
            keys: Iterable[Any] = self.documents.to_bytes_list(start, end)
            if isinstance(groups, StringColumn):
                keys = zip(keys, groups.to_bytes_list(start, end), strict=True)
            first: dict[Any, int] = {}
            for row, key in enumerate(keys, start=start):
                first.setdefault(key, row)
            kept.extend(first.values())
            offsets.append(len(kept))
        if len(kept) == len(self.values):
            return self
        found = self._take_rows(np.array(kept, dtype=np.int64), np.array(offsets, dtype=np.int64))
        return replace(found, dropped=self.dropped + len(self.values) - len(kept))

    def take(self, places: npt.NDArray[np.int64]) -> QueryTable:
        """Return the table of the queries at these places, in this order."""
        sizes = np.diff(self.offsets)[places]
        offsets = _cumulate([sizes])
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[places] - offsets[:-1], sizes)
        return replace(self._take_rows(rows, offsets), queries=self.queries.take(places))

    def _take_rows(self, rows: npt.NDArray[np.int64], offsets: npt.NDArray[np.int64]) -> QueryTable:
        labels: dict[str, Any] = {}
        for name, column in self.labels.items():
            if isinstance(column, StringColumn):
                labels[name] = column.take(rows)
            else:
                labels[name] = column[rows] if isinstance(column, np.ndarray) else column
        return replace(
            self,
            offsets=offsets,
            documents=self.documents.take(rows),
            values=self.values[rows],
            labels=labels,
        )

    @classmethod
    def from_records(
        cls, records: Iterable[tuple[str, str, float, str]], *, kind: Kind
    ) -> QueryTable:
        """Build a table from `(query, document, number, group)` in any order."""
        rows: dict[str, list[tuple[str, float, str]]] = {}
        for record in records:
            try:
                query, document, value, group = record
            except (TypeError, ValueError):
                fields = f"query, document, {VALUE_OF[kind]}, group"
                raise DataError(f"a record must be ({fields}), found {record!r:.80}") from None
            for what, name in (("query", query), ("document", document), ("group", group)):
                _encode_id(what, name)
            number = _to_number(value, kind, query, document)
            rows.setdefault(query, []).append((document, number, group))
        flat = [row for of_query in rows.values() for row in of_query]
        sizes = [0, *(len(of_query) for of_query in rows.values())]
        return cls(
            queries=StringColumn.from_strings(rows),
            offsets=np.cumsum(sizes, dtype=np.int64),
            documents=StringColumn.from_strings(row[0] for row in flat),
            values=np.array([row[1] for row in flat], dtype=np.float64),
            labels={"group": StringColumn.from_strings(row[2] for row in flat)},
        )

    def repeated_error(self, row: int) -> DataError:
        """Return the error for a document that is repeated in its query."""
        query = int(np.searchsorted(self.offsets, row, side="right")) - 1
        where = ""
        if "line" in self.labels:
            where = f"{self.source}:{int(self.labels['line'][row])}: "
        document, name = self.documents[row], self.queries[query]
        msg = f"{where}document {document!r} appears twice in query {name!r}"
        return RepeatedDocumentError(msg)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return `{query: {document: number}}`."""
        result: dict[str, dict[str, float]] = {}
        for index, query in enumerate(self.queries):
            start, end = int(self.offsets[index]), int(self.offsets[index + 1])
            documents = [item.decode() for item in self.documents.to_bytes_list(start, end)]
            result[query] = dict(zip(documents, self.values[start:end].tolist(), strict=True))
        return result


def _freeze(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view that cannot be made writeable again: native code reads the array."""
    array.flags.writeable = False
    return array if array.base is not None else array.view()


def _cumulate(sizes: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Return the offsets of items of these sizes."""
    return np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *sizes]), dtype=np.int64)


def _convert_dict(
    rows: Mapping[str, Mapping[str, float]], kind: Kind
) -> tuple[Any, npt.NDArray[np.int64], Any, npt.NDArray[np.float64]]:
    """Convert a dict in Python; explains invalid input, unlike the native `table_from_dict`."""
    queries: list[bytes] = []
    documents: list[bytes] = []
    values: list[float] = []
    offsets = [0]
    for query, row in rows.items():
        queries.append(_encode_id("query", query))
        if not isinstance(row, Mapping):
            raise DataError(
                f"query {query!r} must map documents to {VALUE_OF[kind]}s, found {describe(row)}"
            )
        for document, value in row.items():
            documents.append(_encode_id("document", document))
            values.append(_to_number(value, kind, query, document))
        offsets.append(len(documents))
    return (
        StringColumn.from_bytes(queries).arrays,
        np.array(offsets, dtype=np.int64),
        StringColumn.from_bytes(documents).arrays,
        np.array(values, dtype=np.float64),
    )


def _encode_id(what: str, value: object) -> bytes:
    if not isinstance(value, str):
        raise DataError(f"a {what} id must be a str, found {describe(value)}")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise DataError(f"a {what} id must be valid Unicode text, found {value!r:.80}") from None


def _to_number(value: object, kind: Kind, query: str, document: str) -> float:
    where = f"the {VALUE_OF[kind]} of document {document!r} for query {query!r}"
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise DataError(f"{where} must be a number, found {describe(value)}")
    try:
        number = float(value)
    except OverflowError:
        raise DataError(f"{where} is too large for a number") from None
    if math.isnan(number):
        raise DataError(f"{where} must not be NaN")
    if kind == "qrels" and math.isinf(number):
        raise DataError(f"{where} must be finite, found {number!r}")
    return number


def describe(value: object) -> str:
    """Return the type and the beginning of a value, for messages."""
    return f"{type(value).__name__} {value!r:.80}"
