"""The intervals that gates judge by: Student's, of a value and of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from berryeval.intervals import RESAMPLES, Interval
from berryeval.stats.interval import Estimate
from berryeval.stats.paired import Pair
from berryeval.stats.rows import testable, tested

if TYPE_CHECKING:
    from berryeval.stats.paired import Floats

__all__ = ["interval_of_change", "interval_of_value"]


def interval_of_value(values: Floats, how: str, level: float) -> Interval | None:
    """The interval of an aggregate; None of one query or of values that are all the same.

    Their spread is not known then, and an interval without width would claim to be sure.
    """
    if len(values) < 2 or values.min() == values.max() or not testable(values, how):  # noqa: PLR2004 - one has no spread
        return None
    if how == "geometric mean":
        return _interval(Estimate((tested(values, how),), np.exp), level)
    scale = len(values) if how == "sum" else 1
    return _interval(Estimate((values,), lambda mean: mean * scale), level)


def interval_of_change(before: Floats, after: Floats, how: str, level: float) -> Interval | None:
    """The interval of the change of an aggregate; None where its spread is not known."""
    if len(before) < 2 or not (testable(before, how) and testable(after, how)):  # noqa: PLR2004 - one has no spread
        return None
    pair = Pair.of(tested(before, how), tested(after, how))
    if pair.deviation == 0:
        return None
    if how == "geometric mean":
        return _interval(Estimate((pair.a, pair.b), lambda a, b: np.exp(b) - np.exp(a)), level)
    scale = pair.size if how == "sum" else 1
    return _interval(Estimate((pair.differences,), lambda mean: mean * scale), level)


def _interval(estimate: Estimate, level: float) -> Interval:
    return estimate.interval(level, "t", 0, RESAMPLES)
