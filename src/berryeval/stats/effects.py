"""Effect sizes, equivalence tests and power."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from berryeval._internal.aggregates import Interval
from berryeval.stats import student
from berryeval.stats.intervals import check_level
from berryeval.stats.paired import Floats, Pair, check_column, spread_of
from berryeval.stats.student import log_gamma_step

Magnitude: TypeAlias = Literal["no", "negligible", "small", "medium", "large"]
# Lower bounds of the magnitudes: Cohen (1988) for d, Romano et al. (2006) for delta.
_BOUNDS: Final[dict[str, dict[Magnitude, float]]] = {
    "cohen": {"large": 0.8, "medium": 0.5, "small": 0.2},
    "cliff": {"large": 0.474, "medium": 0.33, "small": 0.147},
}

FEWEST: Final = 3  # queries: with two, Hedges' factor has a pole


@dataclass(frozen=True)
class EffectSizes:
    """Effect sizes of the difference `b - a`.

    Attributes:
        d_z: Cohen's d of paired values: the mean difference over its standard deviation; None if
            the differences do not vary.
        g: d_z with Hedges' correction for small samples.
        cliffs_delta: Probability that a value of `b` is above one of `a` minus that it is below,
            over all pairs of queries; from -1 to 1.
        word: Magnitude of g, or of delta if there is no g.
        cliffs_word: Magnitude of delta.
    """

    d_z: float | None
    g: float | None
    cliffs_delta: float
    word: Magnitude
    cliffs_word: Magnitude


def effect_sizes(a: Any, b: Any) -> EffectSizes | None:
    """Return the effect sizes of the differences `b - a`; None for fewer than three queries.

    >>> found = effect_sizes([0.1, 0.2, 0.3, 0.4], [0.2, 0.4, 0.5, 0.9])
    >>> round(found.d_z, 3), round(found.g, 3), found.cliffs_delta, found.word
    (1.443, 1.044, 0.625, 'large')
    """
    pair = Pair.of(a, b)
    if pair.size < FEWEST:
        return None
    d_z = pair.mean / pair.deviation if pair.deviation else None
    # Hedges (1981): this factor makes d unbiased.
    factor = math.exp(log_gamma_step((pair.size - 2) / 2)) / math.sqrt((pair.size - 1) / 2)
    g = None if d_z is None else d_z * factor
    delta = _cliffs_delta(pair)
    cliffs_word = magnitude(delta, "cliff")
    word = cliffs_word if g is None else magnitude(g)
    return EffectSizes(d_z, g, delta, word, cliffs_word)


def magnitude(effect: float, kind: Literal["cohen", "cliff"] = "cohen") -> Magnitude:
    """Classify an effect size."""
    found = (word for word, least in _BOUNDS[kind].items() if abs(effect) >= least)
    return next(found, "negligible" if effect else "no")


def _cliffs_delta(pair: Pair) -> float:
    ordered = np.sort(pair.a)
    below = int(np.searchsorted(ordered, pair.b - pair.equal_within, "left").sum())
    not_above = int(np.searchsorted(ordered, pair.b + pair.equal_within, "right").sum())
    above = pair.size**2 - not_above
    return (below - above) / pair.size**2


@dataclass(frozen=True)
class Equivalence:
    """The result of two one-sided t tests of the mean of `b - a`.

    Attributes:
        margin: Smallest difference that matters.
        difference: Mean difference.
        interval: Confidence interval with twice the error rate (90 % for a level of 0.95); both
            tests are significant exactly if it lies within the margin.
        p: Larger p-value of the two tests; None if the tests are not possible.
        p_not_worse: p-value of `b` not being worse than `a` by the margin (non-inferiority).
        p_not_better: p-value of `b` not being better than `a` by the margin.
        equivalent: Whether the difference is significantly smaller than the margin.
        not_worse: Whether `b` is significantly not worse by the margin.
        cannot: Reason why there is no p-value.
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
    """Test equivalence by two one-sided paired t tests (TOST, Schuirmann 1987).

    Unlike a test without a significant difference, this test can show equivalence.

        >>> a = [0.50, 0.61, 0.72, 0.33, 0.84, 0.95, 0.46, 0.57]
        >>> b = [0.51, 0.60, 0.72, 0.34, 0.83, 0.95, 0.47, 0.57]
        >>> equivalence(a, b, margin=0.02).equivalent
        True
    """
    check_level(level)
    if level <= 0.5:  # noqa: PLR2004 - the interval would have no width
        raise ValueError(f"level must be above 0.5, found {level!r}")
    if not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"margin must be a number above 0, found {margin!r}")
    pair = Pair.of(a, b)
    if pair.deviation == 0:
        constant = pair.describe_constant("the test of equivalence")
        cannot = constant if pair.size > 1 else "one query is not enough for a test"
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


