"""Systems and metrics: every value with its interval, and which is the best of each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from berryeval._internal.text import counted
from berryeval.metrics import direction_of
from berryeval.reports.html.svg import WIDTH, Figure, dashes, hues, legend, shapes
from berryeval.reports.html.words import short, span, value
from berryeval.reports.legends import INTERVAL_NAME
from berryeval.reports.tables import best_of, interval_of, is_best, value_of
from berryeval.runner import FAILED, NO_ANSWER
from berryeval.runs import RECALL_LEVELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval._internal.intervals import Interval
    from berryeval.reports.report import Section, System


# What became of the queries of a system: how many it answered, and how many failed.

_KINDS_OF_ERRORS: Final = 3  # that are shown
_ERROR_CHARACTERS: Final = 500


@dataclass(frozen=True)
class Outcomes:
    """The answers of a system, counted.

    Attributes:
        asked: how many queries it was asked.
        failed: how many it did not answer: errors, timeouts, and what was never asked.
        kinds: all that were not answered with hits, by what happened: "error", "empty".
        errors: what was said when it failed, each once, with how often; the most frequent first.
        more_errors: how many more kinds of errors there were.
    """

    asked: int = 0
    failed: int = 0
    kinds: tuple[tuple[str, int], ...] = ()
    errors: tuple[tuple[str, int], ...] = ()
    more_errors: int = 0

    @property
    def answered(self) -> int:
        """How many queries it answered, be it with nothing."""
        return self.asked - self.failed

    @property
    def silent(self) -> bool:
        """Whether it was asked, and answered nothing at all."""
        return self.asked > 0 and self.answered == 0

    @property
    def telling(self) -> bool:
        """Whether its values say something: it answered more than half of what it was asked."""
        return self.failed == 0 or self.answered > self.failed

    def sentence(self, name: str) -> str:
        """What failed, and what that makes of its values; empty if nothing failed."""
        if not self.failed:
            return ""
        queries = counted(self.asked, "query", "queries")
        if self.silent:
            return f"{name} failed on all of {queries}; its values say nothing."
        worth = "they count as not answered" if self.telling else "its values say little"
        return f"{name} failed on {self.failed:,} of {queries}; {worth}."


def outcomes_of(system: System) -> Outcomes:
    """The outcomes of a system, from its answers, or as they were counted where there are none."""
    answers = system.record.answers
    counts = Counter(one.outcome for one in answers)
    if not answers:
        counts = Counter({str(name): int(count) for name, count in system.record.outcomes.items()})
    errors = Counter(
        short(one.error, _ERROR_CHARACTERS) for one in answers if one.outcome in NO_ANSWER
    )
    errors.pop("", None)
    wrong = (*FAILED, "empty", "missing")
    return Outcomes(
        asked=counts.total(),
        failed=sum(counts[name] for name in NO_ANSWER),
        kinds=tuple((name, counts[name]) for name in wrong if counts[name]),
        errors=tuple(errors.most_common(_KINDS_OF_ERRORS)),
        more_errors=max(0, len(errors) - _KINDS_OF_ERRORS),
    )


@dataclass(frozen=True)
class Cell:
    """A value, how far it might move, and whether it is the best of its metric.

    `interval` is None where nothing can be said about that: of one query, or of equal values.
    """

    value: float
    interval: Interval | None
    best: bool = False

    @property
    def words(self) -> str:
        """The value, and its interval in parentheses."""
        return (
            f"{value(self.value)} ({span(self.interval)})" if self.interval else value(self.value)
        )

    @property
    def ends(self) -> dict[str, float]:
        """Where the line of a chart begins and ends: where the value is, if there is none."""
        low, high = self.interval or (self.value, self.value)
        return {"value": self.value, "low": low, "high": high}


@dataclass(frozen=True)
class Row:
    """A system: its place among the systems of the section decides its colour."""

    place: int
    label: str
    kind: str
    cells: tuple[Cell | None, ...]
    queries: int
    outcomes: Outcomes


@dataclass(frozen=True)
class Standings:
    """The table of systems and metrics, the best system by the first metric on top.

    `unscored` are the labels of systems without scores.
    """

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
        """What there is to be seen besides the values."""
        cells = [cell for row in self.rows for cell in row.cells if cell is not None]
        return caption_of(cells, "column")


def caption_of(cells: Sequence[Cell], along: str) -> str:
    """The legend of a table of values: only what it really has."""
    parts = [f"Each value with its {INTERVAL_NAME}"] if any(one.interval for one in cells) else []
    parts += [f"★ is the best of its {along}"] if any(one.best for one in cells) else []
    found = "; ".join(parts)
    return f"{found}." if found else ""


def deciding_metric(section: Section) -> str:
    """The first metric that has a better and a worse; empty if there is none."""
    names = (name for name in section.metrics if direction_of(name) != "neither")
    return next(names, "")


def ranked(section: Section, metric: str) -> list[System]:
    """The systems that have the metric, the best first; equal ones in the order of the report.

    Who answered nothing comes last, whatever its value.
    """
    sign = 1 if direction_of(metric) == "down" else -1
    found = [
        ((outcomes_of(system).silent, sign * number), system)
        for system in section.scored
        if (number := value_of(system.scores, metric)) is not None
    ]
    return [system for _, system in sorted(found, key=lambda one: one[0])]


def ordered(section: Section) -> list[System]:
    """All systems in the one order of the page: the best first, those without a value last."""
    metric = deciding_metric(section)
    order = ranked(section, metric) if metric else []
    order += [system for system in section.scored if system not in order]
    return order + [system for system in section.systems if system not in order]


def answering(section: Section, metric: str) -> list[System]:
    """The systems that have the metric and answered anything, the best first."""
    return [system for system in ranked(section, metric) if not outcomes_of(system).silent]


def standings_of(section: Section) -> Standings:
    """The standings of a section."""
    first = deciding_metric(section)
    metrics = tuple(sorted(section.metrics, key=lambda name: name != first))
    best = {metric: _best(section, metric) for metric in metrics}
    rows = tuple(
        Row(
            place=section.systems.index(system),
            label=system.label,
            kind=_kind(system),
            cells=tuple(_cell(system, metric, best[metric]) for metric in metrics),
            queries=0 if system.scores is None else system.scores.count,
            outcomes=outcomes_of(system),
        )
        for system in ordered(section)
        if system.scores is not None
    )
    downwards = tuple(direction_of(metric) == "down" for metric in metrics)
    unscored = tuple(system.label for system in section.systems if system.scores is None)
    return Standings(metrics, downwards, rows, unscored)


def _best(section: Section, metric: str) -> float | None:
    """The best value of those that answered, if they differ and the metric has a better."""
    if direction_of(metric) == "neither":
        return None
    return best_of((value_of(one.scores, metric) for one in ranked(section, metric)), metric)


def _cell(system: System, metric: str, best: float | None) -> Cell | None:
    number = value_of(system.scores, metric)
    if number is None or system.scores is None:
        return None
    return Cell(number, interval_of(system.scores, metric), best=is_best(number, best))


def _kind(system: System) -> str:
    """What it is, as far as its name does not say so."""
    record = system.record
    parts = [record.type if record.type != record.name else "", record.chunker]
    return " · ".join(part for part in parts if part and part not in record.name)


# Metrics with intervals: a dot and a line for every system, metric by metric.


def metrics_chart(standings: Standings, labels: Sequence[str]) -> Figure | None:
    """The chart of the metrics that lie between 0 and 1, of who answered; None if there is none.

    `labels` are all systems of the section, in the order that gives them their colours.
    """
    rows = [row for row in standings.rows if not row.outcomes.silent]
    order = [row.label for row in rows]
    cells = [
        (row.label, metric, cell)
        for place, metric in enumerate(standings.metrics)
        if _is_share([row.cells[place] for row in rows])
        for row in rows
        if (cell := row.cells[place]) is not None
    ]
    if not cells:
        return None
    data = [
        {"system": label, "metric": metric, **cell.ends}
        for label, metric, cell in cells
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
                "field": "metric", "type": "nominal", "sort": None, "title": None,
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
        "Every metric with its 95 % interval: how far it might move if other queries were asked."
        if known
        else "Every metric; nothing is known about how far it might move."
    )
    dots = "Dots with intervals" if known else "Dots"
    return Figure(
        spec, caption, f"{dots}, by metric. {cells[0][1]}: {words}. The table has all numbers."
    )


def _is_share(cells: Sequence[Cell | None]) -> bool:
    return all(0 <= cell.value <= 1 for cell in cells if cell is not None)


# Precision at every level of recall.


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
