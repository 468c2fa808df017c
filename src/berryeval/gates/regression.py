"""Rules about a drop: is a measure worse than in the baseline, by more than is allowed, for real?

fail          it fell by more than is allowed, and chance alone hardly makes such a drop
pass          the interval of the difference ends above what is allowed, or nothing changed
inconclusive  neither: these queries cannot tell
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval.gates.limits import ROUNDING
from berryeval.gates.verdict import Status, Verdict
from berryeval.measures.direction import direction_of
from berryeval.stats import difference_interval, paired_test

if TYPE_CHECKING:
    import numpy.typing as npt

    from berryeval.gates.rules import Rule
    from berryeval.intervals import Interval

__all__ = ["Drop", "Sample", "judge_drop", "measured_drop"]

SAMPLES: Final = 100_000


@dataclass(frozen=True, eq=False)
class Sample:
    """What a rule about a drop looks at: the values of the same queries, before and after.

    Attributes:
        rule: the rule.
        before: the values of the baseline.
        after: the values of the run.
        aggregate: how they become one.
        left_out: how many queries of the run the baseline has not.
    """

    rule: Rule
    before: npt.NDArray[np.float64]
    after: npt.NDArray[np.float64]
    aggregate: str = "mean"
    left_out: int = 0


@dataclass(frozen=True)
class Drop:
    """How a measure changed between the baseline and the run; better is up.

    Attributes:
        change: of the mean; negative is worse.
        interval: of the change; None if that cannot be said.
        p: two-sided; None if that cannot be said.
        queries: how many queries both have.
        left_out: how many queries of the run the baseline has not.
        family: how many drops were corrected together.
        same: whether no query changed.
        cannot: why there is no p.
    """

    change: float
    interval: Interval | None
    p: float | None
    queries: int
    left_out: int = 0
    family: int = 1
    same: bool = False
    cannot: str = ""


def measured_drop(sample: Sample, *, seed: int = 0, samples: int = SAMPLES) -> Drop:
    """The change, with what statistics can say about it."""
    rule, before, after, left_out = sample.rule, sample.before, sample.after, sample.left_out
    if not len(before):
        return Drop(0.0, None, None, 0, left_out, cannot="the baseline and the run share no query")
    if sample.aggregate != "mean":
        cannot = f"{rule.measure} is a {sample.aggregate} over the queries, not a mean"
        return Drop(0.0, None, None, len(before), left_out, cannot=cannot)
    if direction_of(rule.measure) == "down":
        before, after = -before, -after
    change = float(np.mean(after - before))
    if np.array_equal(before, after):
        return Drop(0.0, None, None, len(before), left_out, same=True)
    tested = paired_test("randomization", before, after, seed=seed, samples=samples)
    interval = difference_interval(before, after, 1 - rule.significance, seed=seed)
    return Drop(change, interval, tested.p, len(before), left_out, cannot=tested.cannot)


def judge_drop(drop: Drop, rule: Rule) -> Verdict:
    """The verdict on a drop."""
    allowed = rule.max_drop or 0.0
    words = f"{rule.subject} {_moved(drop.change)}"
    if drop.same:
        text = f"{rule.subject} did not change: all {drop.queries} queries score as in the baseline"
        return Verdict("pass", str(rule), text, value=0.0, limit=allowed)
    if drop.p is None or drop.interval is None:
        why = drop.cannot or "the queries cannot tell"
        text = f"{words}; whether that is chance cannot be said: {why}"
        value = drop.change if drop.queries else None
        return Verdict("inconclusive", str(rule), text, value=value, limit=allowed)
    low, high = drop.interval
    family = f" after correction for {drop.family} rules" if drop.family > 1 else ""
    level = (1 - rule.significance) * 100
    words += f", {level:g} % CI [{low:+.3f}, {high:+.3f}], {_p(drop.p)}{family}"
    if drop.left_out:
        words += f" ({drop.left_out} queries are new and not compared)"
    real = drop.p < rule.significance
    status: Status
    if drop.change < -allowed - ROUNDING and real:
        status, ending = "fail", _allows(allowed)
    elif low >= -allowed - ROUNDING:
        status, ending = "pass", _allows(allowed)
    elif drop.change < -allowed - ROUNDING:
        status, ending = "inconclusive", f"{_allows(allowed)}, and it may be chance"
    else:
        status, ending = "inconclusive", f"{_allows(allowed)}, and a larger drop is not excluded"
    return Verdict(status, str(rule), f"{words}; {ending}", value=drop.change, limit=allowed)


def _moved(change: float) -> str:
    if change == 0:
        return "kept its mean"
    return f"{'fell' if change < 0 else 'rose'} by {abs(change):.3f}"


def _allows(allowed: float) -> str:
    return f"the gate allows {f'a drop of {allowed:.3f}' if allowed else 'no drop'}"


def _p(p: float) -> str:
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"  # noqa: PLR2004 - three digits
