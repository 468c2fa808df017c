"""Texts from data as a screen may show them: what would steer the terminal is written out."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["visible"]

# Control characters except line feed and tab, those that turn the direction of what follows, other
# ends of lines, and halves of characters.
_STEERING: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""The text with escapes in place of characters that would do something instead of being seen.

    >>> print(visible("bm25\x1b[2J, read \u202ebackwards"))
    bm25\x1b[2J, read \u202ebackwards
    """
    return _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
