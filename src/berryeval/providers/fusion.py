"""Reciprocal rank fusion, for every provider that fuses; `hybrid` says whose formula it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from berryeval.run import RankingRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.records import Hit

__all__ = ["fused"]


def fused(
    rankings: Sequence[Sequence[Hit]],
    k: int,
    *,
    constant: int,
    weights: Sequence[float] | None = None,
) -> list[Hit]:
    """The `k` best hits of all rankings, by their fused score; a repeat counts at its first rank.

    Args:
        rankings: each best first.
        k: how many hits to keep.
        constant: how fast a rank loses worth; 60 in the paper.
        weights: how much each ranking counts; 1 if not given.
    """
    hit_of: dict[str, Hit] = {}
    score_of: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        first: dict[str, Hit] = {}
        for hit in ranking:
            first.setdefault(hit.id, hit)
        for rank, (name, hit) in enumerate(first.items(), start=1):
            hit_of.setdefault(name, hit)
            score_of[name] = score_of.get(name, 0.0) + weight / (constant + rank)
    ids = list(hit_of)
    order = RankingRule(depth=k).order(
        [name.encode(errors="surrogatepass") for name in ids], [score_of[name] for name in ids]
    )
    return [
        replace(hit_of[ids[place]], score=score_of[ids[place]], rank=rank)
        for rank, place in enumerate(order, start=1)
    ]
