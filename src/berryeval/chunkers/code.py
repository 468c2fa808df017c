"""Chunks that are definitions of a program."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from berryeval.chunkers.base import ChunkingWarning, OptionChunker, Piece, trimmed
from berryeval.chunkers.fixed import FixedChunker, windows
from berryeval.chunkers.languages import LANGUAGES, language_of
from berryeval.chunkers.options import Choice, Whole, option
from berryeval.chunkers.syntax import Part, parse_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from berryeval.records import Document, Section

__all__ = ["CodeChunker"]


@dataclass(frozen=True)
class CodeChunker(OptionChunker):
    """Functions, classes and what stands between them, of at most `size` characters.

    Small neighbours share a chunk; a class that is too long is cut between its methods, anything
    else between its lines. The path of a chunk is that of the definition it belongs to, as
    `("class Foo", "def bar")`; `metadata["symbols"]` lists the definitions in it. The language is
    known by the ending of the document's source or id, unless it is given. A text in no known
    language, or with errors in its syntax, is cut between lines, and a `ChunkingWarning` says so
    once.
    """

    name: ClassVar[str] = "code"
    summary: ClassVar[str] = "functions and classes of programs, by their syntax"

    size: int = option(1500, Whole(least=1), "how many characters a chunk has at most")
    language: str = option("auto", Choice(words=("auto", *LANGUAGES)), "of all documents")
    _said: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    def pieces(self, document: Document) -> Iterable[Piece]:
        """Where the chunks of the document are, in order."""
        parts = self._parts(document)
        if parts is None:
            return self._lines(document.text, 0, len(document.text), (), ())
        return self._cut(document.text, parts, ())

    def _parts(self, document: Document) -> tuple[Part, ...] | None:
        """The parts of a program, or None and a warning."""
        if self.language == "auto":
            language = language_of(document.source, document.id)
        else:
            language = self.language
        if not language:
            self._warn(document, "the ending names no language that can be cut as code")
            return None
        parts = parse_parts(document.text, LANGUAGES[language])
        if parts is None:
            self._warn(document, f"this is no {language} without errors in its syntax")
        return parts

    def _warn(self, document: Document, reason: str) -> None:
        if reason not in self._said:
            self._said.add(reason)
            text = f"{document.id}: {reason}; it is cut between lines, and so are others like it"
            warnings.warn(text, ChunkingWarning, stacklevel=2)

    def _cut(self, text: str, parts: Sequence[Part], path: Section) -> Iterator[Piece]:
        """Neighbours that fit together as one piece, each longer part in pieces of its own."""
        together: list[Part] = []
        for part in parts:
            if together and self._length(text, together[0].start, part.end) > self.size:
                yield from self._piece(text, together, path)
                together = []
            if self._length(text, part.start, part.end) > self.size:
                yield from self._cut_one(text, part, path)
            else:
                together.append(part)
        yield from self._piece(text, together, path)

    def _cut_one(self, text: str, part: Part, path: Section) -> Iterator[Piece]:
        """A part that is too long."""
        inner = (*path, part.symbol) if part.symbol else path
        if not part.parts:
            yield from self._lines(text, part.start, part.end, inner, (part.symbol,))
            return
        head = Part(part.start, part.parts[0].start, "")
        yield from self._cut(text, (head, *part.parts), inner)

    def _piece(self, text: str, parts: Sequence[Part], path: Section) -> Iterator[Piece]:
        if not parts:
            return
        start, end = trimmed(text, parts[0].start, parts[-1].end)
        symbols = [part.symbol for part in parts if part.symbol]
        if start < end:
            alone = (*path, *symbols) if len(parts) == 1 else path
            yield Piece(start, end, alone, metadata={"symbols": symbols} if symbols else {})

    def _lines(
        self, text: str, start: int, end: int, path: Section, symbols: Sequence[str]
    ) -> Iterator[Piece]:
        known = [symbol for symbol in symbols if symbol]
        for span in windows(FixedChunker(size=self.size, boundary="line"), text, start, end):
            yield Piece(*span, section=path, metadata={"symbols": known} if known else {})

    def _length(self, text: str, start: int, end: int) -> int:
        begin, stop = trimmed(text, start, end)
        return stop - begin
