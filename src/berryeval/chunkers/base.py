"""What a chunker is, and what those of ours share."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from berryeval.data import Chunk
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval.data import Document, Section


# The options of a chunker: declared as fields of a dataclass, checked, and read from words.

_KEY: Final = "berryeval.chunkers"


@dataclass(frozen=True)
class Kind:
    """What an option may hold."""

    wanted: str  # in messages: "... must be <wanted>, found ..."

    def accepts(self, value: Any) -> bool:
        """Whether the option may hold the value."""
        return isinstance(value, str)

    def read(self, word: str) -> Any:
        """The value that a word in the textual form means."""
        return word


class Word(Kind):
    """Any word."""


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number, not below the least; or none, if that is a choice."""

    wanted: str = ""
    least: int = 0
    optional: bool = False

    def __post_init__(self) -> None:
        """Say what is wanted."""
        none = " or None" if self.optional else ""
        object.__setattr__(self, "wanted", f"a whole number of at least {self.least}{none}")

    def accepts(self, value: Any) -> bool:
        """Whether the option may hold the value."""
        if value is None:
            return self.optional
        return isinstance(value, int) and not isinstance(value, bool) and value >= self.least

    def read(self, word: str) -> Any:
        """The number, or the word itself, which is then refused."""
        return int(word) if word.isascii() and word.isdigit() else word


@dataclass(frozen=True)
class Choice(Kind):
    """One of some words."""

    wanted: str = ""
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Say what is wanted."""
        object.__setattr__(self, "wanted", " or ".join(map(repr, self.words)))

    def accepts(self, value: Any) -> bool:
        """Whether the option may hold the value."""
        return value in self.words


@dataclass(frozen=True)
class Option:
    """An option: its name, what it may hold, what it holds if not given, and what it is for."""

    name: str
    kind: Kind
    default: Any
    text: str


def option(default: Any, kind: Kind, text: str) -> Any:
    """A field of a chunker that users may set."""
    return dataclasses.field(default=default, metadata={_KEY: (kind, text)})


def options_of(chunker: Any) -> dict[str, Option]:
    """The options of a chunker or of its class, by name; none, if it declares none."""
    if not dataclasses.is_dataclass(chunker):
        return {}
    return {
        field.name: Option(field.name, *_kind(field), text=field.metadata[_KEY][1])
        for field in dataclasses.fields(chunker)
        if _KEY in field.metadata
    }


def _kind(field: dataclasses.Field[Any]) -> tuple[Kind, Any]:
    return field.metadata[_KEY][0], field.default


def check_options(chunker: Any, name: str) -> None:
    """Refuse a chunker with a value that an option cannot hold."""
    for known in options_of(chunker).values():
        value = getattr(chunker, known.name)
        if not known.kind.accepts(value):
            msg = f"{known.name} of the chunker {name!r} must be {known.kind.wanted}"
            msg += f", found {value!r}"
            raise ConfigurationError(msg)


class ChunkingWarning(UserWarning):
    """A document was cut in another way than was asked for."""


class Chunker(Protocol):
    """Anything that cuts documents into chunks."""

    def chunk(self, document: Document) -> list[Chunk]:
        """The chunks of a document, in the order of its text."""


@dataclass(frozen=True)
class Piece:
    """Where a chunk stands in its document.

    Attributes:
        start: its first character.
        end: the character after its last.
        section: the path of headings, or of definitions, that it belongs to.
        name: what its id has behind the document's; by default "@<start>-<end>".
        metadata: whatever else is known of it.
    """

    start: int
    end: int
    section: Section = ()
    name: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at its ends; empty if there is nothing else."""
    part = text[start:end]
    begin = start + len(part) - len(part.lstrip())
    return begin, max(begin, start + len(part.rstrip()))


@dataclass(frozen=True)
class OptionChunker(ABC):
    """A chunker with options: the fields made by `option`, checked when it is made.

    `str(chunker)` is its textual form, which `parse_chunker` reads.
    """

    name: ClassVar[str]
    summary: ClassVar[str]

    def __post_init__(self) -> None:
        """Refuse options that cannot be."""
        check_options(self, self.name)

    @abstractmethod
    def pieces(self, document: Document) -> Iterable[Piece]:
        """Where the chunks of the document are, in order."""

    def chunk(self, document: Document) -> list[Chunk]:
        """The chunks of a document, in the order of its text."""
        return [
            Chunk(
                id=f"{document.id}{_name(piece)}",
                doc_id=document.id,
                text=document.text[piece.start : piece.end],
                start=piece.start,
                end=piece.end,
                section=piece.section,
                metadata=piece.metadata,
            )
            for piece in self.pieces(document)
        ]

    def __str__(self) -> str:
        """The textual form: the first number always, other options where they are not usual."""
        words = [self.name]
        options = options_of(self).values()
        bare = next((known for known in options if isinstance(known.kind, Whole)), None)
        for known in options:
            value = getattr(self, known.name)
            if known == bare and value is not None:
                words.append(str(value))
            elif value != known.default:
                is_choice = isinstance(known.kind, Choice)
                words += [str(value)] if is_choice else [known.name, str(value)]
        return "-".join(words)


def _name(piece: Piece) -> str:
    return f"@{piece.start}-{piece.end}" if piece.name is None else piece.name
