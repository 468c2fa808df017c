"""Charts of the page: colors, axes and scales, and drawing Vega-Lite as safe SVG."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from xml.etree import ElementTree as ET

from berryeval._internal.optional import import_optional
from berryeval.errors import MissingDependencyError
from berryeval.reports.html.typography import clean

if TYPE_CHECKING:
    from markupsafe import Markup


# Colors.


class Color(NamedTuple):
    """A color on a light and on a dark page."""

    light: str
    dark: str


INK: Final = Color("#2b2730", "#e9e4ec")
AXIS: Final = Color("#6b6471", "#a59dab")
GRID: Final = Color("#e7e2e9", "#39333e")
ZERO: Final = Color("#8c8492", "#857c8c")

# Distinct for color-blind readers too; shapes and dashes repeat the distinction. The numbers 8, 7
# and 5 have no common divisor, so that systems beyond the eighth still look different.
SYSTEMS: Final = (
    Color("#1f66ad", "#6db1ee"), Color("#c0530a", "#f29a54"),
    Color("#0e7c66", "#43c9aa"), Color("#8a3c90", "#d18cd6"),
    Color("#6f6200", "#d8c53f"), Color("#5a6570", "#aab6c2"),
    Color("#a32c3f", "#f2848f"), Color("#1b7e9c", "#73d3ea"),
)  # fmt: skip
SHAPES: Final = (
    "circle", "square", "triangle-up", "diamond",
    "cross", "triangle-down", "triangle-right",
)  # fmt: skip
DASHES: Final = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4])

# Low to high, in seven steps.
RAMP: Final = (
    Color("#f8f0f5", "#2a222c"), Color("#f0dce8", "#402b3b"),
    Color("#e7c6d9", "#59344d"), Color("#dcaac6", "#743f62"),
    Color("#cc86ae", "#914b79"), Color("#a24a7b", "#c277a4"),
    Color("#74265a", "#eda6cd"),
)  # fmt: skip
ON_PALE: Final = Color("#2b2731", "#f4eff6")
ON_DEEP: Final = Color("#fffeff", "#1d1520")

_CHART_COLORS: Final = (INK, AXIS, GRID, ZERO, *SYSTEMS, *RAMP, ON_PALE, ON_DEEP)


def chart_rules(within: str = ".chart") -> str:
    """Return the style rules for charts on a dark page, `within` elements of this class."""
    return "\n".join(
        f'{within} [{part}="{color.light}"] {{ {part}: {color.dark} }}'
        for color in _CHART_COLORS
        for part in ("fill", "stroke")
    )


def system_rules(*, dark: bool) -> str:
    """Return the style rules for the mark beside the name of each system."""
    return "\n".join(
        f".sys-{place} {{ --mark: {color.dark if dark else color.light} }}"
        for place, color in enumerate(SYSTEMS)
    )


# Axes and scales.

WIDTH: Final = 400  # between the axes; a phone shows it with hardly smaller letters
_LEAST_TICKS: Final = 3
_MOST_TICKS: Final = 7
_STEPS: Final = ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7))  # within a power of ten
_LEAST_SPAN: Final = 0.1  # of an axis of values: less would exaggerate small differences


def time_axis(times: Iterable[float]) -> dict[str, Any]:
    """Return a logarithmic axis of milliseconds with round ticks, and some room at both ends."""
    times = list(times)
    low, high = min(times) / 1.15, max(times) * 1.15
    return {
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {"values": _round_ticks(low, high), "format": "~g"},
    }


def _round_ticks(low: float, high: float) -> list[float]:
    """Return round numbers within powers of ten, or evenly spaced ones for a short axis."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    best: list[float] = []
    for steps in _STEPS:
        found = [float(f"{step}e{power}") for power in powers for step in steps]
        found = [one for one in found if low <= one <= high]
        if len(found) > _MOST_TICKS:
            break
        best = found
    return best if len(best) >= _LEAST_TICKS else _even_ticks(low, high)


def _even_ticks(low: float, high: float) -> list[float]:
    """Return three to seven multiples of 1, 2 or 5 times a power of ten."""
    size = 10.0 ** math.floor(math.log10((high - low) / _LEAST_TICKS))
    found: list[float] = []
    for step in (5 * size, 2 * size, size):
        places = range(math.ceil(low / step), math.floor(high / step) + 1)
        found = [float(f"{place * step:.6g}") for place in places]
        if len(found) >= _LEAST_TICKS:
            break
    return found


