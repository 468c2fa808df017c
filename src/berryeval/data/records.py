"""The records everything is made of: query, document, chunk, hit, anchor, judgment.

Each is frozen, and goes to JSON and back (`to_json`, `from_json`) without losing what it does not
know: unknown fields are kept in `extra`. Offsets count characters of a document's text (as Python's
`str` does), the end excluded.
"""

from __future__ import annotations

import hashlib
import numbers
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, get_args

from berryeval._internal.records import JsonRecord, Reader, one_of, read_texts, refused
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping


Section: TypeAlias = tuple[str, ...]  # a path of headings, the outermost first
Unit: TypeAlias = Literal["characters", "lines"]
Need: TypeAlias = Literal["any", "all"]
SECTION_SEPARATOR: Final = " > "


def content_hash(text: str) -> str:
    """The hash by which an anchor knows the text it was made for."""
    return "sha256:" + hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _section(value: Any, where: str) -> Section:
    """A path of headings: an array, or a string with " > " between them."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(SECTION_SEPARATOR)) if value else ()
    return read_texts(value, where)


def _anchor(value: Any, where: str) -> Anchor:
    """An object, or a string, which is the id of a chunk."""
    return Anchor.from_json({"chunk": value} if isinstance(value, str) else value, where)


def _free(**options: Any) -> Any:
    """A field for whatever came with the record; it takes no part in the hash."""
    return field(default_factory=dict, hash=False, **options)


class _Record(JsonRecord):
    __slots__ = ()
    readers: ClassVar[Mapping[str, Reader]] = {
        "Section": _section,
        "Unit": one_of(*get_args(Unit)),
        "Need": one_of(*get_args(Need)),
        "Anchor": _anchor,
    }


@dataclass(frozen=True)
class Query(_Record):
    """A question, and what is known about it."""

    id: str
    text: str
    category: str = ""
    difficulty: str = ""
    description: str = ""
    metadata: Mapping[str, Any] = _free()
    extra: Mapping[str, Any] = _free(repr=False)


@dataclass(frozen=True)
class Document(_Record):
    """A source text. `source` is where it comes from: a path or a URL."""

    id: str
    text: str
    title: str = ""
    source: str = ""
    metadata: Mapping[str, Any] = _free()
    extra: Mapping[str, Any] = _free(repr=False)

    @cached_property
    def content_hash(self) -> str:
        """The hash of the text."""
        return content_hash(self.text)


@dataclass(frozen=True)
class Chunk(_Record):
    """A piece of a document: `document.text[start:end] == text`.

    The offsets are None where nobody knows them; `section` is the path of headings above the piece.
    """

    id: str
    doc_id: str
    text: str
    start: int | None = None
    end: int | None = None
    section: Section = ()
    metadata: Mapping[str, Any] = _free()
    extra: Mapping[str, Any] = _free(repr=False)

    def __post_init__(self) -> None:
        """Refuse a span that is none."""
        _read_section(self)
        _check_span(self.start, self.end, first=0)


@dataclass(frozen=True)
class Hit(_Record):
    """One result of a search. Everything but the id may be unknown."""

    id: str
    score: float = 0.0
    rank: int | None = None
    text: str = ""
    doc_id: str = ""
    section: Section = ()
    start: int | None = None
    end: int | None = None
    metadata: Mapping[str, Any] = _free()
    extra: Mapping[str, Any] = _free(repr=False)

    def __post_init__(self) -> None:
        """Refuse a span that is none."""
        _read_section(self)
        _check_span(self.start, self.end, first=0)


@dataclass(frozen=True)
class Anchor(_Record):
    """What a judgment points at, in terms that survive another chunking.

    One of: a `chunk` id; a `document`; a document and a `section`, with its subsections unless
    `subsections` is false; a document and a span from
    `start` to `end` (characters from 0, the end excluded, or lines from 1, the end included); a
    `quote`, best with its document. A span with a quote is found again by the quote when the
    document has changed. `document_hash` is the content hash the document had when the judgment
    was made.
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
    extra: Mapping[str, Any] = _free(repr=False)

    def __post_init__(self) -> None:
        """Refuse an anchor that points nowhere, or at two things."""
        _read_section(self)
        if not (self.chunk or self.document or self.quote):
            msg = "an anchor needs a chunk, a document or a quote"
            raise DataError(msg)
        lines = self.unit == "lines"
        _check_span(self.start, self.end, first=int(lines), end_included=lines)
        if (self.section or self.start is not None) and not self.document:
            msg = "an anchor with a section or a span needs its document"
            raise DataError(msg)
        if self.section and self.start is not None:
            msg = "an anchor has a section or a span, not both"
            raise DataError(msg)
        if self.chunk and (self.section or self.start is not None or self.quote):
            msg = "an anchor with a chunk has no section, span or quote"
            raise DataError(msg)


@dataclass(frozen=True)
class Judgment(_Record):
    """How relevant a target is to a query.

    Judgments of one query that share a `group` are one target: found when any of them is, or, with
    `need="all"`, when all of them are. Without a group a judgment is a target of its own.
    """

    query_id: str
    target: Anchor
    grade: float
    group: str = ""
    need: Need = "any"
    note: str = ""
    extra: Mapping[str, Any] = _free(repr=False)

    def __post_init__(self) -> None:
        """Refuse a grade that is no number."""
        if not isinstance(self.grade, numbers.Real):
            name = "grade"
            raise refused(name, "a number", self.grade)


def _read_section(record: Chunk | Hit | Anchor) -> None:
    """A section may be given as JSON has it: a line of text, or a list."""
    given = record.section
    as_it_should_be = type(given) is tuple and all(type(part) is str for part in given)
    if not as_it_should_be:  # most are, and a search makes thousands of hits
        object.__setattr__(record, "section", _section(record.section, "section"))


def _check_span(
    start: int | None, end: int | None, *, first: int, end_included: bool = False
) -> None:
    if start is None and end is None:
        return
    if start is None or end is None:
        msg = f"a span needs start and end, found start={start} and end={end}"
        raise DataError(msg)
    for name, value in (("start", start), ("end", end)):
        plain = type(value) is int  # asked first: an abstract class takes long to ask
        if not plain and (isinstance(value, bool) or not isinstance(value, numbers.Integral)):
            raise refused(name, "a whole number", value)
    if start < first or end < start + (not end_included):
        wanted = f"{first} <= start {'<=' if end_included else '<'} end"
        msg = f"expected a span with {wanted}, found start={start} and end={end}"
        raise DataError(msg)
