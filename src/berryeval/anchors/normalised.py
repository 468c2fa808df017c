"""Text without the accidents of case and white space, and the way back to the original."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from functools import cached_property

__all__ = ["Normalised", "normalise"]


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
