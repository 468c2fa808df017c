"""Precision at every level of recall."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.reports.html.charts.figure import WIDTH, Figure, dashes, hues, legend, shapes
from berryeval.reports.html.numbers import value
from berryeval.reports.html.views.outcomes import outcomes_of
from berryeval.reports.html.views.standings import ordered
from berryeval.results.standard import RECALL_LEVELS

if TYPE_CHECKING:
    from berryeval.reports.model import Section

__all__ = ["precision_recall_chart"]


def precision_recall_chart(section: Section) -> Figure | None:
    """The curve of every system that has one, and answered anything."""
    labels = [system.label for system in section.systems]
    curves = {
        system.label: system.record.curve
        for system in ordered(section)
        if len(system.record.curve) == len(RECALL_LEVELS) and not outcomes_of(system).silent
    }
    if not curves:
        return None
    data = [
        {"system": label, "recall": recall, "precision": precision}
        for label, curve in curves.items()
        for recall, precision in zip(RECALL_LEVELS, curve, strict=True)
    ]
    guide = legend(list(curves))
    spec = {
        "width": WIDTH,
        "height": 240,
        "data": {"values": data},
        "encoding": {
            "x": {
                "field": "recall", "type": "quantitative", "title": "recall",
                "axis": {"format": ".0%", "tickCount": 5}, "scale": {"domain": [0, 1]},
            },
            "y": {
                "field": "precision", "type": "quantitative", "title": "precision",
                "axis": {"format": ".1f", "tickCount": 5}, "scale": {"domain": [0, 1]},
            },
            "color": {"field": "system", "scale": hues(labels), "legend": guide},
        },
        "layer": [
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "strokeDash": {"field": "system", "scale": dashes(labels), "legend": None},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 38, "opacity": 1},
                "encoding": {
                    "shape": {"field": "system", "scale": shapes(labels), "legend": guide},
                },
            },
        ],
    }  # fmt: skip
    middle = RECALL_LEVELS.index(0.5)
    words = "; ".join(f"{label} {value(curve[middle])}" for label, curve in curves.items())
    return Figure(
        spec,
        "Interpolated precision at eleven levels of recall, the mean over all queries: the further "
        "up and to the right, the better.",
        f"Precision-recall curves. Precision where half of what is relevant was found: {words}.",
    )
