"""Precision and success of the top of the ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.metrics.base import metric

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking


@metric(
    "P",
    text="|relevant in the top k| / k",
    aliases=("precision",),
    peers={"trec_eval": "P", "ir_measures": "P", "ranx": "precision"},
)
def precision(judged: JudgedRanking, *, cutoff: int, rel: float = 1.0) -> float:
    """Precision: the share of relevant documents in the top k.

    A ranking shorter than k is padded with documents that are not relevant.
    """
    return len(judged.relevant_ranks(rel, cutoff)) / cutoff


@metric(
    "Success",
    text="1 if the top k holds a relevant document, else 0",
    aliases=("success", "hit_rate"),
    peers={"trec_eval": "success", "ir_measures": "Success", "ranx": "hit_rate"},
)
def success(judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1.0) -> float:
    """Success, or hit rate: whether the top k, or the whole ranking, holds a relevant document."""
    return 1.0 if judged.relevant_ranks(rel, cutoff) else 0.0
