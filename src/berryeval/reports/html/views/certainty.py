"""Which system is best, and is that certain? Every other is compared with it, query by query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from berryeval.intervals import Interval, bootstrap_interval
from berryeval.measures.direction import smaller_is_better
from berryeval.reports.html.views.standings import ranked

if TYPE_CHECKING:
    from berryeval.reports.model import Section, System

__all__ = ["Contrast", "contrasts_of"]


@dataclass(frozen=True)
class Contrast:
    """The best system and another, on the queries that both answered.

    Attributes:
        best: the label of the best.
        other: the label of the other.
        place: of the other among the systems of the section.
        difference: by how much the best is better; positive whichever way the measure counts.
        interval: of the difference; None where it cannot be said.
        p: how often chance alone would do as much; None where it cannot be said.
        by_query: the difference of every query that both have.
    """

    best: str
    other: str
    place: int
    difference: float
    interval: Interval | None
    p: float | None
    by_query: dict[str, float]

    @property
    def certain(self) -> bool:
        """Whether the two can be told apart."""
        return self.interval is not None and (self.interval.low > 0 or self.interval.high < 0)

    @property
    def wins(self) -> int:
        """In how many queries the best is better."""
        return sum(one > 0 for one in self.by_query.values())

    @property
    def losses(self) -> int:
        """In how many queries the other is better."""
        return sum(one < 0 for one in self.by_query.values())

    @property
    def ties(self) -> int:
        """In how many queries both are equal."""
        return len(self.by_query) - self.wins - self.losses


def contrasts_of(section: Section, measure: str) -> tuple[Contrast, ...]:
    """The best system against every other, the runner-up first."""
    order = ranked(section, measure)
    if not order:
        return ()
    best, *others = order
    return tuple(_contrast(section, best, other, measure) for other in others)


def _contrast(section: Section, best: System, other: System, measure: str) -> Contrast:
    ours, theirs = _by_query(best, measure), _by_query(other, measure)
    sign = -1.0 if smaller_is_better(measure) else 1.0
    by_query = {query: sign * (ours[query] - theirs[query]) for query in ours if query in theirs}
    values = np.array(list(by_query.values()), dtype=np.float64)
    interval = bootstrap_interval("mean", values, 0.95) if len(values) > 1 else None
    place = section.systems.index(other)
    mean = float(values.mean()) if len(values) else 0.0
    return Contrast(best.label, other.label, place, mean, interval, None, by_query)


def _by_query(system: System, measure: str) -> dict[str, float]:
    return {} if system.scores is None else system.scores.per_query(measure)
