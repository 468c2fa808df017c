"""Failures: the worst queries and errors of each system, and where the systems disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from berryeval.metrics import direction_of, gain_sign
from berryeval.reports.html.standings import (
    deciding_metric,
    find_answering,
    order_systems,
)

if TYPE_CHECKING:
    from berryeval.data import Query
    from berryeval.reports.sections import Outcomes, Section, System


# Queries in order.

_FULL: Final = 1 - 1e-9  # a perfect fraction, up to rounding


def values_by_query(system: System, metric: str) -> dict[str, float]:
    """Return the value of each query; empty if the system lacks the metric."""
    scores = system.record.scores_with(metric) if metric else None
    return {} if scores is None else scores.per_query(metric)


def sort_worst_first(section: Section, system: System, metric: str) -> list[tuple[Query, float]]:
    """Return the queries with their values, worst first; ties keep the benchmark's order."""
    values = values_by_query(system, metric)
    sign = gain_sign(metric)
    known = [(query, values[query.id]) for query in section.queries if query.id in values]
    return sorted(known, key=lambda one: sign * one[1])


def drop_perfect(values: list[tuple[Query, float]], metric: str) -> list[tuple[Query, float]]:
    """Return the queries that could be better: all except perfect fractions."""
    is_fraction = direction_of(metric) == "up" and all(0 <= value <= 1 for _, value in values)
    return [one for one in values if not (is_fraction and one[1] >= _FULL)]


def sort_by_spread(
    section: Section, systems: list[System], metric: str
) -> list[tuple[Query, tuple[float | None, ...], float]]:
    """Return the queries on which systems differ, with all values, largest spread first."""
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
    """The failures of one system: its `worst` queries, and the number with value 0 (`nothing`)."""

    place: int
    label: str
    worst: tuple[tuple[Query, float], ...]
    valued: int
    nothing: int
    outcomes: Outcomes
    failure: str = ""

    @property
    def perfect(self) -> bool:
        """Whether every query is perfect."""
        return self.valued > 0 and not self.worst


@dataclass(frozen=True)
class Disagreement:
    """A query on which the systems differ: all values and the largest difference."""

    query: Query
    values: tuple[float | None, ...]
    spread: float


def collect_failures(section: Section) -> tuple[Failing, ...]:
    """Collect the failures of each system, in the order of the page."""
    metric = deciding_metric(section)
    return tuple(_failing(section, system, metric) for system in order_systems(section))


def _failing(section: Section, system: System, metric: str) -> Failing:
    found = sort_worst_first(section, system, metric)
    nothing = 0 if direction_of(metric) == "down" else sum(value == 0 for _, value in found)
    return Failing(
        place=system.place,
        label=system.label,
        worst=tuple(drop_perfect(found, metric)[:WORST]),
        valued=len(found),
        nothing=nothing,
        outcomes=system.outcomes,
        failure=system.record.failure,
    )


def find_disagreements(section: Section) -> tuple[Disagreement, ...]:
    """Return the queries on which answering systems differ most, by the deciding metric."""
    metric = deciding_metric(section)
    if not metric:
        return ()
    found = sort_by_spread(section, find_answering(section, metric), metric)
    return tuple(Disagreement(*one) for one in found[:DISAGREEMENTS])
