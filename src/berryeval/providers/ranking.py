"""Rankings fused into one, for every provider that fuses; `hybrid` says whose formulas they are."""

from __future__ import annotations

import math
import operator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from berryeval.data import RankingRule
from berryeval.providers.base import ranked_hits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from berryeval.data import Chunk, Hit


# Hits from an engine that cuts a ranking anywhere among equal scores.

_MORE: Final = 10  # seldom more than this tie for the last place
_GROWTH: Final = 4


def hits_with_ties(
    chunks: Sequence[Chunk], k: int, fetch: Callable[[int], Sequence[tuple[int, float]]]
) -> list[Hit]:
    """The `k` best hits in THE order of rankings.

    Args:
        chunks: what was indexed.
        k: how many hits are wanted.
        fetch: asks the engine for so many: places of chunks with scores, the highest first. It is
            asked for more until all that tie for the last place are there.
    """
    count = k + _MORE
    found = fetch(count)
    while len(found) == count and found[k - 1][1] == found[-1][1]:
        count *= _GROWTH
        found = fetch(count)
    return ranked_hits([chunks[place] for place, _ in found], [score for _, score in found], k)


# Whether hits stand in the order of their scores, and in ours where these are equal.

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


def fused(
    rankings: Sequence[Sequence[Hit]],
    k: int,
    *,
    constant: int,
    weights: Sequence[float] | None = None,
) -> list[Hit]:
    """The `k` best hits of all rankings by reciprocal ranks; a repeat counts at its first rank.

    Args:
        rankings: each best first.
        k: how many hits to keep.
        constant: how fast a rank loses worth; 60 in the paper.
        weights: how much each ranking counts; 1 if not given.
    """

    def worths(hits: Sequence[Hit], weight: float) -> list[float]:
        return [weight / (constant + rank) for rank in range(1, len(hits) + 1)]

    return _summed(rankings, k, weights, worths)


def fused_by_score(
    rankings: Sequence[Sequence[Hit]], k: int, *, weights: Sequence[float] | None = None
) -> list[Hit]:
    """The `k` best hits of all rankings by their scores, each ranking's spread from 0 to 1.

    A ranking whose scores say nothing (they are all the same, or grow from hit to hit by more than
    rounding does, as distances do) counts by its places, evenly spread.

    Args:
        rankings: each best first.
        k: how many hits to keep.
        weights: how much each ranking counts; 1 if not given.
    """

    def worths(hits: Sequence[Hit], weight: float) -> list[float]:
        return [weight * share for share in _spread([hit.score for hit in hits])]

    return _summed(rankings, k, weights, worths)


def _spread(scores: Sequence[float]) -> list[float]:
    """The scores between 0, the last, and 1, the first.

    Neighbours that only rounding has swapped change their scores: the order of the hits stays.
    """
    if not scores:
        return []
    range_ = max(scores) - min(scores)
    if disorder_of(scores) or not all(map(math.isfinite, scores)) or not 0 < range_ < math.inf:
        return [1 - place / len(scores) for place in range(len(scores))]
    lowest = min(scores)
    return [(score - lowest) / range_ for score in sorted(scores, reverse=True)]


def _summed(
    rankings: Sequence[Sequence[Hit]],
    k: int,
    weights: Sequence[float] | None,
    worths: Callable[[Sequence[Hit], float], list[float]],
) -> list[Hit]:
    """The `k` hits that are worth most in all rankings together."""
    hit_of: dict[str, Hit] = {}
    score_of: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        first: dict[str, Hit] = {}
        for hit in ranking:
            first.setdefault(hit.id, hit)
        hits = list(first.values())
        for hit, worth in zip(hits, worths(hits, weight), strict=True):
            hit_of.setdefault(hit.id, hit)
            score_of[hit.id] = score_of.get(hit.id, 0.0) + worth
    ids = list(hit_of)
    order = RankingRule(depth=k).order(
        [name.encode(errors="surrogatepass") for name in ids], [score_of[name] for name in ids]
    )
    return [
        replace(hit_of[ids[place]], score=score_of[ids[place]], rank=rank)
        for rank, place in enumerate(order, start=1)
    ]
