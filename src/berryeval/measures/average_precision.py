"""Average precision, and what is made of it."""

from __future__ import annotations

import math

from berryeval.measures.base import JudgedRanking, measure
from berryeval.measures.ranges import UNBOUNDED, WITHIN_ONE

# What a query counts at least in a geometric mean, which one 0 would make 0.
LEAST = 0.00001


@measure(
    "AP",
    within=WITHIN_ONE,
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
    relevant = judged.relevant_total(rel)
    return sum_of_precisions(judged, rel, cutoff) / relevant if relevant else 0.0


@measure(
    "GMAP",
    within=(1e-5, 1.0),
    text="max(AP, 0.00001), averaged by the geometric mean",
    aliases=("gm_map",),
    peers={"trec_eval": "gm_map"},
    aggregate="geometric mean",
    native=True,
)
def geometric_average_precision(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """Average precision for the geometric mean, where hard queries weigh more (Robertson, 2006).

    A query's value is AP, at least 0.00001; pytrec_eval gives the logarithm of that instead.
    """
    return max(average_precision(judged, rel=rel), LEAST)


@measure(
    "Yaap",
    within=UNBOUNDED,
    text="ln((1 + S) / (1 + |relevant| - S)) with S = sum over relevant ranks i of P@i",
    aliases=("yaap",),
    peers={"trec_eval": "yaap"},
    native=True,
)
def yet_another_average_precision(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """Average precision on the scale of log odds, nearer to a normal distribution (Robertson)."""
    total = sum_of_precisions(judged, rel)
    return math.log((1.0 + total) / (1.0 + judged.relevant_total(rel) - total))


def sum_of_precisions(judged: JudgedRanking, rel: float, cutoff: int | None = None) -> float:
    """The sum of the precisions at the ranks of the relevant documents."""
    total = 0.0
    for place, (rank, found) in enumerate(judged.found_at(rel, cutoff), start=1):
        total += found * (place / rank)
    return total
