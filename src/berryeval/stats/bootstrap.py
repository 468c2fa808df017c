"""The paired bootstrap test: how far do means of resamples stray from the observed one?"""

from __future__ import annotations

import numpy as np

from berryeval.stats.paired import Pair, as_whole_numbers
from berryeval.stats.resampling import resample_sums
from berryeval.stats.result import TestResult

__all__ = ["bootstrap"]


def bootstrap(pair: Pair, seed: int, samples: int) -> TestResult:
    """Two-sided: the share of resamples that stray from the mean as far as the mean is from 0.

    The differences are moved so that their mean is 0 and resampled with replacement; as in the
    randomisation test p is (1 + count) / (1 + samples). Noreen (1989).
    """
    method = f"bootstrap test, {samples:,} resamples"
    if pair.deviation == 0:
        found = f"every query differs by {pair.mean:g}" if pair.mean else "no query differs"
        cannot = f"{found}: the bootstrap needs differences that vary"
        return TestResult(None, None, method, cannot=cannot)
    values, exponent = as_whole_numbers(pair.differences)
    slack = int(np.ldexp(pair.equal_within * pair.size, exponent)) + pair.size
    total = int(values.sum())
    strayed = np.abs(resample_sums(values, seed, samples) - total)
    count = int((strayed >= abs(total) - slack).sum())
    return TestResult((1 + count) / (1 + samples), pair.mean, method)
