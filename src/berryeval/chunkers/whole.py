"""Whole documents as chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from berryeval.chunkers.base import OptionChunker, Piece

if TYPE_CHECKING:
    from berryeval.data import Document


@dataclass(frozen=True)
class WholeChunker(OptionChunker):
    """One chunk per document, with the document's id; blank documents have none."""

    name: ClassVar[str] = "whole"
    summary: ClassVar[str] = "whole documents, under their own ids"

    def pieces(self, document: Document) -> Iterator[Piece]:
        """Return the span of the whole document."""
        if document.text.strip():
            yield Piece(0, len(document.text), name="")
