"""The numbers of `reports.numbers` in the typography of a page, and units that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.io.words import counted
from berryeval.reports import numbers

if TYPE_CHECKING:
    from berryeval.intervals import Interval

__all__ = ["chance", "counted", "duration", "probability", "signed", "span", "value"]

_NONE: Final = "\N{EN DASH}"
_MINUS: Final = "\N{MINUS SIGN}"
_LARGE: Final = 100.0  # from here on, thousandths say nothing


def value(number: float | None) -> str:
    """A score: 0.512, or 1,234.5 of measures that count."""
    if number is None:
        return _NONE
    text = f"{number:,.1f}" if abs(number) >= _LARGE else numbers.measure(number)
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
