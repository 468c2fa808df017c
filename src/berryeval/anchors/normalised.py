"""Text without the accidents of case and white space, and the way back to the original."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import Final

__all__ = ["Normalised", "normalise"]

_WORD: Final = re.compile(r"\S+")


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
        folded = original.casefold()
        words = folded.split()  # as many as before: folding makes no white space
        self.text = " ".join(words)
        self._original = original
        self._same_widths = len(folded) == len(original)  # no letter becomes shorter
        self._starts = [word.start() for word in _WORD.finditer(original)]
        # Where each word begins in the normalised text.
        self._places = list(accumulate((len(word) + 1 for word in words), initial=0))

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original whose characters these became, at least one of them."""
        return self._of(start)[0], self._of(end - 1)[1]

    def _of(self, place: int) -> tuple[int, int]:
        """The start and end of the letter, or of the white space, that stands here now."""
        word = bisect_right(self._places, place) - 1
        at, into = self._starts[word], place - self._places[word]
        length = self._places[word + 1] - self._places[word] - 1
        if not self._same_widths:
            return self._walk(word, into)
        if into == length:
            return at + length, self._starts[word + 1]
        return at + into, at + into + 1

    def _walk(self, word: int, into: int) -> tuple[int, int]:
        """As `_of`, letter by letter, where some became several."""
        at = self._starts[word]
        while not self._original[at].isspace():
            into -= len(self._original[at].casefold())
            at += 1
            if into < 0:
                return at - 1, at
        return at, self._starts[word + 1]
