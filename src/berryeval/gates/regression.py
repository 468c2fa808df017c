"""Rules about a drop: is a metric worse than in the baseline, by more than is allowed?

fail          it fell by more than is allowed, and chance alone hardly makes it fall so much
pass          the interval of the difference ends above what is allowed, or nothing changed
inconclusive  neither: these queries cannot tell, or some of the baseline's are missing
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from berryeval._internal.intervals import Interval, aggregate, restored, spread_known
from berryeval._internal.numbers import p_equation
from berryeval._internal.text import counted
from berryeval.gates.rules import ROUNDING
from berryeval.gates.validation import can_break
from berryeval.gates.verdict import Status, Verdict, change_of, fall_of, limit_of, wants
from berryeval.metrics import cut_to_range, direction_of
from berryeval.stats import (
    Pair,
    change_beyond_rounding,
    corrected,
    mean_interval,
    paired_test,
    spread_of,
    testable,
    tested,
)
from berryeval.stats import interval_of_change as interval_of_paired_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.gates.rules import Rule
    from berryeval.stats import Floats


# The verdict on a drop, in a sentence with its numbers.


def judge_drop(drop: Drop, rule: Rule, *, wanted: bool = True) -> Verdict:
    """The verdict on a drop; the sentence says what the gate allows if that is `wanted`."""
    status, why = _decided(drop, rule)
    if status == "pass" and drop.missing:
        status = "inconclusive"
    allowed = f"; {wants(rule, fell=drop.gain < 0)}" if wanted and not drop.same else ""
    return Verdict(
        status, str(rule), f"{_found(drop, rule)}{allowed}{_more(drop, rule)}{why}",
        value=drop.change if drop.queries else None, limit=rule.max_drop, n=drop.queries,
        interval=drop.interval, level=round(1 - rule.significance, 12) if drop.interval else None,
        p=drop.p, family=None if drop.p is None else drop.family,
    )  # fmt: skip


def _decided(drop: Drop, rule: Rule) -> tuple[Status, str]:
    """The verdict by the queries that both have, and why it is not decided."""
    if drop.same:
        return "pass", ""
    if drop.p is None:
        why = drop.cannot or "the queries cannot tell"
        return "inconclusive", f", and whether that is chance cannot be said: {why}"
    least = -(rule.max_drop or 0.0) - ROUNDING
    real = drop.p <= rule.significance
    if drop.gain < least:
        return ("fail", "") if real else ("inconclusive", ", and it may be chance")
    rose = real and drop.gain >= 0  # all there is to go by where every query changed by the same
    if rose if drop.least_gain is None else drop.least_gain >= least:
        return "pass", ""
    if drop.no_room:
        end = "high" if drop.less_is_better else "low"
        return "inconclusive", f", and the baseline is too {end} for a larger {fall_of(rule)}"
    return "inconclusive", f", and a larger {fall_of(rule)} is not excluded"


def _found(drop: Drop, rule: Rule) -> str:
    """How the metric moved, with its interval."""
    if drop.same:
        whose = "" if not (drop.new or drop.missing) else " that both have"
        return (
            f"{rule.subject} did not change: all {drop.queries} queries{whose} score as in the "
            "baseline"
        )
    parts = [f"{rule.subject} {_moved(drop, rule)}"]
    if drop.interval is not None and drop.interval.low == drop.interval.high:
        parts.append(f"all {drop.queries} queries alike")
    elif drop.interval is not None:
        low, high = (_signed(end, rule) for end in drop.interval)
        parts.append(f"{(1 - rule.significance) * 100:g} % CI [{low}, {high}]")
    return ", ".join(parts)


def _more(drop: Drop, rule: Rule) -> str:
    """In parentheses: the p-value, and how many queries only one of the two has."""
    parts = []
    if drop.p is not None and not drop.same:
        family = f" after correction for {drop.family} rules" if drop.family > 1 else ""
        parts.append(f"{p_equation(drop.p)}{family}")
    if drop.missing:
        maybe = ", and may be of this group" if rule.where else ""
        one = drop.missing == 1
        parts.append(
            f"{counted(drop.missing, 'query', 'queries')} of the baseline {'is' if one else 'are'} "
            f"not in the run{maybe}"
        )
    if drop.new:
        one = drop.new == 1
        parts.append(
            f"{counted(drop.new, 'query', 'queries')} {'is' if one else 'are'} new and not compared"
        )
    return f" ({'; '.join(parts)})" if parts else ""


def _moved(drop: Drop, rule: Rule) -> str:
    if drop.change == 0:
        return "kept its value"
    word = "fell" if drop.change < 0 else "rose"
    return f"{word} by {change_of(drop.change, limit_of(rule))}"


def _signed(end: float, rule: Rule) -> str:
    return f"{'-' if end < 0 else '+'}{change_of(end, limit_of(rule))}"


# The intervals that gates judge by: Student's, of a value and of a change.


def interval_of_value(metric: str, values: Floats, how: str, level: float) -> Interval | None:
    """The interval of an aggregate; None where the spread of the values is not known.

    It ends where the metric does. Where the values are alike, and enough to say so, it is a point.
    """
    if not testable(values, how):
        return None
    spread = spread_of(values)
    if not spread_known(len(values), spread):
        return None
    if spread == 0:
        value = aggregate(how, values)
        return Interval(value, value)
    of_mean = mean_interval(tested(values, how), level)
    if of_mean is None:
        return None
    return cut_to_range(restored(how, of_mean, len(values)), metric, how, values)


def interval_of_change(before: Floats, after: Floats, how: str, level: float) -> Interval | None:
    """The interval of the change of an aggregate; None where its spread is not known.

    Where every query changed by the same, and there are enough to say so, it is a point.
    """
    if not (testable(before, how) and testable(after, how)):
        return None
    return interval_of_paired_change(
        Pair.of(tested(before, how), tested(after, how)), how, level, "t"
    )


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
    """How a metric changed between the baseline and the run.

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
        direction_of(sample.rule.metric) == "down",
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
