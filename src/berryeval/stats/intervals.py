"""Confidence intervals of means and of differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np

from berryeval._internal.aggregates import RESAMPLES, Interval, is_spread_known
from berryeval._internal.validate import is_number, suggest
from berryeval.errors import ConfigurationError
from berryeval.stats import student
from berryeval.stats.paired import (
    FEWEST_RESAMPLED,
    RESOLUTION,
    Floats,
    Pair,
    check_column,
    deviation_of,
    scale_to_integers,
    spread_of,
)
from berryeval.stats.resampling import resample_sums

IntervalMethod: TypeAlias = Literal["t", "bca", "percentile"]
METHODS: Final[tuple[IntervalMethod, ...]] = get_args(IntervalMethod)
DEFAULT_METHOD: Final[IntervalMethod] = "t"  # best coverage, see docs/statistics.md
_NORMAL: Final = NormalDist()
# Weight of the unseen query. A whole query is right if every value is at one end of the range, as
# hits and misses are: there the interval is Clopper and Pearson's. For other values it is too wide,
# and a third covers about 95 %; see docs/statistics.md.
_WHOLE: Final = 1.0
_PART: Final = 1 / 3
_DIGITS: Final = 9  # of shares of the range; closer values are equal
_STEPS: Final = 17  # places per round of the search, which narrows by this factor
_ROUNDS: Final = 5


@dataclass(frozen=True, eq=False)
class Estimate:
    """A statistic of the queries: a function of the mean of each column (or arrays of means)."""

    columns: tuple[Floats, ...]
    of_means: Callable[..., Any]

    def observed(self) -> float:
        """Return the statistic of the observed queries."""
        return float(self.of_means(*(math.fsum(column) / len(column) for column in self.columns)))

    def resampled(self, seed: int, resamples: int) -> Floats:
        """Return the statistic of every resample, drawn alike from all columns."""
        means = []
        for column in self.columns:
            whole, exponent = scale_to_integers(column)
            sums = resample_sums(whole, seed, resamples)
            means.append(np.ldexp(sums.astype(np.float64), -exponent) / len(column))
        return np.asarray(self.of_means(*means), dtype=np.float64)

    def leave_one_out(self) -> Floats:
        """Return the jackknife values: the statistic without each query."""
        left = [(math.fsum(column) - column) / (len(column) - 1) for column in self.columns]
        return np.asarray(self.of_means(*left), dtype=np.float64)

    def interval(self, level: float, method: IntervalMethod, seed: int, resamples: int) -> Interval:
        """Return the confidence interval of the statistic."""
        if method == "t":
            return self._student(level)
        replicates = self.resampled(seed, resamples)
        ends = ((1 - level) / 2, (1 + level) / 2)
        if method == "bca":
            ends = correct_ends(ends, replicates, self.observed(), self.leave_one_out())
        low, high = np.quantile(replicates, ends)
        return Interval(float(low), float(high))

    def _student(self, level: float) -> Interval:
        """Return the t interval by the jackknife standard error, which is exact for a mean."""
        left = self.leave_one_out()
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
    """Return the interval of the mean of `b - a`; None for one query.

    "t" is Student's interval; "percentile" takes quantiles of the means of resampled queries, and
    "bca" corrects them for bias and skewness (Efron 1987). The last two need 20 queries, because
    they are too narrow for fewer. Equal differences have no interval: without a width it would
    claim certainty.

        >>> low, high = difference_interval([0.1, 0.2, 0.3, 0.4], [0.2, 0.4, 0.3, 0.6])
        >>> round(low, 3), round(high, 3)
        (-0.027, 0.277)
    """
    return mean_interval(Pair.of(a, b).differences, level, method, seed, resamples)


def mean_interval(
    values: Any,
    level: float = 0.95,
    method: IntervalMethod = DEFAULT_METHOD,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Return the interval of the mean of values.

    None for one value, for equal values, and by the bootstrap for fewer than 20.
    """
    check_level(level)
    check_method(method)
    column = check_column("values", values)
    spread = spread_of(column)
    if spread == 0 or not has_enough(method, len(column), spread):
        return None
    return Estimate((column,), lambda mean: mean).interval(level, method, seed, resamples)


def has_enough(method: IntervalMethod, count: int, spread: float) -> bool:
    """Return whether a method is valid for this many values; equal values suit all methods."""
    return method == "t" or count >= FEWEST_RESAMPLED or spread == 0


def correct_ends(
    ends: tuple[float, float], replicates: Floats, observed: float, left: Floats
) -> tuple[float, float]:
    """Correct the quantiles of an interval for bias and skewness (BCa).

    `left` has the values without each query.
    """
    count = len(replicates)
    below = float((replicates < observed).sum()) + 0.5 * float((replicates == observed).sum())
    bias = _NORMAL.inv_cdf(min(max(below, 0.5), count - 0.5) / count)
    strays = left.mean() - left
    strays /= np.abs(strays).max(initial=0.0) or 1.0
    spread = float((strays**2).sum()) ** 1.5
    acceleration = float((strays**3).sum()) / (6 * spread) if spread else 0.0

    def correct(end: float) -> float:
        shifted = bias + _NORMAL.inv_cdf(end)
        return _NORMAL.cdf(bias + shifted / (1 - acceleration * shifted))

    return correct(ends[0]), correct(ends[1])