def assign_lanes(places: Iterable[float], width: float) -> list[int]:
    """Return a row for each text, starting at `places`, so that no two texts overlap.

    >>> assign_lanes([0, 10, 30, 31], 20)
    [0, 1, 0, 1]
    """
    ends: list[float] = []
    found = []
    for place in places:
        row = next((number for number, end in enumerate(ends) if end <= place), len(ends))
        ends[row : row + 1] = [place + width]
        found.append(row)
    return found


def scale_around(
    lows: Iterable[float], highs: Iterable[float], *, fractions: bool = True
) -> dict[str, Any]:
    """Return a scale with a margin around the values; fractions stay between 0 and 1."""
    low, high = min(lows), max(highs)
    is_fraction = fractions and low >= 0 and high <= 1
    least = _LEAST_SPAN if is_fraction else abs(high) * _LEAST_SPAN or 1.0
    room = max((high - low) * 0.08, (least - (high - low)) / 2)
    low, high = low - room, high + room
    if is_fraction:
        low, high = max(low, 0.0), min(high, 1.0)
    return {"domain": [low, high], "nice": False, "zero": False}


def sample_evenly(values: list[float], most: int) -> list[float]:
    """Return all values, or `most` of them evenly spaced."""
    if len(values) <= most:
        return values
    step = (len(values) - 1) / (most - 1)
    return [values[round(place * step)] for place in range(most)]


def hues(places: Mapping[str, int]) -> dict[str, Any]:
    """Return the scale of system colors, the same in all charts."""
    return cycle([one.light for one in SYSTEMS], places)


def cycle(values: Sequence[Any], places: Mapping[str, int]) -> dict[str, Any]:
    """Return the scale that gives each system the value of its place, in turn."""
    return {
        "domain": list(places),
        "range": [values[place % len(values)] for place in places.values()],
    }


