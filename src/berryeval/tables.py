"""Columns: strings held as bytes and offsets, and rows grouped by query.

Everything the engine reads is in this form, whether it came from a dict, a file or a frame: native
code works on it without copying, and Python can look at any part of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from berryeval.errors import DataError

__all__ = ["QueryTable", "StringColumn"]


class StringColumn:
    """Strings as UTF-8 bytes end to end, with the offset where each begins."""

    __slots__ = ("data", "offsets")

    def __init__(self, data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> None:
        self.data = data
        self.offsets = offsets
        data.flags.writeable = offsets.flags.writeable = False

    @classmethod
    def from_strings(cls, strings: Iterable[str]) -> StringColumn:
        """The column of these strings."""
        return cls.from_bytes([string.encode() for string in strings])

    @classmethod
    def from_bytes(cls, items: list[bytes]) -> StringColumn:
        """The column of these strings, already encoded."""
        offsets = np.zeros(len(items) + 1, dtype=np.int64)
        np.cumsum(
            np.fromiter((len(item) for item in items), dtype=np.int64, count=len(items)),
            out=offsets[1:],
        )
        return cls(np.frombuffer(b"".join(items), dtype=np.uint8).copy(), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def bytes_at(self, index: int) -> bytes:
        """The bytes of one string."""
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def __getitem__(self, index: int) -> str:
        return self.bytes_at(index).decode()

    def __iter__(self) -> Iterator[str]:
        whole = self.data.tobytes()
        ends = self.offsets.tolist()
        return (whole[start:end].decode() for start, end in itertools.pairwise(ends))

    def to_bytes_list(self, start: int = 0, end: int | None = None) -> list[bytes]:
        """The bytes of the strings from `start` to `end`."""
        bounds = self.offsets[start : None if end is None else end + 1].tolist()
        if not bounds:
            return []
        whole = self.data[bounds[0] : bounds[-1]].tobytes()
        base = bounds[0]
        return [whole[a - base : b - base] for a, b in itertools.pairwise(bounds)]

    def take(self, indices: Iterable[int]) -> StringColumn:
        """The strings at these places."""
        return StringColumn.from_bytes([self.bytes_at(index) for index in indices])


@dataclass(frozen=True, eq=False, repr=False)
class QueryTable:
    """Rows of a document and a number, grouped by query.

    Attributes:
        queries: the query ids, each once, in order of appearance.
        offsets: where the rows of each query begin, and the end of the last.
        documents: the document id of each row.
        values: the number of each row: a grade, or a score.
        labels: further columns of strings or numbers, such as a judgment's group or a given rank.
        source: where the rows came from, for messages.
        dropped: how many faulty or repeated rows a lenient reader left out.
    """

    queries: StringColumn
    offsets: npt.NDArray[np.int64]
    documents: StringColumn
    values: npt.NDArray[np.float64]
    labels: Mapping[str, StringColumn | npt.NDArray[Any]] = field(default_factory=dict)
    source: str = ""
    dropped: int = 0

    def __post_init__(self) -> None:
        """Make the numbers read-only: a table is a value."""
        self.offsets.flags.writeable = self.values.flags.writeable = False

    @classmethod
    def from_dict(
        cls, rows: Mapping[str, Mapping[str, float]], *, what: str, source: str = ""
    ) -> QueryTable:
        """From `{query: {document: number}}`; `what` says what the number is."""
        documents: list[bytes] = []
        values: list[float] = []
        offsets = [0]
        for query, row in rows.items():
            _check_id("query", query)
            if not isinstance(row, Mapping):
                msg = (
                    f"query {query!r} must map documents to a {what}, "
                    f"found {type(row).__name__} {row!r:.80}"
                )
                raise DataError(msg)
            for document, value in row.items():
                _check_id("document", document)
                documents.append(document.encode())
                values.append(_number(value, what, query, document))
            offsets.append(len(documents))
        return cls(
            queries=StringColumn.from_strings(rows),
            offsets=np.array(offsets, dtype=np.int64),
            documents=StringColumn.from_bytes(documents),
            values=np.array(values, dtype=np.float64),
            source=source,
        )

    def without_repeats(self) -> QueryTable:
        """The same with only the first row of each document of a query (and group)."""
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
        labels: dict[str, Any] = {}
        for name, column in self.labels.items():
            if isinstance(column, StringColumn):
                labels[name] = column.take(kept)
            else:
                labels[name] = column[kept] if isinstance(column, np.ndarray) else column
        return replace(
            self,
            offsets=np.array(offsets, dtype=np.int64),
            documents=self.documents.take(kept),
            values=self.values[kept],
            labels=labels,
            dropped=self.dropped + len(self.values) - len(kept),
        )

    @classmethod
    def from_records(
        cls, records: Iterable[tuple[str, str, float, str]], *, what: str, source: str = ""
    ) -> QueryTable:
        """From `(query, document, number, group)` in any order; `what` says what the number is."""
        rows: dict[str, list[tuple[str, float, str]]] = {}
        for record in records:
            query, document, value, group = _four(record, what)
            for kind, name in (("query", query), ("document", document), ("group", group)):
                _check_id(kind, name)
            number = _number(value, what, query, document)
            rows.setdefault(query, []).append((document, number, group))
        flat = [row for of_query in rows.values() for row in of_query]
        sizes = [0, *(len(of_query) for of_query in rows.values())]
        return cls(
            queries=StringColumn.from_strings(rows),
            offsets=np.cumsum(sizes, dtype=np.int64),
            documents=StringColumn.from_strings(row[0] for row in flat),
            values=np.array([row[1] for row in flat], dtype=np.float64),
            labels={"group": StringColumn.from_strings(row[2] for row in flat)},
            source=source,
        )

    def repeated(self, row: int) -> DataError:
        """The error that the document of this row stands twice in its query."""
        query = int(np.searchsorted(self.offsets, row, side="right")) - 1
        where = ""
        if "line" in self.labels:
            where = f"{self.source}:{int(self.labels['line'][row])}: "
        msg = (
            f"{where}document {self.documents[row]!r} stands twice in query {self.queries[query]!r}"
        )
        return DataError(msg)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The same as `{query: {document: number}}`."""
        result: dict[str, dict[str, float]] = {}
        for index, query in enumerate(self.queries):
            start, end = int(self.offsets[index]), int(self.offsets[index + 1])
            documents = [item.decode() for item in self.documents.to_bytes_list(start, end)]
            result[query] = dict(zip(documents, self.values[start:end].tolist(), strict=True))
        return result


def _four(record: Any, what: str) -> tuple[Any, Any, Any, Any]:
    try:
        query, document, value, group = record
    except (TypeError, ValueError):
        msg = f"a record must be (query, document, {what}, group), found {record!r:.80}"
        raise DataError(msg) from None
    return query, document, value, group


def _check_id(kind: str, value: object) -> None:
    if not isinstance(value, str):
        msg = f"a {kind} id must be a str, found {type(value).__name__} {value!r:.80}"
        raise DataError(msg)


def _number(value: object, what: str, query: str, document: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        msg = (
            f"the {what} of document {document!r} for query {query!r} must be a number, "
            f"found {type(value).__name__} {value!r:.80}"
        )
        raise DataError(msg)
    number = float(value)
    if number != number:  # noqa: PLR0124 - NaN is the only number that differs from itself
        msg = f"the {what} of document {document!r} for query {query!r} must not be NaN"
        raise DataError(msg)
    return number
