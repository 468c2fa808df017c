"""How values vary, and how many values it takes to know (`berryeval.intervals` has that rule)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval.intervals import FEWEST_ALIKE, spread_known
from berryeval.stats.paired import RESOLUTION, deviation_of

if TYPE_CHECKING:
    from berryeval.stats.paired import Floats

__all__ = ["FEWEST_ALIKE", "FEWEST_RESAMPLED", "spread_known", "spread_of"]

FEWEST_RESAMPLED: Final = 20  # queries; resamples of fewer stray much less than their mean does


def spread_of(values: Floats) -> float:
    """The standard deviation (n - 1) of the values; 0.0 if it is no more than rounding.

    Of two systems it is `Pair.deviation`, which knows how large the values were that differ.

    >>> spread_of(np.array([0.3, 0.1 + 0.2, 0.3]))
    0.0
    """
    found = deviation_of(values)
    return found if found > RESOLUTION * float(np.abs(values).max(initial=0.0)) else 0.0
