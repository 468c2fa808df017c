"""From a Vega-Lite specification to a drawing that may stand inside the page."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from xml.etree import ElementTree as ET

from berryeval._internal.optional import imported
from berryeval.errors import MissingDependencyError
from berryeval.reports.html.words import cleaned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markupsafe import Markup


# Axes whose numbers can be read: never fewer than three lines where there is room for them.

_LEAST_LINES: Final = 3
_MOST_LINES: Final = 7
_STEPS: Final = ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7))  # of every power of ten
_LEAST_SPAN: Final = 0.1  # of an axis of values: less would make much of nothing


def time_axis(times: Iterable[float], room: float = 1.15) -> dict[str, Any]:
    """A logarithmic axis of milliseconds, with lines at round numbers.

    `room` is how much further than the longest time it goes.
    """
    times = list(times)
    low, high = min(times) / 1.15, max(times) * room
    return {
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {"values": _lines(low, high), "format": "~g"},
    }


def _lines(low: float, high: float) -> list[float]:
    """Round numbers between both: those of powers of ten, or evenly spaced where they are near."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    best: list[float] = []
    for steps in _STEPS:
        found = [float(f"{step}e{power}") for power in powers for step in steps]
        found = [one for one in found if low <= one <= high]
        if len(found) > _MOST_LINES:
            break
        best = found
    return best if len(best) >= _LEAST_LINES else _even(low, high)


