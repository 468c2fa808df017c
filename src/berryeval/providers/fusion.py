"""Rankings fused into one, for every provider that fuses; `hybrid` says whose formulas they are."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from berryeval.providers.order import disorder_of
from berryeval.run import RankingRule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from berryeval.records import Hit

__all__ = ["fused", "fused_by_score"]


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