def check_level(level: Any) -> None:
    """Require a confidence level between 0 and 1."""
    if not is_number(level) or not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, such as 0.95, found {level!r:.80}")


def check_method(method: str) -> None:
    """Require a known interval method."""
    if method not in METHODS:
        raise ConfigurationError(f"unknown interval {method!r}; {suggest(str(method), METHODS)}")


def change_beyond_rounding(before: float, after: float) -> float:
    """Return the change from `before` to `after`, or 0.0 if it is due to rounding.

    >>> change_beyond_rounding(0.25, 0.75), change_beyond_rounding(0.1 + 0.2, 0.3)
    (0.5, 0.0)
    """
    found = after - before
    return found if abs(found) > RESOLUTION * max(abs(before), abs(after)) else 0.0


def interval_of_change(
    pair: Pair, how: str, level: float, method: IntervalMethod = DEFAULT_METHOD, seed: int = 0
) -> Interval | None:
    """Return the interval of the change of an aggregate; None for too few queries.

    The pair has the values on the scale on which they are averaged. If all queries change by the
    same amount, the interval is a point.
    """
    enough = has_enough(method, pair.size, pair.deviation)
    if not enough or not is_spread_known(pair.size, pair.deviation):
        return None
    if how == "geometric mean":
        estimate = Estimate((pair.a, pair.b), lambda a, b: np.exp(b) - np.exp(a))
        return estimate.interval(level, method, seed, RESAMPLES)
    scale = pair.size if how == "sum" else 1
    if pair.deviation == 0:
        return Interval(pair.mean * scale, pair.mean * scale)
    estimate = Estimate((pair.differences,), lambda mean: mean * scale)
    return estimate.interval(level, method, seed, RESAMPLES)


def bounded_interval(
    values: Any, within: tuple[float, float], level: float = 0.95
) -> Interval | None:
    """Return the interval of the mean of values within a range; it is never a point.

    Resampling and Student's interval know only the values that were seen. Ten hits of ten vary by
    nothing, yet the true share of hits may be 0.7. Here every end of the interval counts on an
    unseen query at that end of the range.

    Each end is a quantile of the mean when all queries, and an unseen one at that end of the range,
    get random weights (Gaffke 2005; with a whole unseen query and the values 0 and 1 this is the
    interval of Clopper and Pearson). Where the range is infinite the end is Student's. None without
    values, and for equal values in an infinite range.

        >>> low, high = bounded_interval([1.0] * 10, (0, 1))
        >>> round(low, 2), high
        (0.69, 1.0)
    """
    check_level(level)
    column = check_column("values", values)
    if not len(column):
        return None
    low, high = min(within[0], float(column.min())), max(within[1], float(column.max()))
    if math.isfinite(low) and math.isfinite(high):
        student = Interval(low, high)
    elif spread_of(column) == 0:
        return None
    else:
        student = mean_interval(column, level) or Interval(low, high)
    unseen = _WHOLE if _is_at_ends(column, low, high) else _PART
    chance = (1 - level) / 2
    if math.isfinite(low):
        student = student._replace(low=low + _least_mean(column - low, unseen, chance))
    if math.isfinite(high):
        student = student._replace(high=high - _least_mean(high - column, unseen, chance))
    return student


def _is_at_ends(column: Floats, low: float, high: float) -> bool:
    """Whether every value is one end of the range, up to rounding."""
    if not (math.isfinite(high - low) and high > low):
        return False
    return bool(np.isin(np.round((column - low) / (high - low), _DIGITS), (0.0, 1.0)).all())


def _least_mean(distances: Floats, unseen: float, chance: float) -> float:
    """Return the lower end for the mean of values that are never below 0.

    The mean with random weights is below t with the probability that a sum of exponential
    variables times (value - t) is below 0, which the saddlepoint approximation gives: t is the mean
    with weights 1 / (1 + tilt * value), and the tilt is found for which the probability is right.
    For ten values of 0 or 1 the result is within 0.002 of the exact one, for more it is closer.
    """
    largest = float(distances.max())
    if largest == 0:
        return 0.0
    seen, counts = np.unique(np.round(distances / largest, _DIGITS), return_counts=True)
    values, weights = np.append(seen, 0.0), np.append(counts.astype(np.float64), unseen)
    wanted = NormalDist().inv_cdf(chance)
    low, high = -12.0, 40.0  # logarithms of the tilt
    mean = 0.0
    for _ in range(_ROUNDS):
        places = np.linspace(low, high, _STEPS)
        means, scores = _tilted(values, weights, np.exp(places))
        at = int((scores > wanted).sum())  # scores fall with the tilt
        at = min(max(at, 1), _STEPS - 1)
        low, high, mean = places[at - 1], places[at], float(means[at])
    return mean * largest


def _tilted(values: Floats, weights: Floats, tilts: Floats) -> tuple[Floats, Floats]:
    """Return for every tilt the tilted mean, and the normal score of its probability."""
    shares = 1 / (1 + np.outer(tilts, values))
    means = (shares @ (weights * values)) / (shares @ weights)
    logs = np.log1p(np.outer(tilts, values)) - np.log1p(tilts * means)[:, None]
    root = np.sqrt(np.maximum(2 * (logs @ weights), 1e-300))
    strays = (values - means[:, None]) * shares
    slope = tilts * np.sqrt(np.square(strays) @ weights)
    return means, -root - np.log(slope / root) / root
