"""Values over time for people: benchmark by benchmark, the best provider first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.numbers import known_interval
from berryeval._internal.text import counted
from berryeval.metrics import direction_of
from berryeval.reports.html.svg import (
    AXIS,
    SYSTEMS,
    ZERO,
    Figure,
    around,
    dashes,
    hues,
    lanes,
    legend,
    shapes,
)
from berryeval.reports.html.words import value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval._internal.intervals import Interval
    from berryeval.reports.trend import TrendLine
    from berryeval.runs import TrendPoint


@dataclass(frozen=True)
class Break:
    """Where something else was asked: its number in the chart, when, what it is, whose."""

    number: int
    moment: float
    why: str
    whose: str

    @property
    def time(self) -> str:
        """When."""
        return moment(self.moment)


@dataclass(frozen=True)
class PointView:
    """A value of a run; `place` decides the colour of its provider.

    The remarks say why it does not compare with the latest, and what failed.
    """

    place: int
    provider: str
    value: float
    interval: Interval | None
    time: str
    run: str
    remarks: str


@dataclass(frozen=True)
class LineView:
    """The latest value of a provider, how it changed, and what failed."""

    provider: str
    value: float
    interval: Interval | None
    change: float | None
    runs: int
    time: str
    failed: str


def by_benchmark(lines: Sequence[TrendLine]) -> dict[str, list[TrendLine]]:
    """The lines of each benchmark, that of the best latest value first."""
    found: dict[str, list[TrendLine]] = {}
    for line in lines:
        found.setdefault(line.benchmark, []).append(line)
    sign = 1 if direction_of(lines[0].metric) == "down" else -1
    return {
        name: sorted(group, key=lambda line: sign * line.values[-1])
        for name, group in found.items()
    }


def breaks_of(lines: Sequence[TrendLine]) -> list[Break]:
    """The breaks of all lines, numbered in the order of time; those of one cause are one."""
    whose: dict[tuple[float, str], list[str]] = {}
    for line in lines:
        for place, why in line.breaks.items():
            whose.setdefault((line.points[place].moment, why), []).append(line.provider)
    return [
        Break(number, when, why, ", ".join(dict.fromkeys(whose[when, why])))
        for number, (when, why) in enumerate(sorted(whose), start=1)
    ]


def views_of(lines: Sequence[TrendLine]) -> tuple[list[LineView], list[PointView]]:
    """The latest value of each line, and all values in the order of time."""
    latest = [
        LineView(
            line.provider, line.values[-1], _interval(line.points[-1]), line.change,
            len(line.points), moment(line.points[-1].moment), _failures(line.points[-1]),
        )
        for line in lines
    ]  # fmt: skip
    points = [
        (point.moment, place, point, line.apart.get(number, ""))
        for place, line in enumerate(lines)
        for number, point in enumerate(line.points)
    ]
    return (
        latest,
        [
            PointView(
                place,
                point.provider,
                point.value.value,
                _interval(point),
                moment(when),
                point.run,
                "; ".join(filter(None, [why, _failures(point)])),
            )
            for when, place, point, why in sorted(points, key=lambda one: one[:2])
        ],
    )


def moment(seconds: float) -> str:
    """A time as people write it."""
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%d %H:%M} UTC"


def _failures(point: TrendPoint) -> str:
    return f"{point.failed} of {point.value.n} queries failed" if point.failed else ""


def _interval(point: TrendPoint) -> Interval | None:
    return known_interval(point.value.low, point.value.high, point.value.n)


# Values over time: a line per provider, which ends where nothing compares.

_MOST_LINES: Final = len(SYSTEMS)  # in one chart
_FEW_LINES: Final = 3  # whose intervals are seen as areas
_WIDTH: Final = 460
_BESIDE: Final = 400  # where charts stand side by side
_NUMBER: Final = 16  # pixels that the number of a break takes
# As precise as the tick is: a year, a day, or a time of 24 hours.
_TIMES: Final = (
    "utcFormat(datum.value, {year: '%Y', quarter: '%b %Y', month: '%b %Y', week: '%d %b', "
    "date: '%d %b', day: '%d %b', hours: '%H:%M', minutes: '%H:%M', seconds: '%H:%M:%S'})"
)


def trend_figures(lines: Sequence[TrendLine], breaks: Sequence[Break]) -> list[Figure]:
    """A chart of the lines of a benchmark; of very many, several with the same axes.

    There is none of one moment: it is no trend.
    """
    if len({point.moment for line in lines for point in line.points}) == 1:
        return []
    rows = [_rows(line) for line in lines]
    every = [row for group in rows for row in group]
    y = around([row["low"] for row in every], [row["high"] for row in every])
    labels = [line.provider for line in lines]
    starts = range(0, len(lines), _MOST_LINES)
    width = _BESIDE if len(starts) > 1 else _WIDTH
    marks = _marks(every, breaks, width)
    found = []
    for start in starts:
        part = lines[start : start + _MOST_LINES]
        data = [row for group in rows[start : start + _MOST_LINES] for row in group]
        shown = [line.provider for line in part]
        spec = _spec(data, marks, y, labels, shown) | {"width": width}
        found.append(Figure(spec, _caption(part, start, len(lines)), _words(part)))
    return found


def _rows(line: TrendLine) -> list[dict[str, Any]]:
    rows = []
    for number, part in enumerate(line.parts):
        for point in part:
            one = point.value
            ends = known_interval(one.low, one.high, one.n) or (one.value, one.value)
            rows.append({
                "time": point.moment * 1000, "value": one.value, "low": ends[0], "high": ends[1],
                "line": line.provider, "part": f"{line.provider} {number}",
            })  # fmt: skip
    return rows


def _spec(
    data: list[dict[str, Any]],
    marks: list[dict[str, Any]],
    y: dict[str, Any],
    labels: Sequence[str],
    shown: Sequence[str],
) -> dict[str, Any]:
    x = {
        "field": "time", "type": "temporal", "title": None,
        "scale": {"type": "utc", "domain": _span(data, marks)},
        "axis": {"labelExpr": _TIMES, "tickCount": 6, "grid": False, "labelOverlap": True},
    }  # fmt: skip
    height = {"type": "quantitative", "scale": y, "title": None, "axis": {"tickCount": 5}}
    guide = legend(shown)
    shared = {"x": x, "color": {"field": "line", "scale": hues(labels), "legend": guide}}
    parts = {"detail": {"field": "part"}}
    span = {**shared, **parts, "y": {"field": "low", **height}, "y2": {"field": "high"}}
    at = {**shared, "y": {"field": "value", **height}}
    areas = [{"mark": {"type": "area", "opacity": 0.13}, "encoding": span}]
    return {
        "height": 220,
        "data": {"values": data},
        "layer": [
            *_break_layers(marks, x),
            *(areas if len(shown) <= _FEW_LINES else []),
            {"mark": {"type": "rule", "opacity": 0.3, "strokeWidth": 2}, "encoding": span},
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    **at, **parts,
                    "strokeDash": {"field": "line", "scale": dashes(labels), "legend": None},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
                "encoding": {
                    **at,
                    "shape": {"field": "line", "scale": shapes(labels), "legend": guide},
                },
            },
        ],
    }  # fmt: skip


def _span(data: list[dict[str, Any]], marks: list[dict[str, Any]]) -> list[float]:
    """From the first time to the last, with some room."""
    times = [row["time"] for row in (*data, *marks)]
    room = max((max(times) - min(times)) * 0.03, 1000.0)
    return [min(times) - room, max(times) + room]


def _marks(data: list[dict[str, Any]], breaks: Sequence[Break], width: int) -> list[dict[str, Any]]:
    """The breaks, with the row in which each number stands, so that no two are over each other."""
    times = [row["time"] for row in data]
    scale = width / max(max(times) - min(times), 1000.0)
    rows = lanes([one.moment * 1000 * scale for one in breaks], _NUMBER)
    return [
        {"time": one.moment * 1000, "number": str(one.number), "row": row}
        for one, row in zip(breaks, rows, strict=True)
    ]


def _break_layers(marks: list[dict[str, Any]], x: dict[str, Any]) -> list[dict[str, Any]]:
    if not marks:
        return []
    words = {"type": "text", "align": "left", "baseline": "top", "dx": 3, "fontSize": 11}
    rule = {
        "data": {"values": marks},
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": ZERO.light},
        "encoding": {"x": x},
    }
    rows = sorted({mark["row"] for mark in marks})
    return [
        rule,
        *(
            {
                "data": {"values": [mark for mark in marks if mark["row"] == row]},
                "mark": {**words, "color": AXIS.light, "dy": 12 * row},
                "encoding": {"x": x, "y": {"value": 0}, "text": {"field": "number"}},
            }
            for row in rows
        ),
    ]


def _caption(part: Sequence[TrendLine], start: int, count: int) -> str:
    if count <= _MOST_LINES:
        return f"{part[0].metric}, with 95 % intervals."
    places = f"{start + 1} to {start + len(part)}" if len(part) > 1 else f"{start + 1}"
    return f"{part[0].metric} with 95 % intervals: providers {places} of {count}, the best first."


def _words(part: Sequence[TrendLine]) -> str:
    told = "; ".join(
        f"{line.provider} {value(line.values[-1])} after {counted(len(line.points), 'run')}"
        for line in part
    )
    return f"{part[0].metric} over time on {part[0].benchmark}. The latest values: {told}."
