"""Values over time: one line per benchmark and provider, as SVG, HTML or CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from berryeval._internal import numbers
from berryeval._internal.files import replace_file
from berryeval._internal.optional import import_optional
from berryeval._internal.text import defuse
from berryeval.errors import ConfigurationError, DataError
from berryeval.metrics import direction_of
from berryeval.reports.exporters.csv import format_csv
from berryeval.reports.html.svg import DASHES, SHAPES, assign_lanes, clean_texts, cycle, hues
from berryeval.reports.sections import assign_places

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.runs import TrendAbout, TrendPoint


@dataclass(frozen=True, eq=False)
class TrendLine:
    """Values of a provider on a benchmark, run by run, oldest first.

    Values are comparable if the same queries were asked for the same number of hits; where data
    changed, some queries must be the same. The line follows the runs that are comparable with the
    newest; all others are `apart`.
    """

    benchmark: str
    provider: str
    metric: str
    points: tuple[TrendPoint, ...]

    @property
    def about(self) -> TrendAbout:
        """Whether the line follows a metric, a latency or a cost."""
        followed = self.points[0].followed
        return "metric" if followed is None else followed.about

    @property
    def title(self) -> str:
        """What the line follows, with the unit that people read."""
        return f"{self.metric} in ms" if self.about == "latency" else self.metric

    @property
    def less_is_better(self) -> bool:
        """Whether a lower value is better."""
        return self.about != "metric" or direction_of(self.metric) == "down"

    def format_value(self, value: float) -> str:
        """Format a value for people: a metric, milliseconds, or an amount."""
        if self.about == "latency":
            return f"{numbers.format_milliseconds(value)} ms"
        return (numbers.format_amount if self.about == "cost" else numbers.format_metric)(value)

    def format_change(self, change: float) -> str:
        """Format a difference of values, with its sign."""
        if self.about == "metric":
            return numbers.format_delta(change)
        text = self.format_value(change)
        return f"+{text}" if float(text.split()[0]) > 0 else text

    @cached_property
    def apart(self) -> dict[int, str]:
        """Positions of points that are not comparable with the newest, and why."""
        newest = self.points[-1]
        found = {place: newest.differs_from(one) for place, one in enumerate(self.points)}
        return {place: reason for place, reason in found.items() if reason}

    @cached_property
    def followed(self) -> tuple[TrendPoint, ...]:
        """Points comparable with the newest, including the newest."""
        return tuple(one for place, one in enumerate(self.points) if place not in self.apart)

    @cached_property
    def parts(self) -> list[list[TrendPoint]]:
        """Points grouped so that those of one part are comparable."""
        parts: list[list[TrendPoint]] = []
        for point in self.points:
            same = (part for part in parts if not point.differs_from(part[-1]))
            part = next(same, None)
            if part is None:
                parts.append([point])
            else:
                part.append(point)
        return parts

    @cached_property
    def data_changes(self) -> dict[int, str]:
        """Positions of points on other data than the comparable point before, and what changed."""
        found = {}
        for part in self.parts:
            for before, after in pairwise(part):
                change = after.change_since(before)
                if change is not None:
                    place = next(n for n, one in enumerate(self.points) if one is after)
                    what = "data" if change.changed or change.new or change.removed else "documents"
                    found[place] = f"the {what} changed: {change.describe(word='the same')}"
        return dict(sorted(found.items()))

    @cached_property
    def breaks(self) -> dict[int, str]:
        """Positions of points that begin a new part, or that have other data, and what changed."""
        apart = {
            place: after.differs_from(before)
            for place, (before, after) in enumerate(pairwise(self.points), start=1)
            if any(part[0] is after for part in self.parts)
        }
        return {**self.data_changes, **apart}

    @property
    def values(self) -> list[float]:
        """Comparable values."""
        return [point.value.value for point in self.followed]

    @property
    def before(self) -> TrendPoint | None:
        """Last point before the newest that is comparable with it, if any."""
        return self.followed[-2] if len(self.followed) > 1 else None

    @property
    def change(self) -> float | None:
        """Newest value minus the one before, if any; over the queries that are the same in both."""
        if self.before is None:
            return None
        shared = self.points[-1].since
        if shared is not None and shared.run == self.before.run:
            return shared.after - shared.before
        return self.values[-1] - self.before.value.value

    @property
    def change_over(self) -> int | None:
        """Number of queries that the change is over, if the data changed."""
        shared = self.points[-1].since
        return None if shared is None or self.change is None else shared.n

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON object, in full precision."""
        return {
            "benchmark": self.benchmark,
            "provider": self.provider,
            "about": self.about,
            "metric": self.metric,
            "change": self.change,
            "change_since": None if self.before is None else self.before.run,
            "change_over": self.change_over,
            "points": [
                {
                    **_point_data(point),
                    "not_comparable": self.apart.get(place, ""),
                    "data_changed": self.data_changes.get(place, ""),
                }
                for place, point in enumerate(self.points)
            ],
        }


