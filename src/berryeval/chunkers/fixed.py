"""Chunks of a fixed size."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Protocol

from berryeval._internal.validate import require
from berryeval.chunkers.base import OptionChunker, Piece, option, trim_span

if TYPE_CHECKING:
    from berryeval.data import Document

_TOKEN: Final = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class FixedChunker(OptionChunker):
    """Chunks of at most `size` characters or tokens that overlap by up to `overlap`.

    A token is a run of letters, digits and underscores, or any other character except white space.
    Chunks end at the end of a line (`boundary="line"`) or of a word (`boundary="word"`) if the
    chunk contains one; longer words are split. Chunks are stripped of white space at their ends and
    together contain all other text.
    """

    name: ClassVar[str] = "fixed"
    summary: ClassVar[str] = "windows of a fixed number of characters or tokens"

    size: int = option(400, "maximum length of a chunk", least=1)
    overlap: int = option(0, "maximum overlap of two chunks", least=0)
    unit: str = option("characters", "unit of size and overlap", choices=("characters", "tokens"))
    boundary: str = option("word", "where chunks may end", choices=("word", "line", "none"))

    def __post_init__(self) -> None:
        super().__post_init__()
        smaller, wanted = self.overlap < self.size, f"less than its size {self.size}"
        require(smaller, "overlap of the chunker 'fixed'", wanted, self.overlap)

    def pieces(self, document: Document) -> Iterator[Piece]:
        """Return the positions of the chunks in text order."""
        for start, end in windows(self, document.text):
            yield Piece(start, end)


class _Ruler(Protocol):
    def forward(self, start: int, count: int) -> int: ...
    def back(self, end: int, count: int) -> int: ...


class _Characters:
    def forward(self, start: int, count: int) -> int:
        return start + count

    def back(self, end: int, count: int) -> int:
        return end - count


class _Tokens:
    def __init__(self, text: str, first: int, last: int) -> None:
        spans = [match.span() for match in _TOKEN.finditer(text, first, last)]
        self.starts = [start for start, _ in spans]
        self.ends = [end for _, end in spans]

    def forward(self, start: int, count: int) -> int:
        """Return the end of the `count`-th token from `start`."""
        last = bisect_left(self.starts, start) + count - 1
        return self.ends[min(last, len(self.ends) - 1)]

    def back(self, end: int, count: int) -> int:
        """Return the start of the `count`-th token before `end`."""
        return self.starts[max(0, bisect_right(self.ends, end) - count)]


def windows(
    chunker: FixedChunker, text: str, first: int = 0, last: int | None = None
) -> Iterator[tuple[int, int]]:
    """Yield the spans of the chunks of `text[first:last]`."""
    position, stop = trim_span(text, first, len(text) if last is None else last)
    tokens = chunker.unit == "tokens"
    ruler: _Ruler = _Tokens(text, position, stop) if tokens else _Characters()
    reached = position  # end of the previous chunk, which the next must pass
    while position < stop:
        limit = min(ruler.forward(position, chunker.size), stop)
        limit = _find_end(text, position, limit, stop, chunker.boundary)
        start, end = trim_span(text, position, limit)
        if end > reached:
            yield start, end
            if end >= stop:
                return
            reached = end
            position = _find_next_start(chunker, ruler, text, start, end)
        else:
            position = _next_word(text, position, reached)
        while text[position].isspace():  # ends, because the span is trimmed
            position += 1


def _find_end(text: str, start: int, end: int, stop: int, boundary: str) -> int:
    """Return the last boundary up to `end` that keeps the chunk from being empty, or `end`."""
    if end >= stop or boundary == "none":
        return end
    if boundary == "line" and text[end] not in "\r\n":
        line = text.rfind("\n", start, end)
        if line > start and not text[start:line].isspace():
            return line
    if not _in_word(text, end):
        return end
    cut = end
    while cut > start and not text[cut - 1].isspace():
        cut -= 1
    return cut if cut > start else end


def _find_next_start(chunker: FixedChunker, ruler: _Ruler, text: str, start: int, end: int) -> int:
    if not chunker.overlap:
        return end
    begin = ruler.back(end, chunker.overlap)
    if begin <= start:
        return _next_word(text, start, end)
    if chunker.boundary == "none" or not _in_word(text, begin):
        return begin
    moved = _next_word(text, begin, end)
    # The overlap is within a long word that was split: split the overlap too.
    return begin if moved == end and _in_word(text, end) else moved


def _next_word(text: str, position: int, limit: int) -> int:
    """Return the first character after the next white space, or `limit`."""
    while position < limit and not text[position].isspace():
        position += 1
    while position < limit and text[position].isspace():
        position += 1
    return position


def _in_word(text: str, cut: int) -> bool:
    return 0 < cut < len(text) and not (text[cut - 1].isspace() or text[cut].isspace())
