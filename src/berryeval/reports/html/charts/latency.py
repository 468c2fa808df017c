"""How long the answers took: every query a tick, the median and the 95th percentile marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval.reports.html.charts.figure import WIDTH, Figure, hues
from berryeval.reports.html.charts.scales import time_axis
from berryeval.reports.html.numbers import duration
from berryeval.reports.html.palette import INK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.reports.html.views.speed import Speed

__all__ = ["LOGARITHMIC", "latency_chart", "milliseconds"]

MOST_TICKS: Final = 150
LOGARITHMIC: Final = "milliseconds, on a logarithmic scale"
LEAST_SECONDS: Final = 1e-6  # a logarithm knows no zero


def latency_chart(speeds: Sequence[Speed], labels: Sequence[str]) -> Figure | None:
    """The chart of all systems that answered."""
    timed = [one for one in speeds if one.latency is not None and one.seconds]
    if not timed:
        return None
    ticks: list[dict[str, Any]] = [
        {"system": one.label, "ms": milliseconds(seconds)}
        for one in timed
        for seconds in _spaced(sorted(one.seconds))
    ]
    marks: list[dict[str, Any]] = [
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
    x = time_axis([one["ms"] for one in (*ticks, *marks)]) | {"title": LOGARITHMIC}
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


def milliseconds(seconds: float) -> float:
    """Milliseconds that have a logarithm."""
    return max(seconds, LEAST_SECONDS) * 1e3


def _spaced(values: list[float]) -> list[float]:
    if len(values) <= MOST_TICKS:
        return values
    step = (len(values) - 1) / (MOST_TICKS - 1)
    return [values[round(place * step)] for place in range(MOST_TICKS)]
