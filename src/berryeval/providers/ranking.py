"""The order of an answer, ties at its end, and the fusion of several rankings."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from berryeval.data import RankingRule
from berryeval.fusion import reciprocal_ranks, scale_min_max, sum_points
from berryeval.providers.base import encode_id, rank_hits

if TYPE_CHECKING:
    from berryeval.data import Chunk, Hit


_EXTRA: Final = 10  # fetched beyond k, as a few hits often tie for the last place
_GROWTH: Final = 4


def fetch_hits(
    chunks: Sequence[Chunk], k: int, fetch: Callable[[int], Sequence[tuple[int, float]]]
) -> list[Hit]:
    """Fetch the `k` best hits from an engine that cuts a ranking anywhere among equal scores.

    `fetch` asks the engine for a number of (chunk position, score) pairs, highest score first, and
    is called with larger numbers until all ties for the last place are included.
    """
    count = k + _EXTRA
    found = fetch(count)
    while len(found) == count and found[k - 1][1] == found[-1][1]:
        count *= _GROWTH
        found = fetch(count)
    return rank_hits([chunks[place] for place, _ in found], [score for _, score in found], k)


# How the order of an answer contradicts its scores: in places ("mixed"), throughout ("reversed"),
# or only among equal scores, which rankings sort by id ("tied").
Disorder: TypeAlias = Literal["", "mixed", "reversed", "tied"]
_ROUNDING: Final = 1e-5  # relative to the largest score; float32 sums differ by this much


def find_disorder(scores: Sequence[float]) -> Disorder:
    """Return how scores that should fall do not; ties and rounding are ignored."""
    if not any(map(operator.lt, scores, scores[1:])):
        return ""
    slack = _ROUNDING * max(map(abs, scores))
    steps = [after - before for before, after in pairwise(scores)]
    if max(steps) <= slack:
        return ""
    return "mixed" if min(steps) < -slack else "reversed"


def has_moved_ties(ids: Sequence[str], scores: Sequence[float], k: int) -> bool:
    """Whether hits with equal scores are not in descending order of their ids.

    Only changes to the first `k` hits count: their own order, and hits that move up among them.
    """
    hits = list(zip(scores, ids, strict=True))
    if any(one[0] == after[0] and one[1] < after[1] for one, after in pairwise(hits[:k])):
        return True
    return any(score == hits[k - 1][0] and name > hits[k - 1][1] for score, name in hits[k:])


def drop_repeated(hits: Iterable[Hit]) -> list[Hit]:
    """Return the hits without those that repeat an earlier one."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.id, hit)
    return list(first.values())


def order_hits(hits: Sequence[Hit], k: int | None = None) -> list[Hit]:
    """Return the first `k` of different hits in ranking order, ranked from 1.

    Scores decide, and ids break ties as in trec_eval. Hits without scores keep their order.
    """
    scores = [hit.score for hit in hits]
    if any(scores):
        order = RankingRule(depth=k).order([encode_id(hit.id) for hit in hits], scores)
        ranked = [hits[place] for place in order]
    else:
        ranked = [replace(hit, score=1.0 / rank) for rank, hit in enumerate(hits[:k], start=1)]
    return [
        hit if hit.rank == rank else replace(hit, rank=rank)
        for rank, hit in enumerate(ranked, start=1)
    ]


def fuse_ranks(
    rankings: Sequence[Sequence[Hit]],
    k: int,
    *,
    constant: int,
    weights: Sequence[float] | None = None,
) -> list[Hit]:
    """Return the `k` best hits of all rankings by weight / (constant + rank).

    A document that a ranking repeats counts at its first rank.
    """

    def weigh(hits: Sequence[Hit], weight: float) -> list[float]:
        points: list[float] = reciprocal_ranks(len(hits), constant, weight).tolist()
        return points

    return _fuse(rankings, k, weights, weigh)


def fuse_scores(
    rankings: Sequence[Sequence[Hit]], k: int, *, weights: Sequence[float] | None = None
) -> list[Hit]:
    """Return the `k` best hits of all rankings by scores, normalized to 0-1 in each ranking.

    A ranking whose scores carry no information (all equal, or rising by more than rounding, as
    distances do) counts by position, evenly spaced.
    """

    def weigh(hits: Sequence[Hit], weight: float) -> list[float]:
        return [weight * share for share in _normalize([hit.score for hit in hits])]

    return _fuse(rankings, k, weights, weigh)


def _normalize(scores: Sequence[float]) -> list[float]:
    if not scores:
        return []
    range_ = max(scores) - min(scores)
    if find_disorder(scores) or not all(map(math.isfinite, scores)) or not 0 < range_ < math.inf:
        return [1 - place / len(scores) for place in range(len(scores))]
    return scale_min_max(sorted(scores, reverse=True))  # only rounding has swapped any


def _fuse(
    rankings: Sequence[Sequence[Hit]],
    k: int,
    weights: Sequence[float] | None,
    weigh: Callable[[Sequence[Hit], float], list[float]],
) -> list[Hit]:
    """Return the `k` hits with the highest sum of weights over all rankings."""
    first_hits: dict[str, Hit] = {}
    points = []
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        hits = drop_repeated(ranking)
        for hit in hits:
            first_hits.setdefault(hit.id, hit)
        points.append(zip([hit.id for hit in hits], weigh(hits, weight), strict=True))
    score_of = sum_points(points)
    ids = list(score_of)
    order = RankingRule(depth=k).order([encode_id(name) for name in ids], list(score_of.values()))
    return [
        replace(first_hits[ids[place]], score=score_of[ids[place]], rank=rank)
        for rank, place in enumerate(order, start=1)
    ]
