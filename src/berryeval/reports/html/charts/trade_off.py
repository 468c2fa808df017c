"""Quality against latency: who is both good and fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from berryeval.reports.html.charts.figure import WIDTH, Figure, hues, legend, shapes
from berryeval.reports.html.charts.latency import LOGARITHMIC, milliseconds
from berryeval.reports.html.charts.scales import around, time_axis
from berryeval.reports.html.numbers import duration, value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.reports.html.views.speed import Speed
    from berryeval.reports.html.views.standings import Standings

__all__ = ["trade_off_chart"]


def trade_off_chart(
    standings: Standings, speeds: Sequence[Speed], labels: Sequence[str]
) -> Figure | None:
    """The chart of all systems that have both a score and a time."""
    times = {one.label: one.latency.p50 for one in speeds if one.latency is not None}
    data: list[dict[str, Any]] = [
        {"system": row.label, "ms": milliseconds(times[row.label]), **cell.ends}
        for row in standings.rows
        if row.label in times and (cell := row.cells[0]) is not None
    ]  # fmt: skip
    if not data:
        return None
    measure = standings.measures[0]
    y = {
        "type": "quantitative", "title": measure, "axis": {"tickCount": 5},
        "scale": around([one["low"] for one in data], [one["high"] for one in data]),
    }  # fmt: skip
    x = time_axis([one["ms"] for one in data]) | {"title": f"median latency in {LOGARITHMIC}"}
    guide = legend([one["system"] for one in data])
    spec = {
        "width": WIDTH,
        "height": 240,
        "data": {"values": data},
        "encoding": {
            "x": {"field": "ms", **x},
            "color": {"field": "system", "scale": hues(labels), "legend": guide},
        },
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.5},
                "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
                "encoding": {
                    "y": {"field": "value", **y},
                    "shape": {"field": "system", "scale": shapes(labels), "legend": guide},
                },
            },
        ],
    }  # fmt: skip
    words = "; ".join(
        f"{one['system']} {value(one['value'])} at {duration(times[one['system']])}" for one in data
    )
    ends = " with its 95 % interval" if any(one["low"] < one["high"] for one in data) else ""
    corner = "bottom" if standings.downwards[0] else "top"
    return Figure(
        spec,
        f"{measure}{ends} against the median latency: {corner} left is good and fast.",
        f"Quality against latency. {words}.",
    )
