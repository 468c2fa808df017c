"""Where each system fails: its worst queries, its errors, and where the systems disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from berryeval.reports.html.views.standings import deciding_measure, ranked
from berryeval.stats import direction_of

if TYPE_CHECKING:
    from berryeval.records import Query
    from berryeval.reports.model import Section, System

__all__ = ["Disagreement", "Failing", "disagreements_of", "failing_of", "values_by_query"]

WORST: Final = 5
_WRONG: Final = ("error", "timeout", "empty", "missing")


@dataclass(frozen=True)
class Failing:
    """What one system does worst.

    Attributes:
        place: of the system in its section.
        label: of the system.
        worst: its worst queries, the worst first, each with its value.
        nothing: how many queries have the worst value there is.
        outcomes: how many queries failed, and how.
        failure: why it has no scores at all.
    """

    place: int
    label: str
    worst: tuple[tuple[Query, float], ...]
    nothing: int
    outcomes: tuple[tuple[str, int], ...]
    failure: str = ""


@dataclass(frozen=True)
class Disagreement:
    """A query on which the systems differ: every system's value, and the largest difference."""

    query: Query
    values: tuple[float | None, ...]
    spread: float


def values_by_query(system: System, measure: str) -> dict[str, float]:
    """The value of each query; none if the system does not have the measure."""
    scores = system.scores
    return {} if scores is None or measure not in scores.measures else scores.per_query(measure)


def failing_of(section: Section) -> tuple[Failing, ...]:
    """What each system does worst, in the order of the report."""
    measure = deciding_measure(section)
    return tuple(_failing(section, place, measure) for place in range(len(section.systems)))


def _failing(section: Section, place: int, measure: str) -> Failing:
    system = section.systems[place]
    values = values_by_query(system, measure)
    sign = -1 if direction_of(measure) == "down" else 1
    known = [(query, values[query.id]) for query in section.queries if query.id in values]
    order = sorted(known, key=lambda one: sign * one[1])
    nothing = 0 if sign < 0 else sum(value == 0 for value in values.values())
    counts = [answer.outcome for answer in system.record.answers]
    outcomes = tuple((name, counts.count(name)) for name in _WRONG if name in counts)
    return Failing(
        place, system.label, tuple(order[:WORST]), nothing, outcomes, system.record.failure
    )


def disagreements_of(section: Section, limit: int = 10) -> tuple[Disagreement, ...]:
    """The queries on which the systems differ most, by the first measure."""
    measure = deciding_measure(section)
    if not measure:
        return ()
    tables = [values_by_query(system, measure) for system in ranked(section, measure)]
    found = []
    for query in section.queries:
        values = tuple(table.get(query.id) for table in tables)
        known = [one for one in values if one is not None]
        if len(known) > 1 and max(known) > min(known):
            found.append(Disagreement(query, values, max(known) - min(known)))
    return tuple(sorted(found, key=lambda one: -one.spread)[:limit])
