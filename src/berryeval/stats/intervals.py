"""Confidence intervals of a mean, and of the difference of two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np

from berryeval._internal.intervals import RESAMPLES, Interval, spread_known
from berryeval._internal.validate import nearest
from berryeval.errors import ConfigurationError
from berryeval.stats import student
from berryeval.stats.paired import (
    FEWEST_RESAMPLED,
    RESOLUTION,
    Floats,
    Pair,
    as_whole_numbers,
    checked_column,
    deviation_of,
    spread_of,
)
from berryeval.stats.resampling import resample_sums

if TYPE_CHECKING:
    from collections.abc import Callable


IntervalMethod: TypeAlias = Literal["t", "bca", "percentile"]
METHODS: Final[tuple[IntervalMethod, ...]] = get_args(IntervalMethod)
DEFAULT_METHOD: Final[IntervalMethod] = "t"  # covers best: docs/statistics.md
_NORMAL: Final = NormalDist()


@dataclass(frozen=True, eq=False)
class Estimate:
    """A statistic of the queries, and what it becomes when other queries had been asked.

    Attributes:
        columns: the values of the queries, one row per system that the statistic looks at.
        of_means: the statistic, of the mean of each column; it must take arrays of means too.
    """

    columns: tuple[Floats, ...]
    of_means: Callable[..., Any]

    def observed(self) -> float:
        """The statistic of the queries that were asked."""
        return float(self.of_means(*(math.fsum(column) / len(column) for column in self.columns)))

    def resampled(self, seed: int, resamples: int) -> Floats:
        """The statistic of every resample; all columns are resampled alike."""
        means = []
        for column in self.columns:
            whole, exponent = as_whole_numbers(column)
            sums = resample_sums(whole, seed, resamples)
            means.append(np.ldexp(sums.astype(np.float64), -exponent) / len(column))
        return np.asarray(self.of_means(*means), dtype=np.float64)

    def without_each(self) -> Floats:
        """The statistic without the first query, without the second, and so on."""
        left = [(math.fsum(column) - column) / (len(column) - 1) for column in self.columns]
        return np.asarray(self.of_means(*left), dtype=np.float64)

    def interval(self, level: float, method: IntervalMethod, seed: int, resamples: int) -> Interval:
        """The confidence interval of the statistic."""
        if method == "t":
            return self._student(level)
        replicates = self.resampled(seed, resamples)
        ends = ((1 - level) / 2, (1 + level) / 2)
        if method == "bca":
            ends = _corrected_ends(ends, replicates, self.observed(), self.without_each())
        low, high = np.quantile(replicates, ends)
        return Interval(float(low), float(high))

    def _student(self, level: float) -> Interval:
        """By the standard error of the jackknife, which of a mean is the usual one."""
        left = self.without_each()
        freedom = len(left) - 1
        error = deviation_of(left - left.mean()) * freedom / math.sqrt(len(left))
        reach = student.quantile(level, freedom) * error
        observed = self.observed()
        return Interval(observed - reach, observed + reach)


def difference_interval(
    a: Any,
    b: Any,
    level: float = 0.95,
    method: IntervalMethod = DEFAULT_METHOD,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """The interval of the mean of `b - a`; None of one query, which cannot tell.

    "t" is Student's; "percentile" takes the quantiles of the means of resampled queries, and "bca"
    corrects them for bias and skewness (Efron 1987); both take 20 queries, for of fewer they are
    too narrow. Where every query differs by the same, both ends are that; of fewer than ten such
    queries there is no interval.

        >>> low, high = difference_interval([0.1, 0.2, 0.3, 0.4], [0.2, 0.4, 0.3, 0.6])
        >>> round(low, 3), round(high, 3)
        (-0.027, 0.277)
    """
    pair = Pair.of(a, b)
    if not spread_known(pair.size, pair.deviation):
        return None
    if pair.deviation == 0:
        return Interval(pair.mean, pair.mean)
    return mean_interval(pair.differences, level, method, seed, resamples)


def mean_interval(
    values: Any,
    level: float = 0.95,
    method: IntervalMethod = DEFAULT_METHOD,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """The interval of the mean of the values.

    None of one, of fewer than ten that are alike, or by the bootstrap of fewer than 20.
    """
    check_level(level)
    check_method(method)
    column = checked_column("values", values)
    spread = spread_of(column)
    if not spread_known(len(column), spread):
        return None
    if spread == 0:
        same = math.fsum(column) / len(column)
        return Interval(same, same)
    if not enough_for(method, len(column), spread):
        return None
    return Estimate((column,), lambda mean: mean).interval(level, method, seed, resamples)


def enough_for(method: IntervalMethod, count: int, spread: float) -> bool:
    """Whether a method is right of so many values; where they are alike, all methods agree."""
    return method == "t" or count >= FEWEST_RESAMPLED or spread == 0


def _corrected_ends(
    ends: tuple[float, float], replicates: Floats, observed: float, left: Floats
) -> tuple[float, float]:
    """Which quantiles to take instead, for bias and for an error that grows with the value."""
    count = len(replicates)
    below = float((replicates < observed).sum()) + 0.5 * float((replicates == observed).sum())
    bias = _NORMAL.inv_cdf(min(max(below, 0.5), count - 0.5) / count)
    strays = left.mean() - left
    strays /= np.abs(strays).max(initial=0.0) or 1.0
    spread = float((strays**2).sum()) ** 1.5
    acceleration = float((strays**3).sum()) / (6 * spread) if spread else 0.0

    def moved(end: float) -> float:
        shifted = bias + _NORMAL.inv_cdf(end)
        return _NORMAL.cdf(bias + shifted / (1 - acceleration * shifted))

    return moved(ends[0]), moved(ends[1])


def check_level(level: Any) -> None:
    """A level of confidence lies between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        msg = f"level must lie between 0 and 1, as 0.95, found {level!r:.80}"
        raise ValueError(msg)


