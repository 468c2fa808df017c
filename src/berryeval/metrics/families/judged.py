"""How much of a ranking the judgments know, and how well it keeps relevant documents in front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.metrics.base import metric
from berryeval.metrics.ranges import WITHIN_ONE

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking


@metric(
    "Judged",
    within=WITHIN_ONE,
    text="|judged in the top k| / min(k, |retrieved|)",
    aliases=("judgment_rate",),
    peers={"ir_measures": "Judged"},
    native=True,
    condensable=False,
)
def judged_share(judged: JudgedRanking, *, cutoff: int | None = None) -> float:
    """The share of the top k, or of the whole ranking, that has a judgment.

    A ranking shorter than k is measured as it is. A negative grade is no judgment. 0.0 if nothing
    was retrieved.
    """
    top = _top(judged, cutoff)
    known = sum(hit.grade >= 0 for hit in judged.hits if hit.rank <= top)
    return known / top if top else 0.0


@metric(
    "Accuracy",
    within=WITHIN_ONE,
    text="the share of pairs (relevant, not relevant) in the top k that stand in that order",
    peers={"ir_measures": "Accuracy"},
    native=True,
)
def accuracy(judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1.0) -> float:
    """The probability that a relevant document stands before one that is not relevant.

    Both are drawn from the top k, or from the whole ranking; a document without a judgment is not
    relevant. 0.0 if nothing relevant was retrieved, 1.0 if nothing else was.
    """
    top = _top(judged, cutoff)
    ranks = judged.relevant_ranks(rel, top)
    others = top - len(ranks)
    if not ranks:
        return 0.0
    if not others:
        return 1.0
    wrong = sum(rank - found for found, rank in enumerate(ranks, start=1))
    return 1.0 - wrong / (others * len(ranks))


def _top(judged: JudgedRanking, cutoff: int | None) -> int:
    return judged.retrieved if cutoff is None else min(cutoff, judged.retrieved)
