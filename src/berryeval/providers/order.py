"""Whether hits stand in the order of their scores, and in ours where these are equal."""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Disorder", "disorder_of", "has_moved_ties"]

# How an answer contradicts its scores: here and there, or from its first hit to its last; or how
# THE order contradicts the answer, where scores are equal.
Disorder: TypeAlias = Literal["", "mixed", "reversed", "tied"]
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


def has_moved_ties(ids: Sequence[str], scores: Sequence[float], k: int) -> bool:
    """Whether hits of equal scores came in another order than that of their ids, the highest first.

    Only what changes the first `k` counts: their own order, and what moves among them from behind.
    """
    hits = list(zip(scores, ids, strict=True))
    if any(one[0] == after[0] and one[1] < after[1] for one, after in pairwise(hits[:k])):
        return True
    return any(score == hits[k - 1][0] and name > hits[k - 1][1] for score, name in hits[k:])
