"""Scopes: the part of a corpus that a query may search, such as its own conversation.

A scope names fields of documents with the value, or the values, that a hit must have: the field
`doc_id` is the id of the document, any other name an entry of its metadata. A document with several
values, such as a list of tags, needs one of them. Numbers and flags are compared as text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from berryeval._internal.serial import read_object, type_mismatch
from berryeval._internal.text import truncate
from berryeval._internal.validate import is_number, suggest
from berryeval.errors import DataError

if TYPE_CHECKING:
    import numpy.typing as npt

    from berryeval.data.records import Chunk, Document, Query


Scope: TypeAlias = Mapping[str, str | Sequence[str]]
DOC_ID: Final = "doc_id"
_OWN_FIELDS: Final = ("title", "source")
_LISTS: Final = (list, tuple, set, frozenset)


def read_scope(value: Any) -> dict[str, str | tuple[str, ...]]:
    """Read a scope: an object with a text or number, or an array of them, for each field.

    >>> read_scope({"conversation": "c-1", "year": [2023, 2024]})
    {'conversation': 'c-1', 'year': ('2023', '2024')}
    """
    found: dict[str, str | tuple[str, ...]] = {}
    for name, given in read_object(value, "scope").items():
        several = isinstance(given, _LISTS)
        labels = [_read_label(item) for item in (given if several else [given])]
        if not labels or None in labels:
            place = f"scope.{name}"
            raise type_mismatch(place, "a text, a number, or an array of them", given)
        known = tuple(dict.fromkeys(label for label in labels if label is not None))
        found[name] = known if several else known[0]
    return found


def _read_label(value: Any) -> str | None:
    """Return a value as text; None if it is neither a text nor a number nor a flag."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if not is_number(value):
        return None
    return str(int(value)) if value == int(value) else repr(float(value))


def scope_values(scope: Scope, field: str) -> tuple[str, ...]:
    """Return the values that a scope allows in a field."""
    given = scope[field]
    return (given,) if isinstance(given, str) else tuple(given)


def format_scope(scope: Scope) -> str:
    """Show a scope in a message.

    >>> format_scope({"conversation": "c-1", "year": ("2023", "2024")})
    "conversation 'c-1', year '2023' or '2024'"
    """
    return ", ".join(
        f"{name} {truncate(' or '.join(map(repr, scope_values(scope, name))))}" for name in scope
    )


def scope_fields(queries: Iterable[Query]) -> tuple[str, ...]:
    """Return the fields that the scopes of these queries name, each once."""
    return tuple(dict.fromkeys(field for query in queries for field in query.scope))


def read_field(record: Document | Chunk, field: str) -> tuple[str, ...]:
    """Return the values of a field of a document or chunk as texts; empty if it has none."""
    if field == DOC_ID:
        return (getattr(record, DOC_ID, record.id),)
    return read_property(record, field, _OWN_FIELDS)


def read_property(
    record: Document | Chunk | Query, name: str, own: Collection[str]
) -> tuple[str, ...]:
    """Return the values of an entry of a record's metadata, else of one of its own fields."""
    value = record.metadata.get(name, record.extra.get(name))
    if value is None and name in own:
        value = getattr(record, name, None) or None
    items = value if isinstance(value, _LISTS) else [value]
    return tuple(label for item in items if (label := _read_label(item)) is not None)


def is_in_scope(record: Document | Chunk, scope: Scope) -> bool:
    """Whether a document or chunk has an allowed value in every field of a scope."""
    return all(
        not set(scope_values(scope, field)).isdisjoint(read_field(record, field)) for field in scope
    )


class ScopeIndex:
    """The chunks by the values of their fields; each field is read when a scope first names it.

    Documents may take the place of chunks.
    """

    def __init__(self, chunks: Sequence[Chunk] | Sequence[Document]) -> None:
        self._chunks: Sequence[Chunk | Document] = chunks
        self._places: dict[str, dict[str, list[int]]] = {}

    def find(self, scope: Scope) -> npt.NDArray[np.bool_] | None:
        """Return whether each chunk is in the scope; None if the scope is empty."""
        found: npt.NDArray[np.bool_] | None = None
        for field in scope:
            places = self._places.get(field) or self._read(field)
            here = np.zeros(len(self._chunks), dtype=np.bool_)
            allowed = scope_values(scope, field)
            here[[place for value in allowed for place in places.get(value, ())]] = True
            found = here if found is None else found & here
        return found

    def count(self, scope: Scope) -> int:
        """Count the chunks in a scope."""
        found = self.find(scope)
        return len(self._chunks) if found is None else int(found.sum())

    def _read(self, field: str) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, chunk in enumerate(self._chunks):
            for value in read_field(chunk, field):
                places.setdefault(value, []).append(place)
        if not places and len(self._chunks):
            raise unknown_field(field, self._chunks, "chunk")
        self._places[field] = places  # complete: other threads may read it now
        return places


class ScopeLabels:
    """Labels such as "conversation=c-1" of every chunk, for engines that filter by a list of them.

    Without `fields`, all fields of the chunks are labelled.
    """

    def __init__(self, chunks: Sequence[Chunk], fields: Collection[str] | None = None) -> None:
        self._chunks = chunks
        self.fields: set[str] = set()  # those that a chunk has
        self.rows: Sequence[list[str]] = ()  # empty if no chunk has any
        if fields is None or fields:
            self.rows = [list(self._list(chunk, fields)) for chunk in chunks]

    def _list(self, chunk: Chunk, fields: Collection[str] | None) -> Iterator[str]:
        for field in (DOC_ID, *chunk.metadata) if fields is None else fields:
            for value in read_field(chunk, field):
                self.fields.add(field)
                yield f"{field}={value}"

    def filters(self, scope: Scope) -> list[list[str]]:
        """Return lists of labels; a chunk in the scope has at least one label of each list."""
        for field in scope:
            if field not in self.fields and len(self._chunks):
                raise unknown_field(field, self._chunks, "chunk")
        return [[f"{field}={value}" for value in scope_values(scope, field)] for field in scope]


def unknown_field(
    field: str, records: Sequence[Document | Chunk], what: str, where: str = ""
) -> DataError:
    """Return the error for a scope that names a field which no record has."""
    known = dict.fromkeys(name for one in records for name in (*one.metadata, *one.extra))
    hint = suggest(field, [DOC_ID, *known])
    return DataError(f"{where}the scope names {field!r}, a field that no {what} has; {hint}")
