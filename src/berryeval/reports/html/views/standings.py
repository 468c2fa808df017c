"""Systems and measures: every value with its interval, and which is the best of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from berryeval.reports.html.numbers import span, value
from berryeval.reports.html.views.outcomes import Outcomes, outcomes_of
from berryeval.reports.methods import OF_A_VALUE
from berryeval.reports.rows import best_of, interval_of, is_best, value_of
from berryeval.stats import direction_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.intervals import Interval
    from berryeval.reports.model import Section, System

__all__ = [
    "Cell",
    "Row",
    "Standings",
    "answering",
    "caption_of",
    "deciding_measure",
    "ordered",
    "ranked",
    "standings_of",
]


@dataclass(frozen=True)
class Cell:
    """A value, how far it might move, and whether it is the best of its measure.

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
    """The table of systems and measures, the best system by the first measure on top.

    `unscored` are the labels of systems without scores.
    """

    measures: tuple[str, ...]
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
    parts = [f"Each value with its {OF_A_VALUE}"] if any(one.interval for one in cells) else []
    parts += [f"★ is the best of its {along}"] if any(one.best for one in cells) else []
    found = "; ".join(parts)
    return f"{found}." if found else ""


def deciding_measure(section: Section) -> str:
    """The first measure that has a better and a worse; empty if there is none."""
    names = (name for name in section.measures if direction_of(name) != "neither")
    return next(names, "")


def ranked(section: Section, measure: str) -> list[System]:
    """The systems that have the measure, the best first; equal ones in the order of the report.

    Who answered nothing comes last, whatever its value.
    """
    sign = 1 if direction_of(measure) == "down" else -1
    found = [
        ((outcomes_of(system).silent, sign * number), system)
        for system in section.scored
        if (number := value_of(system.scores, measure)) is not None
    ]
    return [system for _, system in sorted(found, key=lambda one: one[0])]


def ordered(section: Section) -> list[System]:
    """All systems in the one order of the page: the best first, those without a value last."""
    measure = deciding_measure(section)
    order = ranked(section, measure) if measure else []
    order += [system for system in section.scored if system not in order]
    return order + [system for system in section.systems if system not in order]


def answering(section: Section, measure: str) -> list[System]:
    """The systems that have the measure and answered anything, the best first."""
    return [system for system in ranked(section, measure) if not outcomes_of(system).silent]


def standings_of(section: Section) -> Standings:
    """The standings of a section."""
    first = deciding_measure(section)
    measures = tuple(sorted(section.measures, key=lambda name: name != first))
    best = {measure: _best(section, measure) for measure in measures}
    rows = tuple(
        Row(
            place=section.systems.index(system),
            label=system.label,
            kind=_kind(system),
            cells=tuple(_cell(system, measure, best[measure]) for measure in measures),
            queries=0 if system.scores is None else system.scores.count,
            outcomes=outcomes_of(system),
        )
        for system in ordered(section)
        if system.scores is not None
    )
    downwards = tuple(direction_of(measure) == "down" for measure in measures)
    unscored = tuple(system.label for system in section.systems if system.scores is None)
    return Standings(measures, downwards, rows, unscored)


def _best(section: Section, measure: str) -> float | None:
    """The best value of those that answered, if they differ and the measure has a better."""
    if direction_of(measure) == "neither":
        return None
    return best_of((value_of(one.scores, measure) for one in ranked(section, measure)), measure)


def _cell(system: System, measure: str, best: float | None) -> Cell | None:
    number = value_of(system.scores, measure)
    if number is None or system.scores is None:
        return None
    return Cell(number, interval_of(system.scores, measure), best=is_best(number, best))


def _kind(system: System) -> str:
    """What it is, as far as its name does not say so."""
    record = system.record
    parts = [record.type if record.type != record.name else "", record.chunker]
    return " · ".join(part for part in parts if part and part not in record.name)
