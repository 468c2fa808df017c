"""The drawing of a trend, as Vega-Lite has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval.reports import numbers
from berryeval.reports.html.charts.figure import dashes, hues, shapes
from berryeval.reports.html.charts.scales import lanes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.reports.trend import TrendLine

__all__ = ["trend_spec"]

_WIDTH, _HEIGHT = 640, 260
_LEGEND_LETTERS: Final = 40
_FEW_LINES: Final = 3  # whose intervals are seen as areas
_WORDS: Final = 150  # pixels that the reason of a break takes
_GREY: Final = "#6b6471"
_HALF_A_DAY: Final = 12 * 3600
# As precise as the tick is: a year, a day, or a time of 24 hours.
_TIMES: Final = (
    "timeFormat(datum.value, {year: '%Y', quarter: '%b %Y', month: '%b %Y', week: '%d %b', "
    "date: '%d %b', day: '%d %b', hours: '%H:%M', minutes: '%H:%M', seconds: '%H:%M:%S'})"
)


def trend_spec(lines: Sequence[TrendLine]) -> dict[str, Any]:
    """A line per provider with its intervals; it ends, and is marked, where nothing compares."""
    measure = lines[0].measure
    scale = {"zero": False}
    x = {
        "field": "time",
        "type": "temporal",
        "title": None,
        "axis": {"labelExpr": _TIMES, "tickCount": 8},
        "scale": _times(lines),
    }
    names = [_name(line) for line in lines]
    hue = {
        "field": "line", "type": "nominal", "title": None, "legend": _legend(names),
        "scale": hues(names),
    }  # fmt: skip
    dash = {"field": "line", "scale": dashes(names), "legend": None}
    shape = {"field": "line", "title": None, "legend": _legend(names), "scale": shapes(names)}
    value = {"field": "value", "type": "quantitative", "scale": scale, "title": measure}
    low = {"field": "low", "type": "quantitative", "scale": scale, "title": measure}
    shared = {"x": x, "color": hue, "detail": {"field": "part"}}
    span = {**shared, "y": low, "y2": {"field": "high"}}
    areas = [{"mark": {"type": "area", "opacity": 0.15}, "encoding": span}]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": f"{measure} over time",
        "width": _WIDTH,
        "height": _HEIGHT,
        "padding": {"left": 5, "top": 5, "right": 45, "bottom": 5},  # letters may be wider
        "data": {"values": _points(lines)},
        "layer": [
            *(areas if len(lines) <= _FEW_LINES else []),
            # An area of one point has no width: a rule shows its interval.
            {"mark": {"type": "rule", "opacity": 0.35, "strokeWidth": 3}, "encoding": span},
            {
                "mark": {"type": "line", "point": True},
                "encoding": {**shared, "y": value, "strokeDash": dash, "shape": shape},
            },
            *_breaks(lines, x),
        ],
    }


def _times(lines: Sequence[TrendLine]) -> dict[str, Any]:
    """The scale of time; one moment alone has no breadth, and is shown within its day."""
    moments = {point.moment for line in lines for point in line.points}
    if len(moments) > 1:
        return {}
    (moment,) = moments
    return {"domain": [1000 * (moment - _HALF_A_DAY), 1000 * (moment + _HALF_A_DAY)]}


def _name(line: TrendLine) -> str:
    return f"{line.provider} on {line.benchmark}"


def _legend(names: Sequence[str]) -> dict[str, Any]:
    """Below the chart, in as many columns as there is room for."""
    longest = min(max(map(len, names)), _LEGEND_LETTERS)
    return {
        "orient": "bottom", "symbolOpacity": 1, "symbolDash": [1, 0], "symbolStrokeWidth": 0,
        "columnPadding": 35, "columns": max(1, _WIDTH // (longest * 7 + 40)),
        "labelLimit": _LEGEND_LETTERS * 6,
    }  # fmt: skip


def _points(lines: Sequence[TrendLine]) -> list[dict[str, Any]]:
    rows = []
    for line in lines:
        name = _name(line)
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
    moments = [point.moment for line in lines for point in line.points]
    scale = _WIDTH / max(max(moments) - min(moments), 1.0)
    marks = sorted(found)
    rows = lanes([moment * scale for moment, _ in marks], _WORDS)
    values = [
        {"time": moment * 1000, "why": why, "row": row}
        for (moment, why), row in zip(marks, rows, strict=True)
    ]
    words = {"type": "text", "align": "left", "baseline": "top", "dx": 4, "color": _GREY}
    return [
        {
            "data": {"values": values},
            "mark": {"type": "rule", "strokeDash": [4, 3], "color": _GREY},
            "encoding": {"x": x},
        },
        *(
            {
                "data": {"values": [one for one in values if one["row"] == row]},
                "mark": {**words, "fontSize": 10, "limit": _WORDS - 10, "dy": 11 * row},
                "encoding": {"x": x, "y": {"value": 0}, "text": {"field": "why"}},
            }
            for row in sorted(set(rows))
        ),
    ]
