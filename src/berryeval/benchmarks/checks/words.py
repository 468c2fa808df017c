"""The words of a text, by one rule for all checks, and numbers in words."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["counted", "words_of"]

_WORD: Final = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """The words, in small letters."""
    return _WORD.findall(text.lower())


def counted(number: int, one: str, many: str = "") -> str:
    """A number and what it counts: "1 error", "2 queries"."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
