"""How fast each system answers, and what it costs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from berryeval.reports.model import Section, System
    from berryeval.results import Latency

__all__ = ["Speed", "speeds_of"]


@dataclass(frozen=True)
class Speed:
    """The times of one system.

    Attributes:
        place: of the system in its section.
        label: of the system.
        latency: its percentiles; None if it never answered.
        seconds: of every query that was answered.
        asked: how many queries it was asked.
        answered: how many of them it answered.
        costs: what all queries together cost, by what the provider calls it.
    """

    place: int
    label: str
    latency: Latency | None
    seconds: tuple[float, ...]
    asked: int
    answered: int
    costs: tuple[tuple[str, float], ...]


def speeds_of(section: Section) -> tuple[Speed, ...]:
    """The times of every system that was asked anything; none if nobody timed anything."""
    found = [_speed(place, system) for place, system in enumerate(section.systems)]
    return tuple(one for one in found if one.latency is not None)


def _speed(place: int, system: System) -> Speed:
    answers = system.record.answers
    costs: Counter[str] = Counter()
    for answer in answers:
        for name, amount in answer.cost.items():
            if isinstance(amount, int | float) and not isinstance(amount, bool):
                costs[name] += amount  # type: ignore[assignment] # counts may be fractions
    return Speed(
        place=place,
        label=system.label,
        latency=system.latency,
        seconds=tuple(one.latency for one in answers if one.latency is not None),
        asked=len(answers),
        answered=sum(one.outcome in {"ok", "empty"} for one in answers),
        costs=tuple(sorted(costs.items())),
    )
