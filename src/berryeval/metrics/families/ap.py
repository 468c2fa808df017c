"""Average precision and interpolated precision."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from berryeval.metrics.base import metric
from berryeval.metrics.ranges import UNBOUNDED

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking
    from berryeval.metrics.base import Rounding, Share, Shares


# Least value of a query in a geometric mean, which a single 0 would make 0.
LEAST = 0.00001


@metric(
    "AP",
    text="sum over relevant ranks i of P@i / |relevant|",
    aliases=("map", "map_cut", "average_precision"),
    peers={"trec_eval": "map, map_cut", "ir_measures": "AP", "ranx": "map"},
)
def average_precision(
    judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1.0
) -> float:
    """Average precision: the precision at each relevant document, over all relevant documents.

    A cutoff ends the sum at rank k but keeps the divisor. 0.0 without relevant documents.
    """
    relevant = judged.relevant_total(rel)
    return sum_of_precisions(judged, rel, cutoff) / relevant if relevant else 0.0


@metric(
    "GMAP",
    within=(1e-5, 1.0),
    text="max(AP, 0.00001), averaged by the geometric mean",
    aliases=("gm_map",),
    peers={"trec_eval": "gm_map"},
    aggregate="geometric mean",
)
def geometric_average_precision(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """Average precision for the geometric mean, which weights hard queries more (Robertson, 2006).

    A query's value is AP, at least 0.00001; pytrec_eval returns its logarithm instead.
    """
    return max(average_precision(judged, rel=rel), LEAST)


@metric(
    "Yaap",
    within=UNBOUNDED,
    text="ln((1 + S) / (1 + |relevant| - S)) with S = sum over relevant ranks i of P@i",
    aliases=("yaap",),
    peers={"trec_eval": "yaap"},
)
def yet_another_average_precision(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """Average precision as log odds, closer to a normal distribution (Robertson)."""
    total = sum_of_precisions(judged, rel)
    return math.log((1.0 + total) / (1.0 + judged.relevant_total(rel) - total))


def sum_of_precisions(judged: JudgedRanking, rel: float, cutoff: int | None = None) -> float:
    """Return the sum of the precisions at the ranks of the relevant documents."""
    total = 0.0
    for place, (rank, found) in enumerate(judged.found_at(rel, cutoff), start=1):
        total += found * (place / rank)
    return total


ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@metric(
    "IPrec",
    text="max of P@i over the ranks i from that of the round(recall |relevant|)-th relevant one on",
    aliases=("iprec_at_recall",),
    peers={"trec_eval": "iprec_at_recall", "ir_measures": "IPrec"},
)
def interpolated_precision(
    judged: JudgedRanking, *, recall: Share, rel: float = 1.0, rounding: Rounding = "lround"
) -> float:
    """Interpolated precision: the best precision at or above a recall level.

    A level between two documents is rounded as in trec_eval 10: to the nearest, halves up.
    `rounding='ceil0.9'` is the rule of trec_eval 9, pytrec_eval, ir_measures and ranx: add 0.9 and
    truncate.
    """
    precisions = falling_precisions(judged, rel)
    return at_recall(precisions, recall * judged.relevant_total(rel), rounding)


def parse_levels(tail: str) -> list[Mapping[str, list[float]]]:
    """Parse the recall levels of trec_eval's `11pt_avg_0.25,0.5`."""
    return [{"levels": [float(number) for number in tail[1:].split(",")]}]


@metric(
    "AvgIPrec",
    text="mean of IPrec at recall 0, 0.1, ..., 1",
    aliases=("11pt_avg",),
    peers={"trec_eval": "11pt_avg"},
    suffix=parse_levels,
)
def average_interpolated_precision(
    judged: JudgedRanking,
    *,
    rel: float = 1.0,
    rounding: Rounding = "lround",
    levels: Shares = ELEVEN,
) -> float:
    """Mean of interpolated precision over eleven recall levels, or the given ones."""
    precisions = falling_precisions(judged, rel)
    relevant = judged.relevant_total(rel)
    total = 0.0
    for recall in levels:
        total += at_recall(precisions, recall * relevant, rounding)
    return total / len(levels)


def falling_precisions(judged: JudgedRanking, rel: float) -> list[float]:
    """Return, for each relevant document found, the best precision from its rank on."""
    best = 0.0
    precisions: list[float] = []
    ranks = judged.found_at(rel)
    for place in range(len(ranks), 0, -1):
        rank, found = ranks[place - 1]
        best = max(best, place / rank)
        precisions.extend([best] * found)
    return precisions[::-1]


def at_recall(precisions: list[float], wanted: float, rounding: Rounding) -> float:
    """Return the precision at `wanted` relevant documents, a number that may be fractional."""
    whole = math.floor(wanted)
    if rounding == "ceil0.9":
        count = math.floor(wanted + 0.9)
    else:
        count = whole + 1 if wanted - whole >= 0.5 else whole  # noqa: PLR2004 - halves up
    count = max(count, 1)
    return precisions[count - 1] if count <= len(precisions) else 0.0