def _even(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, three to seven of them."""
    size = 10.0 ** math.floor(math.log10((high - low) / _LEAST_LINES))
    found: list[float] = []
    for step in (5 * size, 2 * size, size):
        places = range(math.ceil(low / step), math.floor(high / step) + 1)
        found = [float(f"{place * step:.6g}") for place in places]
        if len(found) >= _LEAST_LINES:
            break
    return found


def lanes(places: Iterable[float], width: float) -> list[int]:
    """For texts of a width that begin at these places: in which row each stands, free of others.

    >>> lanes([0, 10, 30, 31], 20)
    [0, 1, 0, 1]
    """
    ends: list[float] = []
    found = []
    for place in places:
        row = next((number for number, end in enumerate(ends) if end <= place), len(ends))
        ends[row : row + 1] = [place + width]
        found.append(row)
    return found


def around(lows: Iterable[float], highs: Iterable[float]) -> dict[str, Any]:
    """A scale of values with some room around them; shares stay between 0 and 1."""
    low, high = min(lows), max(highs)
    is_share = low >= 0 and high <= 1
    least = _LEAST_SPAN if is_share else abs(high) * _LEAST_SPAN or 1.0
    room = max((high - low) * 0.08, (least - (high - low)) / 2)
    low, high = low - room, high + room
    if is_share:
        low, high = max(low, 0.0), min(high, 1.0)
    return {"domain": [low, high], "nice": False, "zero": False}


# The colours of the charts: each once for light and once for dark surroundings.


class Colour(NamedTuple):
    """A colour in light and in dark surroundings."""

    light: str
    dark: str


INK: Final = Colour("#2b2730", "#e9e4ec")
AXIS: Final = Colour("#6b6471", "#a59dab")
GRID: Final = Colour("#e7e2e9", "#39333e")
ZERO: Final = Colour("#8c8492", "#857c8c")

# Told apart by people who see few colours too; shapes and dashes say the same once more. There are
# 8, 7 and 5 of them, so that systems beyond the eighth still look like no other.
SYSTEMS: Final = (
    Colour("#1f66ad", "#6db1ee"),
    Colour("#c0530a", "#f29a54"),
    Colour("#0e7c66", "#43c9aa"),
    Colour("#8a3c90", "#d18cd6"),
    Colour("#6f6200", "#d8c53f"),
    Colour("#5a6570", "#aab6c2"),
    Colour("#a32c3f", "#f2848f"),
    Colour("#1b7e9c", "#73d3ea"),
)
SHAPES: Final = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
)
DASHES: Final = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4])

# From little to much, in seven steps.
RAMP: Final = (
    Colour("#f8f0f5", "#2a222c"),
    Colour("#f0dce8", "#402b3b"),
    Colour("#e7c6d9", "#59344d"),
    Colour("#dcaac6", "#743f62"),
    Colour("#cc86ae", "#914b79"),
    Colour("#a24a7b", "#c277a4"),
    Colour("#74265a", "#eda6cd"),
)
ON_PALE: Final = Colour("#2b2731", "#f4eff6")
ON_DEEP: Final = Colour("#fffeff", "#1d1520")

_CHART: Final = (INK, AXIS, GRID, ZERO, *SYSTEMS, *RAMP, ON_PALE, ON_DEEP)


def chart_rules() -> str:
    """Style rules that turn the charts dark."""
    return "\n".join(
        f'.chart [{part}="{colour.light}"] {{ {part}: {colour.dark} }}'
        for colour in _CHART
        for part in ("fill", "stroke")
    )


def system_rules(*, dark: bool) -> str:
    """Style rules for the mark beside the name of each system."""
    return "\n".join(
        f".sys-{place} {{ --mark: {colour.dark if dark else colour.light} }}"
        for place, colour in enumerate(SYSTEMS)
    )


CHARTS_NEED: Final = "the charts of the HTML report"
_FONT: Final = "Liberation Sans"  # comes with the drawing library: the same drawing everywhere
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
    "padding": {"left": 12, "right": 6, "top": 4, "bottom": 4},  # letters may be wider than here
    "view": {"stroke": None},
    "axis": {
        "labelColor": AXIS.light,
        "titleColor": INK.light,
        "tickColor": GRID.light,
        "domainColor": GRID.light,
        "gridColor": GRID.light,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "labelLimit": 150,
    },
    "legend": {
        "labelColor": INK.light,
        "labelFontSize": 12,
        "titleColor": INK.light,
        "titleFontSize": 12,
        "symbolSize": 90,
        "labelLimit": 140,
        "rowPadding": 5,
    },
    "text": {"color": INK.light, "fontSize": 12},
}


def drawn(spec: Mapping[str, Any], alternative: str) -> str:
    """The drawing as an element of the page, with the text that says the same.

    Only shapes and texts are taken over: no style, id, link or script can come along. Numbers are
    cut to hundredths of a pixel, which nobody sees.

    Raises:
        MissingDependencyError: where the extra `report` is not installed.
    """
    converter = imported("vl_convert", CHARTS_NEED, extra="report")
    whole = shown_texts({**spec, "config": _CONFIG})
    text = converter.vegalite_to_svg(whole, allowed_base_urls=[], show_warnings=False)
    root = ET.fromstring(text)  # noqa: S314 - the drawing library made it, without a DOCTYPE
    kept = _kept(root)
    if kept is None:
        return ""
    kept.set("role", "img")
    kept.set("aria-label", str(cleaned(alternative)))
    return ET.tostring(kept, encoding="unicode")


def _kept(element: ET.Element) -> ET.Element | None:
    """The element with only what is to be seen of it; None if that is nothing."""
    tag = element.tag.removeprefix(_SVG)
    if tag not in _TAGS or element.get("display") == "none":
        return None
    found = ET.Element(tag, _attributes(element))
    found.text = element.text
    found.extend(child for one in element if (child := _kept(one)) is not None)
    painted = found.get("fill") or found.get("stroke")
    empty = (tag == "g" and not len(found)) or (tag == "path" and not painted)
    if empty:
        return None
    return found[0] if tag == "g" and len(found) == 1 and not found.attrib else found


def _attributes(element: ET.Element) -> dict[str, str]:
    """The attributes that make a difference, in a fixed order, numbers rounded."""
    found = {name: text for name, text in element.attrib.items() if name in _ATTRIBUTES}
    return {
        name: text if name in {"fill", "stroke"} else _LONG_FRACTION.sub(r"\1", text)
        for name, text in found.items()
        if (name, text) not in _IDLE
    }


def shown_texts(part: Any) -> Any:
    """The specification with all its texts cleaned."""
    if isinstance(part, dict):
        return {name: shown_texts(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [shown_texts(value) for value in part]
    return cleaned(part)


# Charts as markup; where they cannot be drawn, the page says what brings them.


@dataclass(frozen=True)
class Drawing:
    """A chart as it stands in the page."""

    svg: Markup
    caption: str


class Studio:
    """Draws charts, if it can.

    Attributes:
        lacks: why it cannot, with the line to type; empty if it can.
    """

    def __init__(self) -> None:
        self.lacks = ""
        try:
            imported("vl_convert", CHARTS_NEED, extra="report")
        except MissingDependencyError as error:
            self.lacks = str(error)

    def draw(self, figure: Figure | None, names: Mapping[str, str] | None = None) -> Drawing | None:
        """The drawing of a chart; None if there is no chart, or nothing to draw with.

        `names` are shorter ones for texts that have too little room in it.
        """
        if figure is None or self.lacks:
            return None
        from markupsafe import Markup

        svg = drawn(_renamed(figure.spec, names or {}), figure.alternative)
        return Drawing(Markup(svg), figure.caption)  # noqa: S704 - rebuilt from what svg.py allows


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    """The specification with these texts replaced, wherever they stand alone."""
    if not names:
        return part
    if isinstance(part, dict):
        return {name: _renamed(value, names) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [_renamed(value, names) for value in part]
    return names.get(part, part) if isinstance(part, str) else part


# `Figure`: a chart, and the words that say the same to who cannot see it.

WIDTH: Final = (
    400  # of what lies between the axes; a telephone shows it with hardly smaller letters
)


@dataclass(frozen=True)
class Figure:
    """A chart.

    Attributes:
        spec: in Vega-Lite.
        caption: what is to be seen, below it.
        alternative: what it shows, in words, for who cannot see it.
    """

    spec: Mapping[str, Any]
    caption: str
    alternative: str


def hues(labels: Sequence[str]) -> dict[str, Any]:
    """A scale that gives every system its colour, the same in all charts."""
    return {"domain": list(labels), "range": [one.light for one in _cycle(SYSTEMS, labels)]}


def shapes(labels: Sequence[str]) -> dict[str, Any]:
    """A scale that gives every system its shape."""
    return {"domain": list(labels), "range": _cycle(SHAPES, labels)}


def dashes(labels: Sequence[str]) -> dict[str, Any]:
    """A scale that gives every system its kind of line."""
    return {"domain": list(labels), "range": _cycle(DASHES, labels)}


def legend(shown: Sequence[str]) -> dict[str, Any]:
    """Above the chart, in as many columns as there is room for: those that are in the chart."""
    longest = max(map(len, shown), default=1)
    columns = max(1, min(len(shown), WIDTH // (min(longest, 20) * 7 + 42)))
    return {
        "orient": "top",
        "title": None,
        "columns": columns,
        "columnPadding": 26,
        "values": list(shown),
        # As the points are drawn, not as the lines that share the colour.
        "symbolOpacity": 1,
        "symbolStrokeWidth": 0,
        "symbolDash": [1, 0],
    }


def _cycle(values: Sequence[Any], labels: Sequence[str]) -> list[Any]:
    return [values[place % len(values)] for place in range(len(labels))]
