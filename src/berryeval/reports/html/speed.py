"""Speed: latency and cost of each system, and quality against latency."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal import numbers
from berryeval._internal.validate import is_number
from berryeval.reports.html.standings import order_systems, score_data
from berryeval.reports.html.svg import (
    INK,
    WIDTH,
    Figure,
    hues,
    interval_layers,
    legend,
    sample_evenly,
    scale_around,
    time_axis,
)
from berryeval.reports.html.typography import duration, value

if TYPE_CHECKING:
    from berryeval.reports.html.standings import Standings
    from berryeval.reports.sections import Section, System
    from berryeval.runs import Latency


@dataclass(frozen=True)
class Speed:
    """Latency (of answered queries, in `seconds`), total costs and mean costs of one system."""

    place: int
    label: str
    latency: Latency | None
    seconds: tuple[float, ...]
    asked: int
    answered: int
    costs: tuple[tuple[str, float], ...]
    means: tuple[tuple[str, str], ...]


def collect_speeds(section: Section) -> tuple[Speed, ...]:
    """Return the speed of every system with queries; none without latencies and failures."""
    found = [_speed(system) for system in order_systems(section)]
    known = any(one.latency is not None or one.answered < one.asked for one in found)
    return tuple(one for one in found if known and (one.asked or one.latency is not None))


def _speed(system: System) -> Speed:
    answers, outcomes = system.summaries, system.outcomes
    costs: dict[str, float] = defaultdict(float)
    for answer in answers:
        for name, amount in answer.cost.items():
            if is_number(amount):
                costs[name] += amount
    return Speed(
        place=system.place,
        label=system.label,
        latency=system.record.latency,
        seconds=tuple(one.latency for one in answers if one.latency is not None),
        asked=outcomes.asked,
        answered=outcomes.answered,
        costs=tuple(sorted(cost for cost in costs.items() if is_number(cost[1]))),
        means=tuple(
            (name, numbers.format_amount(mean)) for name, mean in system.record.cost.items()
        ),
    )


# The chart of latencies: a tick per query, with median and 95th percentile.

MOST_TICKS: Final = 150
LOGARITHMIC: Final = "milliseconds, on a logarithmic scale"
LEAST_SECONDS: Final = 1e-6  # zero has no logarithm


def draw_latencies(speeds: Sequence[Speed], places: Mapping[str, int]) -> Figure | None:
    """Draw the latencies of all systems that answered."""
    timed = [one for one in speeds if one.latency is not None and one.seconds]
    if not timed:
        return None
    ticks: list[dict[str, Any]] = [
        {"system": one.label, "ms": milliseconds(seconds)}
        for one in timed
        for seconds in sample_evenly(sorted(one.seconds), MOST_TICKS)
    ]
    marks: list[dict[str, Any]] = [
        {"system": one.label, "ms": milliseconds(seconds), "mark": name}
        for one in timed
        if one.latency is not None
        for name, seconds in (("p50", one.latency.p50), ("p95", one.latency.p95))
    ]
    names = [one.label for one in timed]
    y = {
        "field": "system", "type": "nominal", "sort": names, "title": None,
        "axis": {"ticks": False, "domain": False, "labelPadding": 8},
    }  # fmt: skip
    x = time_axis([one["ms"] for one in (*ticks, *marks)]) | {"title": LOGARITHMIC}
    spec = {
        "width": WIDTH,
        "height": {"step": 40},
        "layer": [
            {
                "data": {"values": ticks},
                "mark": {"type": "tick", "thickness": 1.5, "opacity": 0.45, "bandSize": 20},
                "encoding": {
                    "y": y,
                    "x": {"field": "ms", **x},
                    "color": {"field": "system", "scale": hues(places), "legend": None},
                },
            },
            {
                "data": {"values": marks},
                "mark": {"type": "point", "filled": True, "size": 75, "opacity": 1,
                         "color": INK.light},
                "encoding": {
                    "y": y,
                    "x": {"field": "ms", **x},
                    "shape": {
                        "field": "mark",
                        "scale": {"domain": ["p50", "p95"], "range": ["circle", "diamond"]},
                        "legend": {"orient": "top", "title": None},
                    },
                },
            },
        ],
    }  # fmt: skip
    words = "; ".join(
        f"{one.label} {duration(one.latency.p50)} and {duration(one.latency.p95)}"
        for one in timed
        if one.latency is not None
    )
    return Figure(
        spec,
        "Latency of every answered query, with the median (p50) and the 95th percentile (p95).",
        f"Latency per provider, median and 95th percentile: {words}.",
    )


def milliseconds(seconds: float) -> float:
    """Convert to milliseconds above zero, for a logarithmic axis."""
    return max(seconds, LEAST_SECONDS) * 1e3


# The chart of quality against latency.


def draw_trade_off(
    standings: Standings, speeds: Sequence[Speed], places: Mapping[str, int]
) -> Figure | None:
    """Draw all systems with both a score and a latency."""
    times = {one.label: one.latency.p50 for one in speeds if one.latency is not None}
    data: list[dict[str, Any]] = [
        {"system": row.label, "ms": milliseconds(times[row.label]), **score_data(cell)}
        for row in standings.rows
        if row.label in times and (cell := row.cells[0]) is not None
    ]  # fmt: skip
    if not data:
        return None
    metric = standings.metrics[0]
    y = {
        "type": "quantitative", "title": metric, "axis": {"tickCount": 5},
        "scale": scale_around([one["low"] for one in data], [one["high"] for one in data]),
    }  # fmt: skip
    x = time_axis([one["ms"] for one in data]) | {"title": f"median latency in {LOGARITHMIC}"}
    guide = legend([one["system"] for one in data])
    spec = {
        "width": WIDTH,
        "height": 240,
        "data": {"values": data},
        "encoding": {
            "x": {"field": "ms", **x},
            "color": {"field": "system", "scale": hues(places), "legend": guide},
        },
        "layer": interval_layers("y", y, places, size=90, opacity=0.5, guide=guide),
    }  # fmt: skip
    words = "; ".join(
        f"{one['system']} {value(one['value'])} at {duration(times[one['system']])}" for one in data
    )
    ends = (
        " with its 95 % confidence interval"
        if any(one["low"] < one["high"] for one in data)
        else ""
    )
    corner = "bottom" if standings.downwards[0] else "top"
    return Figure(
        spec,
        f"{metric}{ends} against median latency; {corner} left is good and fast.",
        f"Quality against latency. {words}.",
    )
