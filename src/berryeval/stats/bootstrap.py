"""The paired bootstrap test: how far do means of resamples stray from the observed one?"""

from __future__ import annotations

from typing import Final

import numpy as np

from berryeval.stats.paired import Pair, as_whole_numbers, sign_of
from berryeval.stats.resampling import resample_sums
from berryeval.stats.result import TestResult
from berryeval.stats.spread import FEWEST_RESAMPLED

__all__ = ["bootstrap"]

_FEW: Final = 50  # below, p is still a little too small: docs/statistics.md


def bootstrap(pair: Pair, seed: int, samples: int) -> TestResult:
    """Two-sided: the share of resamples that stray from the mean as far as the mean is from 0.

    The differences are moved so that their mean is 0 and resampled with replacement; as in the
    randomisation test p is (1 + count) / (1 + samples). Noreen (1989). Resamples of few queries
    vary too little, so that there is no p below 20 queries, and a note below 50.
    """
    method = f"bootstrap test, {samples:,} resamples"
    if pair.deviation == 0:
        found = f"every query differs by {pair.mean:g}" if pair.mean else "no query differs"
        cannot = f"{found}: the bootstrap needs differences that vary"
        return TestResult(None, None, method, cannot=cannot)
    if pair.size < FEWEST_RESAMPLED:
        cannot = (
            f"{pair.size} queries are too few for the bootstrap, which in so small a set finds "
            f"differences that are not there; it takes {FEWEST_RESAMPLED}, or the randomisation "
            "test"
        )
        return TestResult(None, None, method, cannot=cannot)
    values, exponent = as_whole_numbers(pair.differences)
    slack = int(np.ldexp(pair.equal_within * pair.size, exponent)) + pair.size
    total = int(values.sum())
    strayed = np.abs(resample_sums(values, seed, samples) - total)
    count = int((strayed >= abs(total) - slack).sum())
    note = ""
    if pair.size < _FEW:
        note = f"of {pair.size} queries the bootstrap gives a p that is a little too small"
    p = (1 + count) / (1 + samples)
    return TestResult(p, pair.mean, method, note=note, sign=sign_of(pair.mean))
