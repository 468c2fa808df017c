r"""Texts of anybody, made safe to look at: what would act instead of being seen becomes a sign.

>>> visible("red \x1b[31m"), visible("user\u202etxt.exe"), visible("a\x9bb")
('red ␛[31m', 'user[U+202E]txt.exe', 'a[U+009B]b')
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["visible", "visible_direction"]

_TAB, _LINE_FEED, _DELETE = 0x09, 0x0A, 0x7F
_CONTROL_PICTURES: Final = 0x2400  # where the symbols for control characters begin
# They turn the text behind them around, also beyond the place they stand in. Marks (U+200E, U+200F,
# U+061C) turn nothing but blanks and dots beside them, and texts of many languages need them.
_DIRECTIONS: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_TURNING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
_ACTING: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_DIRECTION_SIGNS: Final = {code: f"[U+{code:04X}]" for code in _DIRECTIONS}
_SIGNS: Final[dict[int, int | str]] = {
    **{code: _CONTROL_PICTURES + code for code in range(0x20) if code not in {_TAB, _LINE_FEED}},
    _DELETE: 0x2421,
    **{code: f"[U+{code:04X}]" for code in range(0x80, 0xA0)},  # there is no symbol for these
    0x2028: 0x2424,  # line and paragraph separators: the symbol for a new line
    0x2029: 0x2424,
    **_DIRECTION_SIGNS,
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),  # half a character is none
}


def visible(text: str) -> str:
    """A text without anything that acts: controls become symbols; tabs and new lines stay.

    Half a character becomes the sign of that.
    """
    if not _ACTING.search(text):
        return text
    return text.replace("\r\n", "\n").translate(_SIGNS)


def visible_direction(text: str) -> str:
    """A text in which nothing turns the direction of reading: only that is replaced."""
    return text.translate(_DIRECTION_SIGNS) if _TURNING.search(text) else text
