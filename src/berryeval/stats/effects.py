"""Effect sizes: how large a difference is, beside how sure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from berryeval._internal.intervals import Interval
from berryeval.stats import student
from berryeval.stats.intervals import check_level
from berryeval.stats.paired import Pair, checked_column, spread_of
from berryeval.stats.student import log_gamma_step

Magnitude: TypeAlias = Literal["no", "negligible", "small", "medium", "large"]
# From where on an effect has the word: Cohen (1988) for d, Romano et al. (2006) for delta.
_STANDARDISED: Final[tuple[tuple[float, Magnitude], ...]] = (
    (0.8, "large"),
    (0.5, "medium"),
    (0.2, "small"),
)
_DOMINANCE: Final[tuple[tuple[float, Magnitude], ...]] = (
    (0.474, "large"),
    (0.33, "medium"),
    (0.147, "small"),
)

FEWEST: Final = 3  # queries: of two, Hedges' factor has a pole, and no word would be right


@dataclass(frozen=True)
class EffectSizes:
    """The size of the difference `b - a`, in three ways.

    Attributes:
        d_z: Cohen's d of paired values: the mean difference over its standard deviation; None if
            the differences do not vary.
        g: d_z with Hedges' correction, which takes away its bias in small sets; None where d_z is.
        cliffs_delta: how much likelier a value of `b` is above one of `a` than below it, over all
            pairs of queries; from -1 to 1.
        word: g in a word, or delta where there is no g.
        cliffs_word: delta in a word.
    """

    d_z: float | None
    g: float | None
    cliffs_delta: float
    word: Magnitude
    cliffs_word: Magnitude


def effect_sizes(a: Any, b: Any) -> EffectSizes | None:
    """The effect sizes of the differences `b - a`; None of fewer than three queries.

    >>> found = effect_sizes([0.1, 0.2, 0.3, 0.4], [0.2, 0.4, 0.5, 0.9])
    >>> round(found.d_z, 3), round(found.g, 3), found.cliffs_delta, found.word
    (1.443, 1.044, 0.625, 'large')
    """
    pair = Pair.of(a, b)
    if pair.size < FEWEST:
        return None
    d_z = pair.mean / pair.deviation if pair.deviation else None
    g = None if d_z is None else d_z * _hedges(pair.size - 1)
    delta = _cliffs_delta(pair)
    cliffs_word = magnitude(delta, "cliff")
    word = cliffs_word if g is None else magnitude(g)
    return EffectSizes(d_z, g, delta, word, cliffs_word)


def magnitude(effect: float, kind: Literal["cohen", "cliff"] = "cohen") -> Magnitude:
    """An effect in a word."""
    for least, word in _STANDARDISED if kind == "cohen" else _DOMINANCE:
        if abs(effect) >= least:
            return word
    return "negligible" if effect else "no"


def _hedges(freedom: int) -> float:
    """What d must be multiplied by to be right on average; Hedges (1981)."""
    return math.exp(log_gamma_step((freedom - 1) / 2)) / math.sqrt(freedom / 2)


def _cliffs_delta(pair: Pair) -> float:
    ordered = np.sort(pair.a)
    below = int(np.searchsorted(ordered, pair.b - pair.equal_within, "left").sum())
    not_above = int(np.searchsorted(ordered, pair.b + pair.equal_within, "right").sum())
    above = pair.size**2 - not_above
    return (below - above) / pair.size**2


# Equivalence: whether two systems differ by less than matters.


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
        return "one query is not enough for a test"
    if pair.deviation == 0:
        found = f"every query differs by {pair.mean:g}" if pair.mean else "no query differs"
        return f"{found}: the test of equivalence needs differences that vary"
    return ""


# Power: which difference these queries could show, and how many a smaller one would need.

POWER: Final = 0.8
POWER_FEWEST: Final = 10  # queries that differ; of fewer, tests find less than is foretold
_NORMAL: Final = NormalDist()


def minimum_detectable_difference(
    differences: Any, power: float = POWER, level: float = 0.95
) -> float | None:
    """The mean difference that a test of so many queries, which vary so, finds with this power.

    For the two-sided paired t test, to which the randomisation test is equal in power; by the
    normal approximation with Guenther's correction (1981), within 2 % from 10 queries on. None if
    the differences do not vary, if fewer than ten queries differ, which show less than this says,
    or if it would take more than any of these queries differs by.

        >>> differences = [0.02, -0.01, 0.05, 0.01, 0.03, -0.02, 0.04, 0.01, -0.03, 0.02]
        >>> round(minimum_detectable_difference(differences), 3)
        0.025
    """
    reach, spread = _reach(power, level), _Spread.of(differences)
    least = spread.size - _half_square(level)
    if not spread.tells(level):
        return None
    found = reach * spread.deviation / math.sqrt(least)
    return found if found <= spread.largest else None


def queries_needed(
    differences: Any, effect: float, power: float = POWER, level: float = 0.95
) -> int | None:
    """How many queries that vary like these show a mean difference of `effect` with this power.

    Never fewer than ten, for which power cannot be foretold. None if the differences do not vary,
    so that nothing is known of their spread.

        >>> differences = [0.02, -0.01, 0.05, 0.01, 0.03, -0.02, 0.04, 0.01, -0.03, 0.02]
        >>> queries_needed(differences, effect=0.01)
        54
    """
    if not math.isfinite(effect) or effect == 0:
        msg = f"effect must be a number other than 0, found {effect!r}"
        raise ValueError(msg)
    reach, deviation = _reach(power, level), _Spread.of(differences).deviation
    if deviation == 0:
        return None
    # Fractions, because the square of a tiny effect is beyond floats.
    square = (Fraction(reach * deviation) / Fraction(effect)) ** 2
    return max(POWER_FEWEST, math.ceil(square + Fraction(_half_square(level))))


def needed_for(effect: float, detectable: float, size: int, level: float = 0.95) -> int:
    """How many queries show `effect` as surely as `size` of the same spread show `detectable`.

    >>> differences = [0.02, -0.01, 0.05, 0.01, 0.03, -0.02, 0.04, 0.01, -0.03, 0.02]
    >>> needed_for(0.01, minimum_detectable_difference(differences), len(differences))
    54
    """
    lost = _half_square(level)
    square = (Fraction(detectable) / Fraction(effect)) ** 2
    return max(POWER_FEWEST, math.ceil(square * Fraction(size - lost) + Fraction(lost)))


def power_of(differences: Any, effect: float, level: float = 0.95) -> float | None:
    """How often a test of so many queries, which vary so, finds a mean difference of `effect`.

    None if the differences do not vary, or if fewer than ten queries differ.
    """
    check_level(level)
    if not math.isfinite(effect):
        msg = f"effect must be a finite number, found {effect!r}"
        raise ValueError(msg)
    spread = _Spread.of(differences)
    least = spread.size - _half_square(level)
    if not spread.tells(level):
        return None
    reach = abs(effect) * math.sqrt(least) / spread.deviation
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


@dataclass(frozen=True)
class _Spread:
    """How many differences there are, how many are not 0, how they vary, and the largest."""

    size: int
    differing: int
    deviation: float
    largest: float

    @classmethod
    def of(cls, differences: Any) -> _Spread:
        column = checked_column("differences", differences)
        largest = float(np.abs(column).max(initial=0.0))
        return cls(len(column), int((column != 0).sum()), spread_of(column), largest)

    def tells(self, level: float) -> bool:
        """Whether power can be foretold: so few signs that no p is small enough show nothing."""
        small_enough = 2.0 ** (1 - self.differing) <= 1 - level
        return self.deviation > 0 and self.differing >= POWER_FEWEST and small_enough
