"""Where each system fails: its worst queries, its errors, and where the systems disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from berryeval.reports.html.views.outcomes import Outcomes, outcomes_of
from berryeval.reports.html.views.standings import answering, deciding_measure, ordered
from berryeval.reports.html.views.worst import by_spread, imperfect, worst_first
from berryeval.stats import direction_of

if TYPE_CHECKING:
    from berryeval.records import Query
    from berryeval.reports.model import Section, System

__all__ = ["Disagreement", "Failing", "disagreements_of", "failing_of"]

WORST: Final = 5
DISAGREEMENTS: Final = 10


@dataclass(frozen=True)
class Failing:
    """What one system does worst.

    Attributes:
        place: of the system in its section.
        label: of the system.
        worst: its worst queries, the worst first, each with its value; none of a perfect value.
        valued: how many queries have a value.
        nothing: how many queries have the worst value there is.
        outcomes: how many queries failed, and how.
        failure: why it has no scores at all.
    """

    place: int
    label: str
    worst: tuple[tuple[Query, float], ...]
    valued: int
    nothing: int
    outcomes: Outcomes
    failure: str = ""

    @property
    def perfect(self) -> bool:
        """Whether no query could be better."""
        return self.valued > 0 and not self.worst


@dataclass(frozen=True)
class Disagreement:
    """A query on which the systems differ: every system's value, and the largest difference."""

    query: Query
    values: tuple[float | None, ...]
    spread: float


def failing_of(section: Section) -> tuple[Failing, ...]:
    """What each system does worst, in the order of the page."""
    measure = deciding_measure(section)
    return tuple(_failing(section, system, measure) for system in ordered(section))


def _failing(section: Section, system: System, measure: str) -> Failing:
    found = worst_first(section, system, measure)
    nothing = 0 if direction_of(measure) == "down" else sum(value == 0 for _, value in found)
    return Failing(
        place=section.systems.index(system),
        label=system.label,
        worst=tuple(imperfect(found, measure)[:WORST]),
        valued=len(found),
        nothing=nothing,
        outcomes=outcomes_of(system),
        failure=system.record.failure,
    )


def disagreements_of(section: Section) -> tuple[Disagreement, ...]:
    """The queries on which those that answered differ most, by the first measure."""
    measure = deciding_measure(section)
    if not measure:
        return ()
    found = by_spread(section, answering(section, measure), measure)
    return tuple(Disagreement(*one) for one in found[:DISAGREEMENTS])
