"""Measures with intervals: a dot and a line for every system, measure by measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.reports.html.charts.figure import WIDTH, Figure, hues, legend, shapes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.reports.html.views.standings import Cell, Standings

__all__ = ["measures_chart"]


def measures_chart(standings: Standings, labels: Sequence[str]) -> Figure | None:
    """The chart of the measures that lie between 0 and 1, of who answered; None if there is none.

    `labels` are all systems of the section, in the order that gives them their colours.
    """
    rows = [row for row in standings.rows if not row.outcomes.silent]
    order = [row.label for row in rows]
    cells = [
        (row.label, measure, cell)
        for place, measure in enumerate(standings.measures)
        if _is_share([row.cells[place] for row in rows])
        for row in rows
        if (cell := row.cells[place]) is not None
    ]
    if not cells:
        return None
    data = [
        {"system": label, "measure": measure, **cell.ends}
        for label, measure, cell in cells
    ]  # fmt: skip
    x = {
        "type": "quantitative",
        "title": None,
        "axis": {"tickCount": 5},
        "scale": {"zero": False, "nice": True},
    }
    spec = {
        "width": WIDTH,
        "height": {"step": max(9, 22 - 2 * len(labels))},
        "data": {"values": data},
        "encoding": {
            "y": {
                "field": "measure", "type": "nominal", "sort": None, "title": None,
                "axis": {"grid": False, "ticks": False, "domain": False, "labelPadding": 8},
                "scale": {"paddingInner": 0.35, "paddingOuter": 0.2},
            },
            "yOffset": {"field": "system", "scale": {"domain": order}},
            "color": {"field": "system", "scale": hues(labels), "legend": legend(order)},
        },
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.55},
                "encoding": {"x": {"field": "low", **x}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 62, "opacity": 1},
                "encoding": {
                    "x": {"field": "value", **x},
                    "shape": {"field": "system", "scale": shapes(labels), "legend": legend(order)},
                },
            },
        ],
    }  # fmt: skip
    first = [one for one in cells if one[1] == cells[0][1]]
    words = "; ".join(f"{label} {cell.words}" for label, _, cell in first)
    known = any(cell.interval for _, _, cell in cells)
    caption = (
        "Every measure with its 95 % interval: how far it might move if other queries were asked."
        if known
        else "Every measure; nothing is known about how far it might move."
    )
    dots = "Dots with intervals" if known else "Dots"
    return Figure(
        spec, caption, f"{dots}, by measure. {cells[0][1]}: {words}. The table has all numbers."
    )


def _is_share(cells: Sequence[Cell | None]) -> bool:
    return all(0 <= cell.value <= 1 for cell in cells if cell is not None)
