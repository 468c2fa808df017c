"""How long the answers took: every query a tick, the median and the 95th percentile marked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from berryeval.reports.html.charts.figure import WIDTH, Figure, hues
from berryeval.reports.html.numbers import duration
from berryeval.reports.html.palette import INK

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from berryeval.reports.html.views.speed import Speed

__all__ = ["latency_chart", "milliseconds", "time_axis"]

MOST_TICKS: Final = 150
FEW_POWERS: Final = 4  # of ten, between which there is room for lines
LEAST_SECONDS: Final = 1e-6  # a logarithm knows no zero


def latency_chart(speeds: Sequence[Speed], labels: Sequence[str]) -> Figure | None:
    """The chart of all systems that answered."""
    timed = [one for one in speeds if one.latency is not None and one.seconds]
    if not timed:
        return None
    ticks = [
        {"system": one.label, "ms": milliseconds(seconds)}
        for one in timed
        for seconds in _spaced(sorted(one.seconds))
    ]
    marks = [
        {"system": one.label, "ms": milliseconds(seconds), "mark": name}
        for one in timed
        if one.latency is not None
        for name, seconds in (("p50", one.latency.p50), ("p95", one.latency.p95))
    ]
    names = [one.label for one in timed]
    y = {
        "field": "system", "type": "nominal", "sort": names, "title": None,
        "axis": {"ticks": False, "domain": False, "labelPadding": 8},
    }  # fmt: skip
    x = time_axis([one["ms"] for one in (*ticks, *marks)], "milliseconds, on a logarithmic scale")
    spec = {
        "width": WIDTH,
        "height": {"step": 40},
        "layer": [
            {
                "data": {"values": ticks},
                "mark": {"type": "tick", "thickness": 1.5, "opacity": 0.45, "bandSize": 20},
                "encoding": {
                    "y": y,
                    "x": {"field": "ms", **x},
                    "color": {"field": "system", "scale": hues(labels), "legend": None},
                },
            },
            {
                "data": {"values": marks},
                "mark": {"type": "point", "filled": True, "size": 75, "opacity": 1,
                         "color": INK.light},
                "encoding": {
                    "y": y,
                    "x": {"field": "ms", **x},
                    "shape": {
                        "field": "mark",
                        "scale": {"domain": ["p50", "p95"], "range": ["circle", "diamond"]},
                        "legend": {"orient": "top", "title": None},
                    },
                },
            },
        ],
    }  # fmt: skip
    words = "; ".join(
        f"{one.label} {duration(one.latency.p50)} and {duration(one.latency.p95)}"
        for one in timed
        if one.latency is not None
    )
    return Figure(
        spec,
        "The time of every answered query, the median (p50) and what 95 % stay below (p95).",
        f"Latency per provider, median and 95th percentile: {words}.",
    )


def time_axis(times: Iterable[Any], title: str, room: float = 1.15) -> dict[str, Any]:
    """A logarithmic axis of milliseconds, with a line at 1, 2 and 5 of every power of ten.

    `room` is how much further than the longest time it goes.
    """
    times = list(times)
    low, high = min(times) / 1.15, max(times) * room
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= FEW_POWERS else (1,)
    lines = [step * 10.0**power for power in powers for step in steps]
    return {
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {
            "values": [one for one in lines if low <= one <= high],
            "format": "~g",
            "title": title,
        },
    }


def milliseconds(seconds: float) -> float:
    """Milliseconds that have a logarithm."""
    return max(seconds, LEAST_SECONDS) * 1e3


def _spaced(values: list[float]) -> list[float]:
    if len(values) <= MOST_TICKS:
        return values
    step = (len(values) - 1) / (MOST_TICKS - 1)
    return [values[round(place * step)] for place in range(MOST_TICKS)]
