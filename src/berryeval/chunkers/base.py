"""What a chunker is, and what those of ours share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from berryeval.chunkers.options import Choice, Whole, check_options, options_of
from berryeval.records import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval.records import Document, Section

__all__ = ["Chunker", "ChunkingWarning", "OptionChunker", "Piece", "trimmed"]


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
