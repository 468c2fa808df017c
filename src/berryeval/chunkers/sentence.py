"""Chunks of whole sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from berryeval.chunkers.base import OptionChunker, Piece
from berryeval.chunkers.options import Whole, option
from berryeval.chunkers.sentences import sentences
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.records import Document

__all__ = ["SentenceChunker"]


@dataclass(frozen=True)
class SentenceChunker(OptionChunker):
    """Chunks of `size` sentences, of which the next chunk repeats the last `overlap`."""

    name: ClassVar[str] = "sentence"
    summary: ClassVar[str] = "a number of whole sentences"

    size: int = option(5, Whole(least=1), "how many sentences a chunk has")
    overlap: int = option(0, Whole(), "how many of them the next chunk repeats")

    def __post_init__(self) -> None:
        """Refuse options that cannot be."""
        super().__post_init__()
        if self.overlap >= self.size:
            msg = f"overlap of the chunker 'sentence' must be less than its size {self.size}"
            msg += f", found {self.overlap}"
            raise ConfigurationError(msg)

    def pieces(self, document: Document) -> Iterator[Piece]:
        """Where the chunks of the document are, in order."""
        spans = list(sentences(document.text))
        for first in range(0, len(spans), self.size - self.overlap):
            group = spans[first : first + self.size]
            yield Piece(group[0][0], group[-1][1])
            if first + self.size >= len(spans):
                return
