"""The chunker protocol and the base class of the bundled chunkers."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from berryeval._internal.validate import is_whole, require
from berryeval.data import Chunk

if TYPE_CHECKING:
    from berryeval.data import Document, Section

_KEY: Final = "berryeval.chunkers"
_DIGITS: Final = 18  # of a number in the textual form
_SEPARATORS: Final = {"#", "@"}  # a document with one of these could have the id of another's chunk


@dataclass(frozen=True)
class Option:
    """An option of a chunker: a whole number if it has a minimum, else one of its choices."""

    text: str  # description, shown by `berryeval list chunkers`
    least: int | None = None
    choices: tuple[str, ...] = ()  # empty: any word
    name: str = ""
    default: Any = None  # None makes a number optional

    @property
    def wanted(self) -> str:
        """Description of the values allowed, for messages."""
        if self.least is None:
            return " or ".join(map(repr, self.choices)) or "a word"
        none = " or None" if self.default is None else ""
        return f"a whole number of at least {self.least}{none}"

    def accepts(self, value: Any) -> bool:
        """Return whether the option may have this value."""
        if self.least is not None:
            if value is None:
                return self.default is None
            return is_whole(value) and bool(value >= self.least)
        return value in self.choices if self.choices else isinstance(value, str)

    def read(self, word: str) -> Any:
        """Return the value of a word in the textual form; a malformed number stays a word."""
        is_number = self.least is not None and word.isascii() and word.isdigit()
        return int(word) if is_number and len(word) <= _DIGITS else word


def option(
    default: Any, text: str, *, least: int | None = None, choices: Iterable[str] = ()
) -> Any:
    """Declare a dataclass field as an option of a chunker."""
    return field(default=default, metadata={_KEY: Option(text, least, tuple(choices))})


def options_of(chunker: Any) -> dict[str, Option]:
    """Return the options of a chunker or a chunker class by name."""
    if not dataclasses.is_dataclass(chunker):
        return {}
    return {
        one.name: dataclasses.replace(one.metadata[_KEY], name=one.name, default=one.default)
        for one in dataclasses.fields(chunker)
        if _KEY in one.metadata
    }


class ChunkingWarning(UserWarning):
    """A document could not be split as requested and was split in another way."""


class Chunker(Protocol):
    """An object that splits documents into chunks."""

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document in text order."""


@dataclass(frozen=True)
class Piece:
    """The position of a chunk in its document, with facts about the chunk."""

    start: int
    end: int
    section: Section = ()  # headings or definitions around the piece
    name: str | None = None  # end of the chunk id after the document id; None: "@<start>-<end>"
    metadata: Mapping[str, Any] = field(default_factory=dict)


def _name_piece(piece: Piece) -> str:
    return f"@{piece.start}-{piece.end}" if piece.name is None else piece.name


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Shrink a span to exclude white space at its ends."""
    part = text[start:end]
    begin = start + len(part) - len(part.lstrip())
    return begin, max(begin, start + len(part.rstrip()))


@dataclass(frozen=True)
class OptionChunker(ABC):
    """A chunker whose options are dataclass fields declared with `option`.

    Options are checked on creation. `str(chunker)` is the textual form that `parse_chunker` reads.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    modules: ClassVar[tuple[str, ...]] = ()  # of the extra `chunkers`, which it imports

    def __post_init__(self) -> None:
        for known in options_of(self).values():
            value = getattr(self, known.name)
            owner = f"{known.name} of the chunker {self.name!r}"
            require(known.accepts(value), owner, known.wanted, value)

    @abstractmethod
    def pieces(self, document: Document) -> Iterable[Piece]:
        """Return the positions of the chunks in text order."""

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document in text order; a single one has the document's id."""
        pieces = list(self.pieces(document))
        alone = len(pieces) == 1 and not _SEPARATORS & set(document.id)
        return [
            Chunk(
                document.id if alone else document.id + _name_piece(piece),
                document.id,
                document.text[piece.start : piece.end],
                piece.start,
                piece.end,
                section=piece.section,
                metadata=piece.metadata,
            )
            for piece in pieces
        ]

    def __str__(self) -> str:
        """Return the textual form: the first number, and options that differ from the default."""
        words = [self.name]
        options = options_of(self).values()
        bare = next((known for known in options if known.least is not None), None)
        for known in options:
            value = getattr(self, known.name)
            if known == bare and value is not None:
                words.append(str(value))
            elif value != known.default:
                words += [str(value)] if known.choices else [known.name, str(value)]
        return "-".join(words)
