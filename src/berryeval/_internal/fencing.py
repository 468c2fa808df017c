"""Texts of others as data inside a prompt: escaped, and between two lines with a random mark."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Final

BEGIN: Final = "BEGIN DATA"
END: Final = "END DATA"
_MARK_BYTES: Final = 16
# Characters that leave no trace on a page, besides those that `str.isprintable` rejects.
_UNSEEN: Final = frozenset(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0x180B, 0x1810), *range(0xE0100, 0xE01F0))))


def encode_texts(texts: Mapping[str, str | Sequence[str]]) -> str:
    """Return texts as JSON, with every character that cannot be seen escaped."""
    text = json.dumps(dict(texts), ensure_ascii=False, indent=1)
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(one if _is_seen(one) else _escape(one) for one in text)


def fence_data(data: str) -> str:
    """Put data between two lines that end with the same random mark, which they do not contain."""
    mark = secrets.token_hex(_MARK_BYTES)
    while mark in data:
        mark = secrets.token_hex(_MARK_BYTES)
    return f"{BEGIN} {mark}\n{data}\n{END} {mark}"


def _is_seen(letter: str) -> bool:
    return letter == "\n" or (letter.isprintable() and letter not in _UNSEEN)


def _escape(letter: str) -> str:
    return json.dumps(letter)[1:-1]
