"""Fisher's randomisation test: which mean differences would exchanged labels have given?"""

from __future__ import annotations

from typing import Final

import numpy as np

from berryeval.stats.paired import Pair, Whole, as_whole_numbers, sign_of
from berryeval.stats.resampling import count_sign_flips
from berryeval.stats.result import TestResult, note_on_few

__all__ = ["EXACT_UP_TO", "exact_share", "randomization"]

EXACT_UP_TO: Final = 32  # queries that differ; 2^16 sums on either side are sorted in no time


def randomization(pair: Pair, seed: int, samples: int) -> TestResult:
    """Two-sided: the share of all exchanges whose mean difference is as far from 0, or farther.

    If the two systems do not differ, the values of a query could as well have been those of the
    other system: the sign of every difference may be flipped. Up to 32 queries that differ all
    2^n choices of signs are counted. Beyond, `samples` random ones are, and the one that was
    observed is one more of them: p is (1 + count) / (1 + samples), and never 0. Sums that are
    closer than the rounding of the scores count as equal. Smucker, Allan and Carterette (2007).
    """
    name = "randomisation test"
    if not len(pair.non_zero):
        return TestResult(1.0, 0.0, f"{name}, exact", exact=True, note=note_on_few(0), sign=0)
    flips, exponent = as_whole_numbers(pair.non_zero)
    slack = int(np.ldexp(pair.equal_within * pair.size, exponent)) + len(flips)
    threshold = abs(int(flips.sum())) - slack
    if len(flips) <= EXACT_UP_TO:
        share = exact_share(flips, threshold)
        note = note_on_few(len(flips))
        towards = sign_of(pair.mean)
        return TestResult(share, pair.mean, f"{name}, exact", exact=True, note=note, sign=towards)
    count = count_sign_flips(flips, threshold, seed, samples)
    method = f"{name}, {samples:,} random samples"
    p = (1 + count) / (1 + samples)
    return TestResult(p, pair.mean, method, sign=sign_of(pair.mean))


def exact_share(values: Whole, threshold: int) -> float:
    """The share of all 2^n choices of signs whose sum is `threshold` from 0, or farther.

    The values are split in two: for each of the sums of one half it is looked up in the sorted
    sums of the other how many of these lead far enough.
    """
    if threshold <= 0:
        return 1.0
    middle = len(values) // 2
    left, right = _all_sums(values[:middle]), np.sort(_all_sums(values[middle:]))
    above = len(right) * len(left) - int(np.searchsorted(right, threshold - left, "left").sum())
    below = int(np.searchsorted(right, -threshold - left, "right").sum())
    return float((above + below) / 2 ** len(values))


def _all_sums(values: Whole) -> Whole:
    """The sums of all choices of signs."""
    sums = np.zeros(1, dtype=np.int64)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums
