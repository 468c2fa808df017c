"""Aggregation and confidence intervals."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from berryeval._internal.optional import import_optional

RESAMPLES: Final = 10_000
RESAMPLES_OF_MANY: Final = 1_000
MANY: Final = 1_000  # above this many values the mean is close to normal and few resamples suffice
FEWEST_ALIKE: Final = 10  # fewer equal values do not show how values vary
_LARGEST_LOG: Final = math.log(sys.float_info.max)
_MANTISSA: Final = 53  # bits of a float
_UNIT: Final = 1200  # units of 2**-1200 hold every float exactly
_CELLS_AT_ONCE = 1 << 21  # size of the table of resampled values, to bound its memory


class Interval(NamedTuple):
    """A range from `low` to `high`, both included."""

    low: float
    high: float


def is_spread_known(count: int, spread: float) -> bool:
    """Whether values with this standard deviation or range allow an interval of their mean.

    Two values that differ suffice, and so do ten equal ones, whose interval is a point. A single
    value or a few equal ones do not: an interval without width would claim certainty.
    """
    return count >= (2 if spread > 0 else FEWEST_ALIKE)


def aggregate(how: str, values: npt.NDArray[np.float64]) -> float:
    """Return the "mean", "sum" or "geometric mean" of values; 0.0 without values.

    Sums are exact and rounded once, so they do not depend on the order of the values. A geometric
    mean is 0.0 if any value is 0 or less; metrics that use it keep their values above.
    """
    numbers = values.tolist()
    if how == "geometric mean":
        if not numbers or min(numbers) <= 0:
            return 0.0
        numbers = [math.log(number) for number in numbers]
    total = add_exactly(numbers)
    if how == "sum" or not numbers:
        return total
    return math.exp(total / len(numbers)) if how == "geometric mean" else total / len(numbers)


def add_exactly(numbers: Sequence[float]) -> float:
    """Return the exact sum of finite numbers, rounded once; infinite beyond the largest float."""
    try:
        return math.fsum(numbers)
    except OverflowError:  # of a part of the sum, though perhaps not of the whole
        return round_units(count_units(np.array(numbers, dtype=np.float64)))


def count_units(values: npt.NDArray[np.float64]) -> int:
    """Return the exact sum of finite numbers in units of 2**-1200.

    Such sums of parts can be added in any order; `round_units` of the whole is `add_exactly`.
    """
    fractions, exponents = np.frexp(values)
    mantissas = np.ldexp(fractions, _MANTISSA).astype(np.int64)
    order = np.argsort(exponents, kind="stable")
    mantissas, exponents = mantissas[order], exponents[order]
    starts = np.flatnonzero(np.diff(exponents, prepend=exponents[:1] - 1))
    halves = mantissas >> 32, mantissas & 0xFFFFFFFF  # whose sums fit in 64 bits
    high, low = (np.add.reduceat(half, starts).tolist() for half in halves)
    total = 0
    for exponent, above, below in zip(exponents[starts].tolist(), high, low, strict=True):
        total += ((above << 32) + below) << (exponent - _MANTISSA + _UNIT)
    return total


def round_units(total: int) -> float:
    """Return the float nearest to an exact sum; infinite beyond the largest float."""
    try:
        return total / (1 << _UNIT)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def bootstrap_interval(
    how: str, values: npt.NDArray[np.float64], level: float, seed: int = 0
) -> Interval:
    """Return the bootstrap percentile interval of the aggregate."""
    return _resample(how, np.asarray(values, dtype=np.float64).tobytes(), level, seed)


@lru_cache(maxsize=256)  # tables, reports and the store ask for the same intervals
def _resample(how: str, data: bytes, level: float, seed: int) -> Interval:
    values = np.frombuffer(data)
    if (point := _find_point(how, values)) is not None:
        return point
    numbers = _to_mean_scale(how, values)
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
    return restore_scale(how, Interval(float(low), float(high)), size)


def t_interval(how: str, values: npt.NDArray[np.float64], level: float, _seed: int = 0) -> Interval:
    """Return the Student t interval of the aggregate."""
    if (point := _find_point(how, values)) is not None:
        return point
    stats = import_optional("scipy.stats", "the t interval", extra="stats")
    numbers = _to_mean_scale(how, values)
    size = len(numbers)
    error = float(numbers.std(ddof=1)) / math.sqrt(size)
    reach = float(stats.t.ppf((1 + level) / 2, size - 1)) * error
    mean = float(numbers.mean())
    return restore_scale(how, Interval(mean - reach, mean + reach), size)


def _find_point(how: str, values: npt.NDArray[np.float64]) -> Interval | None:
    """Return the interval of values that do not vary, which is a point."""
    is_zero = how == "geometric mean" and not values.min(initial=1) > 0
    if is_zero or len(values) == 0 or values.min() == values.max():
        return Interval(*[aggregate(how, values)] * 2)
    return None


def _to_mean_scale(how: str, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Transform values to the scale on which the aggregate is a mean."""
    if how != "geometric mean":
        return values
    return np.array([math.log(value) for value in values.tolist()], dtype=np.float64)


def restore_scale(how: str, of_mean: Interval, size: int) -> Interval:
    """Transform the interval of the mean back to the scale of the aggregate."""
    if how == "geometric mean":
        # With few values and a high level the end may exceed the largest float.
        return Interval(*(math.exp(end) if end < _LARGEST_LOG else math.inf for end in of_mean))
    scale = size if how == "sum" else 1
    return Interval(of_mean.low * scale, of_mean.high * scale)
