"""The chunkers of Chonkie."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

from berryeval.chunkers.base import OptionChunker, Piece
from berryeval.chunkers.foreign import made_splitter, split
from berryeval.chunkers.options import Choice, Whole, option
from berryeval.errors import ConfigurationError
from berryeval.optional import imported

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.records import Document

__all__ = ["ChonkieChunker"]

_CLASSES: Final = {
    "recursive": "RecursiveChunker",
    "sentence": "SentenceChunker",
    "token": "TokenChunker",
}
_WITH_OVERLAP: Final = ("sentence", "token")


@dataclass(frozen=True)
class ChonkieChunker(OptionChunker):
    """One of Chonkie's chunkers, by its kind, or any that you made: `splitter`.

    `size` and `overlap` count characters, as Chonkie does unless it is given a tokenizer.
    """

    name: ClassVar[str] = "chonkie"
    summary: ClassVar[str] = "the chunkers of Chonkie, their offsets checked"

    kind: str = option("recursive", Choice(words=tuple(_CLASSES)), "which of them")
    size: int = option(400, Whole(least=1), "how many characters a chunk has at most")
    overlap: int = option(0, Whole(), "how many of them the next chunk repeats")
    splitter: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse options that cannot be."""
        super().__post_init__()
        if self.overlap and self.kind not in _WITH_OVERLAP:
            msg = f"Chonkie's {_CLASSES[self.kind]} has no overlap; {' and '.join(_WITH_OVERLAP)}"
            msg += f" have one, found overlap={self.overlap}"
            raise ConfigurationError(msg)

    def pieces(self, document: Document) -> Iterable[Piece]:
        """Where the chunks of the document are, in order."""
        return split(self.splitter or self._made, document)

    @cached_property
    def _made(self) -> Any:
        package = imported("chonkie", "the chunker 'chonkie'", extra="chunkers")
        options: dict[str, Any] = {"chunk_size": self.size}
        if self.overlap:
            options["chunk_overlap"] = self.overlap
        return made_splitter(package, _CLASSES[self.kind], str(self), **options)
