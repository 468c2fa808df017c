"""Interpolated precision: the best precision from a level of recall on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from berryeval.measures.base import JudgedRanking, measure
from berryeval.measures.ranges import WITHIN_ONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.measures.parameters import Rounding, Share, Shares

ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@measure(
    "IPrec",
    within=WITHIN_ONE,
    text="max of P@i over the ranks i from that of the round(recall |relevant|)-th relevant one on",
    aliases=("iprec_at_recall",),
    peers={"trec_eval": "iprec_at_recall", "ir_measures": "IPrec"},
    native=True,
)
def interpolated_precision(
    judged: JudgedRanking, *, recall: Share, rel: float = 1.0, rounding: Rounding = "lround"
) -> float:
    """Interpolated precision at a level of recall.

    A level between two documents is rounded as in trec_eval 10: to the nearest, halves up.
    `rounding='ceil0.9'` is the rule of trec_eval 9, and so of pytrec_eval, ir_measures and ranx:
    add 0.9 and cut.
    """
    precisions = falling_precisions(judged, rel)
    return at_recall(precisions, recall * judged.relevant_total(rel), rounding)


def levels_of(tail: str) -> list[Mapping[str, list[float]]]:
    """Of trec_eval's `11pt_avg_0.25,0.5`: the levels of recall."""
    return [{"levels": [float(number) for number in tail[1:].split(",")]}]


@measure(
    "AvgIPrec",
    within=WITHIN_ONE,
    text="mean of IPrec at recall 0, 0.1, ..., 1",
    aliases=("11pt_avg",),
    peers={"trec_eval": "11pt_avg"},
    native=True,
    suffix=levels_of,
)
def average_interpolated_precision(
    judged: JudgedRanking,
    *,
    rel: float = 1.0,
    rounding: Rounding = "lround",
    levels: Shares = ELEVEN,
) -> float:
    """Interpolated precision averaged over eleven levels of recall, or those given."""
    precisions = falling_precisions(judged, rel)
    relevant = judged.relevant_total(rel)
    total = 0.0
    for recall in levels:
        total += at_recall(precisions, recall * relevant, rounding)
    return total / len(levels)


def falling_precisions(judged: JudgedRanking, rel: float) -> list[float]:
    """For each relevant document that was found, the best precision from its rank on."""
    best = 0.0
    precisions: list[float] = []
    ranks = judged.found_at(rel)
    for place in range(len(ranks), 0, -1):
        rank, found = ranks[place - 1]
        best = max(best, place / rank)
        precisions.extend([best] * found)
    return precisions[::-1]


def at_recall(precisions: list[float], wanted: float, rounding: Rounding) -> float:
    """The value where `wanted` documents, a fraction maybe, are to be found."""
    whole = math.floor(wanted)
    if rounding == "ceil0.9":
        count = math.floor(wanted + 0.9)
    else:
        count = whole + 1 if wanted - whole >= 0.5 else whole  # noqa: PLR2004 - halves up
    count = max(count, 1)
    return precisions[count - 1] if count <= len(precisions) else 0.0
