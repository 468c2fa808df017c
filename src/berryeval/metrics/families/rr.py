"""Reciprocal rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.metrics.base import metric

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking


@metric(
    "RR",
    text="1 / rank of the first relevant document",
    aliases=("MRR", "recip_rank", "reciprocal_rank"),
    peers={"trec_eval": "recip_rank", "ir_measures": "RR", "ranx": "mrr"},
)
def reciprocal_rank(judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1.0) -> float:
    """Reciprocal rank of the first relevant document; 0.0 without one."""
    ranks = judged.relevant_ranks(rel, cutoff)
    return 1.0 / ranks[0] if ranks else 0.0
