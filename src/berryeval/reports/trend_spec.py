"""The drawing of a trend, as Vega-Lite has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.reports.trend import TrendLine

__all__ = ["trend_spec"]

_WIDTH, _HEIGHT = 640, 260
_GREY: Final = "#6b6471"
# As precise as the tick is: a year, a day, or a time of 24 hours.
_TIMES: Final = (
    "timeFormat(datum.value, {year: '%Y', quarter: '%b %Y', month: '%b %Y', week: '%d %b', "
    "date: '%d %b', day: '%d %b', hours: '%H:%M', minutes: '%H:%M', seconds: '%H:%M:%S'})"
)


def trend_spec(lines: Sequence[TrendLine]) -> dict[str, Any]:
    """A line per provider with its intervals; it ends, and is marked, where nothing compares."""
    measure = lines[0].measure
    scale = {"zero": False}
    x = {"field": "time", "type": "temporal", "title": None, "axis": {"labelExpr": _TIMES}}
    legend = {"orient": "bottom", "symbolOpacity": 1}
    hue = {"field": "line", "type": "nominal", "title": None, "legend": legend}
    value = {"field": "value", "type": "quantitative", "scale": scale, "title": measure}
    low = {"field": "low", "type": "quantitative", "scale": scale, "title": measure}
    shared = {"x": x, "color": hue, "detail": {"field": "part"}}
    span = {**shared, "y": low, "y2": {"field": "high"}}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": f"{measure} over time",
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": _points(lines)},
        "layer": [
            {"mark": {"type": "area", "opacity": 0.15}, "encoding": span},
            # An area of one point has no width: a rule shows its interval.
            {"mark": {"type": "rule", "opacity": 0.35, "strokeWidth": 3}, "encoding": span},
            {"mark": {"type": "line", "point": True}, "encoding": {**shared, "y": value}},
            *_breaks(lines, x),
        ],
    }


def _points(lines: Sequence[TrendLine]) -> list[dict[str, Any]]:
    rows = []
    for line in lines:
        name = f"{line.provider} on {line.benchmark}"
        for number, part in enumerate(line.parts):
            for point in part:
                found = point.value
                ends = numbers.known_interval(found.low, found.high, found.n)
                low, high = ends or (found.value, found.value)
                row = {"time": point.moment * 1000, "value": found.value, "low": low, "high": high}
                rows.append({**row, "line": name, "part": f"{name} {number}", "run": point.run})
    return rows


def _breaks(lines: Sequence[TrendLine], x: dict[str, Any]) -> list[dict[str, Any]]:
    """A line down the chart at each point that compares with nothing before, and why."""
    found = {
        (line.points[place].moment, why): None
        for line in lines
        for place, why in line.breaks.items()
    }
    if not found:
        return []
    data = {"values": [{"time": moment * 1000, "why": why} for moment, why in found]}
    words = {"type": "text", "align": "left", "baseline": "top", "dx": 4, "color": _GREY}
    return [
        {
            "data": data,
            "mark": {"type": "rule", "strokeDash": [4, 3], "color": _GREY},
            "encoding": {"x": x},
        },
        {
            "data": data,
            "mark": {**words, "fontSize": 10, "limit": 140},
            "encoding": {"x": x, "y": {"value": 0}, "text": {"field": "why"}},
        },
    ]
