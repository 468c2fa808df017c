"""From a Vega-Lite specification to a drawing that may stand inside the page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

from berryeval.optional import imported
from berryeval.reports.html.palette import AXIS, GRID, INK
from berryeval.reports.html.text import cleaned

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CHARTS_NEED", "drawn", "shown_texts"]

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
