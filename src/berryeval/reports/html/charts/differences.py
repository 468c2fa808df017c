"""The difference of two systems, query by query, from the greatest gain to the greatest loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.reports.html.charts.figure import WIDTH, Figure
from berryeval.reports.html.numbers import counted, signed
from berryeval.reports.html.palette import SYSTEMS, ZERO

if TYPE_CHECKING:
    from berryeval.reports.html.views.certainty import Contrast

__all__ = ["difference_chart", "side_of"]

LEAST_BARS: Final = 2  # of one there is nothing to sort
MOST_BARS: Final = 400
MANY_BARS: Final = 150  # no gaps between so many


def difference_chart(contrast: Contrast, best_place: int, measure: str) -> Figure | None:
    """The chart of a comparison; None if there are not two queries, or if all are equal."""
    values = sorted(contrast.by_query.values(), reverse=True)
    if len(values) < LEAST_BARS or not any(values):
        return None
    shown = _spaced(values)
    sides = (side_of(contrast.best), side_of(contrast.other))
    data = [
        {"place": place, "difference": one, "side": sides[one < 0]}
        for place, one in enumerate(shown)
    ]  # fmt: skip
    colours = _colours(best_place, contrast.place)
    spec = {
        "width": WIDTH,
        "height": 190,
        "data": {"values": data},
        "layer": [
            {
                "mark": {"type": "bar"},
                "encoding": {
                    "x": {
                        "field": "place", "type": "ordinal", "axis": None,
                        "scale": {"paddingInner": 0.25 if len(shown) < MANY_BARS else 0.0},
                    },
                    "y": {
                        "field": "difference", "type": "quantitative",
                        "title": f"difference in {measure}",
                        "axis": {"format": "+.6~g", "tickCount": 5,
                                 "labelExpr": "datum.value == 0 ? '0' : datum.label"},
                    },
                    "color": {
                        "field": "side", "type": "nominal",
                        "scale": {"domain": list(sides), "range": colours},
                        "legend": {"orient": "top", "title": None, "columns": 2,
                                   "labelLimit": 190, "columnPadding": 30},
                    },
                },
            },
            {
                "mark": {"type": "rule", "color": ZERO.light, "strokeWidth": 1},
                "encoding": {"y": {"datum": 0}},
            },
        ],
    }  # fmt: skip
    queries = counted(len(values), "query", "queries")
    sample = (
        "" if len(shown) == len(values) else f" {len(shown)} of them, evenly spaced, are drawn."
    )
    return Figure(
        spec,
        f"{contrast.best} against {contrast.other}, one bar per query ({len(values):,}), sorted."
        + sample,
        f"Sorted bars of the difference in {measure} between {contrast.best} and {contrast.other}: "
        f"from {signed(values[0])} to {signed(values[-1])}; better on {contrast.wins}, equal on "
        f"{contrast.ties}, worse on {contrast.losses} of {queries}.",
    )


def _colours(best: int, other: int) -> list[str]:
    """Those of both systems; another for the second where they have the same."""
    count = len(SYSTEMS)
    second = other + 1 if (best - other) % count == 0 else other
    return [SYSTEMS[place % count].light for place in (best, second)]


def side_of(label: str) -> str:
    """What the bars of one side say."""
    return f"{label} is better"


def _spaced(values: list[float]) -> list[float]:
    if len(values) <= MOST_BARS:
        return values
    step = (len(values) - 1) / (MOST_BARS - 1)
    return [values[round(place * step)] for place in range(MOST_BARS)]