@dataclass(frozen=True)
class TrendLimit:
    """A value that a trend is measured against: the limit of a gate, or the value of a baseline."""

    benchmark: str
    provider: str
    kind: Literal["gate", "baseline"]
    value: float
    words: str


def _point_data(point: TrendPoint) -> dict[str, Any]:
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


def build_trend_lines(points: Iterable[TrendPoint]) -> list[TrendLine]:
    """Group points into lines, sorted by benchmark and provider."""
    groups: dict[tuple[str, str, str], list[TrendPoint]] = {}
    for point in points:
        name = (point.benchmark, point.provider, point.value.metric)
        groups.setdefault(name, []).append(point)
    return [TrendLine(*name, tuple(groups[name])) for name in sorted(groups)]


# Parts of Vega-Lite charts, shared with the HTML page.

AREAS: Final = 3  # most lines whose intervals are drawn as areas


def point_rows(line: TrendLine, name: str) -> list[dict[str, Any]]:
    """Return the chart data of a line; each of its parts is drawn separately."""
    rows = []
    for number, part in enumerate(line.parts):
        for point in part:
            found = point.value
            ends = numbers.known_interval(found.low, found.high, found.n)
            low, high = ends or (found.value, found.value)
            size = 1000 if line.about == "latency" else 1
            rows.append({
                "time": point.moment * 1000, "value": size * found.value,
                "low": size * low, "high": size * high,
                "line": name, "part": f"{name} {number}", "run": point.run,
            })  # fmt: skip
    return rows


def time_labels(function: str) -> str:
    """Return a label expression as precise as the tick: a year, a day, or a 24 hour time."""
    return (
        f"{function}(datum.value, {{year: '%Y', quarter: '%b %Y', month: '%b %Y', week: '%d %b', "
        "date: '%d %b', day: '%d %b', hours: '%H:%M', minutes: '%H:%M', seconds: '%H:%M:%S'})"
    )


def break_layers(
    marks: Sequence[dict[str, Any]],
    x: dict[str, Any],
    field: str,
    *,
    color: str,
    text: dict[str, Any],
    step: int,
) -> list[dict[str, Any]]:
    """Return a dashed line for each break and its text, in rows so that texts do not overlap."""
    if not marks:
        return []
    rule = {
        "data": {"values": list(marks)},
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": color},
        "encoding": {"x": x},
    }
    texts = [
        {
            "data": {"values": [mark for mark in marks if mark["row"] == row]},
            "mark": {"type": "text", "align": "left", "baseline": "top", **text, "dy": step * row},
            "encoding": {"x": x, "y": {"value": 0}, "text": {"field": field}},
        }
        for row in sorted({mark["row"] for mark in marks})
    ]
    return [rule, *texts]


# The stand-alone SVG chart.

_WIDTH, _HEIGHT = 640, 260
_LEGEND_LETTERS: Final = 40
_REASON_WIDTH: Final = 150  # pixels
_GREY: Final = "#6b6471"
_HALF_A_DAY: Final = 12 * 3600


def build_trend_spec(lines: Sequence[TrendLine]) -> dict[str, Any]:
    """Build the Vega-Lite chart: a line per provider with confidence intervals and breaks."""
    title = lines[0].title
    x = {
        "field": "time", "type": "temporal", "title": None, "scale": _time_scale(lines),
        "axis": {"labelExpr": time_labels("timeFormat"), "tickCount": 8},
    }  # fmt: skip
    names = [_name(line) for line in lines]
    places = assign_places(names)
    hue = {
        "field": "line", "type": "nominal", "title": None, "legend": _legend(names),
        "scale": hues(places),
    }  # fmt: skip
    dash = {"field": "line", "scale": cycle(DASHES, places), "legend": None}
    shape = {
        "field": "line",
        "title": None,
        "legend": _legend(names),
        "scale": cycle(SHAPES, places),
    }
    y = {"type": "quantitative", "scale": {"zero": False}, "title": title}
    shared = {"x": x, "color": hue, "detail": {"field": "part"}}
    span = {**shared, "y": {"field": "low", **y}, "y2": {"field": "high"}}
    areas = [{"mark": {"type": "area", "opacity": 0.15}, "encoding": span}]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": f"{title} over time",
        "width": _WIDTH,
        "height": _HEIGHT,
        "padding": {"left": 5, "top": 5, "right": 45, "bottom": 5},  # for fonts with wider letters
        "data": {"values": [row for line in lines for row in point_rows(line, _name(line))]},
        "layer": [
            *(areas if len(lines) <= AREAS else []),
            # An area of one point has no width: a rule shows its interval.
            {"mark": {"type": "rule", "opacity": 0.35, "strokeWidth": 3}, "encoding": span},
            {
                "mark": {"type": "line", "point": True},
                "encoding": {
                    **shared, "y": {"field": "value", **y}, "strokeDash": dash, "shape": shape,
                },
            },
            *_reason_layers(lines, x),
        ],
    }  # fmt: skip


