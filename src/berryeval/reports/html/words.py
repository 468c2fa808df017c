"""Texts of anybody, made fit to be shown: cleaned of what no page can hold, and cut."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal import numbers
from berryeval._internal.text import counted, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from berryeval._internal.intervals import Interval


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


# The numbers of `reports.numbers` in the typography of a page, and units that fit.


_NONE: Final = "\N{EN DASH}"
_MINUS: Final = "\N{MINUS SIGN}"
_LARGE: Final = 100.0  # from here on, thousandths say nothing


def value(number: float | None) -> str:
    """A score: 0.512, or 1,234.5 of metrics that count."""
    if number is None:
        return _NONE
    text = f"{number:,.1f}" if abs(number) >= _LARGE else numbers.metric(number)
    return text.replace("-", _MINUS)


def signed(number: float | None) -> str:
    """A difference: +0.043, or with a minus; 0.000 has no sign."""
    if number is None:
        return _NONE
    text = f"{number:+,.1f}" if abs(number) >= _LARGE else numbers.delta(number)
    return text.replace("-", _MINUS)


def span(interval: Interval, *, sign: bool = False) -> str:
    """The ends of an interval."""
    show = signed if sign else value
    return f"{show(interval.low)} to {show(interval.high)}"


def probability(p: float | None) -> str:
    """A p-value, no more exact than it is."""
    if p is None:
        return _NONE
    return numbers.p_value(p).replace("<", "< ")


def chance(p: float) -> str:
    """A p-value in a sentence."""
    text = probability(p)
    found = f"p {text}" if text.startswith("<") else f"p = {text}"
    return found.replace(" ", "\N{NO-BREAK SPACE}")


def duration(seconds: float | None) -> str:
    """Seconds in the unit that fits: 840 µs, 12.3 ms, 2.10 s."""
    if seconds is None:
        return _NONE
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{_three_digits(seconds / size)} {unit}"
    return f"{_three_digits(seconds / 1e-6)} µs"


def _three_digits(number: float) -> str:
    """Three of them, so that the numbers of a row are alike: 3.70 beside 2.83."""
    return f"{number:,.0f}" if number >= _LARGE else f"{number:#.3g}".rstrip(".")


# Names that fit into a chart and still differ: many begin alike, as those of several runs.

ROOM: Final = 17  # letters that every chart shows
_HEAD: Final = 6


def short_names(labels: Sequence[str], room: int = ROOM) -> dict[str, str]:
    """A shorter name for each of those that could not be told apart by their beginnings.

    >>> short_names(["bm25 (2026-11-15T15-16-02-x)", "bm25 (2026-11-15T15-16-09-x)", "dense"])
    {'bm25 (2026-11-15T15-16-02-x)': 'bm25 (…02-x)', 'bm25 (2026-11-15T15-16-09-x)': 'bm25 (…09-x)'}
    """
    alike: dict[str, list[str]] = {}
    for label in labels:
        alike.setdefault(label[:room], []).append(label)
    found: dict[str, str] = {}
    taken = {label for label in labels if len(label) <= room}
    for group in (group for group in alike.values() if len(group) > 1):
        start = len(os.path.commonprefix(group))  # noqa: RUF071 - letter by letter is what we want
        while start > _HEAD and group[0][start - 1].isalnum():
            start -= 1  # whole words and numbers
        for label in group:
            found[label] = _free(_middle_cut(label, start, room), taken, room)
            taken.add(found[label])
    return found


def _middle_cut(label: str, start: int, room: int) -> str:
    rest = label[start:]
    room -= _HEAD + 1
    return f"{label[:_HEAD]}…{rest if len(rest) <= room else f'{rest[: room - 1]}…'}"


def _free(name: str, taken: set[str], room: int) -> str:
    """The name, with a number if another has it."""
    shown, number = name, 1
    while shown in taken:
        number += 1
        ending = f" #{number}"
        shown = f"{name[: room - len(ending)]}{ending}"
    return shown


FILTERS: Final = (chance, counted, duration, probability, signed, span, value)  # of templates
