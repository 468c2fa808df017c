"""How often a gate raises a false alarm: A/A tests on resampled scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval.gates.drop_verdict import judge_drop
from berryeval.gates.regression import corrected_together, measured_drop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.gates.regression import Sample

__all__ = ["SelfCheck", "self_check"]

TRIALS: Final = 1000
_SAMPLES: Final = 2000  # of each test; that p is rough at the third digit does not matter here


@dataclass(frozen=True)
class SelfCheck:
    """How often the gate failed although nothing was worse.

    Attributes:
        trials: how many A/A tests were made.
        alarms: how many of them failed.
        claimed: the rate that the gate claims not to exceed.
    """

    trials: int
    alarms: int
    claimed: float

    @property
    def rate(self) -> float:
        """How often it failed."""
        return self.alarms / self.trials

    @property
    def margin(self) -> float:
        """Twice the standard error of the rate, were the claim exactly true."""
        return 2 * float(np.sqrt(self.claimed * (1 - self.claimed) / self.trials))

    @property
    def holds(self) -> bool:
        """Whether the claim holds, as far as so many trials can tell."""
        return self.rate <= self.claimed + self.margin

    def to_dict(self) -> dict[str, float | int | bool]:
        """Ready for JSON."""
        return {
            "trials": self.trials,
            "alarms": self.alarms,
            "rate": self.rate,
            "claimed": self.claimed,
            "holds": self.holds,
        }


def self_check(samples: Sequence[Sample], *, trials: int = TRIALS, seed: int = 0) -> SelfCheck:
    """Try the rules on data in which nothing differs but by chance.

    Where before and after differ, each trial draws queries again and gives the two values of each
    query at random to before and after: whatever made them differ, neither is better now. Where
    they are the same, the values of two queries drawn at random stand in for the pair.

    A trial is an alarm if any of the rules fails. Real drops are looked for on one side only, so
    the claim is half of the significance of the rules.
    """
    drawn = np.random.default_rng(seed)
    alarms = 0
    for _ in range(trials):
        alarms += _alarm(samples, drawn)
    significance = max(sample.rule.significance for sample in samples)
    return SelfCheck(trials, alarms, significance / 2)


def _alarm(samples: Sequence[Sample], drawn: np.random.Generator) -> bool:
    """Whether any rule fails on one draw."""
    drops = []
    for sample in samples:
        seed = int(drawn.integers(2**31))
        fair = _without_difference(sample, drawn)
        drops.append(measured_drop(fair, seed=seed, samples=_SAMPLES))
    pairs = zip(corrected_together(drops), samples, strict=True)
    return any(judge_drop(drop, sample.rule).status == "fail" for drop, sample in pairs)


def _without_difference(sample: Sample, drawn: np.random.Generator) -> Sample:
    count = len(sample.before)
    if not count:
        return sample
    chosen = drawn.integers(count, size=count)
    before = sample.before[chosen]
    same = np.array_equal(sample.before, sample.after)
    after = sample.before[drawn.integers(count, size=count)] if same else sample.after[chosen]
    swapped = drawn.random(count) < 0.5  # noqa: PLR2004 - a fair coin
    before, after = np.where(swapped, after, before), np.where(swapped, before, after)
    return replace(sample, before=before, after=after)
