"""Rules about a drop: is a measure worse than in the baseline, by more than is allowed?

fail          it fell by more than is allowed, and chance alone hardly makes it fall so much
pass          the interval of the difference ends above what is allowed, or nothing changed
inconclusive  neither: these queries cannot tell, or some of the baseline's are missing
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from berryeval.gates.intervals import interval_of_change
from berryeval.gates.room import can_break
from berryeval.intervals import Interval, aggregate
from berryeval.measures.direction import direction_of
from berryeval.stats import corrected, paired_test
from berryeval.stats.change import change_beyond_rounding
from berryeval.stats.paired import Pair
from berryeval.stats.rows import testable, tested

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.gates.rules import Rule
    from berryeval.stats.paired import Floats

__all__ = [
    "Drop",
    "Sample",
    "corrected_together",
    "enough_samples",
    "measured_drop",
    "unchanged",
]

SAMPLES: Final = 100_000
_AT_LEAST: Final = 10  # so many of them may be as far off as what was seen, and it is real


@dataclass(frozen=True, eq=False)
class Sample:
    """What a rule about a drop looks at: the values of the same queries, before and after.

    Attributes:
        rule: the rule.
        before: the values of the baseline.
        after: the values of the run.
        aggregate: how they become one.
        new: how many queries of the run the baseline has not.
        missing: how many queries of the baseline the run has not.
    """

    rule: Rule
    before: Floats
    after: Floats
    aggregate: str = "mean"
    new: int = 0
    missing: int = 0


@dataclass(frozen=True)
class Drop:
    """How a measure changed between the baseline and the run.

    Attributes:
        change: of the mean, or of what else the values become.
        interval: of the change; None if that cannot be said.
        p: two-sided; None if that cannot be said.
        queries: how many queries both have.
        new: how many queries of the run the baseline has not.
        missing: how many queries of the baseline the run has not.
        less_is_better: whether a rise makes it worse.
        family: how many drops were corrected together.
        same: whether no query changed.
        cannot: why there is no p.
        no_room: whether the baseline is too near the worst end for a larger drop than allowed.
    """

    change: float
    interval: Interval | None
    p: float | None
    queries: int
    new: int = 0
    missing: int = 0
    less_is_better: bool = False
    family: int = 1
    same: bool = False
    cannot: str = ""
    no_room: bool = False

    @property
    def gain(self) -> float:
        """The change, better being up."""
        return -self.change if self.less_is_better else self.change

    @property
    def least_gain(self) -> float | None:
        """The worse end of the interval, better being up; None without an interval."""
        if self.interval is None:
            return None
        return -self.interval.high if self.less_is_better else self.interval.low


def enough_samples(together: Sequence[Sample], usual: int = SAMPLES) -> int:
    """How many random samples each test takes, so that every rule of the gate can fail.

    The smallest p of n samples is 1 / (1 + n), and the correction multiplies it by how many drops
    are looked at together.
    """
    strictest = min((sample.rule.significance for sample in together), default=1.0)
    return max(usual, math.ceil(_AT_LEAST * len(together) / strictest))


def measured_drop(sample: Sample, *, seed: int = 0, samples: int = SAMPLES) -> Drop:
    """The change, with what statistics can say about it."""
    before, after, how = sample.before, sample.after, sample.aggregate
    value = aggregate(how, before)
    drop = Drop(
        change_beyond_rounding(value, aggregate(how, after)),
        None,
        None,
        len(before),
        sample.new,
        sample.missing,
        direction_of(sample.rule.measure) == "down",
        no_room=not can_break(sample.rule, value),
    )
    if not len(before):
        return replace(drop, cannot="the baseline and the run share no query")
    if unchanged(before, after):
        return replace(drop, change=0.0, same=True)
    if not (testable(before, how) and testable(after, how)):
        cannot = "a geometric mean with a value of 0 has no logarithms to be tested by"
        return replace(drop, cannot=cannot)
    found = paired_test(
        "randomization", tested(before, how), tested(after, how), seed=seed, samples=samples
    )
    interval = interval_of_change(before, after, how, 1 - sample.rule.significance)
    return replace(drop, interval=interval, p=found.p, cannot=found.cannot)


def unchanged(before: Floats, after: Floats) -> bool:
    """Whether every query has its value still; what is less than rounding is no change."""
    return not len(before) or not len(Pair.of(before, after).non_zero)


def corrected_together(drops: Sequence[Drop]) -> list[Drop]:
    """The drops with their p after Holm's correction over all that have one."""
    family = sum(drop.p is not None for drop in drops)
    p_values = corrected([drop.p for drop in drops], "holm")
    return [
        replace(drop, p=p, family=max(family, 1)) for drop, p in zip(drops, p_values, strict=True)
    ]
