"""Find quotes in texts: exactly, up to case and white space, or approximately."""

from __future__ import annotations

import math
import re
import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from berryeval.anchors.corpus import Text


def normalise(text: str) -> str:
    r"""Casefold a text and collapse white space.

    >>> normalise("  Straße\n\tNo. 7 ")
    'strasse no. 7'
    """
    return " ".join(text.casefold().split())


class Normalised:
    r"""A normalized text that maps its offsets to the original.

    >>> text = Normalised("Die\n  STRASSE ist lang.")
    >>> text.text
    'die strasse ist lang.'
    >>> text.original(4, 11)
    (6, 13)
    """

    def __init__(self, original: str) -> None:
        self.text = normalise(original)
        self._original = original

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the original of a non-empty span."""
        return self._map(start)[0], self._map(end - 1)[1]

    def _map(self, place: int) -> tuple[int, int]:
        ours, theirs = self._changes
        change = bisect_right(ours, (place, sys.maxsize)) - 1
        if change < 0:
            return place, place + 1
        (now, now_end), (was, was_end) = ours[change], theirs[change]
        if now <= place < now_end:
            return was, was_end
        return was_end + place - now_end, was_end + place - now_end + 1

    @cached_property
    def _changes(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Spans whose length has changed, in the normalized text and in the original."""
        wide = {letter for letter in set(self._original) if len(letter.casefold()) > 1}
        letters = f"|[{re.escape(''.join(sorted(wide)))}]" if wide else ""
        ours: list[tuple[int, int]] = []
        theirs: list[tuple[int, int]] = []
        shift = 0
        for change in re.finditer(rf"\A\s+|\s\s+{letters}", self._original):
            was = change.span()
            # White space becomes one space, or nothing at the start.
            length = len(change[0].casefold()) if change[0] in wide else int(was[0] > 0)
            start = was[0] + shift
            ours.append((start, start + length))
            theirs.append(was)
            shift += length - (was[1] - was[0])
        return ours, theirs


_PIECE: Final = 6  # maximum characters of a piece
_SCANNED: Final = 50_000_000  # approximate limit of characters scanned for pieces
_COMMON: Final = 2_000  # pieces with more occurrences are ignored


class Window(NamedTuple):
    """A passage of a text and its edit distance from the needle."""

    start: int
    end: int
    edits: int


