"""Effect sizes: how large a difference is, beside how sure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from berryeval.stats.paired import Pair
from berryeval.stats.student import log_gamma_step

__all__ = ["FEWEST", "EffectSizes", "Magnitude", "effect_sizes", "magnitude"]

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
