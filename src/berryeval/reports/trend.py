"""Values over time as lines: one per benchmark and provider, following what was asked last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal import numbers
from berryeval._internal.files import writing
from berryeval._internal.optional import imported
from berryeval.errors import ConfigurationError, DataError
from berryeval.reports.exporters.csv import csv_text, defused
from berryeval.reports.html.svg import dashes, hues, lanes, shapes, shown_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from berryeval._internal.files import PathLike
    from berryeval.runs import TrendPoint


@dataclass(frozen=True, eq=False)
class TrendLine:
    """What a provider reached on a benchmark, run after run, the oldest first.

    Only values of runs that were asked the same (data, queries, number of hits) compare. The line
    follows those that were asked what the newest was; the others are `apart`, wherever they stand.
    """

    benchmark: str
    provider: str
    metric: str
    points: tuple[TrendPoint, ...]

    @cached_property
    def apart(self) -> dict[int, str]:
        """Which points do not compare with the newest, and why."""
        newest = self.points[-1]
        found = {place: one.differs_from(newest) for place, one in enumerate(self.points)}
        return {place: why for place, why in found.items() if why}

    @cached_property
    def followed(self) -> tuple[TrendPoint, ...]:
        """The points that compare with the newest, and the newest."""
        return tuple(one for place, one in enumerate(self.points) if place not in self.apart)

    @cached_property
    def parts(self) -> list[list[TrendPoint]]:
        """The points by what was asked: those of one part compare, whatever stands between."""
        parts: list[list[TrendPoint]] = []
        for point in self.points:
            same = (part for part in parts if not point.differs_from(part[0]))
            part = next(same, None)
            if part is None:
                parts.append([point])
            else:
                part.append(point)
        return parts

    @cached_property
    def breaks(self) -> dict[int, str]:
        """At which points something was asked for the first time, and what it is."""
        return {
            place: after.differs_from(before)
            for place, (before, after) in enumerate(pairwise(self.points), start=1)
            if any(part[0] is after for part in self.parts)
        }

    @property
    def values(self) -> list[float]:
        """The values that compare."""
        return [point.value.value for point in self.followed]

    @property
    def before(self) -> TrendPoint | None:
        """The last point that the newest compares with."""
        return self.followed[-2] if len(self.followed) > 1 else None

    @property
    def change(self) -> float | None:
        """The last value minus the one before; None if there is none to compare it with."""
        return None if self.before is None else self.values[-1] - self.before.value.value

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON, in full precision."""
        return {
            "benchmark": self.benchmark,
            "provider": self.provider,
            "metric": self.metric,
            "change": self.change,
            "change_since": None if self.before is None else self.before.run,
            "points": [
                {**_numbers(point), "not_comparable": self.apart.get(place, "")}
                for place, point in enumerate(self.points)
            ],
        }


def _numbers(point: TrendPoint) -> dict[str, Any]:
    found = point.value
    low, high = numbers.known_interval(found.low, found.high, found.n) or (None, None)
    return {
        "run": point.run,
        "created": point.created,
        "value": found.value,
        "low": low,
        "high": high,
        "n": found.n,
        "failed": point.failed,
        "content_hash": point.content_hash,
    }


def trend_lines(points: Iterable[TrendPoint]) -> list[TrendLine]:
    """The lines of these points, in the order of benchmarks and providers."""
    groups: dict[tuple[str, str, str], list[TrendPoint]] = {}
    for point in points:
        name = (point.benchmark, point.provider, point.value.metric)
        groups.setdefault(name, []).append(point)
    return [TrendLine(*name, tuple(groups[name])) for name in sorted(groups)]


# The drawing of a trend, as Vega-Lite has it.

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
    metric = lines[0].metric
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
    value = {"field": "value", "type": "quantitative", "scale": scale, "title": metric}
    low = {"field": "low", "type": "quantitative", "scale": scale, "title": metric}
    shared = {"x": x, "color": hue, "detail": {"field": "part"}}
    span = {**shared, "y": low, "y2": {"field": "high"}}
    areas = [{"mark": {"type": "area", "opacity": 0.15}, "encoding": span}]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": f"{metric} over time",
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


# The chart of a trend: SVG, a page with it, or its numbers as CSV.


def _svg(lines: Sequence[TrendLine]) -> str:
    package = imported("vl_convert", "a chart", extra="report")
    return str(package.vegalite_to_svg(shown_texts(trend_spec(lines)), allowed_base_urls=[]))


def _page(lines: Sequence[TrendLine]) -> str:
    from berryeval.reports.html.page import render_trend

    return render_trend(lines)


def _csv(lines: Sequence[TrendLine]) -> str:
    """In full precision, as a spreadsheet may open it."""
    names = ["run", "created", "value", "low", "high", "n", "failed", "content_hash"]
    names += ["not_comparable"]
    rows: list[list[str]] = [["benchmark", "provider", "metric", *names]]
    for line in lines:
        own = [line.benchmark, line.provider, line.metric]
        rows += [
            [_cell(value) for value in (*own, *(point[name] for name in names))]
            for point in line.to_dict()["points"]
        ]
    return csv_text(rows)


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    return defused(value) if isinstance(value, str) else repr(value)


# By the ending of the file's name.
CHARTS: Final[dict[str, Callable[[Sequence[TrendLine]], str]]] = {
    ".svg": _svg,
    ".html": _page,
    ".csv": _csv,
}


def write_trend(lines: Sequence[TrendLine], path: PathLike, format: str | None = None) -> None:  # noqa: A002 - its name
    """Write a chart or its numbers, all or nothing; the ending of the name says which."""
    suffix = f".{format}" if format else Path(path).suffix.lower()
    if suffix not in CHARTS:
        msg = f"{path}: expected a name that ends in {', '.join(CHARTS)}"
        raise ConfigurationError(msg)
    text = trend_text(lines, suffix[1:])
    with writing(path) as stream:
        stream.write(text.encode())


def trend_text(lines: Sequence[TrendLine], format: str) -> str:  # noqa: A002 - its name
    """The chart (svg, html) or its numbers (csv) as a text; only numbers may be none."""
    if not lines and format != "csv":
        msg = f"no such run has a value, and {format} would show nothing; csv tells of none"
        raise DataError(msg)
    return CHARTS[f".{format}"](lines)
