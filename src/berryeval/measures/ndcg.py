"""Discounted cumulative gain, normalised."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from berryeval.measures.base import Discounting, Gains, JudgedRanking, measure

if TYPE_CHECKING:
    from collections.abc import Iterable


@measure(
    "nDCG",
    text="sum of gain / log2(rank + 1), over the same of the best possible ranking",
    aliases={
        "ndcg": {},
        "ndcg_cut": {},
        "ndcg_burges": {"dcg": "exp-log2"},
    },
    peers={"trec_eval": "ndcg, ndcg_cut", "ir_measures": "nDCG", "ranx": "ndcg, ndcg_burges"},
    native=True,
)
def ndcg(
    judged: JudgedRanking,
    *,
    cutoff: int | None = None,
    dcg: Discounting = "log2",
    gains: Gains | None = None,
) -> float:
    """Normalised discounted cumulative gain (Järvelin and Kekäläinen, ACM TOIS 20(4), 2002).

    The gain is the grade, or with `dcg='exp-log2'` 2^grade - 1 (Burges et al., ICML 2005); `gains`
    gives some grades a gain of their own. The ideal is over all judged documents with a positive
    gain, cut at k. 0.0 where nothing can be gained.
    """
    levels = dict(gains or ())

    def gain_of(grade: float) -> float:
        if grade in levels:
            return levels[grade]
        if grade <= 0:
            return 0.0
        return 2.0**grade - 1.0 if dcg == "exp-log2" else grade

    depth = math.inf if cutoff is None else cutoff
    found = ((hit.rank, gain_of(hit.grade)) for hit in judged.hits if hit.rank <= depth)
    best = sorted((gain_of(grade) for grade in judged.grades), reverse=True)
    ideal = discounted(enumerate((gain for gain in best[:cutoff] if gain > 0), start=1))
    return discounted(found) / ideal if ideal else 0.0


def discounted(gains: Iterable[tuple[int, float]]) -> float:
    """The sum of gain / log2(rank + 1), from rank 1 down."""
    total = 0.0
    for rank, gain in gains:
        if gain:
            total += gain / math.log2(rank + 1)
    return total