def best_windows(needle: str, text: str, most_edits: int, budget: int = 40_000) -> list[Window]:
    """Return the passages with the smallest edit distance, up to `most_edits`.

    Exact pieces of the needle select candidate places, best first; edit distances are computed in
    about `budget` characters of the text.

    >>> best_windows("the quick brown fox", "a quick brow fox, the quick brown ox!", 4)
    [Window(start=18, end=36, edits=1)]
    """
    width = max(len(needle) // 4, _PIECE)
    places, usable = _count_votes(needle, text, width)
    best: dict[tuple[int, int], int] = {}
    limit = most_edits
    for place, votes in sorted(places.items(), key=lambda item: (-item[1], item[0])):
        if usable - votes > limit or budget <= 0:
            break
        low = max(place * width - most_edits, 0)
        high = min((place + 2) * width + len(needle) + most_edits, len(text))
        budget -= high - low
        for window in _windows_in(needle, text, low, high, limit):
            limit = min(limit, window.edits)
            best[window.start, window.end] = window.edits
    return sorted(Window(*span, edits) for span, edits in best.items() if edits == limit)


def positions(needle: str, text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Yield the positions of the needle in the text, including overlapping ones."""
    at = text.find(needle, start, end)
    while at >= 0:
        yield at
        at = text.find(needle, at + 1, end)


def _split_needle(needle: str) -> list[tuple[int, str]]:
    """Split the needle so that at least one piece survives 15 edits in 100 characters."""
    spoiled = len(needle) * 15 // 100
    length = max(min(_PIECE, len(needle) // (spoiled + 1)), 1)
    starts = range(0, len(needle) - length + 1, length)
    return [(start, needle[start : start + length]) for start in starts]


@lru_cache(maxsize=4)  # a missing needle is searched again with more edits allowed
def _count_votes(needle: str, text: str, width: int) -> tuple[dict[int, int], int]:
    """Count the pieces that support each place (in steps of `width`), and all usable pieces."""
    votes: dict[int, int] = defaultdict(int)
    starts: set[int] = set()
    usable = 0
    pieces = _split_needle(needle)
    every = 1 + len(pieces) * len(text) // _SCANNED  # sample the pieces if the text is long
    for offset, piece in pieces[::every]:
        found: set[int] = set()
        for count, at in enumerate(positions(piece, text)):
            if count == _COMMON:
                break
            found.add((at - offset) // width)
        else:
            usable += 1
            starts |= found
            for place in found | {place - 1 for place in found}:  # a place spans two steps
                votes[place] += 1
    return {place: votes[place] for place in starts}, usable


def _windows_in(needle: str, text: str, low: int, high: int, limit: int) -> Iterator[Window]:
    """Yield the passages of `text[low:high]` with the fewest edits, up to `limit`."""
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
        last = place + len(needle) // 2  # nearby ends belong to the same passage


def _edits(needle: str, text: str, *, anchored: bool) -> list[int]:
    """Return, for every end in the text, the edits of the best passage that ends there.

    This is Myers' bit-parallel algorithm. With `anchored`, passages start where the text starts.
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


Match: TypeAlias = Literal["exact", "normalised", "fuzzy"]

RATIO: Final = 0.85  # minimum similarity of a passage that counts as the quote
NEAR: Final = 0.5  # minimum similarity of a suggested passage
LONGEST: Final = 10_000  # maximum characters of a quote in approximate search
_WORD: Final = 20  # maximum letters by which a passage grows to whole words
_GLANCE: Final = 8_000  # budget of the search for a suggested passage


class Found(NamedTuple):
    """The places of a quote in a text."""

    places: tuple[tuple[int, int], ...]
    match: Match = "exact"
    ratio: float = 1.0  # 1 minus the edits per character of the normalized quote


def find_same(quote: str, text: Text, start: int = 0, end: int | None = None) -> Found | None:
    """Find all places of a quote, exactly or else up to case and white space."""
    end = len(text.text) if end is None else end
    needle = normalise(quote)
    if not needle:
        return None  # white space is not a quote
    places = [(at, at + len(quote)) for at in positions(quote, text.text, start, end)]
    if places:
        return Found(tuple(places))
    plain = text.normalised
    spans = (plain.original(at, at + len(needle)) for at in positions(needle, plain.text))
    places = [span for span in spans if start <= span[0] and span[1] <= end]
    return Found(tuple(places), "normalised") if places else None


def find_nearly(quote: str, text: Text, least: float) -> Found | None:
    """Find the passages most similar to a quote, with a ratio of at least `least`."""
    needle = normalise(quote)
    allowed = len(needle) - math.ceil(least * len(needle))
    if allowed < 1 or len(needle) > LONGEST:
        return None
    options = {} if least >= RATIO else {"budget": _GLANCE}
    plain = text.normalised
    windows = best_windows(needle, plain.text, allowed, **options)
    if not windows:
        return None
    whole = (_extend_to_words(plain.text, window.start, window.end) for window in windows)
    places = tuple(plain.original(*span) for span in whole)
    return Found(places, "fuzzy", 1 - windows[0].edits / len(needle))


def _extend_to_words(text: str, start: int, end: int) -> tuple[int, int]:
    before = text.rfind(" ", max(start - _WORD, 0), start + 1)
    if before >= 0 or start <= _WORD:
        start = before + 1
    after = text.find(" ", end - 1, end + _WORD)
    if after >= 0 or len(text) <= end + _WORD:
        end = after if after >= 0 else len(text)
    return start, end
