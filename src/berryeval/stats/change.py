"""How an aggregate changed between two systems: by how much, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from berryeval.intervals import RESAMPLES, Interval
from berryeval.stats.interval import DEFAULT_METHOD, Estimate, IntervalMethod, enough_for
from berryeval.stats.paired import RESOLUTION
from berryeval.stats.spread import spread_known

if TYPE_CHECKING:
    from berryeval.stats.paired import Pair

__all__ = ["change_beyond_rounding", "interval_of_change"]


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
