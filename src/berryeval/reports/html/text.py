"""Texts of anybody, made fit to be shown: cleaned of what no page can hold, and cut."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

from berryeval.io.visible import visible

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["Cut", "broken", "cleaned", "cut", "short", "tied", "whole"]

_PARTS: Final = re.compile(r"(?<=[:/_.>|])(?=\S)")
_LONG_WORD: Final = re.compile(r"([^\s-]{20})(?=[^\s-]{4})")

_MOST_BYTES: Final = 2  # per character: what needs more, as Chinese, also says more


@dataclass(frozen=True)
class Cut:
    """The beginning of a text, and how many characters follow it."""

    text: str
    rest: int = 0

    def __str__(self) -> str:
        return f"{self.text}…" if self.rest else self.text


def cleaned(value: Any) -> Any:
    """A text with its control characters as symbols, also those that turn the text around.

    What is no text comes back as it is, and so does markup, which was cleaned before.
    """
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return visible(value)


def cut(text: str, characters: int) -> Cut:
    """The beginning of a text, so long that it is no more than twice as many bytes of a page."""
    beginning = text[:characters]
    room = characters * _MOST_BYTES
    while _bytes(beginning) > room:
        share = room / _bytes(beginning)
        beginning = beginning[: min(len(beginning) - 1, int(len(beginning) * share) + 1)]
    return Cut(beginning, len(text) - len(beginning))


def short(text: str, characters: int) -> str:
    """The beginning of a text on one line, with a sign that there is more."""
    seen = text[: characters * 4]  # enough, unless it is mostly white space
    found = str(cut(" ".join(seen.split()), characters))
    return found if len(seen) == len(text) or found.endswith("…") else f"{found}…"


def tied(text: str) -> str:
    """A text in which no line ends between a number and its per cent."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def broken(text: str) -> Markup:
    """A name that may break after the signs that part it, and within what is very long."""
    from markupsafe import Markup
    from markupsafe import escape as escaped

    parts = (piece for part in _PARTS.split(visible(text)) for piece in _LONG_WORD.split(part))
    return Markup("<wbr>").join(escaped(part) for part in parts if part)


def whole(text: str) -> Markup:
    """A text whose words stay whole, where there is room for them on a line."""
    from markupsafe import Markup

    words = (Markup('<span class="w">{}</span>').format(visible(one)) for one in text.split())
    return Markup(" ").join(words)


def _bytes(text: str) -> int:
    return len(escape(text).encode("utf-8", "replace"))
