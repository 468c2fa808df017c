"""The basic records: query, document, chunk, hit, anchor and judgment.

Each record is frozen and converts to JSON and back (`to_json`, `from_json`); unknown fields are
kept in `extra`. Offsets count characters of a document's text, as `str` does, with the end
excluded.
"""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, get_args

from berryeval._internal.serial import (
    JsonRecord,
    Reader,
    choice_reader,
    open_field,
    read_object,
    read_strings,
    type_mismatch,
)
from berryeval._internal.validate import is_whole
from berryeval.data.scopes import Scope, read_scope
from berryeval.errors import DataError

if TYPE_CHECKING:
    from typing_extensions import Self

Section: TypeAlias = tuple[str, ...]  # path of headings, outermost first
Unit: TypeAlias = Literal["characters", "lines"]
Need: TypeAlias = Literal["any", "all"]
SECTION_SEPARATOR: Final = " > "
_SECTION_PATHS: Final = ("section_path", "sectionPath")


def content_hash(text: str) -> str:
    """Return the hash that an anchor stores to detect changed documents."""
    return "sha256:" + hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _read_path(value: Any, where: str) -> Section:
    """Read a path of headings: an array, or a string with " > " between headings."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(SECTION_SEPARATOR)) if value else ()
    return read_strings(value, where)


def split_section(path: str) -> Section:
    """Split a `section_path`, "Web > Set up" or "web/set-up", into headings."""
    separator = SECTION_SEPARATOR if SECTION_SEPARATOR in path else "/"
    return tuple(part for part in map(str.strip, path.split(separator)) if part)


def _read_anchor(value: Any, where: str) -> Anchor:
    """Read an anchor: an object, or a string with the id of a chunk."""
    return Anchor.from_json({"chunk": value} if isinstance(value, str) else value, where)


class _Record(JsonRecord):
    __slots__ = ()
    readers: ClassVar[Mapping[str, Reader]] = {
        "Section": _read_path,
        "Unit": choice_reader(*get_args(Unit)),
        "Need": choice_reader(*get_args(Need)),
        "Anchor": _read_anchor,
        "Scope": read_object,  # `Query` itself checks it
    }

    @classmethod
    def from_json(cls, data: Any, where: str = "") -> Self:
        """Read a JSON object; `section_path` is another name of `section`."""
        if isinstance(data, Mapping) and "section" not in data:
            name = next((one for one in _SECTION_PATHS if one in data), None)
            if name is not None and "section" in cls.__dataclass_fields__:  # type: ignore[attr-defined]
                path = data[name]
                section = split_section(path) if isinstance(path, str) else path
                data = {key: one for key, one in data.items() if key != name} | {"section": section}
        return super().from_json(data, where)


@dataclass(frozen=True)
class Query(_Record):
    """A question with its properties; `scope` limits it to documents with certain fields.

    >>> Query("q1", "Where does Ann work?", scope={"conversation": "c-1"}).scope
    {'conversation': 'c-1'}
    """

    id: str
    text: str
    category: str = ""
    difficulty: str = ""
    description: str = ""
    metadata: Mapping[str, Any] = open_field()
    scope: Scope = open_field()  # noqa: RUF009 - a field
    extra: Mapping[str, Any] = open_field(repr=False)

    def __post_init__(self) -> None:
        if self.scope:
            object.__setattr__(self, "scope", read_scope(self.scope))


@dataclass(frozen=True)
class Document(_Record):
    """A source text; `source` is its path or URL."""

    id: str
    text: str
    title: str = ""
    source: str = ""
    metadata: Mapping[str, Any] = open_field()
    extra: Mapping[str, Any] = open_field(repr=False)

    @cached_property
    def content_hash(self) -> str:
        """Hash of the text."""
        return content_hash(self.text)


@dataclass(frozen=True)
class Chunk(_Record):
    """A piece of a document, with `document.text[start:end] == text`.

    Offsets may be unknown (None); `section` is the path of headings above the piece.
    """

    id: str
    doc_id: str
    text: str
    start: int | None = None
    end: int | None = None
    section: Section = ()
    metadata: Mapping[str, Any] = open_field()
    extra: Mapping[str, Any] = open_field(repr=False)

    def __post_init__(self) -> None:
        _normalize_section(self)
        _check_span(self.start, self.end, first=0)


@dataclass(frozen=True)
class Hit(_Record):
    """A search result; everything but the id may be unknown."""

    id: str
    score: float = 0.0
    rank: int | None = None
    text: str = ""
    doc_id: str = ""
    section: Section = ()
    start: int | None = None
    end: int | None = None
    metadata: Mapping[str, Any] = open_field()
    extra: Mapping[str, Any] = open_field(repr=False)

    def __post_init__(self) -> None:
        _normalize_section(self)
        _check_span(self.start, self.end, first=0)


@dataclass(frozen=True)
class Anchor(_Record):
    """The target of a judgment, independent of the chunking.

    An anchor is one of: a `chunk` id; a `document`; a document and a `section`, with its
    subsections unless `subsections` is false; a document and a span from `start` to `end`
    (characters from 0, end excluded, or lines from 1, end included); a `quote`, preferably with its
    document. The quote of a span locates it again after the document has changed. `document_hash`
    is the content hash of the document at the time of the judgment.
    """

    chunk: str = ""
    document: str = ""
    section: Section = ()
    start: int | None = None
    end: int | None = None
    unit: Unit = "characters"
    quote: str = ""
    document_hash: str = ""
    subsections: bool = True
    extra: Mapping[str, Any] = open_field(repr=False)

    def __post_init__(self) -> None:
        _normalize_section(self)
        if not (self.chunk or self.document or self.quote):
            raise DataError("an anchor needs a chunk, a document or a quote")
        lines = self.unit == "lines"
        _check_span(self.start, self.end, first=int(lines), end_included=lines)
        if (self.section or self.start is not None) and not self.document:
            raise DataError("an anchor with a section or a span needs its document")
        if self.section and self.start is not None:
            raise DataError("an anchor has a section or a span, not both")
        if self.chunk and (self.section or self.start is not None or self.quote):
            raise DataError("an anchor with a chunk has no section, span or quote")


@dataclass(frozen=True)
class Judgment(_Record):
    """The relevance grade of a target for a query.

    Judgments of one query with the same `group` form one target, which is found when any of them
    is found, or with `need="all"` when all are. A judgment without a group is its own target. If
    it is `exact`, it alone decides about hits with exactly its text.
    """

    query_id: str
    target: Anchor
    grade: float
    group: str = ""
    need: Need = "any"
    note: str = ""
    exact: bool = False
    extra: Mapping[str, Any] = open_field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.grade, numbers.Real):
            name = "grade"
            raise type_mismatch(name, "a number", self.grade)


def _normalize_section(record: Chunk | Hit | Anchor) -> None:
    """Convert a section given as a string or a list."""
    given = record.section
    # A search creates thousands of hits, and most need no conversion.
    if not (type(given) is tuple and all(type(part) is str for part in given)):
        object.__setattr__(record, "section", _read_path(record.section, "section"))


def _check_span(
    start: int | None, end: int | None, *, first: int, end_included: bool = False
) -> None:
    if start is None and end is None:
        return
    if start is None or end is None:
        raise DataError(f"a span needs start and end, found start={start} and end={end}")
    for name, value in (("start", start), ("end", end)):
        if not is_whole(value):
            raise type_mismatch(name, "a whole number", value)
    if start < first or end < start + (not end_included):
        wanted = f"{first} <= start {'<=' if end_included else '<'} end"
        raise DataError(f"expected a span with {wanted}, found start={start} and end={end}")
