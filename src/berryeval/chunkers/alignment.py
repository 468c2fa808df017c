"""Where the pieces that a splitter gave without offsets stand in the text.

Looking for each piece from the beginning, or from the end of the one before, goes wrong as soon as
a text repeats itself or pieces overlap. Here all pieces are placed together, in order. Where that
leaves a choice and nobody can tell, it is the placing that leaves out the least text, cuts the
fewest words, and overlaps most evenly.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


MOST: Final = 32  # placings of a piece that are followed up; more are there in periodic texts only
# Characters left out, words cut, squares of the overlaps, and the starts, so that ties end early.
Cost: TypeAlias = tuple[int, int, int, int]


class NotInTextError(Exception):
    """A piece is not in the text, or not behind the start of the piece before it."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


@dataclass(frozen=True)
class _Placing:
    """A piece at a place, and the best way to place those before it."""

    start: int
    end: int
    reached: int  # the furthest end so far
    cost: Cost
    before: _Placing | None


def align(
    text: str,
    pieces: Sequence[str],
    tell: Callable[[], Sequence[int | None] | None] | None = None,
) -> list[int]:
    """Where each piece starts, in rising order; no piece may be empty.

    Two pieces start at the same place only if the second is not shorter. Where there is a choice,
    `tell` is asked for the starts that are known.

    >>> align("a b a b a b", ["a b a", "a b"])
    [0, 8]

    Raises:
        NotInTextError: there is no such order.
    """
    bounds = _bounds(text, pieces)
    if tell and any(low != high for low, high in bounds):
        bounds = _told(text, pieces, tell()) or bounds
    if all(low == high for low, high in bounds):
        return [low for low, _ in bounds]
    placings = [_Placing(0, 0, 0, (0, 0, 0, 0), None)]
    for piece, bound in zip(pieces, bounds, strict=True):
        placings = _placed(text, piece, bound, placings)
    best = min(placings, key=lambda one: _added(one.cost, (lost(text, one.reached), 0, 0, 0)))
    starts = []
    while best.before is not None:
        starts.append(best.start)
        best = best.before
    return starts[::-1]


def lost(text: str, start: int, end: int | None = None) -> int:
    """How many characters that are no white space stand from `start` to `end`."""
    return sum(map(len, text[start:end].split()))


def _told(
    text: str, pieces: Sequence[str], starts: Sequence[int | None] | None
) -> list[tuple[int, int]] | None:
    """The bounds that known starts leave, if they can be."""
    try:
        return _bounds(text, pieces, starts) if starts else None
    except NotInTextError:
        return None


def _bounds(
    text: str, pieces: Sequence[str], known: Sequence[int | None] = ()
) -> list[tuple[int, int]]:
    """The first and the last place at which each piece can be, given that all find one."""
    known = known or [None] * len(pieces)
    firsts: list[int] = []
    for place, (piece, start) in enumerate(zip(pieces, known, strict=True)):
        low = firsts[-1] + _step(pieces[place - 1], piece) if place else 0
        firsts.append(text.find(piece, low) if start is None else start)
        if firsts[-1] < low:
            raise NotInTextError(place)
    lasts: list[int] = []
    for place in reversed(range(len(pieces))):
        piece, start = pieces[place], known[place]
        last = place + 1 == len(pieces)
        high = len(text) if last else lasts[-1] - _step(piece, pieces[place + 1])
        lasts.append(text.rfind(piece, 0, high + len(piece)) if start is None else start)
    return list(zip(firsts, reversed(lasts), strict=True))


def _step(piece: str, following: str) -> int:
    """How far behind the start of a piece the next can start: not at all, if it is as long."""
    return 0 if len(following) >= len(piece) else 1


def _placed(
    text: str, piece: str, bound: tuple[int, int], befores: Sequence[_Placing]
) -> list[_Placing]:
    """The best placing of a piece at each place that can follow one of those before."""
    best: dict[int, _Placing] = {}
    for before in befores:
        step = 0 if before.start + len(piece) >= before.end else 1
        low = max(bound[0], before.start + step)
        for start in _places(text, piece, (low, bound[1]), before.reached):
            placing = _follow(text, piece, start, before)
            known = best.get(start)
            if known is None or placing.cost < known.cost:
                best[start] = placing
    placings = sorted(best.values(), key=lambda one: (one.cost, one.start))
    return placings[:MOST]


def _places(text: str, piece: str, bound: tuple[int, int], gap: int) -> Iterator[int]:
    """Where the piece can follow: all places that leave nothing out, and the first that does."""
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
    left_out = lost(text, before.reached, start) if start > before.reached else 0
    cost = (left_out, _cuts(text, start) + _cuts(text, end), overlap * overlap, start)
    return _Placing(start, end, max(end, before.reached), _added(before.cost, cost), before)


def _cuts(text: str, place: int) -> bool:
    """Whether a cut there parts a word."""
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()


def _added(one: Cost, other: Cost) -> Cost:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3]


# A second opinion on where pieces start: the splitter is asked about a text of the same shape.

_LETTERS: Final = range(0x4E00, 0x9FA5)  # letters without case; the twin repeats one after 20,901


def starts_by_twin(
    text: str,
    pieces: Sequence[str],
    split: Callable[[str], Sequence[str]],
    view: Callable[[str], str] = str,
) -> list[int | None] | None:
    r"""Where each piece starts, None for one without letters; or None if the splitter cannot tell.

    >>> starts_by_twin("a a\na", ["a", "a", "a"], str.split)
    [0, 2, 4]

    Args:
        text: what was split.
        pieces: what it was split into, as `view` shows them.
        split: what splits.
        view: how texts and pieces are compared; the starts are those in the view of the text.
    """
    twin = _twin(text)
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


def _twin(text: str) -> str:
    letters = cycle(_LETTERS)
    return "".join(chr(next(letters)) if letter.isalnum() else letter for letter in text)
