"""The text of a document from its chunks, as far as they tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.records import Chunk

__all__ = ["Rebuilt", "rebuilt"]

_SPACE: Final = 4  # a hole up to this long is taken for white space that the chunker left out
_UNKNOWN: Final = "\ufffd"
_LARGEST: Final = 4  # a text this many times as long as its chunks together is not put together


class Rebuilt(NamedTuple):
    """A text, and whether it has no holes."""

    text: str
    complete: bool


def rebuilt(chunks: Iterable[Chunk]) -> Rebuilt | None:
    """The text that the chunks are pieces of; None if they have no places, or contradict.

    Holes are filled: short ones with line ends, as chunkers leave out white space, long ones with a
    character that stands in no text.
    """
    pieces = sorted(
        (chunk.start, -chunk.end, chunk.text)
        for chunk in chunks
        if chunk.start is not None
        and chunk.end is not None
        and chunk.end - chunk.start == len(chunk.text)
    )
    known = sum(len(text) for _, _, text in pieces)
    if not pieces or max(-end for _, end, _ in pieces) > _LARGEST * known:
        return None
    parts: list[str] = []
    at = 0
    complete = True
    for start, end, text in pieces:
        if start > at:
            parts.append(_hole(start - at))
            complete = False
        if -end > at:
            parts.append(text[max(at - start, 0) :])
            at = -end
    whole = "".join(parts)
    if any(whole[start:-end] != text for start, end, text in pieces):
        return None
    return Rebuilt(whole, complete)


def _hole(length: int) -> str:
    if length <= _SPACE:
        return "\n" * length
    return f"\n{_UNKNOWN * (length - 2)}\n"
