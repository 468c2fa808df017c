"""Between which ends the values of a measure lie: every measure declares it (`within`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

__all__ = ["COUNT", "UNBOUNDED", "WITHIN_ONE", "Range", "Within", "of_gains", "range_of"]

Range: TypeAlias = tuple[float, float]
# The ends themselves, or what they are with these parameters.
Within: TypeAlias = Range | Callable[[Mapping[str, Any]], Range]

WITHIN_ONE: Final[Range] = (0.0, 1.0)
COUNT: Final[Range] = (0.0, math.inf)
UNBOUNDED: Final[Range] = (-math.inf, math.inf)


def of_gains(usual: Range) -> Within:
    """These ends, unless a gain or the level it is for is below 0: nothing is known then."""

    def ends(params: Mapping[str, Any]) -> Range:
        pairs = params["gains"] or ()
        return UNBOUNDED if any(min(level, gain) < 0 for level, gain in pairs) else usual

    return ends


def range_of(measure: str) -> Range:
    """Between which ends a measure lies, by any of its names; without ends if it is not known.

    >>> range_of("nDCG@10"), range_of("DCG@10"), range_of("Mine")
    ((0.0, 1.0), (0.0, inf), (-inf, inf))
    """
    from berryeval.errors import MeasureError
    from berryeval.measures.grammar import parse_measure

    try:
        return parse_measure(measure).range
    except MeasureError:
        return UNBOUNDED
