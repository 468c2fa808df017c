"""Where a quote stands in a text: exactly, then normalised, then nearly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from berryeval.anchors.fuzzy import best_windows, positions
from berryeval.anchors.normalised import normalise

if TYPE_CHECKING:
    from berryeval.anchors.corpus import Text

__all__ = ["LONGEST", "NEAR", "RATIO", "Found", "Match", "find_nearly", "find_quote", "find_same"]

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
