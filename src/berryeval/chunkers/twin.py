"""A second opinion on where pieces start: the splitter is asked about a text of the same shape.

Most splitters look at lengths, white space and punctuation only. If every letter is replaced by
another one, so that nothing repeats, they cut the same way, and then each piece shows where it is
from. Whether the splitter is of that kind is checked, not believed: the pieces of both texts must
have the same lengths, and each must stand where its twin does.
"""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["starts_by_twin"]

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
