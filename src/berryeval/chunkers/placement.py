"""Locate pieces without offsets in their text.

Searching for each piece from the start, or from the end of the previous one, fails when a text
repeats itself or pieces overlap. All pieces are therefore located together, in order. Among several
solutions the best omits the least text, splits the fewest words, and has the most even overlaps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle
from typing import Final, TypeAlias

MOST: Final = 32  # positions per piece to follow; only periodic texts have more
# Characters omitted, words split, squared overlaps, and starts, so that the earliest wins ties.
Cost: TypeAlias = tuple[int, int, int, int]


class NotInTextError(Exception):
    """A piece is not in the text after the start of the previous piece."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


@dataclass(frozen=True)
class _Placing:
    """A piece at a position, and the best positions of the pieces before it."""

    start: int
    end: int
    reached: int  # largest end so far
    cost: Cost
    before: _Placing | None


def align(
    text: str,
    pieces: Sequence[str],
    find_known: Callable[[], Sequence[int | None] | None] | None = None,
) -> list[int]:
    """Return the start of each non-empty piece, in ascending order.

    Two pieces share a start only if the second is not shorter. If there are several solutions,
    `find_known` may provide known starts; without one, NotInTextError is raised.

    >>> align("a b a b a b", ["a b a", "a b"])
    [0, 8]
    """
    bounds = _bounds(text, pieces)
    if find_known and any(low != high for low, high in bounds):
        with suppress(NotInTextError):  # the known starts are not possible
            bounds = _bounds(text, pieces, find_known() or ())
    if all(low == high for low, high in bounds):
        return [low for low, _ in bounds]
    placings = [_Placing(0, 0, 0, (0, 0, 0, 0), None)]
    for piece, bound in zip(pieces, bounds, strict=True):
        placings = _extend_placings(text, piece, bound, placings)
    best = min(placings, key=lambda one: _added(one.cost, (_letters(text, one.reached), 0, 0, 0)))
    starts = []
    while best.before is not None:
        starts.append(best.start)
        best = best.before
    return starts[::-1]


def _letters(text: str, start: int, end: int | None = None) -> int:
    """Count the characters between two positions, except white space."""
    return sum(map(len, text[start:end].split()))


def _bounds(
    text: str, pieces: Sequence[str], known: Sequence[int | None] = ()
) -> list[tuple[int, int]]:
    """Return the first and last possible position of each piece."""
    known = known or [None] * len(pieces)
    firsts: list[int] = []
    for place, (piece, start) in enumerate(zip(pieces, known, strict=True)):
        # A piece may start where the previous one does unless it is shorter.
        low = firsts[-1] + (len(piece) < len(pieces[place - 1])) if place else 0
        firsts.append(text.find(piece, low) if start is None else start)
        if firsts[-1] < low:
            raise NotInTextError(place)
    lasts: list[int] = []
    for place in reversed(range(len(pieces))):
        piece, start = pieces[place], known[place]
        last = place + 1 == len(pieces)
        high = len(text) if last else lasts[-1] - (len(pieces[place + 1]) < len(piece))
        lasts.append(text.rfind(piece, 0, high + len(piece)) if start is None else start)
    return list(zip(firsts, reversed(lasts), strict=True))


def _extend_placings(
    text: str, piece: str, bound: tuple[int, int], befores: Sequence[_Placing]
) -> list[_Placing]:
    best: dict[int, _Placing] = {}
    for before in befores:
        step = 0 if before.start + len(piece) >= before.end else 1
        low = max(bound[0], before.start + step)
        for start in _candidates(text, piece, (low, bound[1]), before.reached):
            placing = _follow(text, piece, start, before)
            known = best.get(start)
            if known is None or placing.cost < known.cost:
                best[start] = placing
    return sorted(best.values(), key=lambda one: (one.cost, one.start))[:MOST]


def _candidates(text: str, piece: str, bound: tuple[int, int], gap: int) -> Iterator[int]:
    """Yield the positions that omit no text, and the first that does."""
    low, high = bound
    while gap < len(text) and text[gap].isspace():
        gap += 1
    found = []
    start = text.find(piece, low, high + len(piece))
    while 0 <= start <= gap:
        found.append(start)
        start = text.find(piece, start + 1, high + len(piece))
    yield from found[-MOST:]
    if start >= 0:
        yield start


def _follow(text: str, piece: str, start: int, before: _Placing) -> _Placing:
    end = start + len(piece)
    overlap = max(0, before.reached - start)
    omitted = _letters(text, before.reached, start) if start > before.reached else 0
    cost = (omitted, _cuts(text, start) + _cuts(text, end), overlap * overlap, start)
    return _Placing(start, end, max(end, before.reached), _added(before.cost, cost), before)


def _cuts(text: str, place: int) -> bool:
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()


def _added(one: Cost, other: Cost) -> Cost:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3]


_LETTERS: Final = range(0x4E00, 0x9FA5)  # caseless letters; the twin repeats after 20,901


def find_starts_by_twin(
    text: str,
    pieces: Sequence[str],
    split: Callable[[str], Sequence[str]],
    view: Callable[[str], str] = str,
) -> list[int | None] | None:
    r"""Find starts by splitting a twin: a text of the same shape in which no letter repeats.

    >>> find_starts_by_twin("a a\na", ["a", "a", "a"], str.split)
    [0, 2, 4]

    Starts refer to the text and the pieces as normalized by `view`. A piece without letters has
    the start None; the result None means that the twin splits differently.
    """
    letters = cycle(_LETTERS)
    twin = "".join(chr(next(letters)) if letter.isalnum() else letter for letter in text)
    answers = [view(answer) for answer in split(twin)]
    text, twin = view(text), view(twin)
    if [len(answer) for answer in answers] != [len(piece) for piece in pieces]:
        return None
    starts: list[int | None] = []
    before = 0
    for piece, answer in zip(pieces, answers, strict=True):
        start = twin.find(answer, before)
        if start < 0 or not text.startswith(piece, start):
            return None
        known = any(map(str.isalnum, answer))
        starts.append(start if known else None)
        before = start if known else before
    return starts
