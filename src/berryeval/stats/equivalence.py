"""Equivalence: whether two systems differ by less than matters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from berryeval.intervals import Interval
from berryeval.stats import student
from berryeval.stats.interval import check_level
from berryeval.stats.paired import Pair

__all__ = ["Equivalence", "equivalence"]


@dataclass(frozen=True)
class Equivalence:
    """What two one-sided t tests say of the mean of `b - a`.

    Attributes:
        margin: the smallest difference that matters.
        difference: the mean difference.
        interval: of twice the error of the level (90 % for 0.95): both tests succeed exactly if
            it lies within the margin.
        p: of the weaker of the two tests; None if it cannot be said.
        p_not_worse: that `b` is not worse than `a` by the margin (non-inferiority).
        p_not_better: that `b` is not better than `a` by the margin.
        equivalent: whether the difference is shown to be smaller than the margin.
        not_worse: whether it is shown that `b` is not worse by the margin.
        cannot: why there is no p.
    """

    margin: float
    difference: float
    interval: Interval | None
    p: float | None
    p_not_worse: float | None
    p_not_better: float | None
    equivalent: bool
    not_worse: bool
    cannot: str = ""


def equivalence(a: Any, b: Any, margin: float, level: float = 0.95) -> Equivalence:
    """Two one-sided paired t tests (TOST, Schuirmann 1987) against `-margin` and `margin`.

    A test that finds no difference does not show that there is none; this one can.

        >>> a = [0.50, 0.61, 0.72, 0.33, 0.84, 0.95, 0.46, 0.57]
        >>> b = [0.51, 0.60, 0.72, 0.34, 0.83, 0.95, 0.47, 0.57]
        >>> equivalence(a, b, margin=0.02).equivalent
        True
    """
    check_level(level)
    if level <= 0.5:  # noqa: PLR2004 - the interval of twice the error would have no width
        msg = f"level must be above 0.5, found {level!r}"
        raise ValueError(msg)
    if not (math.isfinite(margin) and margin > 0):
        msg = f"margin must be a number above 0, found {margin!r}"
        raise ValueError(msg)
    pair = Pair.of(a, b)
    cannot = _why_not(pair)
    if cannot:
        return Equivalence(margin, pair.mean, None, None, None, None, False, False, cannot)
    freedom = pair.size - 1
    error = pair.deviation / math.sqrt(pair.size)
    not_worse = student.tail((pair.mean + margin) / error, freedom)
    not_better = student.tail((margin - pair.mean) / error, freedom)
    reach = student.quantile(2 * level - 1, freedom) * error
    p = max(not_worse, not_better)
    allowed = round(1 - level, 12)
    interval = Interval(pair.mean - reach, pair.mean + reach)
    return Equivalence(
        margin, pair.mean, interval, p, not_worse, not_better, p <= allowed, not_worse <= allowed
    )


def _why_not(pair: Pair) -> str:
    if pair.size == 1:
        return "one query says nothing about others"
    if pair.deviation == 0:
        found = f"every query differs by {pair.mean:g}" if pair.mean else "no query differs"
        return f"{found}: the test of equivalence needs differences that vary"
    return ""
