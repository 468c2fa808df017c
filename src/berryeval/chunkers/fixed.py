"""Chunks of a fixed size."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Protocol

from berryeval.chunkers.base import Choice, OptionChunker, Piece, Whole, option, trimmed
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.data import Document


_TOKEN: Final = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class FixedChunker(OptionChunker):
    """Chunks of at most `size` characters or tokens, each beginning `overlap` before the last ends.

    A token is a run of letters, digits and underscores, or any other character that is no white
    space. A cut goes to the end of a line (`boundary="line"`) or of a word (`"word"`: anything
    between white space) if there is one in the chunk; a longer word is cut. Chunks have no white
    space at their ends, and together they hold everything else.
    """

    name: ClassVar[str] = "fixed"
    summary: ClassVar[str] = "windows of a fixed number of characters or tokens"

    size: int = option(400, Whole(least=1), "how long a chunk is at most")
    overlap: int = option(0, Whole(), "how much of a chunk the next one repeats at most")
    unit: str = option(
        "characters", Choice(words=("characters", "tokens")), "what size and overlap count"
    )
    boundary: str = option("word", Choice(words=("word", "line", "none")), "where a cut may be")

    def __post_init__(self) -> None:
        """Refuse options that cannot be."""
        super().__post_init__()
        if self.overlap >= self.size:
            msg = f"overlap of the chunker 'fixed' must be less than its size {self.size}"
            msg += f", found {self.overlap}"
            raise ConfigurationError(msg)

    def pieces(self, document: Document) -> Iterator[Piece]:
        """Where the chunks of the document are, in order."""
        for start, end in windows(self, document.text):
            yield Piece(start, end)


class _Ruler(Protocol):
    def forward(self, start: int, count: int) -> int: ...
    def back(self, end: int, count: int) -> int: ...


class _Characters:
    """Metrics in characters."""

    def forward(self, start: int, count: int) -> int:
        return start + count

    def back(self, end: int, count: int) -> int:
        return end - count


class _Tokens:
    """Metrics in tokens."""

    def __init__(self, text: str, first: int, last: int) -> None:
        spans = [match.span() for match in _TOKEN.finditer(text, first, last)]
        self.starts = [start for start, _ in spans]
        self.ends = [end for _, end in spans]

    def forward(self, start: int, count: int) -> int:
        """The end of the last of `count` tokens from `start` on."""
        last = bisect_left(self.starts, start) + count - 1
        return self.ends[min(last, len(self.ends) - 1)]

    def back(self, end: int, count: int) -> int:
        """The start of the first of the last `count` tokens before `end`."""
        return self.starts[max(0, bisect_right(self.ends, end) - count)]


def windows(
    chunker: FixedChunker, text: str, first: int = 0, last: int | None = None
) -> Iterator[tuple[int, int]]:
    """The spans of the chunks of `text[first:last]`."""
    position, stop = trimmed(text, first, len(text) if last is None else last)
    ruler: _Ruler = _Characters()
    if chunker.unit == "tokens":
        ruler = _Tokens(text, position, stop)
    reached = position  # where the chunk before ends: each must go beyond it
    while position < stop:
        limit = min(ruler.forward(position, chunker.size), stop)
        limit = _moved_back(text, position, limit, stop, chunker.boundary)
        start, end = trimmed(text, position, limit)
        if end > reached:
            yield start, end
            if end >= stop:
                return
            reached = end
            position = _overlapped(chunker, ruler, text, start, end)
        else:
            position = _next_word(text, position, reached)
        while text[position].isspace():  # there is something before `stop`
            position += 1


def _moved_back(text: str, start: int, end: int, stop: int, boundary: str) -> int:
    """The end, or the last boundary before it that leaves something of the chunk."""
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


def _overlapped(chunker: FixedChunker, ruler: _Ruler, text: str, start: int, end: int) -> int:
    """Where the chunk after that from `start` to `end` begins."""
    if not chunker.overlap:
        return end
    begin = ruler.back(end, chunker.overlap)
    if begin <= start:
        return _next_word(text, start, end)
    if chunker.boundary == "none" or not _in_word(text, begin):
        return begin
    moved = _next_word(text, begin, end)
    # A word longer than the overlap, itself cut: then the overlap is cut too.
    return begin if moved == end and _in_word(text, end) else moved


def _next_word(text: str, position: int, limit: int) -> int:
    """The first character behind a white space from `position` on; `limit` if there is none."""
    while position < limit and not text[position].isspace():
        position += 1
    while position < limit and text[position].isspace():
        position += 1
    return position


def _in_word(text: str, cut: int) -> bool:
    """Whether a cut there would part a word."""
    return 0 < cut < len(text) and not (text[cut - 1].isspace() or text[cut].isspace())
