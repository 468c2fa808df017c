"""The words of a text, by one rule for all checks."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["words_of"]

_WORD: Final = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """The words, in small letters."""
    return _WORD.findall(text.lower())