def check_method(method: str) -> None:
    """An interval is made in one of the ways there are."""
    if method not in METHODS:
        near = nearest(str(method), list(METHODS))
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(METHODS)}"
        msg = f"unknown interval {method!r}; {hint}"
        raise ConfigurationError(msg)


# How an aggregate changed between two systems: by how much, and how sure that is.


def change_beyond_rounding(before: float, after: float) -> float:
    """What is left of a change beyond rounding.

    >>> change_beyond_rounding(0.25, 0.75), change_beyond_rounding(0.1 + 0.2, 0.3)
    (0.5, 0.0)
    """
    found = after - before
    return found if abs(found) > RESOLUTION * max(abs(before), abs(after)) else 0.0


def interval_of_change(
    pair: Pair, how: str, level: float, method: IntervalMethod = DEFAULT_METHOD, seed: int = 0
) -> Interval | None:
    """The interval of the change of an aggregate; None where so few queries cannot tell.

    Where every query changed by the same, and there are enough to say so, it is a point.

    Args:
        pair: the values, on the scale on which they are averaged.
        how: what they are put together by.
        level: of confidence.
        method: how the interval is made.
        seed: of the resamples, where the method draws some.
    """
    enough = enough_for(method, pair.size, pair.deviation)
    if not enough or not spread_known(pair.size, pair.deviation):
        return None
    if how == "geometric mean":
        estimate = Estimate((pair.a, pair.b), lambda a, b: np.exp(b) - np.exp(a))
        return estimate.interval(level, method, seed, RESAMPLES)
    scale = pair.size if how == "sum" else 1
    if pair.deviation == 0:
        return Interval(pair.mean * scale, pair.mean * scale)
    estimate = Estimate((pair.differences,), lambda mean: mean * scale)
    return estimate.interval(level, method, seed, RESAMPLES)
