"""Power: which difference these queries could show, and how many a smaller one would need."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from berryeval.stats.interval import check_level
from berryeval.stats.paired import checked_column
from berryeval.stats.spread import spread_of

__all__ = [
    "FEWEST",
    "POWER",
    "minimum_detectable_difference",
    "needed_for",
    "power_of",
    "queries_needed",
]

POWER: Final = 0.8
FEWEST: Final = 10  # queries that differ; of fewer, tests find less than is foretold
_NORMAL: Final = NormalDist()


def minimum_detectable_difference(
    differences: Any, power: float = POWER, level: float = 0.95
) -> float | None:
    """The mean difference that a test of so many queries, which vary so, finds with this power.

    For the two-sided paired t test, to which the randomisation test is equal in power; by the
    normal approximation with Guenther's correction (1981), within 2 % from 10 queries on. None if
    the differences do not vary, if fewer than ten queries differ, which show less than this says,
    or if it would take more than any of these queries differs by.

        >>> differences = [0.02, -0.01, 0.05, 0.01, 0.03, -0.02, 0.04, 0.01, -0.03, 0.02]
        >>> round(minimum_detectable_difference(differences), 3)
        0.025
    """
    reach, spread = _reach(power, level), _Spread.of(differences)
    least = spread.size - _half_square(level)
    if not spread.tells(level):
        return None
    found = reach * spread.deviation / math.sqrt(least)
    return found if found <= spread.largest else None


def queries_needed(
    differences: Any, effect: float, power: float = POWER, level: float = 0.95
) -> int | None:
    """How many queries that vary like these show a mean difference of `effect` with this power.

    Never fewer than ten, for which power cannot be foretold. None if the differences do not vary,
    so that nothing is known of their spread.

        >>> differences = [0.02, -0.01, 0.05, 0.01, 0.03, -0.02, 0.04, 0.01, -0.03, 0.02]
        >>> queries_needed(differences, effect=0.01)
        54
    """
    if not math.isfinite(effect) or effect == 0:
        msg = f"effect must be a number other than 0, found {effect!r}"
        raise ValueError(msg)
    reach, deviation = _reach(power, level), _Spread.of(differences).deviation
    if deviation == 0:
        return None
    # Fractions, because the square of a tiny effect is beyond floats.
    square = (Fraction(reach * deviation) / Fraction(effect)) ** 2
    return max(FEWEST, math.ceil(square + Fraction(_half_square(level))))


def needed_for(effect: float, detectable: float, size: int, level: float = 0.95) -> int:
    """How many queries show `effect` as surely as `size` of the same spread show `detectable`.

    >>> differences = [0.02, -0.01, 0.05, 0.01, 0.03, -0.02, 0.04, 0.01, -0.03, 0.02]
    >>> needed_for(0.01, minimum_detectable_difference(differences), len(differences))
    54
    """
    lost = _half_square(level)
    square = (Fraction(detectable) / Fraction(effect)) ** 2
    return max(FEWEST, math.ceil(square * Fraction(size - lost) + Fraction(lost)))


def power_of(differences: Any, effect: float, level: float = 0.95) -> float | None:
    """How often a test of so many queries, which vary so, finds a mean difference of `effect`.

    None if the differences do not vary, or if fewer than ten queries differ.
    """
    check_level(level)
    if not math.isfinite(effect):
        msg = f"effect must be a finite number, found {effect!r}"
        raise ValueError(msg)
    spread = _Spread.of(differences)
    least = spread.size - _half_square(level)
    if not spread.tells(level):
        return None
    reach = abs(effect) * math.sqrt(least) / spread.deviation
    edge = _NORMAL.inv_cdf((1 + level) / 2)
    return _NORMAL.cdf(reach - edge) + _NORMAL.cdf(-reach - edge)


def _reach(power: float, level: float) -> float:
    check_level(level)
    if not 0 < power < 1:
        msg = f"power must lie between 0 and 1, as 0.8, found {power!r}"
        raise ValueError(msg)
    return _NORMAL.inv_cdf((1 + level) / 2) + _NORMAL.inv_cdf(power)


def _half_square(level: float) -> float:
    """The queries that it costs not to know the spread."""
    return _NORMAL.inv_cdf((1 + level) / 2) ** 2 / 2


@dataclass(frozen=True)
class _Spread:
    """How many differences there are, how many are not 0, how they vary, and the largest."""

    size: int
    differing: int
    deviation: float
    largest: float

    @classmethod
    def of(cls, differences: Any) -> _Spread:
        column = checked_column("differences", differences)
        largest = float(np.abs(column).max(initial=0.0))
        return cls(len(column), int((column != 0).sum()), spread_of(column), largest)

    def tells(self, level: float) -> bool:
        """Whether power can be foretold: so few signs that no p is small enough show nothing."""
        small_enough = 2.0 ** (1 - self.differing) <= 1 - level
        return self.deviation > 0 and self.differing >= FEWEST and small_enough
