"""Texts and numbers of the page: control characters replaced, long texts cut, units chosen."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal import numbers
from berryeval._internal.text import escape_controls, pluralize

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from berryeval._internal.aggregates import Interval


# Texts.

_BREAKS: Final = re.compile(r"(?<=[:/_.>|])(?=\S)")
_LONG_WORD: Final = re.compile(r"([^\s-]{20})(?=[^\s-]{4})")
_MOST_BYTES: Final = 2  # per character; scripts that need more, such as Chinese, also say more


@dataclass(frozen=True)
class Cut:
    """The beginning of a text, and the number of characters that follow it."""

    text: str
    rest: int = 0

    def __str__(self) -> str:
        return f"{self.text}…" if self.rest else self.text


def clean(value: Any) -> Any:
    """Replace control and direction characters by visible symbols.

    Markup, which is clean already, and values other than texts are returned unchanged.
    """
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return escape_controls(value)


def cut(text: str, characters: int) -> Cut:
    """Cut a text to a number of characters, and to at most twice as many bytes of HTML."""
    beginning = text[:characters]
    room = characters * _MOST_BYTES
    while _count_bytes(beginning) > room:
        share = room / _count_bytes(beginning)
        beginning = beginning[: min(len(beginning) - 1, int(len(beginning) * share) + 1)]
    return Cut(beginning, len(text) - len(beginning))


def _count_bytes(text: str) -> int:
    return len(escape(text).encode("utf-8", "replace"))


def shorten(text: str, characters: int) -> str:
    """Put the beginning of a text on one line, with an ellipsis if there is more."""
    seen = text[: characters * 4]  # enough unless it is mostly white space
    found = str(cut(" ".join(seen.split()), characters))
    return found if len(seen) == len(text) or found.endswith("…") else f"{found}…"


def tie_percent(text: str) -> str:
    """Keep numbers and their per cent signs on one line."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def allow_breaks(text: str) -> Markup:
    """Allow line breaks after punctuation in a name, and within very long words."""
    from markupsafe import Markup
    from markupsafe import escape as escaped

    parts = (
        piece for part in _BREAKS.split(escape_controls(text)) for piece in _LONG_WORD.split(part)
    )
    return Markup("<wbr>").join(escaped(part) for part in parts if part)


def keep_words(text: str) -> Markup:
    """Keep the words of a text whole if a line has room for them."""
    from markupsafe import Markup

    words = (
        Markup('<span class="w">{}</span>').format(escape_controls(one)) for one in text.split()
    )
    return Markup(" ").join(words)


def join_names(names: Sequence[str]) -> str:
    """Join names in a sentence: "a, b and c"."""
    brief = [shorten(name, 60) for name in names]
    return brief[0] if len(brief) == 1 else f"{', '.join(brief[:-1])} and {brief[-1]}"


# Numbers of `_internal.numbers`, with typographic signs.

_MISSING: Final = "\N{EN DASH}"
_MINUS: Final = "\N{MINUS SIGN}"
_LARGE: Final = 100.0  # from here on, one decimal is enough


def value(number: float | None) -> str:
    """Format a score: 0.512, or 1,234.5 for metrics that count."""
    if number is None:
        return _MISSING
    text = f"{number:,.1f}" if abs(number) >= _LARGE else numbers.format_metric(number)
    return text.replace("-", _MINUS)


def signed(number: float | None) -> str:
    """Format a difference with its sign: +0.043; 0.000 has none."""
    if number is None:
        return _MISSING
    text = f"{number:+,.1f}" if abs(number) >= _LARGE else numbers.format_delta(number)
    return text.replace("-", _MINUS)


def span(interval: Interval, *, sign: bool = False) -> str:
    """Format the ends of an interval."""
    show = signed if sign else value
    return f"{show(interval.low)} to {show(interval.high)}"


def probability(p: float | None) -> str:
    """Format a p-value."""
    if p is None:
        return _MISSING
    return numbers.format_p_value(p).replace("<", "< ")


def chance(p: float) -> str:
    """Format a p-value for a sentence: p = 0.031, p < 0.001."""
    return numbers.format_p_equation(p).replace(" ", "\N{NO-BREAK SPACE}")


def duration(seconds: float | None) -> str:
    """Format seconds in a suitable unit: 840 µs, 12.3 ms, 2.10 s."""
    if seconds is None:
        return _MISSING
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{_three_digits(seconds / size)} {unit}"
    return f"{_three_digits(seconds / 1e-6)} µs"


def _three_digits(number: float) -> str:
    """Format three significant digits, trailing zeros included: 3.70 beside 2.83."""
    return f"{number:,.0f}" if number >= _LARGE else f"{number:#.3g}".rstrip(".")


# Names short enough for charts and still distinct.

ROOM: Final = 17  # letters that every chart has room for
_HEAD: Final = 6


def shorten_names(labels: Sequence[str], room: int = ROOM) -> dict[str, str]:
    """Return shorter names for labels that begin alike, such as those of several runs.

    >>> shorten_names(["bm25 (2026-11-15T15-16-02-x)", "bm25 (2026-11-15T15-16-09-x)", "dense"])
    {'bm25 (2026-11-15T15-16-02-x)': 'bm25 (…02-x)', 'bm25 (2026-11-15T15-16-09-x)': 'bm25 (…09-x)'}
    """
    alike: dict[str, list[str]] = {}
    for label in labels:
        alike.setdefault(label[:room], []).append(label)
    found: dict[str, str] = {}
    taken = {label for label in labels if len(label) <= room}
    for group in (group for group in alike.values() if len(group) > 1):
        start = len(os.path.commonprefix(group))  # noqa: RUF071 - by letters, not by folders
        while start > _HEAD and group[0][start - 1].isalnum():
            start -= 1  # keep words and numbers whole
        for label in group:
            found[label] = _number_name(_cut_middle(label, start, room), taken, room)
            taken.add(found[label])
    return found


def _cut_middle(label: str, start: int, room: int) -> str:
    rest = label[start:]
    room -= _HEAD + 1
    return f"{label[:_HEAD]}…{rest if len(rest) <= room else f'{rest[: room - 1]}…'}"


def _number_name(name: str, taken: set[str], room: int) -> str:
    shown, number = name, 1
    while shown in taken:
        number += 1
        ending = f" #{number}"
        shown = f"{name[: room - len(ending)]}{ending}"
    return shown


# Templates.

FILTERS: Final = (
    allow_breaks, chance, duration, keep_words, pluralize, probability, shorten, signed, span,
    tie_percent, value,
)  # fmt: skip


@cache
def build_environment(package: str = "") -> Environment:
    """Return the templates of the report; those of a package take the place of ours.

    So a package with a `layout.html` of its own shows the report within its own pages.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    from berryeval.reports.sections import COLORS, SHAPES

    names = [package, "berryeval.reports.html"] if package else ["berryeval.reports.html"]
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in names]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {one.__name__: one for one in FILTERS}
    environment.globals |= {"hues": COLORS, "forms": SHAPES}
    return environment
