"""Standings: systems and metrics with confidence intervals, query outcomes, and their charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from berryeval.metrics import direction_of, find_deciding, gain_sign
from berryeval.reports.html.svg import (
    WIDTH,
    Figure,
    hues,
    interval_layers,
    legend,
    line_layers,
)
from berryeval.reports.html.typography import span, value
from berryeval.reports.legends import INTERVAL_NAME
from berryeval.reports.tables import rate, value_of
from berryeval.runs import RECALL_LEVELS

if TYPE_CHECKING:
    from berryeval.reports.sections import Outcomes, Section, System
    from berryeval.reports.tables import Score


def format_score(score: Score) -> str:
    """Format a value with its interval in parentheses."""
    text = value(score.value)
    return f"{text} ({span(score.interval)})" if score.interval else text


def score_data(score: Score) -> dict[str, float]:
    """Return chart data: the value and the ends of its interval, or the value itself."""
    low, high = score.interval or (score.value, score.value)
    return {"value": score.value, "low": low, "high": high}


@dataclass(frozen=True)
class Row:
    """A system with its scores; its place in the section determines its color."""

    place: int
    label: str
    kind: str
    cells: tuple[Score | None, ...]
    queries: int
    outcomes: Outcomes


@dataclass(frozen=True)
class Standings:
    """The systems and metrics, the best system first; `unscored` systems have no scores."""

    metrics: tuple[str, ...]
    downwards: tuple[bool, ...]
    rows: tuple[Row, ...]
    unscored: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether any query failed."""
        return any(row.outcomes.failed for row in self.rows)

    @property
    def caption(self) -> str:
        """Explanation of intervals and marks."""
        cells = [cell for row in self.rows for cell in row.cells if cell is not None]
        return explain_marks(cells, "column")


def explain_marks(cells: Sequence[Score], along: str) -> str:
    """Explain the intervals and marks that a table of scores has."""
    parts = [f"Each value with its {INTERVAL_NAME}"] if any(one.interval for one in cells) else []
    parts += [f"★ marks the best of its {along}"] if any(one.best for one in cells) else []
    found = "; ".join(parts)
    return f"{found}." if found else ""


def deciding_metric(section: Section) -> str:
    """Return the first metric with a better direction, or an empty string."""
    return find_deciding(section.metrics)


def rank_systems(section: Section, metric: str) -> list[System]:
    """Return the systems with this metric, best first and those that answered nothing last."""
    sign = -gain_sign(metric)
    found = [
        ((system.outcomes.silent, sign * number), system)
        for system in section.scored
        if (number := value_of(system.scores, metric)) is not None
    ]
    return [system for _, system in sorted(found, key=lambda one: one[0])]


def order_systems(section: Section) -> list[System]:
    """Return all systems in the order of the page: best first, those without a value last."""
    metric = deciding_metric(section)
    order = rank_systems(section, metric) if metric else []
    order += [system for system in section.scored if system not in order]
    return order + [system for system in section.systems if system not in order]


def find_answering(section: Section, metric: str) -> list[System]:
    """Return the systems that have the metric and answered a query, best first."""
    return [system for system in rank_systems(section, metric) if not system.outcomes.silent]


def build_standings(section: Section) -> Standings:
    """Build the standings of a section."""
    first = deciding_metric(section)
    metrics = tuple(sorted(section.metrics, key=lambda name: name != first))
    systems = [system for system in order_systems(section) if system.scores is not None]
    rated = [rate((system.scores for system in systems), metric) for metric in metrics]
    rows = tuple(
        Row(
            place=system.place,
            label=system.label,
            kind=_kind(system),
            cells=tuple(column[number] for column in rated),
            queries=0 if system.scores is None else system.scores.count,
            outcomes=system.outcomes,
        )
        for number, system in enumerate(systems)
    )
    downwards = tuple(direction_of(metric) == "down" for metric in metrics)
    unscored = tuple(system.label for system in section.systems if system.scores is None)
    return Standings(metrics, downwards, rows, unscored)


def _kind(system: System) -> str:
    """Return the provider type, and the chunker or the existing index, unless the name has them."""
    record = system.record
    searched = f"existing {', '.join(record.existing)}" if record.existing else record.chunker
    parts = [record.type if record.type != record.name else "", searched]
    return " · ".join(part for part in parts if part and part not in record.name)


# The chart of metrics: a dot and an interval for every system.


def draw_metrics(standings: Standings, places: Mapping[str, int]) -> Figure | None:
    """Draw the metrics between 0 and 1; `places` are all systems and their colors."""
    rows = [row for row in standings.rows if not row.outcomes.silent]
    order = [row.label for row in rows]
    cells = [
        (row.label, metric, cell)
        for place, metric in enumerate(standings.metrics)
        if all(0 <= cell.value <= 1 for row in rows if (cell := row.cells[place]) is not None)
        for row in rows
        if (cell := row.cells[place]) is not None
    ]
    if not cells:
        return None
    data = [{"system": label, "metric": metric, **score_data(one)} for label, metric, one in cells]
    x = {
        "type": "quantitative", "title": None, "axis": {"tickCount": 5},
        "scale": {"zero": False, "nice": True},
    }  # fmt: skip
    spec = {
        "width": WIDTH,
        "height": {"step": max(9, 22 - 2 * len(places))},
        "data": {"values": data},
        "encoding": {
            "y": {
                "field": "metric", "type": "nominal", "sort": None, "title": None,
                "axis": {"grid": False, "ticks": False, "domain": False, "labelPadding": 8},
                "scale": {"paddingInner": 0.35, "paddingOuter": 0.2},
            },
            "yOffset": {"field": "system", "scale": {"domain": order}},
            "color": {"field": "system", "scale": hues(places), "legend": legend(order)},
        },
        "layer": interval_layers("x", x, places, size=62, guide=legend(order)),
    }  # fmt: skip
    first = [one for one in cells if one[1] == cells[0][1]]
    values = "; ".join(f"{label} {format_score(cell)}" for label, _, cell in first)
    known = any(cell.interval for _, _, cell in cells)
    caption = (
        "Every metric with its 95 % confidence interval over the queries."
        if known
        else "Every metric; there are too few queries for confidence intervals."
    )
    dots = "Dots with confidence intervals" if known else "Dots"
    return Figure(
        spec, caption, f"{dots}, by metric. {cells[0][1]}: {values}. The table has all numbers."
    )


# The chart of precision and recall.


def draw_precision_recall(section: Section) -> Figure | None:
    """Draw the precision-recall curve of every system that answered a query."""
    places = {system.label: system.place for system in section.systems}
    curves = {
        system.label: system.record.curve
        for system in order_systems(section)
        if len(system.record.curve) == len(RECALL_LEVELS) and not system.outcomes.silent
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
            **{
                axis: {
                    "field": name, "type": "quantitative", "title": name,
                    "axis": {"format": form, "tickCount": 5}, "scale": {"domain": [0, 1]},
                }
                for axis, name, form in (("x", "recall", ".0%"), ("y", "precision", ".1f"))
            },
            "color": {"field": "system", "scale": hues(places), "legend": guide},
        },
        "layer": line_layers("system", places, guide, size=38),
    }  # fmt: skip
    middle = RECALL_LEVELS.index(0.5)
    words = "; ".join(f"{label} {value(curve[middle])}" for label, curve in curves.items())
    return Figure(
        spec,
        "Mean interpolated precision at eleven recall levels; closer to the top right is better.",
        f"Precision-recall curves. Precision at 50 % recall: {words}.",
    )
