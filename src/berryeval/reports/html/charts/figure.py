"""`Figure`: a chart, and the words that say the same to who cannot see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from berryeval.reports.html.palette import DASHES, SHAPES, SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["WIDTH", "Figure", "dashes", "hues", "legend", "shapes"]

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
