"""Many numbers as one, and how sure that one is: aggregates and their confidence intervals."""

from __future__ import annotations

import math
import sys
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from berryeval._internal.optional import imported

RESAMPLES: Final = 10_000
RESAMPLES_OF_MANY: Final = 1_000
MANY: Final = 1_000  # beyond, the mean is so nearly normal that fewer resamples tell as much
FEWEST_ALIKE: Final = 10  # values of which all are the same; fewer say nothing of how values vary
_LARGEST_LOG: Final = math.log(sys.float_info.max)
_CELLS_AT_ONCE = 1 << 21  # of the table of resampled values, to bound its memory


class Interval(NamedTuple):
    """From `low` to `high`, both included."""

    low: float
    high: float


def spread_known(count: int, spread: float) -> bool:
    """Whether so many values of that spread say how far their mean may be off.

    Two or more that vary do, and ten or more that are alike, whose interval is a point. One value
    does not, nor do a few that are alike: an interval without width would claim to be sure.

    >>> spread_known(2, 0.1), spread_known(9, 0.0), spread_known(10, 0.0), spread_known(1, 0.0)
    (True, False, True, False)
    """
    return count >= (2 if spread > 0 else FEWEST_ALIKE)


def aggregate(how: str, values: npt.NDArray[np.float64]) -> float:
    """One number of many ("mean", "sum", "geometric mean"), added up in their order; 0.0 of none.

    A geometric mean is 0.0 as soon as one value is 0 or less; metrics that are averaged so keep
    their values above it.
    """
    numbers = values.tolist()
    if how == "geometric mean":
        if not numbers or min(numbers) <= 0:
            return 0.0
        numbers = [math.log(number) for number in numbers]
    total = 0.0
    for number in numbers:
        total += number
    if how == "sum" or not numbers:
        return total
    return math.exp(total / len(numbers)) if how == "geometric mean" else total / len(numbers)


def bootstrap_interval(
    how: str, values: npt.NDArray[np.float64], level: float, seed: int = 0
) -> Interval:
    """The percentile interval of the aggregate, by resampling with a generator of that seed.

    10,000 resamples, or 1,000 of more than 1,000 values.
    """
    if not _varies(how, values):
        return _point(how, values)
    numbers = _additive(how, values)
    generator = np.random.Generator(np.random.PCG64(seed))
    size = len(numbers)
    resamples = RESAMPLES if size <= MANY else RESAMPLES_OF_MANY
    means = np.empty(resamples, dtype=np.float64)
    step = max(1, _CELLS_AT_ONCE // size)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        places = generator.integers(size, size=(rows, size), dtype=np.int32)
        means[start : start + rows] = numbers[places].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return restored(how, Interval(float(low), float(high)), size)


def t_interval(how: str, values: npt.NDArray[np.float64], level: float, _seed: int = 0) -> Interval:
    """Student's interval of the aggregate."""
    if not _varies(how, values):
        return _point(how, values)
    stats = imported("scipy.stats", "the t interval", extra="stats")
    numbers = _additive(how, values)
    size = len(numbers)
    error = float(numbers.std(ddof=1)) / math.sqrt(size)
    reach = float(stats.t.ppf((1 + level) / 2, size - 1)) * error
    mean = float(numbers.mean())
    return restored(how, Interval(mean - reach, mean + reach), size)


def _varies(how: str, values: npt.NDArray[np.float64]) -> bool:
    if len(values) == 0 or values.min() == values.max():
        return False
    return how != "geometric mean" or bool(values.min() > 0)


def _point(how: str, values: npt.NDArray[np.float64]) -> Interval:
    value = aggregate(how, values)
    return Interval(value, value)


def _additive(how: str, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The values on the scale where their mean is taken."""
    if how != "geometric mean":
        return values
    return np.array([math.log(value) for value in values.tolist()], dtype=np.float64)


def restored(how: str, of_mean: Interval, size: int) -> Interval:
    """The interval of the aggregate, from that of the mean on the scale where it is taken.

    >>> restored("geometric mean", Interval(-math.inf, 0.0), 8), restored("sum", Interval(0, 2), 8)
    (Interval(low=0.0, high=1.0), Interval(low=0, high=16))
    """
    if how == "geometric mean":
        # Few values and a high level reach farther than numbers do.
        return Interval(*(math.exp(end) if end < _LARGEST_LOG else math.inf for end in of_mean))
    scale = size if how == "sum" else 1
    return Interval(of_mean.low * scale, of_mean.high * scale)
