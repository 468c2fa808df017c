"""Drops against the baseline, their significance, and how often a gate raises a false alarm.

A drop fails a rule if it is larger than allowed and significant. It passes if no query changed or
if the confidence interval of the change lies within the allowed drop. Everything else is
inconclusive.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval._internal.aggregates import aggregate
from berryeval._internal.text import pluralize
from berryeval.gates.power import Power, estimate_needed
from berryeval.gates.rules import ROUNDING
from berryeval.gates.validation import can_break
from berryeval.gates.verdict import judge_drop
from berryeval.metrics import range_of
from berryeval.stats import (
    Pair,
    bounded_interval,
    change_beyond_rounding,
    correct_p_values,
    interval_of_change,
    is_testable,
    paired_test,
    spread_of,
    to_test_scale,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from berryeval._internal.aggregates import Interval
    from berryeval.gates.rules import Rule
    from berryeval.gates.verdict import Status
    from berryeval.stats import Floats


SAMPLES: Final = 100_000
TRIALS: Final = 1000
_TRIAL_SAMPLES: Final = 2000  # per test; the third digit of p does not matter in a self-check
_FEWEST_EXTREME: Final = 10  # random samples at least as extreme as an observed significant drop


@dataclass(frozen=True, eq=False)
class Sample:
    """Values of the shared queries that a rule about a drop compares.

    The run has `new` further queries, the baseline `missing` ones. A `note` gives the values of
    both sides over the shared queries, if data changed.
    """

    rule: Rule
    before: Floats
    after: Floats
    aggregate: str = "mean"
    new: int = 0
    missing: int = 0
    note: str = ""

    @property
    def unchanged(self) -> bool:
        """Whether no query changed by more than rounding."""
        return not len(self.before) or not len(Pair.of(self.before, self.after).non_zero)


@dataclass(frozen=True)
class Drop:
    """Change of a metric from the baseline to the run."""

    change: float
    interval: Interval | None
    p: float | None  # two-sided
    queries: int  # on both sides
    new: int = 0
    missing: int = 0
    less_is_better: bool = False
    family: int = 1  # drops corrected together
    same: bool = False  # no query changed
    cannot: str = ""  # reason why there is no p
    note: str = ""  # values of both sides, if data changed
    no_room: bool = False  # the baseline is too close to the worst value for a larger drop
    needed: int | None = None  # queries that would decide, if these do not
    worst_gain: float = 0.0  # of a single query; a gain that hides a large loss proves little

    @property
    def gain(self) -> float:
        """The change; positive means better."""
        return -self.change if self.less_is_better else self.change

    @property
    def least_gain(self) -> float | None:
        """The worse end of the interval as a gain; None without an interval."""
        if self.interval is None:
            return None
        return -self.interval.high if self.less_is_better else self.interval.low


def enough_samples(together: Sequence[Sample], usual: int = SAMPLES) -> int:
    """Return how many random samples each test needs so that every rule can fail.

    The smallest p of n samples is 1 / (1 + n); the correction multiplies it by the number of drops.
    """
    strictest = min((sample.rule.significance for sample in together), default=1.0)
    return max(usual, math.ceil(_FEWEST_EXTREME * len(together) / strictest))


def measure_drop(sample: Sample, *, seed: int = 0, samples: int = SAMPLES) -> Drop:
    """Measure the change, its interval and its p-value."""
    before, after, how = sample.before, sample.after, sample.aggregate
    value = aggregate(how, before)
    drop = Drop(
        change_beyond_rounding(value, aggregate(how, after)),
        None,
        None,
        len(before),
        sample.new,
        sample.missing,
        sample.rule.less_is_better,
        note=sample.note,
        no_room=not can_break(sample.rule, value),
    )
    if not len(before):
        return replace(drop, cannot="the baseline and the run share no unchanged query")
    if sample.unchanged:
        return replace(drop, change=0.0, same=True)
    if not (is_testable(before, how) and is_testable(after, how)):
        cannot = "the logarithm of a geometric mean with a value of 0 is undefined"
        return replace(drop, cannot=cannot)
    old, new = to_test_scale(before, how), to_test_scale(after, how)
    found = paired_test("randomization", old, new, seed=seed, samples=samples)
    interval = _interval_of_drop(sample, Pair.of(old, new))
    worst = float((before - after if drop.less_is_better else after - before).min())
    return replace(drop, interval=interval, p=found.p, cannot=found.cannot, worst_gain=worst)


def _interval_of_drop(sample: Sample, pair: Pair) -> Interval | None:
    """Return the interval of the change; None if it is not known how far changes may go.

    The worse end, which decides whether the rule passes, counts on an unseen query that loses as
    much as a query can. The better end is Student's.
    """
    level = 1 - sample.rule.significance
    student = interval_of_change(pair, sample.aggregate, level, "t")
    low, high = range_of(sample.rule.metric)
    room = (low - float(pair.a.max()), high - float(pair.a.min()))
    worse = room[1] if sample.rule.less_is_better else room[0]
    if sample.aggregate != "mean" or not math.isfinite(worse):
        return student if pair.deviation else None
    found = bounded_interval(pair.differences, room, level)
    if found is None or student is None:
        return found
    if sample.rule.less_is_better:
        return found._replace(low=student.low)
    return found._replace(high=student.high)


def correct_together(drops: Sequence[Drop]) -> list[Drop]:
    """Apply Holm's correction over all drops that have a p-value."""
    family = sum(drop.p is not None for drop in drops)
    p_values = correct_p_values([drop.p for drop in drops], "holm")
    return [
        replace(drop, p=p, family=max(family, 1)) for drop, p in zip(drops, p_values, strict=True)
    ]


