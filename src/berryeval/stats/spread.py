"""How values vary, and how many values it takes to know: the one rule for intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval.stats.paired import RESOLUTION, deviation_of

if TYPE_CHECKING:
    from berryeval.stats.paired import Floats

__all__ = ["FEWEST_ALIKE", "FEWEST_RESAMPLED", "spread_known", "spread_of"]

FEWEST_ALIKE: Final = 10  # values of which all are the same; fewer say nothing of how values vary
FEWEST_RESAMPLED: Final = 20  # queries; resamples of fewer stray much less than their mean does


def spread_of(values: Floats) -> float:
    """The standard deviation (n - 1) of the values; 0.0 if it is no more than rounding.

    Of two systems it is `Pair.deviation`, which knows how large the values were that differ.

    >>> spread_of(np.array([0.3, 0.1 + 0.2, 0.3]))
    0.0
    """
    found = deviation_of(values)
    return found if found > RESOLUTION * float(np.abs(values).max(initial=0.0)) else 0.0


def spread_known(count: int, spread: float) -> bool:
    """Whether so many values of that spread say how far their mean may be off.

    Two or more that vary do, and ten or more that are alike, whose interval is a point. One value
    does not, nor do a few that are alike: an interval without width would claim to be sure.

    >>> spread_known(2, 0.1), spread_known(9, 0.0), spread_known(10, 0.0), spread_known(1, 0.0)
    (True, False, True, False)
    """
    return count >= (2 if spread > 0 else FEWEST_ALIKE)
