"""Average precision."""

from __future__ import annotations

from berryeval.measures.base import JudgedRanking, measure


@measure(
    "AP",
    text="sum over relevant ranks i of P@i / |relevant|",
    aliases=("map", "map_cut", "average_precision"),
    peers={"trec_eval": "map, map_cut", "ir_measures": "AP", "ranx": "map"},
    native=True,
)
def average_precision(
    judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1.0
) -> float:
    """Average precision: the precision at each relevant document, over all relevant documents.

    A cutoff ends the sum at rank k and leaves the divisor alone. 0.0 without relevant documents.
    """
    total = 0.0
    for found, rank in enumerate(judged.relevant_ranks(rel, cutoff), start=1):
        total += found / rank
    relevant = judged.relevant_total(rel)
    return total / relevant if relevant else 0.0
