"""Queries from the worst to the best, in the one order that the whole page has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.stats import direction_of

if TYPE_CHECKING:
    from berryeval.records import Query
    from berryeval.reports.model import Section, System

__all__ = ["by_spread", "imperfect", "values_by_query", "worst_first"]

_FULL: Final = 1 - 1e-9  # of measures that are shares


def values_by_query(system: System, measure: str) -> dict[str, float]:
    """The value of each query; none if the system does not have the measure."""
    scores = system.scores
    return {} if scores is None or measure not in scores.measures else scores.per_query(measure)


def worst_first(section: Section, system: System, measure: str) -> list[tuple[Query, float]]:
    """The queries of a system with their values; equal ones in the order of the benchmark."""
    values = values_by_query(system, measure)
    sign = -1 if direction_of(measure) == "down" else 1
    known = [(query, values[query.id]) for query in section.queries if query.id in values]
    return sorted(known, key=lambda one: sign * one[1])


def imperfect(values: list[tuple[Query, float]], measure: str) -> list[tuple[Query, float]]:
    """Those that could be better: all but the ones of a full share."""
    is_share = direction_of(measure) == "up" and all(0 <= value <= 1 for _, value in values)
    return [one for one in values if not (is_share and one[1] >= _FULL)]


def by_spread(
    section: Section, systems: list[System], measure: str
) -> list[tuple[Query, tuple[float | None, ...], float]]:
    """The queries on which systems differ, with the value of each, the largest spread first."""
    tables = [values_by_query(system, measure) for system in systems]
    found = []
    for query in section.queries:
        values = tuple(table.get(query.id) for table in tables)
        known = [one for one in values if one is not None]
        if len(known) > 1 and max(known) > min(known):
            found.append((query, values, max(known) - min(known)))
    return sorted(found, key=lambda one: -one[2])