POWER: Final = 0.8
POWER_FEWEST: Final = 10  # queries that differ; with fewer, the approximation is too optimistic
_NORMAL: Final = NormalDist()


def minimum_detectable_difference(
    differences: Any, power: float = POWER, level: float = 0.95
) -> float | None:
    """Return the mean difference that these queries detect with the given power.

    The power is that of the two-sided paired t test, which equals that of the randomization test,
    by the normal approximation with Guenther's correction (1981); the error is below 2 % from 10
    queries on. None if the differences do not vary, if fewer than ten queries differ, or if the
    result exceeds the largest difference of any query.

        >>> differences = [0.02, -0.01, 0.05, 0.01, 0.03, -0.02, 0.04, 0.01, -0.03, 0.02]
        >>> round(minimum_detectable_difference(differences), 3)
        0.025
    """
    reach, column = _reach(power, level), check_column("differences", differences)
    if not _is_power_known(column, level):
        return None
    found = reach * spread_of(column) / math.sqrt(len(column) - _half_square(level))
    return found if found <= float(np.abs(column).max()) else None


def queries_needed(
    differences: Any, effect: float, power: float = POWER, level: float = 0.95
) -> int | None:
    """Return the number of queries that detect a mean difference of `effect` with the given power.

    The variance is that of these differences; None if they do not vary. The result is at least ten,
    because the approximation does not hold for fewer.

        >>> differences = [0.02, -0.01, 0.05, 0.01, 0.03, -0.02, 0.04, 0.01, -0.03, 0.02]
        >>> queries_needed(differences, effect=0.01)
        54
    """
    if not math.isfinite(effect) or effect == 0:
        raise ValueError(f"effect must be a number other than 0, found {effect!r}")
    reach, deviation = _reach(power, level), spread_of(check_column("differences", differences))
    if deviation == 0:
        return None
    # Fractions, because the square of a tiny effect underflows.
    square = (Fraction(reach * deviation) / Fraction(effect)) ** 2
    return max(POWER_FEWEST, math.ceil(square + Fraction(_half_square(level))))


def needed_for(effect: float, detectable: float, size: int, level: float = 0.95) -> int:
    """Return how many queries detect `effect` with the power of `size` queries for `detectable`.

    >>> differences = [0.02, -0.01, 0.05, 0.01, 0.03, -0.02, 0.04, 0.01, -0.03, 0.02]
    >>> needed_for(0.01, minimum_detectable_difference(differences), len(differences))
    54
    """
    lost = _half_square(level)
    square = (Fraction(detectable) / Fraction(effect)) ** 2
    return max(POWER_FEWEST, math.ceil(square * Fraction(size - lost) + Fraction(lost)))


def power_of(differences: Any, effect: float, level: float = 0.95) -> float | None:
    """Return the power of the paired t test to detect a mean difference of `effect`.

    None if the differences do not vary, or if fewer than ten queries differ.
    """
    check_level(level)
    if not math.isfinite(effect):
        raise ValueError(f"effect must be a finite number, found {effect!r}")
    column = check_column("differences", differences)
    if not _is_power_known(column, level):
        return None
    reach = abs(effect) * math.sqrt(len(column) - _half_square(level)) / spread_of(column)
    edge = _NORMAL.inv_cdf((1 + level) / 2)
    return _NORMAL.cdf(reach - edge) + _NORMAL.cdf(-reach - edge)


def _reach(power: float, level: float) -> float:
    check_level(level)
    if not 0 < power < 1:
        raise ValueError(f"power must be between 0 and 1, such as 0.8, found {power!r}")
    return _NORMAL.inv_cdf((1 + level) / 2) + _NORMAL.inv_cdf(power)


def _half_square(level: float) -> float:
    """Return the number of queries lost by estimating the variance."""
    return _NORMAL.inv_cdf((1 + level) / 2) ** 2 / 2


def _is_power_known(differences: Floats, level: float) -> bool:
    """Return whether power can be predicted: few signs cannot reach a small enough p."""
    differing = int((differences != 0).sum())
    small_enough = 2.0 ** (1 - differing) <= 1 - level
    return spread_of(differences) > 0 and differing >= POWER_FEWEST and small_enough
