"""Wilcoxon's signed rank test, exact also where differences are tied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from berryeval.optional import imported
from berryeval.stats.paired import sign_of
from berryeval.stats.randomization import EXACT_UP_TO, exact_share
from berryeval.stats.result import TestResult, note_on_few

if TYPE_CHECKING:
    from berryeval.stats.paired import Floats, Pair

__all__ = ["wilcoxon"]


def wilcoxon(pair: Pair, _seed: int, _samples: int) -> TestResult:
    """Two-sided; queries that do not differ are left out, as Wilcoxon (1945) did.

    Up to 32 queries that differ, all choices of signs of the ranks are counted, so that ties
    (which scores of few values have plenty of) are no matter. Beyond, it is SciPy's normal
    approximation, with its correction for ties. The statistic is the rank sum of what `b` wins.
    """
    name = "Wilcoxon signed rank test"
    if not len(pair.non_zero):
        return TestResult(1.0, 0.0, f"{name}, exact", exact=True, note=note_on_few(0), sign=0)
    ranks = _middle_ranks(np.abs(pair.non_zero), pair.equal_within)
    won, lost = (float(ranks[side].sum()) for side in (pair.non_zero > 0, pair.non_zero < 0))
    towards = sign_of(won - lost)
    if len(ranks) <= EXACT_UP_TO:
        doubled = np.rint(2 * ranks).astype(np.int64)
        p, note = exact_share(doubled, round(2 * abs(won - lost))), note_on_few(len(ranks))
        return TestResult(p, won, f"{name}, exact", exact=True, note=note, sign=towards)
    stats = imported("scipy.stats", "the Wilcoxon test", extra="stats")
    signed = np.copysign(ranks, pair.non_zero)
    found = stats.wilcoxon(signed, zero_method="wilcox", correction=False, method="approx")
    method = f"{name}, normal approximation"
    return TestResult(float(found.pvalue), won, method, sign=towards)


def _middle_ranks(sizes: Floats, equal_within: float) -> Floats:
    """Ranks from 1; sizes closer than the rounding of the scores share the middle of theirs."""
    order = np.argsort(sizes, kind="stable")
    starts = np.flatnonzero(np.diff(sizes[order], prepend=-np.inf) > equal_within)
    ends = np.append(starts[1:], len(sizes))
    ranks = np.empty(len(sizes))
    ranks[order] = np.repeat((starts + 1 + ends) / 2, ends - starts)
    return ranks
