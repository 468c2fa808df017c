"""How often a gate raises a false alarm: A/A tests on resampled scores."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval.gates.regression import (
    corrected_together,
    enough_samples,
    judge_drop,
    measured_drop,
    unchanged,
)
from berryeval.stats import spread_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.gates.regression import Sample
    from berryeval.gates.verdict import Status


TRIALS: Final = 1000
_SAMPLES: Final = 2000  # of each test; that p is rough at the third digit does not matter here


@dataclass(frozen=True)
class SelfCheck:
    """How often the gate failed although nothing was worse.

    Attributes:
        trials: how many A/A tests were made.
        failed: in how many of them a rule failed.
        undecided: in how many others a rule could not be decided.
        claimed: the rate that the gate claims not to exceed.
        strict: whether what cannot be decided fails.
        cannot: why nothing can be said of it, if so.
    """

    trials: int
    failed: int
    undecided: int
    claimed: float
    strict: bool = False
    cannot: str = ""

    @property
    def alarms(self) -> int:
        """How many of them the gate would stop."""
        return self.failed + (self.undecided if self.strict else 0)

    @property
    def rate(self) -> float:
        """How often it failed."""
        return self.alarms / self.trials if self.trials else 0.0

    @property
    def margin(self) -> float:
        """Twice the standard error of the rate, were the claim exactly true."""
        return 2 * float(np.sqrt(self.claimed * (1 - self.claimed) / max(self.trials, 1)))

    @property
    def holds(self) -> bool | None:
        """Whether the claim holds, as far as so many trials can tell; None if they cannot."""
        return None if self.cannot else self.rate <= self.claimed + self.margin

    @property
    def sentence(self) -> str:
        """The rate and the claim, for people."""
        if self.cannot:
            return f"false alarms cannot be counted: {self.cannot}"
        word = "no more than" if self.rate <= self.claimed else "within chance of"
        words = (
            f"{self.alarms} false alarms in {self.trials} A/A tests ({self.rate:.1%}), "
            f"{word if self.holds else 'more than'} the {self.claimed:.1%} that the gate claims"
        )
        if self.strict:
            words += f"; {self.undecided} of them cannot be decided, which fails with --strict"
        return words

    def to_dict(self) -> dict[str, float | str | None]:
        """Ready for JSON."""
        return {
            "trials": self.trials,
            "alarms": self.alarms,
            "undecided": self.undecided,
            "strict": self.strict,
            "rate": self.rate,
            "claimed": self.claimed,
            "holds": self.holds,
            "cannot": self.cannot,
        }


def self_check(
    samples: Sequence[Sample], *, trials: int = TRIALS, seed: int = 0, strict: bool = False
) -> SelfCheck:
    """Try the rules on data in which nothing differs but by chance.

    Where before and after differ, each trial draws queries again and gives the two values of each
    query at random to before and after: whatever made them differ, neither is better now. Where
    they are the same, the values of two queries drawn at random stand in for the pair.

    A trial is an alarm if any of the rules fails or, if strict, cannot be decided. Real drops are
    looked for on one side only, so the claim is half of the significance of the rules.
    """
    significance = max((sample.rule.significance for sample in samples), default=0.0)
    cannot = _nothing_can_fail(samples, strict=strict)
    if cannot:
        return SelfCheck(0, 0, 0, significance / 2, strict, cannot)
    drawn = np.random.default_rng(seed)
    count = enough_samples(samples, _SAMPLES)
    found = Counter(_worst(samples, drawn, count) for _ in range(trials))
    return SelfCheck(trials, found["fail"], found["inconclusive"], significance / 2, strict)


def _nothing_can_fail(samples: Sequence[Sample], *, strict: bool) -> str:
    """Why no trial could end in an alarm, so that none says nothing; empty if one could.

    The smallest p is that of every query being worse: of n queries 2 / 2^n, or of random samples,
    of which there are always enough. The correction multiplies it by how many drops there are.
    """
    if not samples:
        return "no provider of these rules has scores that the baseline has too"
    if not any(_can_differ(sample) for sample in samples):
        return "every query has the same value, so that no two draws differ"
    differing = [sample for sample in samples if _can_differ(sample)]
    family = len(differing)
    smallest = [min(1.0, family * 2.0 ** (1 - len(sample.before))) for sample in differing]
    pairs = zip(smallest, differing, strict=True)
    if strict or any(p <= sample.rule.significance for p, sample in pairs):
        return ""
    count = max(len(sample.before) for sample in differing)
    if family == 1:
        return f"so few queries ({count}) can never fail a rule about a drop"
    return (
        f"so few queries ({count}) cannot fail a rule where {family} drops are looked at together: "
        f"the smallest p is {min(smallest):.2g}"
    )


def _can_differ(sample: Sample) -> bool:
    if not unchanged(sample.before, sample.after):
        return True
    return spread_of(sample.before) > 0


def _worst(samples: Sequence[Sample], drawn: np.random.Generator, count: int) -> Status:
    """The worst verdict of any rule on one draw, by so many random samples a test."""
    drops = []
    for sample in samples:
        seed = int(drawn.integers(2**31))
        fair = _without_difference(sample, drawn)
        drops.append(measured_drop(fair, seed=seed, samples=count))
    pairs = zip(corrected_together(drops), samples, strict=True)
    found = {judge_drop(drop, sample.rule).status for drop, sample in pairs}
    if "fail" in found:
        return "fail"
    return "inconclusive" if "inconclusive" in found else "pass"


def _without_difference(sample: Sample, drawn: np.random.Generator) -> Sample:
    count = len(sample.before)
    if not count:
        return sample
    chosen = drawn.integers(count, size=count)
    before = sample.before[chosen]
    same = unchanged(sample.before, sample.after)
    after = sample.before[drawn.integers(count, size=count)] if same else sample.after[chosen]
    swapped = drawn.random(count) < 0.5  # noqa: PLR2004 - a fair coin
    before, after = np.where(swapped, after, before), np.where(swapped, before, after)
    return replace(sample, before=before, after=after, new=0, missing=0)
