"""Ranges of metrics, and the direction in which a metric improves."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from berryeval._internal.aggregates import Interval
    from berryeval.metrics.base import Gains


Range: TypeAlias = tuple[float, float]
# The range, or a function from the parameters to the range.
Within: TypeAlias = Range | Callable[[Mapping[str, Any]], Range]

WITHIN_ONE: Final[Range] = (0.0, 1.0)
COUNT: Final[Range] = (0.0, math.inf)
UNBOUNDED: Final[Range] = (-math.inf, math.inf)


def of_gains(usual: Range) -> Within:
    """Return `usual` unless the parameter `gains` contains a negative level or gain."""
    return lambda params: UNBOUNDED if has_negative(params["gains"]) else usual


def has_negative(gains: Gains | None) -> bool:
    """Whether a gain or its level is negative, so that a ranking may beat the ideal one."""
    return any(min(level, gain) < 0 for level, gain in gains or ())


def range_of(metric: str) -> Range:
    """Return the range of a metric by any of its names; unbounded if the metric is unknown.

    >>> range_of("nDCG@10"), range_of("DCG@10"), range_of("Mine")
    ((0.0, 1.0), (0.0, inf), (-inf, inf))
    """
    from berryeval.metrics.grammar import find_metric

    known = find_metric(metric)
    return UNBOUNDED if known is None else known.range


def cut_to_range(
    interval: Interval, metric: str, how: str, values: npt.NDArray[np.float64]
) -> Interval:
    """Clip a confidence interval of an aggregate to the range of its metric.

    >>> from berryeval._internal.aggregates import Interval
    >>> cut_to_range(Interval(-0.6, 1.5), "RR", "mean", np.array([0.0, 1.0]))
    Interval(low=0.0, high=1.0)
    """
    from berryeval._internal.aggregates import aggregate
    from berryeval.metrics.grammar import find_metric

    low, high = range_of(metric)  # of the aggregate over a run
    if how == "sum":
        known = find_metric(metric)
        scale = 1 if known and known.aggregate == "sum" else len(values)
        low, high, values = low * scale, high * scale, np.array([aggregate(how, values)])
    # An observed value is possible, even if the metric declares a smaller range.
    low, high = min(low, float(values.min())), max(high, float(values.max()))
    return interval._replace(low=max(interval.low, low), high=min(interval.high, high))


Better: TypeAlias = Literal["higher", "lower", "neither"]
Direction: TypeAlias = Literal["up", "down", "neither"]
_DIRECTIONS: Final[dict[Better, Direction]] = {
    "higher": "up",
    "lower": "down",
    "neither": "neither",
}


def direction_of(metric: str) -> Direction:
    """Return the direction in which a metric improves; "up" if the metric is unknown.

    >>> direction_of("nDCG@10"), direction_of("TokensToHit(budget=500)"), direction_of("NumRet")
    ('up', 'down', 'neither')
    """
    from berryeval.metrics.catalogue import definitions

    definition = definitions().get(re.split(r"[(@]", metric, maxsplit=1)[0])
    return _DIRECTIONS[definition.better] if definition else "up"


def find_deciding(metrics: Iterable[str]) -> str:
    """Return the first metric that can be better or worse; "" without one."""
    return next((one for one in metrics if direction_of(one) != "neither"), "")


def gain_sign(metric: str) -> Literal[1, -1]:
    """Return the factor that makes a change of a metric a gain: -1 if lower values are better."""
    return -1 if direction_of(metric) == "down" else 1
