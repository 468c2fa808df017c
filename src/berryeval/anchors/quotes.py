"""Text without the accidents of case and white space, and the way back to the original."""

from __future__ import annotations

import math
import re
import sys
from bisect import bisect_right
from collections import defaultdict
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.anchors.corpus import Text


def normalise(text: str) -> str:
    r"""Lower case, one space for any white space, none at the ends.

    >>> normalise("  Straße\n\tNo. 7 ")
    'strasse no. 7'
    """
    return " ".join(text.casefold().split())


class Normalised:
    r"""A normalised text that knows where each of its characters came from.

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
        """The span of the original whose characters these became, at least one of them."""
        return self._of(start)[0], self._of(end - 1)[1]

    def _of(self, place: int) -> tuple[int, int]:
        """The start and end of the letter, or of the white space, that stands here now."""
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
        """The spans whose length has changed, in the normalised text and in the original."""
        wide = {letter for letter in set(self._original) if len(letter.casefold()) > 1}
        letters = f"|[{re.escape(''.join(sorted(wide)))}]" if wide else ""
        ours: list[tuple[int, int]] = []
        theirs: list[tuple[int, int]] = []
        shift = 0
        for change in re.finditer(rf"\A\s+|\s\s+{letters}", self._original):
            was = change.span()
            # White space becomes a space, or nothing at the start.
            length = len(change[0].casefold()) if change[0] in wide else int(was[0] > 0)
            start = was[0] + shift
            ours.append((start, start + length))
            theirs.append(was)
            shift += length - (was[1] - was[0])
        return ours, theirs


# The passages of a text most like a needle, counted in edits, without comparing it everywhere.

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


# Where a quote stands in a text: exactly, then normalised, then nearly.

Match: TypeAlias = Literal["exact", "normalised", "fuzzy"]

RATIO: Final = 0.85  # a passage this like the quote is the quote, a little changed
NEAR: Final = 0.5  # a passage this like the quote is worth showing to who made the judgment
LONGEST: Final = 10_000  # characters of a quote that is looked for nearly
_WORD: Final = 20  # letters; what goes on for longer without a space is no word of a passage
_GLANCE: Final = 8_000  # characters that are compared to find such a passage


class Found(NamedTuple):
    """The places of a quote in one text.

    `ratio` is 1 less the edits for each character of the (normalised) quote.
    """

    places: tuple[tuple[int, int], ...]
    match: Match = "exact"
    ratio: float = 1.0


def find_quote(quote: str, text: Text) -> Found | None:
    """Every place of the quote, by the first way that finds any; fuzzy ones from `RATIO` on."""
    return find_same(quote, text) or find_nearly(quote, text, RATIO)


def find_same(quote: str, text: Text, start: int = 0, end: int | None = None) -> Found | None:
    """Every place of the quote, exact, or else but for case and white space."""
    end = len(text.text) if end is None else end
    needle = normalise(quote)
    if not needle:
        return None  # white space quotes nothing
    places = [(at, at + len(quote)) for at in positions(quote, text.text, start, end)]
    if places:
        return Found(tuple(places))
    plain = text.normalised
    spans = (plain.original(at, at + len(needle)) for at in positions(needle, plain.text))
    places = [span for span in spans if start <= span[0] and span[1] <= end]
    return Found(tuple(places), "normalised") if places else None


def find_nearly(quote: str, text: Text, least: float) -> Found | None:
    """The passages most like the quote, if the ratio of them is `least` or more."""
    needle = normalise(quote)
    allowed = len(needle) - math.ceil(least * len(needle))
    if allowed < 1 or len(needle) > LONGEST:
        return None
    more = {} if least >= RATIO else {"budget": _GLANCE}
    plain = text.normalised
    windows = best_windows(needle, plain.text, allowed, **more)
    if not windows:
        return None
    whole = (_whole_words(plain.text, window.start, window.end) for window in windows)
    places = tuple(plain.original(*span) for span in whole)
    return Found(places, "fuzzy", 1 - windows[0].edits / len(needle))


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The passage with the rest of the words that it begins and ends in."""
    before = text.rfind(" ", max(start - _WORD, 0), start + 1)
    if before >= 0 or start <= _WORD:
        start = before + 1
    after = text.find(" ", end - 1, end + _WORD)
    if after >= 0 or len(text) <= end + _WORD:
        end = after if after >= 0 else len(text)
    return start, end
