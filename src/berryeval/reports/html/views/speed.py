"""How fast each system answers, and what it costs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from berryeval.providers.costs import is_amount
from berryeval.reports.html.views.outcomes import outcomes_of
from berryeval.reports.html.views.standings import ordered

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
    """The times of every system that was asked anything, in the order of the page.

    There are none where nobody timed anything, unless somebody failed: then it says who.
    """
    places = {system.label: place for place, system in enumerate(section.systems)}
    found = [_speed(places[system.label], system) for system in ordered(section)]
    known = any(one.latency is not None or one.answered < one.asked for one in found)
    return tuple(one for one in found if known and (one.asked or one.latency is not None))


def _speed(place: int, system: System) -> Speed:
    answers, outcomes = system.record.answers, outcomes_of(system)
    costs: Counter[str] = Counter()
    for answer in answers:
        for name, amount in answer.cost.items():
            if is_amount(amount):
                costs[name] += amount
    return Speed(
        place=place,
        label=system.label,
        latency=system.latency,
        seconds=tuple(one.latency for one in answers if one.latency is not None),
        asked=outcomes.asked,
        answered=outcomes.answered,
        costs=tuple(sorted(cost for cost in costs.items() if is_amount(cost[1]))),
    )
