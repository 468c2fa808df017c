"""The intervals that gates judge by: Student's, of a value and of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.intervals import Interval, aggregate, restored
from berryeval.measures.ranges import cut_to_range
from berryeval.stats import change
from berryeval.stats.interval import mean_interval
from berryeval.stats.paired import Pair
from berryeval.stats.rows import testable, tested
from berryeval.stats.spread import spread_known, spread_of

if TYPE_CHECKING:
    from berryeval.stats.paired import Floats

__all__ = ["interval_of_change", "interval_of_value"]


def interval_of_value(measure: str, values: Floats, how: str, level: float) -> Interval | None:
    """The interval of an aggregate; None where the spread of the values is not known.

    It ends where the measure does. Where the values are alike, and enough to say so, it is a point.
    """
    if not testable(values, how):
        return None
    spread = spread_of(values)
    if not spread_known(len(values), spread):
        return None
    if spread == 0:
        value = aggregate(how, values)
        return Interval(value, value)
    of_mean = mean_interval(tested(values, how), level)
    if of_mean is None:
        return None
    return cut_to_range(restored(how, of_mean, len(values)), measure, how, values)


def interval_of_change(before: Floats, after: Floats, how: str, level: float) -> Interval | None:
    """The interval of the change of an aggregate; None where its spread is not known.

    Where every query changed by the same, and there are enough to say so, it is a point.
    """
    if not (testable(before, how) and testable(after, how)):
        return None
    return change.interval_of_change(
        Pair.of(tested(before, how), tested(after, how)), how, level, "t"
    )
