"""The text splitters of LangChain."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

from berryeval.chunkers.base import OptionChunker, Piece
from berryeval.chunkers.foreign import made_splitter, split
from berryeval.chunkers.options import Choice, Whole, option
from berryeval.optional import imported

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.records import Document

__all__ = ["LangChainChunker"]

_CLASSES: Final = {
    "recursive": "RecursiveCharacterTextSplitter",
    "character": "CharacterTextSplitter",
    "markdown": "MarkdownTextSplitter",
    "python": "PythonCodeTextSplitter",
    "latex": "LatexTextSplitter",
}


@dataclass(frozen=True)
class LangChainChunker(OptionChunker):
    """One of LangChain's text splitters, by its kind, or any that you made: `splitter`.

    `size` and `overlap` count characters.
    """

    name: ClassVar[str] = "langchain"
    summary: ClassVar[str] = "the text splitters of LangChain, with offsets"

    kind: str = option("recursive", Choice(words=tuple(_CLASSES)), "which of them")
    size: int = option(400, Whole(least=1), "how many characters a chunk has at most")
    overlap: int = option(0, Whole(), "how many of them the next chunk repeats at most")
    splitter: Any = field(default=None, compare=False)

    def pieces(self, document: Document) -> Iterable[Piece]:
        """Where the chunks of the document are, in order."""
        return split(self.splitter or self._made, document)

    @cached_property
    def _made(self) -> Any:
        module = "langchain_text_splitters"
        package = imported(module, "the chunker 'langchain'", extra="chunkers")
        return made_splitter(
            package, _CLASSES[self.kind], str(self),
            chunk_size=self.size, chunk_overlap=self.overlap,
        )  # fmt: skip