def line_layers(
    field: str,
    places: Mapping[str, int],
    guide: dict[str, Any],
    *,
    size: int,
    shared: dict[str, Any] | None = None,
    line: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Return a layer of lines (with the encoding `line` as well) and a layer of points."""
    dash = {"field": field, "scale": cycle(DASHES, places), "legend": None}
    shape = {"field": field, "scale": cycle(SHAPES, places), "legend": guide}
    return [
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {**(shared or {}), **(line or {}), "strokeDash": dash},
        },
        {
            "mark": {"type": "point", "filled": True, "size": size, "opacity": 1},
            "encoding": {**(shared or {}), "shape": shape},
        },
    ]


def interval_layers(
    axis: str,
    scale: dict[str, Any],
    places: Mapping[str, int],
    *,
    value: str = "value",
    size: int,
    opacity: float = 0.55,
    guide: dict[str, Any] | None = None,
    shared: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Return a layer of intervals from "low" to "high" and a layer of points at `value`."""
    ends = {axis: {"field": "low", **scale}, f"{axis}2": {"field": "high"}}
    shape = {"field": "system", "scale": cycle(SHAPES, places), "legend": guide}
    point = {axis: {"field": value, **scale}, "shape": shape}
    return [
        {
            "mark": {"type": "rule", "strokeWidth": 2, "opacity": opacity},
            "encoding": {**(shared or {}), **ends},
        },
        {
            "mark": {"type": "point", "filled": True, "size": size, "opacity": 1},
            "encoding": {**(shared or {}), **point},
        },
    ]


def legend(shown: Sequence[str]) -> dict[str, Any]:
    """Return a legend above the chart, with as many columns as fit."""
    longest = max(map(len, shown), default=1)
    columns = max(1, min(len(shown), WIDTH // (min(longest, 20) * 7 + 42)))
    return {
        "orient": "top",
        "title": None,
        "columns": columns,
        "columnPadding": 26,
        "values": list(shown),
        # Symbols as the points are drawn, not as the lines with the same color.
        "symbolOpacity": 1,
        "symbolStrokeWidth": 0,
        "symbolDash": [1, 0],
    }


# Drawing.

CHARTS_NEED: Final = "the charts of the HTML report"
_FONT: Final = "Liberation Sans"  # shipped with the drawing library: the same drawing everywhere
_SVG: Final = "{http://www.w3.org/2000/svg}"
_TAGS: Final = frozenset({"svg", "g", "path", "line", "rect", "circle", "text", "tspan"})
_ATTRIBUTES: Final = frozenset({
    "d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "r", "cx", "cy", "width", "height",
    "viewBox", "transform", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity",
    "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font-size", "font-weight",
    "font-style", "text-anchor",
})  # fmt: skip
_LONG_FRACTION: Final = re.compile(r"(\.\d\d)\d+")
_IDLE: Final = {("opacity", "1"), ("stroke-width", "1"), ("transform", "translate(0,0)")}

_CONFIG: Final[Mapping[str, Any]] = {
    "font": _FONT,
    "background": None,
    "padding": {"left": 12, "right": 6, "top": 4, "bottom": 4},  # for fonts with wider letters
    "view": {"stroke": None},
    "axis": {
        "labelColor": AXIS.light, "titleColor": INK.light, "tickColor": GRID.light,
        "domainColor": GRID.light, "gridColor": GRID.light, "labelFontSize": 12,
        "titleFontSize": 12, "titleFontWeight": "normal", "titlePadding": 10, "labelLimit": 150,
    },
    "legend": {
        "labelColor": INK.light, "labelFontSize": 12, "titleColor": INK.light,
        "titleFontSize": 12, "symbolSize": 90, "labelLimit": 140, "rowPadding": 5,
    },
    "text": {"color": INK.light, "fontSize": 12},
}  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """A Vega-Lite chart with its caption and its text alternative for screen readers."""

    spec: Mapping[str, Any]
    caption: str
    alternative: str


@dataclass(frozen=True)
class Drawing:
    """A drawn chart."""

    svg: Markup
    caption: str


class Studio:
    """Draws charts if the drawing library is installed; `lacks` says why they cannot be drawn."""

    def __init__(self) -> None:
        self.lacks = ""
        try:
            import_optional("vl_convert", CHARTS_NEED, extra="report")
        except MissingDependencyError as error:
            self.lacks = str(error)

    def draw(self, figure: Figure | None, names: Mapping[str, str] | None = None) -> Drawing | None:
        """Draw a chart with shorter `names`; None without a figure or the drawing library."""
        if figure is None or self.lacks:
            return None
        from markupsafe import Markup

        svg = draw_svg(clean_texts(dict(figure.spec), names), figure.alternative)
        return Drawing(Markup(svg), figure.caption)  # noqa: S704 - rebuilt from allowed elements


def warm_up() -> None:
    """Start the drawing library, which takes a second, so that the first chart does not wait."""
    with suppress(MissingDependencyError):
        draw_svg({"data": {"values": [{}]}, "mark": "point"}, "")


def draw_svg(spec: Mapping[str, Any], alternative: str) -> str:
    """Draw a chart as SVG of shapes and texts only: no style, id, link or script."""
    converter = import_optional("vl_convert", CHARTS_NEED, extra="report")
    whole = clean_texts({**spec, "config": _CONFIG})
    text = converter.vegalite_to_svg(whole, allowed_base_urls=[], show_warnings=False)
    root = ET.fromstring(text)  # noqa: S314 - the drawing library made it, without a DOCTYPE
    kept = _keep_visible(root)
    if kept is None:
        return ""
    kept.set("role", "img")
    kept.set("aria-label", str(clean(alternative)))
    return ET.tostring(kept, encoding="unicode")


def _keep_visible(element: ET.Element) -> ET.Element | None:
    """Copy the visible parts of an element; return None if nothing is visible."""
    tag = element.tag.removeprefix(_SVG)
    if tag not in _TAGS or element.get("display") == "none":
        return None
    found = ET.Element(tag, _keep_attributes(element))
    found.text = element.text
    found.extend(child for one in element if (child := _keep_visible(one)) is not None)
    painted = found.get("fill") or found.get("stroke")
    empty = (tag == "g" and not len(found)) or (tag == "path" and not painted)
    if empty:
        return None
    return found[0] if tag == "g" and len(found) == 1 and not found.attrib else found


def _keep_attributes(element: ET.Element) -> dict[str, str]:
    found = {name: text for name, text in element.attrib.items() if name in _ATTRIBUTES}
    return {
        name: text if name in {"fill", "stroke"} else _LONG_FRACTION.sub(r"\1", text)
        for name, text in found.items()
        if (name, text) not in _IDLE
    }


def clean_texts(part: Any, names: Mapping[str, str] | None = None) -> Any:
    """Return a specification with its texts replaced by shorter `names`, and cleaned."""
    if isinstance(part, dict):
        return {name: clean_texts(value, names) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [clean_texts(value, names) for value in part]
    return clean(names.get(part, part) if names and isinstance(part, str) else part)
