"""Whether hits stand in the order of their scores: one rule, for who checks and for who fuses."""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Disorder", "disorder_of"]

# How an answer contradicts its scores: here and there, or from its first hit to its last.
Disorder: TypeAlias = Literal["", "mixed", "reversed"]
_ROUNDING: Final = 1e-5  # of the largest score: what float32 or another sum may have done


def disorder_of(scores: Sequence[float]) -> Disorder:
    """Whether a list that should be best first is not; ties and rounding do not count."""
    if not any(map(operator.lt, scores, scores[1:])):
        return ""
    slack = _ROUNDING * max(map(abs, scores))
    steps = [after - before for before, after in pairwise(scores)]
    if max(steps) <= slack:
        return ""
    return "mixed" if min(steps) < -slack else "reversed"
