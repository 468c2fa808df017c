"""G and binG: gain relative to the cost of reaching it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from berryeval.metrics.base import metric
from berryeval.metrics.families.ndcg import GainRule, at_most_one, best_gains, walk
from berryeval.metrics.ranges import WITHIN_ONE, of_gains

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking
    from berryeval.metrics.base import Gains


@metric(
    "binG",
    text="sum over relevant documents of 1 / log2(2 + |nonrelevant above|), over |relevant|",
    aliases=("bing",),
    peers={"trec_eval": "binG"},
)
def binary_g(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """G for binary relevance: nonrelevant documents above a relevant one discount it."""
    total = 0.0
    for place, (rank, found) in enumerate(judged.found_at(rel), start=1):
        total += found / math.log2(2 + rank - place)
    relevant = judged.relevant_total(rel)
    return total / relevant if relevant else 0.0


@metric(
    "G",
    within=of_gains(WITHIN_ONE),
    text="sum of gain / log2(2 + cost so far - gain so far), over the sum of all gains",
    aliases=("g",),
    peers={"trec_eval": "G"},
)
def g(judged: JudgedRanking, *, gains: Gains | None = None) -> float:
    """G: gain discounted by the cost so far in excess of the gain so far.

    A rank costs the gain of the ideal ranking at that rank, at least 1. `gains` as for nDCG.
    """
    rule = GainRule(gains)
    best = best_gains(judged, rule)
    total = cost = gained = 0.0
    paid = 0
    for rank, gain in walk(judged, rule):
        while paid < min(rank, len(best)):
            cost += max(best[paid], 1.0)
            paid += 1
        if rank > paid:
            cost += rank - paid
            paid = rank
        gained += gain
        total += gain / math.log2(2.0 + max(cost - gained, 0.0))
    ideal = 0.0
    for gain in best:
        ideal += gain
    return at_most_one(total / ideal, gains) if ideal else 0.0
