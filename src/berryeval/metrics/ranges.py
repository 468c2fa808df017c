"""Between which ends the values of a metric lie: every metric declares it (`within`)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from berryeval._internal.intervals import Interval, aggregate

if TYPE_CHECKING:
    import numpy.typing as npt


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


def range_of(metric: str) -> Range:
    """Between which ends a metric lies, by any of its names; without ends if it is not known.

    >>> range_of("nDCG@10"), range_of("DCG@10"), range_of("Mine")
    ((0.0, 1.0), (0.0, inf), (-inf, inf))
    """
    from berryeval.errors import MetricError
    from berryeval.metrics.grammar import parse_metric

    try:
        return parse_metric(metric).range
    except MetricError:
        return UNBOUNDED


def cut_to_range(
    interval: Interval, metric: str, how: str, values: npt.NDArray[np.float64]
) -> Interval:
    """The part of an interval of an aggregate of these values that the metric can reach.

    >>> import numpy as np
    >>> cut_to_range(Interval(-0.6, 1.5), "RR", "mean", np.array([0.0, 1.0]))
    Interval(low=0.0, high=1.0)
    """
    low, high = range_of(metric)  # of the value of a run, as the metric itself puts it together
    if how == "sum":
        scale = 1 if _is_sum(metric) else len(values)
        low, high, values = low * scale, high * scale, np.array([aggregate(how, values)])
    # What was found can be found, whatever the metric says of itself.
    low, high = min(low, float(values.min())), max(high, float(values.max()))
    return Interval(max(interval.low, low), min(interval.high, high))


def _is_sum(metric: str) -> bool:
    """Whether the values of a metric are added up, as it is declared."""
    from berryeval.errors import MetricError
    from berryeval.metrics.grammar import parse_metric

    try:
        return parse_metric(metric).definition.aggregate == "sum"
    except MetricError:
        return False


# Which way is better: of most metrics up, of some down, and of counts neither.

Direction: TypeAlias = Literal["up", "down", "neither"]

_DOWN: Final = frozenset({"NumNonrelJudgedRet", "RBPResidual", "TokensToHit", "Unjudged"})
_NEITHER: Final = frozenset({"IDCG", "Judged", "NumQ", "NumRel", "NumRet"})


def direction_of(metric: str) -> Direction:
    """Which way a metric gets better, by its canonical name; one of your own is taken for "up".

    >>> direction_of("nDCG@10"), direction_of("TokensToHit(budget=500)"), direction_of("NumRet")
    ('up', 'down', 'neither')
    """
    name = re.split(r"[(@]", metric, maxsplit=1)[0]
    if name in _DOWN:
        return "down"
    return "neither" if name in _NEITHER else "up"