def add_needed(drop: Drop, sample: Sample) -> Drop:
    """Return the drop with about how many queries would decide the rule, if these do not."""
    verdict = judge_drop(drop, sample.rule)
    if verdict.status != "inconclusive" or drop.p is None or sample.aggregate != "mean":
        return drop
    rule, pair = sample.rule, Pair.of(sample.before, sample.after)
    least = -(rule.max_drop or 0.0)
    worse = drop.gain < least - ROUNDING
    fewest = Power(drop.queries, drop.family, rule.significance).fewest
    # A drop that is larger than allowed has to become significant; else it has to be ruled out.
    level = 1 - rule.significance / (drop.family if worse else 1)

    def decides(places: npt.NDArray[np.intp], margin: float) -> bool:
        if worse:
            return int((abs(pair.differences[places]) > 0).sum()) >= fewest
        more = replace(sample, before=sample.before[places], after=sample.after[places])
        interval = _interval_of_drop(more, Pair.of(more.before, more.after))
        gained = replace(drop, interval=interval).least_gain
        return gained is not None and gained - margin >= least

    effect = drop.gain if worse else drop.gain - least
    return replace(drop, needed=estimate_needed(pair.differences, effect, level, decides))


@dataclass(frozen=True)
class SelfCheck:
    """False alarms of a gate on data without a regression.

    Attributes:
        failed: Number of tests in which a rule failed.
        undecided: Number of other tests in which a rule was inconclusive.
        claimed: Rate of false alarms that the gate claims not to exceed.
        strict: Whether inconclusive rules count as alarms.
        cannot: Reason why there is no result; empty if there is one.
    """

    trials: int
    failed: int
    undecided: int
    claimed: float
    strict: bool = False
    cannot: str = ""

    @property
    def alarms(self) -> int:
        """Number of false alarms."""
        return self.failed + (self.undecided if self.strict else 0)

    @property
    def rate(self) -> float:
        """Share of tests with a false alarm."""
        return self.alarms / self.trials if self.trials else 0.0

    @property
    def margin(self) -> float:
        """Twice the standard error of the rate if the claim were exactly true."""
        return 2 * float(np.sqrt(self.claimed * (1 - self.claimed) / max(self.trials, 1)))

    @property
    def holds(self) -> bool | None:
        """Whether the rate is within the margin of the claim; None without a result."""
        return None if self.cannot else self.rate <= self.claimed + self.margin

    @property
    def sentence(self) -> str:
        """The rate and the claim."""
        if self.cannot:
            return f"false alarms cannot be counted: {self.cannot}"
        word = "no more than" if self.rate <= self.claimed else "not significantly more than"
        alarms = pluralize(self.alarms, "false alarm")
        words = (
            f"{alarms} in {self.trials} A/A tests ({self.rate:.1%}), "
            f"{word if self.holds else 'more than'} the expected {self.claimed:.1%}"
        )
        if self.strict:
            words += f"; {self.undecided} of them are inconclusive, which fails with --strict"
        return words

    def to_dict(self) -> dict[str, float | str | None]:
        """Return the fields for JSON."""
        names = ("trials", "alarms", "undecided", "strict", "rate", "claimed", "holds", "cannot")
        return {name: getattr(self, name) for name in names}


