"""Confidence intervals of means of values within a range.

Resampling and Student's interval know only the values that were seen. Ten hits of ten vary by
nothing, yet the true share of hits may be 0.7. Here every end of the interval counts on an unseen
query at that end of the range.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from berryeval._internal.aggregates import Interval
from berryeval.stats.intervals import check_level, mean_interval
from berryeval.stats.paired import Floats, check_column, spread_of

# Weight of the unseen query. A whole query is right if every value is at one end of the range, as
# hits and misses are: there the interval is Clopper and Pearson's. For other values it is too wide,
# and a third covers about 95 %; see docs/statistics.md.
_WHOLE: Final = 1.0
_PART: Final = 1 / 3
_DIGITS: Final = 9  # of shares of the range; closer values are equal
_STEPS: Final = 17  # places per round of the search, which narrows by this factor
_ROUNDS: Final = 5


def bounded_interval(
    values: Any, within: tuple[float, float], level: float = 0.95
) -> Interval | None:
    """Return the interval of the mean of values within a range; it is never a point.

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
