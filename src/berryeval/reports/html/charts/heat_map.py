"""The heat map: kinds of queries down, systems across, the value in every field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval.reports.html.charts.figure import WIDTH, Figure
from berryeval.reports.html.numbers import value
from berryeval.reports.html.palette import ON_DEEP, ON_PALE, RAMP
from berryeval.reports.html.text import short

if TYPE_CHECKING:
    from berryeval.reports.html.views.groups import Breakdown

__all__ = ["heat_map"]

MOST_ROWS: Final = 24
_DEEP: Final = 5  # from this step of the ramp on, letters are light


def heat_map(breakdown: Breakdown) -> Figure | None:
    """The chart of a breakdown; its largest groups, if it has very many."""
    largest = sorted(breakdown.rows, key=lambda row: -row.queries)[:MOST_ROWS]
    rows = [row for row in breakdown.rows if row in largest]
    numbers = [cell.value for row in rows for cell in row.cells if cell is not None]
    if not numbers:
        return None
    low, high = (0.0, 1.0) if min(numbers) >= 0 and max(numbers) <= 1 else _range(numbers)
    data: list[dict[str, Any]] = [
        {"group": f"{short(row.name, 24)}  {row.queries}", "system": label, "value": cell.value,
         "words": value(cell.value)}
        for row in rows
        for label, cell in zip(breakdown.labels, row.cells, strict=True)
        if cell is not None
    ]  # fmt: skip
    deep = low + (high - low) * _DEEP / len(RAMP)
    axis: dict[str, Any] = {"ticks": False, "domain": False, "labelPadding": 6}
    spec = {
        "width": WIDTH - 20,
        "height": {"step": 34},
        "data": {"values": data},
        "encoding": {
            "y": {"field": "group", "type": "nominal", "sort": None, "title": None, "axis": axis},
            "x": {
                "field": "system", "type": "nominal", "sort": list(breakdown.labels), "title": None,
                "axis": {**axis, "orient": "top", "labelAngle": 0 if _fit(breakdown) else -40,
                         "labelLimit": 110},
            },
        },
        "layer": [
            {
                "mark": {"type": "rect", "cornerRadius": 3},
                "encoding": {
                    "color": {
                        "field": "value", "type": "quantitative", "legend": None,
                        "scale": {"type": "quantize", "domain": [low, high],
                                  "range": [one.light for one in RAMP]},
                    },
                },
            },
            {
                "mark": {"type": "text", "fontSize": 12},
                "encoding": {
                    "text": {"field": "words"},
                    "color": {
                        "condition": {"test": f"datum.value >= {deep!r}", "value": ON_DEEP.light},
                        "value": ON_PALE.light,
                    },
                },
            },
        ],
        "config": {},
    }  # fmt: skip
    best = max(data, key=lambda one: one["value"])
    least = min(data, key=lambda one: one["value"])
    return Figure(
        spec,
        f"{breakdown.measure} by {breakdown.by}; the stronger the colour, the higher. "
        f"The number beside each {breakdown.by} counts its queries.",
        f"Heat map of {breakdown.measure} by {breakdown.by} and provider. Highest: "
        f"{best['system']} on {best['group']}, {best['words']}; lowest: {least['system']} on "
        f"{least['group']}, {least['words']}. The table below has all numbers.",
    )


def _range(numbers: list[float]) -> tuple[float, float]:
    low, high = min(numbers), max(numbers)
    return (low, high) if high > low else (low, low + 1.0)


def _fit(breakdown: Breakdown) -> bool:
    """Whether the labels stand side by side without touching."""
    room = (WIDTH - 20) / len(breakdown.labels)
    return max(map(len, breakdown.labels)) * 7 < room
