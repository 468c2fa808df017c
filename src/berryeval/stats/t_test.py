"""Student's paired t test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from berryeval.stats import student
from berryeval.stats.paired import sign_of
from berryeval.stats.result import TestResult

if TYPE_CHECKING:
    from berryeval.stats.paired import Pair

__all__ = ["t_test"]


def t_test(pair: Pair, _seed: int, _samples: int) -> TestResult:
    """Two-sided, of the differences against a mean of 0, with n - 1 degrees of freedom."""
    method = "paired t test"
    if pair.deviation == 0:
        found = f"every query differs by {pair.mean:g}" if pair.mean else "no query differs"
        cannot = f"{found}: the t test needs differences that vary"
        return TestResult(None, None, method, cannot=cannot)
    statistic = pair.mean / (pair.deviation / math.sqrt(pair.size))
    p = student.two_sided(statistic, pair.size - 1)
    return TestResult(p, statistic, method, sign=sign_of(statistic))
