"""Power: which difference these queries could show, and how many a smaller one would need."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from berryeval.stats.interval import check_level
from berryeval.stats.paired import RESOLUTION, checked_column, deviation_of

__all__ = ["POWER", "minimum_detectable_difference", "needed_for", "power_of", "queries_needed"]

POWER: Final = 0.8
_NORMAL: Final = NormalDist()


def minimum_detectable_difference(
    differences: Any, power: float = POWER, level: float = 0.95
) -> float | None:
    """The mean difference that a test of so many queries, which vary so, finds with this power.

    For the two-sided paired t test, to which the randomisation test is equal in power; by the
    normal approximation with Guenther's correction (1981), within 2 % from 10 queries on. None if
    the differences do not vary, or if there are too few queries for any difference.

        >>> differences = [0.02, -0.01, 0.05, 0.0, 0.03, -0.02, 0.04, 0.01, 0.0, 0.02]
        >>> round(minimum_detectable_difference(differences), 3)
        0.022
    """
    size, deviation = _spread(differences)
    least = size - _half_square(level)
    if deviation == 0 or least <= 0:
        return None
    return _reach(power, level) * deviation / math.sqrt(least)


def queries_needed(
    differences: Any, effect: float, power: float = POWER, level: float = 0.95
) -> int | None:
    """How many queries that vary like these show a mean difference of `effect` with this power.

    None if the differences do not vary, so that nothing is known of their spread.

        >>> differences = [0.02, -0.01, 0.05, 0.0, 0.03, -0.02, 0.04, 0.01, 0.0, 0.02]
        >>> queries_needed(differences, effect=0.01)
        41
    """
    if not math.isfinite(effect) or effect == 0:
        msg = f"effect must be a number other than 0, found {effect!r}"
        raise ValueError(msg)
    _, deviation = _spread(differences)
    reach = _reach(power, level)
    if deviation == 0:
        return None
    return max(2, math.ceil((reach * deviation / effect) ** 2 + _half_square(level)))


def needed_for(effect: float, detectable: float, size: int, level: float = 0.95) -> int:
    """How many queries show `effect` as surely as `size` of the same spread show `detectable`.

    >>> differences = [0.02, -0.01, 0.05, 0.0, 0.03, -0.02, 0.04, 0.01, 0.0, 0.02]
    >>> needed_for(0.01, minimum_detectable_difference(differences), len(differences))
    41
    """
    lost = _half_square(level)
    return max(2, math.ceil((detectable / effect) ** 2 * (size - lost) + lost))


def power_of(differences: Any, effect: float, level: float = 0.95) -> float | None:
    """How often a test of so many queries, which vary so, finds a mean difference of `effect`."""
    check_level(level)
    size, deviation = _spread(differences)
    least = size - _half_square(level)
    if deviation == 0 or least <= 0:
        return None
    reach = abs(effect) * math.sqrt(least) / deviation
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


def _spread(differences: Any) -> tuple[int, float]:
    column = checked_column("differences", differences)
    deviation = deviation_of(column)
    least = RESOLUTION * float(np.abs(column).max(initial=0.0))
    return len(column), deviation if deviation > least else 0.0
