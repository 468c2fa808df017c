"""The passages of a text most like a needle, counted in edits, without comparing it everywhere.

The needle is cut into pieces. Every edit spoils one piece at most, so a passage with few edits
holds most pieces unchanged, and in order. Finding pieces is fast; only where several of them stand
together are edits counted, with the bit-parallel method of Myers (J. ACM 46(3), 1999).
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Window", "best_windows", "positions"]

_PIECE: Final = 6  # characters, at most
_SCANNED: Final = 50_000_000  # characters that are read to find pieces, about, at most
_COMMON: Final = 2_000  # a piece found more often than this says nothing about the place


class Window(NamedTuple):
    """A passage of the text, and the edits that make the needle of it."""

    start: int
    end: int
    edits: int


def best_windows(needle: str, text: str, most_edits: int, budget: int = 40_000) -> list[Window]:
    """The passages with the fewest edits, at most `most_edits`; several only if equally good.

    Edits are counted in no more than about `budget` characters of the text, where most pieces are.

    >>> best_windows("the quick brown fox", "a quick brow fox, the quick brown ox!", 4)
    [Window(start=18, end=36, edits=1)]
    """
    width = max(len(needle) // 4, _PIECE)
    places, told = _votes(needle, text, width)
    best: dict[tuple[int, int], int] = {}
    limit = most_edits
    for place, votes in sorted(places.items(), key=lambda item: (-item[1], item[0])):
        if told - votes > limit or budget <= 0:
            break
        low = max(place * width - most_edits, 0)
        high = min((place + 2) * width + len(needle) + most_edits, len(text))
        budget -= high - low
        for window in _windows_in(needle, text, low, high, limit):
            limit = min(limit, window.edits)
            best[window.start, window.end] = window.edits
    return sorted(Window(*span, edits) for span, edits in best.items() if edits == limit)


def positions(needle: str, text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Where the needle stands in the text, overlapping places included."""
    at = text.find(needle, start, end)
    while at >= 0:
        yield at
        at = text.find(needle, at + 1, end)


def _pieces(needle: str) -> list[tuple[int, str]]:
    """The needle in pieces, with their offsets; 15 edits in 100 letters leave one of them whole."""
    spoiled = len(needle) * 15 // 100
    length = max(min(_PIECE, len(needle) // (spoiled + 1)), 1)
    starts = range(0, len(needle) - length + 1, length)
    return [(start, needle[start : start + length]) for start in starts]


@lru_cache(maxsize=4)  # a needle that is not found is looked for again, with more edits allowed
def _votes(needle: str, text: str, width: int) -> tuple[dict[int, int], int]:
    """How many pieces speak for each place (in steps of `width`), and how many speak at all."""
    speakers: dict[int, int] = defaultdict(int)
    beginnings: set[int] = set()
    told = 0
    pieces = _pieces(needle)
    every = 1 + len(pieces) * len(text) // _SCANNED  # a long text, and many pieces: some will do
    for offset, piece in pieces[::every]:
        found: set[int] = set()
        for count, at in enumerate(positions(piece, text)):
            if count == _COMMON:
                break
            found.add((at - offset) // width)
        else:
            told += 1
            beginnings |= found
            for place in found | {place - 1 for place in found}:  # a place reaches over two steps
                speakers[place] += 1
    return {place: speakers[place] for place in beginnings}, told


def _windows_in(needle: str, text: str, low: int, high: int, limit: int) -> Iterator[Window]:
    """The passages of `text[low:high]` with the fewest edits, at most `limit`."""
    ends = _edits(needle, text[low:high], anchored=False)
    fewest = min(ends, default=limit + 1)
    if fewest > limit:
        return
    last = -1
    for place, edits in enumerate(ends):
        if edits != fewest or place < last:
            continue
        end = low + place + 1
        first = max(end - len(needle) - fewest, low)
        back = _edits(needle[::-1], text[first:end][::-1], anchored=True)
        start = end - (back.index(fewest) + 1)
        yield Window(start, end, fewest)
        last = place + len(needle) // 2  # ends next to this one are the same passage


def _edits(needle: str, text: str, *, anchored: bool) -> list[int]:
    """For every end in the text, the edits of the best passage that ends there.

    With `anchored`, passages begin where the text begins.
    """
    bits_of: dict[str, int] = defaultdict(int)
    for place, letter in enumerate(needle):
        bits_of[letter] |= 1 << place
    everything = (1 << len(needle)) - 1
    last = 1 << (len(needle) - 1)
    more, less, edits = everything, 0, len(needle)
    found = []
    for letter in text:
        equal = bits_of.get(letter, 0)
        diagonal = (((equal & more) + more) ^ more) | equal | less
        up = less | (everything & ~(diagonal | more))
        down = more & diagonal
        edits += bool(up & last) - bool(down & last)
        up = (up << 1) | anchored
        more = ((down << 1) | ~(diagonal | up)) & everything
        less = up & diagonal & everything
        found.append(edits)
    return found
