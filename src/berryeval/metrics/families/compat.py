"""Compatibility: how far the ranking agrees with the best possible one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.metrics.base import metric
from berryeval.metrics.ranges import WITHIN_ONE

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking
    from berryeval.metrics.base import Share


@metric(
    "Compat",
    within=WITHIN_ONE,
    text="sum of p^(i-1) * |top i of the ranking and of the ideal| / i, over the same of the ideal",
    aliases=("compatibility",),
    peers={"ir_measures": "Compat"},
    native=True,
)
def compatibility(judged: JudgedRanking, *, p: Share = 0.95, normalize: bool = True) -> float:
    """Compatibility (Clarke, Vtyurina and Smucker, ACM TOIS 39(1), 2021).

    Rank-biased overlap of the ranking with its nearest ideal ranking: all documents of a positive
    grade, highest grade first, documents of one grade in the order of the ranking, and those it
    lacks behind them. The sum goes as deep as the longer of the two; `normalize` divides by what
    the ideal itself reaches there. 0.0 without relevant documents.
    """
    ideal = sum(grade > 0 for grade in judged.grades)
    depth = max(judged.retrieved, ideal)
    joins = sorted(meeting_places(judged))
    met = 0
    score = best = total = 0.0
    weight = 1.0
    for rank in range(1, depth + 1):
        while met < len(joins) and joins[met] <= rank:
            met += 1
        score += weight * met / rank
        best += weight * min(rank, ideal) / rank
        total += weight
        weight *= p
    if not ideal:
        return 0.0
    return (score / total) / (best / total) if normalize else score / total


def meeting_places(judged: JudgedRanking) -> list[int]:
    """For each relevant document found: the depth from which the ranking and the ideal hold it."""
    next_place: dict[float, int] = {}
    for place, grade in enumerate(judged.grades, start=1):
        next_place.setdefault(grade, place)
    places = []
    for rank, grade in judged.hits:
        if grade > 0:
            # One of a group of judgments may be worth less than the group, and than all others.
            place = next_place.get(grade) or 1 + sum(best > grade for best in judged.grades)
            places.append(max(rank, place))
            next_place[grade] = place + 1
    return places