def _time_scale(lines: Sequence[TrendLine]) -> dict[str, Any]:
    """Return the time scale; a single moment is shown within its day."""
    moments = {point.moment for line in lines for point in line.points}
    if len(moments) > 1:
        return {}
    (moment,) = moments
    return {"domain": [1000 * (moment - _HALF_A_DAY), 1000 * (moment + _HALF_A_DAY)]}


def _name(line: TrendLine) -> str:
    return f"{line.provider} on {line.benchmark}"


def _legend(names: Sequence[str]) -> dict[str, Any]:
    longest = min(max(map(len, names)), _LEGEND_LETTERS)
    return {
        "orient": "bottom", "symbolOpacity": 1, "symbolDash": [1, 0], "symbolStrokeWidth": 0,
        "columnPadding": 35, "columns": max(1, _WIDTH // (longest * 7 + 40)),
        "labelLimit": _LEGEND_LETTERS * 6,
    }  # fmt: skip


def _reason_layers(lines: Sequence[TrendLine], x: dict[str, Any]) -> list[dict[str, Any]]:
    breaks = sorted({
        (line.points[place].moment, reason)
        for line in lines
        for place, reason in line.breaks.items()
    })  # fmt: skip
    moments = [point.moment for line in lines for point in line.points]
    scale = _WIDTH / max(max(moments) - min(moments), 1.0)
    rows = assign_lanes([moment * scale for moment, _ in breaks], _REASON_WIDTH)
    marks = [
        {"time": moment * 1000, "why": reason, "row": row}
        for (moment, reason), row in zip(breaks, rows, strict=True)
    ]
    text = {"dx": 4, "color": _GREY, "fontSize": 10, "limit": _REASON_WIDTH - 10}
    return break_layers(marks, x, "why", color=_GREY, text=text, step=11)


# Output.


def _render_svg(lines: Sequence[TrendLine]) -> str:
    package = import_optional("vl_convert", "a chart", extra="report")
    return str(package.vegalite_to_svg(clean_texts(build_trend_spec(lines)), allowed_base_urls=[]))


def _render_page(lines: Sequence[TrendLine]) -> str:
    from berryeval.reports.html.page import render_trend_page

    return render_trend_page(lines)


def _render_csv(lines: Sequence[TrendLine]) -> str:
    names = ["run", "created", "value", "low", "high", "n", "failed", "content_hash"]
    names += ["not_comparable", "data_changed"]
    rows: list[list[str]] = [["benchmark", "provider", "metric", *names]]
    for line in lines:
        own = [line.benchmark, line.provider, line.metric]
        rows += [
            [_format_cell(value) for value in (*own, *(point[name] for name in names))]
            for point in line.to_dict()["points"]
        ]
    return format_csv(rows)


def _format_cell(value: str | float | None) -> str:
    if value is None:
        return ""
    return defuse(value) if isinstance(value, str) else repr(value)


# By file name ending.
CHARTS: Final[dict[str, Callable[[Sequence[TrendLine]], str]]] = {
    ".svg": _render_svg,
    ".html": _render_page,
    ".csv": _render_csv,
}


def write_trend(lines: Sequence[TrendLine], path: PathLike, format: str | None = None) -> None:  # noqa: A002 - its name
    """Write a trend as SVG, HTML or CSV; the file name ending is the default format."""
    suffix = f".{format}" if format else Path(path).suffix.lower()
    if suffix not in CHARTS:
        raise ConfigurationError(f"{path}: expected a name that ends in {', '.join(CHARTS)}")
    text = render_trend(lines, suffix[1:])
    with replace_file(path) as stream:
        stream.write(text.encode())


def render_trend(lines: Sequence[TrendLine], format: str) -> str:  # noqa: A002 - its name
    """Render a trend as "svg", "html" or "csv"; only CSV may be empty."""
    if not lines and format != "csv":
        raise DataError(
            f"no run has a value, so there is nothing to draw as {format}; csv may be empty"
        )
    return CHARTS[f".{format}"](lines)
