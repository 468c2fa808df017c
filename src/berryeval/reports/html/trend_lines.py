"""The trend page: values over time by benchmark, best provider first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.numbers import known_interval
from berryeval._internal.text import pluralize
from berryeval.reports.html.svg import (
    AXIS,
    SYSTEMS,
    ZERO,
    Figure,
    assign_lanes,
    hues,
    legend,
    line_layers,
    scale_around,
)
from berryeval.reports.html.typography import value
from berryeval.reports.sections import assign_places
from berryeval.reports.trend import AREAS, break_layers, point_rows, time_labels

if TYPE_CHECKING:
    from berryeval.reports.trend import TrendLimit, TrendLine
    from berryeval.runs import TrendPoint


@dataclass(frozen=True)
class Break:
    """A point where the data, queries or number of hits changed: numbered, with the providers."""

    number: int
    moment: float
    why: str
    whose: str

    @property
    def time(self) -> str:
        """Formatted time."""
        return format_moment(self.moment)


def group_by_benchmark(lines: Sequence[TrendLine]) -> dict[str, list[TrendLine]]:
    """Group lines by benchmark, the best latest value first."""
    found: dict[str, list[TrendLine]] = {}
    for line in lines:
        found.setdefault(line.benchmark, []).append(line)
    sign = 1 if lines[0].less_is_better else -1
    return {
        name: sorted(group, key=lambda line: sign * line.values[-1])
        for name, group in found.items()
    }


def number_breaks(lines: Sequence[TrendLine]) -> list[Break]:
    """Number the breaks of all lines by time; breaks with the same cause are one."""
    whose: dict[tuple[float, str], list[str]] = {}
    for line in lines:
        for place, why in line.breaks.items():
            whose.setdefault((line.points[place].moment, why), []).append(line.provider)
    return [
        Break(number, when, why, ", ".join(dict.fromkeys(whose[when, why])))
        for number, (when, why) in enumerate(sorted(whose), start=1)
    ]


def view_lines(lines: Sequence[TrendLine]) -> list[dict[str, Any]]:
    """Return the latest value of each line, its change and its failures."""
    places = _assign_places(lines)
    return [
        {
            **_view_point(line, line.points[-1]),
            "change": None if line.change is None else _set_minus(line.format_change(line.change)),
            "runs": len(line.points),
            "place": places[line.provider],
        }
        for line in lines
    ]


def _assign_places(lines: Sequence[TrendLine]) -> dict[str, int]:
    """Return the place of each provider, which does not change with the order of their values."""
    return assign_places(sorted(line.provider for line in lines))


def view_points(lines: Sequence[TrendLine]) -> list[dict[str, Any]]:
    """Return all values by time, with remarks on failures and on values that are not comparable."""
    points = [
        (point.moment, place, line, point, line.apart.get(number, ""))
        for place, line in enumerate(lines)
        for number, point in enumerate(line.points)
    ]
    places = _assign_places(lines)
    return [
        {
            **_view_point(line, point),
            "place": places[point.provider],
            "remarks": "; ".join(filter(None, [why, _describe_failures(point)])),
        }
        for _, _, line, point, why in sorted(points, key=lambda one: one[:2])
    ]


def _view_point(line: TrendLine, point: TrendPoint) -> dict[str, Any]:
    found = point.value
    return {
        "provider": point.provider,
        "value": _format_value(line, found.value),
        "interval": known_interval(found.low, found.high, found.n),
        "time": format_moment(point.moment),
        "run": point.run,
        "failed": _describe_failures(point),
    }


def _format_value(line: TrendLine, number: float) -> str:
    return value(number) if line.about == "metric" else _set_minus(line.format_value(number))


def _set_minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def format_moment(seconds: float) -> str:
    """Format a time in UTC."""
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%d %H:%M} UTC"


def _describe_failures(point: TrendPoint) -> str:
    return f"{point.failed} of {point.value.n} queries failed" if point.failed else ""


# Charts.

_MOST_LINES: Final = len(SYSTEMS)  # in one chart
_WIDTH, _HEIGHT = 460, 220
_WIDE, _TALL = 920, 320  # of a chart alone on a desktop window
_NARROW_WIDTH: Final = 400  # of charts side by side
_MARK, _SMALL_MARK = 55, 8  # square pixels of a point
_MOST_MARKS: Final = 40  # points of a line with large marks
_LABEL_HEIGHT: Final = 13  # pixels
_NUMBER_WIDTH: Final = 16  # pixels of a break's number


def draw_trend(
    lines: Sequence[TrendLine],
    breaks: Sequence[Break],
    limits: Sequence[TrendLimit] = (),
    *,
    wide: bool = False,
) -> list[Figure]:
    """Draw the lines of a benchmark, many of them in several charts; none for a single moment.

    `limits` are level lines; `wide` charts fill a desktop window.
    """
    if len({point.moment for line in lines for point in line.points}) == 1:
        return []
    rows = [point_rows(line, line.provider) for line in lines]
    every = [row for group in rows for row in group]
    level = _limit_rows(limits, lines[0])
    ends = [
        [*(row[name] for row in every), *(one["value"] for one in level)]
        for name in ("low", "high")
    ]
    y = scale_around(*ends, fractions=lines[0].about == "metric")
    places = _assign_places(lines)
    starts = range(0, len(lines), _MOST_LINES)
    width = _WIDE if wide else _NARROW_WIDTH if len(starts) > 1 else _WIDTH
    marks = _break_marks(every, breaks, width)
    found = []
    for start in starts:
        part = lines[start : start + _MOST_LINES]
        data = [row for group in rows[start : start + _MOST_LINES] for row in group]
        shown = [line.provider for line in part]
        height = _TALL if wide else _HEIGHT
        spec = _build_spec(data, marks, y, places, shown) | {"width": width, "height": height}
        spec["layer"] = [*_limit_layers(level, y, height), *spec["layer"]]
        found.append(Figure(spec, _caption(part, start, len(lines)), _alternative(part)))
    return found


def _build_spec(
    data: list[dict[str, Any]],
    marks: list[dict[str, Any]],
    y: dict[str, Any],
    places: Mapping[str, int],
    shown: Sequence[str],
) -> dict[str, Any]:
    labeled = time_labels("utcFormat")
    times = [row["time"] for row in (*data, *marks)]
    margin = max((max(times) - min(times)) * 0.03, 1000.0)
    x = {
        "field": "time", "type": "temporal", "title": None,
        "scale": {"type": "utc", "domain": [min(times) - margin, max(times) + margin]},
        "axis": {"labelExpr": labeled, "tickCount": 6, "grid": False, "labelOverlap": True},
    }  # fmt: skip
    dense = len(data) > _MOST_MARKS * len(shown)
    height = {"type": "quantitative", "scale": y, "title": None, "axis": {"tickCount": 5}}
    guide = legend(shown)
    shared = {"x": x, "color": {"field": "line", "scale": hues(places), "legend": guide}}
    parts = {"detail": {"field": "part"}}
    span = {**shared, **parts, "y": {"field": "low", **height}, "y2": {"field": "high"}}
    at = {**shared, "y": {"field": "value", **height}}
    areas = [{"mark": {"type": "area", "opacity": 0.13}, "encoding": span}]
    rules = [{"mark": {"type": "rule", "opacity": 0.3, "strokeWidth": 2}, "encoding": span}]
    text = {"dx": 3, "fontSize": 11, "color": AXIS.light}
    return {
        "data": {"values": data},
        "layer": [
            *break_layers(marks, x, "number", color=ZERO.light, text=text, step=12),
            *(areas if dense or len(shown) <= AREAS else []),
            *([] if dense else rules),
            *line_layers(
                "line", places, guide, size=_SMALL_MARK if dense else _MARK, shared=at, line=parts
            ),
        ],
    }


def _limit_rows(limits: Sequence[TrendLimit], line: TrendLine) -> list[dict[str, Any]]:
    """Return the level lines, each value once, in the unit of the chart."""
    size = 1000 if line.about == "latency" else 1
    found = sorted({(one.value, one.kind) for one in limits}, reverse=True)
    return [
        {"value": size * value, "kind": kind, "label": f"{kind} {_format_value(line, value)}"}
        for value, kind in found
    ]


def _limit_layers(
    rows: Sequence[dict[str, Any]], y: dict[str, Any], height: int
) -> list[dict[str, Any]]:
    """Return a level line for each limit, with its name to the right of it."""
    at = {"field": "value", "type": "quantitative", "scale": y, "title": None}
    low, high = y["domain"]
    found: list[dict[str, Any]] = []
    lowest = -math.inf
    for row in rows:
        place = height * (high - row["value"]) / (high - low)
        lowest = max(place, lowest + _LABEL_HEIGHT)  # so that no two names overlap
        dash = [7, 3] if row["kind"] == "gate" else [2, 3]
        text = {"type": "text", "align": "left", "baseline": "middle", "dx": 5, "fontSize": 11}
        text |= {"dy": lowest - place, "color": AXIS.light}
        name = {"x": {"value": "width"}, "y": at, "text": {"field": "label"}}
        rule = {"type": "rule", "strokeDash": dash, "color": AXIS.light}
        found.append({
            "data": {"values": [row]},
            "layer": [{"mark": rule, "encoding": {"y": at}}, {"mark": text, "encoding": name}],
        })  # fmt: skip
    return found


def _break_marks(
    data: list[dict[str, Any]], breaks: Sequence[Break], width: int
) -> list[dict[str, Any]]:
    """Return the breaks, with the row of each number so that no two overlap."""
    times = [row["time"] for row in data]
    scale = width / max(max(times) - min(times), 1000.0)
    rows = assign_lanes([one.moment * 1000 * scale for one in breaks], _NUMBER_WIDTH)
    return [
        {"time": one.moment * 1000, "number": str(one.number), "row": row}
        for one, row in zip(breaks, rows, strict=True)
    ]


def _caption(part: Sequence[TrendLine], start: int, count: int) -> str:
    ends = " with 95 % confidence intervals" if part[0].about == "metric" else ""
    if count <= _MOST_LINES:
        return f"{part[0].title}{ends and f',{ends}'}."
    places = f"{start + 1} to {start + len(part)}" if len(part) > 1 else f"{start + 1}"
    return f"{part[0].title}{ends}: providers {places} of {count}, best first."


def _alternative(part: Sequence[TrendLine]) -> str:
    latest = "; ".join(
        f"{line.provider} {_format_value(line, line.values[-1])} after "
        f"{pluralize(len(line.points), 'run')}"
        for line in part
    )
    return f"{part[0].metric} over time on {part[0].benchmark}. Latest values: {latest}."
