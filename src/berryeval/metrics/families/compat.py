"""Compatibility: agreement of the ranking with the ideal ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.metrics.base import metric

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking
    from berryeval.metrics.base import Share


@metric(
    "Compat",
    text="sum of p^(i-1) * |top i of the ranking and of the ideal| / i, over the same of the ideal",
    aliases=("compatibility",),
    peers={"ir_measures": "Compat"},
)
def compatibility(judged: JudgedRanking, *, p: Share = 0.95, normalize: bool = True) -> float:
    """Compatibility (Clarke, Vtyurina and Smucker, ACM TOIS 39(1), 2021).

    Rank-biased overlap of the ranking with its closest ideal ranking: all documents of a positive
    grade, highest grade first; within a grade, retrieved documents in the order of the ranking and
    then the missing ones. The sum is as deep as the longer of the two; `normalize` divides by the
    value of the ideal ranking. 0.0 without relevant documents.
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
    value = (score / total) / (best / total) if normalize else score / total
    return min(value, 1.0)


def meeting_places(judged: JudgedRanking) -> list[int]:
    """Return, for each relevant document found, the depth at which ranking and ideal hold it."""
    next_place: dict[float, int] = {}
    for place, grade in enumerate(judged.grades, start=1):
        next_place.setdefault(grade, place)
    places = []
    for rank, grade in judged.hits:
        if grade > 0:
            # A member of a group of judgments may have a grade that no other judgment has.
            place = next_place.get(grade) or 1 + sum(best > grade for best in judged.grades)
            places.append(max(rank, place))
            next_place[grade] = place + 1
    return places
