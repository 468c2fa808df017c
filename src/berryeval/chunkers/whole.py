"""Documents as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from berryeval.chunkers.base import OptionChunker, Piece

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.data import Document


@dataclass(frozen=True)
class WholeChunker(OptionChunker):
    """One chunk for each document, with the document's id; none for a blank one."""

    name: ClassVar[str] = "whole"
    summary: ClassVar[str] = "whole documents, under their own ids"

    def pieces(self, document: Document) -> Iterator[Piece]:
        """The whole document."""
        if document.text.strip():
            yield Piece(0, len(document.text), name="")
