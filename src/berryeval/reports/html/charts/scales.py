"""Axes whose numbers can be read: never fewer than three lines where there is room for them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["around", "lanes", "time_axis"]

_LEAST_LINES: Final = 3
_MOST_LINES: Final = 7
_STEPS: Final = ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7))  # of every power of ten
_LEAST_SPAN: Final = 0.1  # of an axis of values: less would make much of nothing


def time_axis(times: Iterable[float], room: float = 1.15) -> dict[str, Any]:
    """A logarithmic axis of milliseconds, with lines at round numbers.

    `room` is how much further than the longest time it goes.
    """
    times = list(times)
    low, high = min(times) / 1.15, max(times) * room
    return {
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {"values": _lines(low, high), "format": "~g"},
    }


def _lines(low: float, high: float) -> list[float]:
    """Round numbers between both: those of powers of ten, or evenly spaced where they are near."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    best: list[float] = []
    for steps in _STEPS:
        found = [float(f"{step}e{power}") for power in powers for step in steps]
        found = [one for one in found if low <= one <= high]
        if len(found) > _MOST_LINES:
            break
        best = found
    return best if len(best) >= _LEAST_LINES else _even(low, high)


def _even(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, three to seven of them."""
    size = 10.0 ** math.floor(math.log10((high - low) / _LEAST_LINES))
    found: list[float] = []
    for step in (5 * size, 2 * size, size):
        places = range(math.ceil(low / step), math.floor(high / step) + 1)
        found = [float(f"{place * step:.6g}") for place in places]
        if len(found) >= _LEAST_LINES:
            break
    return found


def lanes(places: Iterable[float], width: float) -> list[int]:
    """For texts of a width that begin at these places: in which row each stands, free of others.

    >>> lanes([0, 10, 30, 31], 20)
    [0, 1, 0, 1]
    """
    ends: list[float] = []
    found = []
    for place in places:
        row = next((number for number, end in enumerate(ends) if end <= place), len(ends))
        ends[row : row + 1] = [place + width]
        found.append(row)
    return found


def around(lows: Iterable[float], highs: Iterable[float]) -> dict[str, Any]:
    """A scale of values with some room around them; shares stay between 0 and 1."""
    low, high = min(lows), max(highs)
    is_share = low >= 0 and high <= 1
    least = _LEAST_SPAN if is_share else abs(high) * _LEAST_SPAN or 1.0
    room = max((high - low) * 0.08, (least - (high - low)) / 2)
    low, high = low - room, high + room
    if is_share:
        low, high = max(low, 0.0), min(high, 1.0)
    return {"domain": [low, high], "nice": False, "zero": False}
