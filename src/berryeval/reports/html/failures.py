"""Where each system fails: its worst queries, its errors, and where the systems disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from berryeval.metrics import direction_of
from berryeval.reports.html.standings import (
    Outcomes,
    answering,
    deciding_metric,
    ordered,
    outcomes_of,
)

if TYPE_CHECKING:
    from berryeval.data import Query
    from berryeval.reports.report import Section, System


# Queries from the worst to the best, in the one order that the whole page has.

_FULL: Final = 1 - 1e-9  # of metrics that are shares


def values_by_query(system: System, metric: str) -> dict[str, float]:
    """The value of each query; none if the system does not have the metric."""
    scores = system.scores
    return {} if scores is None or metric not in scores.metrics else scores.per_query(metric)


def worst_first(section: Section, system: System, metric: str) -> list[tuple[Query, float]]:
    """The queries of a system with their values; equal ones in the order of the benchmark."""
    values = values_by_query(system, metric)
    sign = -1 if direction_of(metric) == "down" else 1
    known = [(query, values[query.id]) for query in section.queries if query.id in values]
    return sorted(known, key=lambda one: sign * one[1])


def imperfect(values: list[tuple[Query, float]], metric: str) -> list[tuple[Query, float]]:
    """Those that could be better: all but the ones of a full share."""
    is_share = direction_of(metric) == "up" and all(0 <= value <= 1 for _, value in values)
    return [one for one in values if not (is_share and one[1] >= _FULL)]


def by_spread(
    section: Section, systems: list[System], metric: str
) -> list[tuple[Query, tuple[float | None, ...], float]]:
    """The queries on which systems differ, with the value of each, the largest spread first."""
    tables = [values_by_query(system, metric) for system in systems]
    found = []
    for query in section.queries:
        values = tuple(table.get(query.id) for table in tables)
        known = [one for one in values if one is not None]
        if len(known) > 1 and max(known) > min(known):
            found.append((query, values, max(known) - min(known)))
    return sorted(found, key=lambda one: -one[2])


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
    metric = deciding_metric(section)
    return tuple(_failing(section, system, metric) for system in ordered(section))


def _failing(section: Section, system: System, metric: str) -> Failing:
    found = worst_first(section, system, metric)
    nothing = 0 if direction_of(metric) == "down" else sum(value == 0 for _, value in found)
    return Failing(
        place=section.systems.index(system),
        label=system.label,
        worst=tuple(imperfect(found, metric)[:WORST]),
        valued=len(found),
        nothing=nothing,
        outcomes=outcomes_of(system),
        failure=system.record.failure,
    )


def disagreements_of(section: Section) -> tuple[Disagreement, ...]:
    """The queries on which those that answered differ most, by the first metric."""
    metric = deciding_metric(section)
    if not metric:
        return ()
    found = by_spread(section, answering(section, metric), metric)
    return tuple(Disagreement(*one) for one in found[:DISAGREEMENTS])
