"""The lead of the best over every other, with its interval and a line where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from berryeval.reports.html.charts.figure import Figure, hues, shapes
from berryeval.reports.html.numbers import signed, span
from berryeval.reports.html.palette import ZERO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.reports.html.views.certainty import Contrast

__all__ = ["lead_chart"]

_WIDTH = 230  # it stands beside the verdict


def lead_chart(contrasts: Sequence[Contrast], labels: Sequence[str], measure: str) -> Figure | None:
    """The chart of all that have an interval, and answered most of their queries."""
    known = [
        (one, one.interval)
        for one in contrasts
        if one.interval is not None and one.outcomes.telling
    ]
    if all(one.equal for one, _ in known):
        return None
    data = [
        {"system": one.other, "difference": one.difference, "low": low, "high": high}
        for one, (low, high) in known
    ]
    words = "; ".join(
        f"{one.other} {signed(one.difference)} ({span(interval, sign=True)})"
        for one, interval in known
    )
    best = known[0][0].best
    compared = max(one.row.comparisons for one, _ in known if one.row is not None)
    alone = (
        f" Each interval is for its pair alone; p is corrected for {compared} comparisons."
        if compared > 1
        else ""
    )
    return Figure(
        _spec(data, labels),
        f"How far {best} is ahead in {measure}, with 95 % intervals; at the line there is no lead."
        f"{alone}",
        f"The lead of {best} in {measure} over each other provider, with 95 % interval: {words}.",
    )


def _spec(data: list[dict[str, Any]], labels: Sequence[str]) -> dict[str, Any]:
    x = {
        "type": "quantitative", "title": None,
        "axis": {"tickCount": 3, "format": "+.6~g",
                 "labelExpr": "datum.value == 0 ? '0' : datum.label"},
    }  # fmt: skip
    y = {
        "field": "system", "type": "nominal", "sort": None, "title": None,
        "axis": {"ticks": False, "domain": False, "labelPadding": 8, "grid": False},
    }  # fmt: skip
    hue = {"field": "system", "scale": hues(labels), "legend": None}
    return {
        "width": _WIDTH,
        "height": {"step": 30},
        "data": {"values": data},
        "layer": [
            {
                "mark": {"type": "rule", "color": ZERO.light, "strokeWidth": 1.5},
                "encoding": {"x": {"datum": 0}},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.55},
                "encoding": {
                    "y": y, "color": hue, "x": {"field": "low", **x}, "x2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                "encoding": {
                    "y": y, "color": hue, "x": {"field": "difference", **x},
                    "shape": {"field": "system", "scale": shapes(labels), "legend": None},
                },
            },
        ],
    }  # fmt: skip