def self_check(
    samples: Sequence[Sample], *, trials: int = TRIALS, seed: int = 0, strict: bool = False
) -> SelfCheck:
    """Count false alarms of the rules on resampled data without a regression (A/A tests).

    Each trial resamples the queries and swaps the two values of each query at random, so that
    neither side is better. If before and after are identical, pairs of randomly drawn queries
    replace them.

    A trial is an alarm if any rule fails or, if strict, is inconclusive. The gate looks for drops
    on one side only, so the claimed rate is half the significance level of the rules.
    """
    significance = max((sample.rule.significance for sample in samples), default=0.0)
    cannot = _explain_no_alarms(samples, strict=strict)
    if cannot:
        return SelfCheck(0, 0, 0, significance / 2, strict, cannot)
    rng = np.random.default_rng(seed)
    count = enough_samples(samples, _TRIAL_SAMPLES)
    found = Counter(_run_trial(samples, rng, count) for _ in range(trials))
    return SelfCheck(trials, found["fail"], found["inconclusive"], significance / 2, strict)


def _explain_no_alarms(samples: Sequence[Sample], *, strict: bool) -> str:
    """Return the reason why no trial can end in an alarm; empty if one can.

    The smallest p of n queries is 2 / 2^n (every query worse), times the number of drops.
    """
    if not samples:
        return "no provider covered by these rules has scores in both the run and the baseline"
    differing = [one for one in samples if not one.unchanged or spread_of(one.before) > 0]
    if not differing:
        return "every query has the same value, so resampling changes nothing"
    family = len(differing)
    smallest = [min(1.0, family * 2.0 ** (1 - len(sample.before))) for sample in differing]
    pairs = zip(smallest, differing, strict=True)
    if strict or any(p <= sample.rule.significance for p, sample in pairs):
        return ""
    count = max(len(sample.before) for sample in differing)
    if family == 1:
        return f"too few queries ({count}) to fail a rule about a drop"
    return (
        f"too few queries ({count}) to fail a rule when {family} drops are tested together: the "
        f"smallest possible p is {min(smallest):.2g}"
    )


def _run_trial(samples: Sequence[Sample], rng: np.random.Generator, count: int) -> Status:
    """Return the worst status of any rule on one draw, with `count` random samples per test."""
    drops = []
    for sample in samples:
        seed = int(rng.integers(2**31))
        drops.append(measure_drop(_resample(sample, rng), seed=seed, samples=count))
    pairs = zip(correct_together(drops), samples, strict=True)
    found = {judge_drop(drop, sample.rule).status for drop, sample in pairs}
    return max(found, key=("pass", "inconclusive", "fail").index, default="pass")


def _resample(sample: Sample, rng: np.random.Generator) -> Sample:
    """Draw queries again and swap the two sides of each at random."""
    count = len(sample.before)
    if not count:
        return sample
    chosen = rng.integers(count, size=count)
    before = sample.before[chosen]
    same = sample.unchanged
    after = sample.before[rng.integers(count, size=count)] if same else sample.after[chosen]
    swapped = rng.random(count) < 0.5  # noqa: PLR2004 - a fair coin
    before, after = np.where(swapped, after, before), np.where(swapped, before, after)
    return replace(sample, before=before, after=after, new=0, missing=0)
