"""Which system is best, and is that significant? It is compared with every other by query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from berryeval.intervals import Interval
from berryeval.reports.html.views.outcomes import outcomes_of
from berryeval.reports.html.views.standings import ranked
from berryeval.stats import direction_of

if TYPE_CHECKING:
    from berryeval.reports.html.views.outcomes import Outcomes
    from berryeval.reports.model import Section, System
    from berryeval.stats import PairedDifference

__all__ = ["Contrast", "contrasts_of"]

_ROUNDING: Final = 1e-12


@dataclass(frozen=True)
class Contrast:
    """The best system and another, on the queries that both answered.

    Attributes:
        best: the label of the best.
        other: the label of the other.
        place: of the other among the systems of the section.
        by_query: by how much the best is better, for every query that both have: positive,
            whichever way the measure counts.
        sign: 1 if more is better, -1 if less is.
        row: what the statistics say; None if the two cannot be compared at all.
        outcomes: what became of the queries of the other.
    """

    best: str
    other: str
    place: int
    by_query: dict[str, float]
    sign: int
    row: PairedDifference | None
    outcomes: Outcomes

    @property
    def _turn(self) -> int:
        """1 if the row says by how much the best is better, -1 if it says how much worse."""
        return self.sign if self.row is not None and self.row.system == self.best else -self.sign

    @property
    def difference(self) -> float | None:
        """By how much the best is better."""
        return None if self.row is None else self._turn * self.row.difference

    @property
    def interval(self) -> Interval | None:
        """Of the difference; None where it cannot be said, or nothing differs."""
        if self.row is None or self.row.interval is None:
            return None
        low, high = sorted(self._turn * end for end in self.row.interval)
        return Interval(low, high) if low < high else None

    @property
    def p(self) -> float | None:
        """How often chance alone would do as much, corrected for how many are compared."""
        return None if self.row is None else self.row.p_corrected

    @property
    def certain(self) -> bool:
        """Whether the best is shown to be better."""
        return self.row is not None and self.row.shown and (self.difference or 0) > 0

    @property
    def equal(self) -> bool:
        """Whether both reach the same value, but for what rounding leaves."""
        return self.difference is not None and abs(self.difference) < _ROUNDING

    @property
    def told_apart(self) -> str:
        """What can be said of the two, in a word or two."""
        if self.outcomes.failed:
            return f"no: failed on {self.outcomes.failed:,}"
        if self.equal:
            return "no: equal"
        return "yes" if self.certain else "no"

    @property
    def detectable(self) -> float | None:
        """Which difference these queries would show four times in five."""
        return None if self.row is None else self.row.detectable

    @property
    def wins(self) -> int:
        """In how many queries the best is better."""
        if self.row is None:
            return 0
        return self.row.wins if self._turn > 0 else self.row.losses

    @property
    def ties(self) -> int:
        """In how many queries both are equal."""
        return 0 if self.row is None else self.row.ties

    @property
    def losses(self) -> int:
        """In how many queries the other is better."""
        if self.row is None:
            return 0
        return self.row.losses if self._turn > 0 else self.row.wins


def contrasts_of(section: Section, measure: str) -> tuple[Contrast, ...]:
    """The best system against every other, the runner-up first.

    The rows are those of every two systems, as in all other formats: who is best is known only
    after looking, so the correction must be for all that might have been.
    """
    order = ranked(section, measure)
    if not order:
        return ()
    best, *others = order
    rows = {frozenset((row.baseline, row.system)): row for row in section.differences(measure)}
    sign = -1 if direction_of(measure) == "down" else 1
    return tuple(
        Contrast(
            best.label,
            other.label,
            section.systems.index(other),
            _by_query(best, other, measure, sign),
            sign,
            rows.get(frozenset((best.label, other.label))),
            outcomes_of(other),
        )
        for other in others
    )


def _by_query(best: System, other: System, measure: str, sign: int) -> dict[str, float]:
    ours, theirs = (
        {} if one.scores is None else one.scores.per_query(measure) for one in (best, other)
    )
    return {query: sign * (ours[query] - theirs[query]) for query in ours if query in theirs}
