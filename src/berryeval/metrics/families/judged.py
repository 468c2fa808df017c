"""Share of judged documents, and accuracy of the order of relevant and other documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.metrics.base import metric

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking


@metric(
    "Judged",
    text="|judged in the top k| / min(k, |retrieved|)",
    aliases=("judgment_rate",),
    peers={"ir_measures": "Judged"},
    condensable=False,
    better="neither",
)
def judged_share(judged: JudgedRanking, *, cutoff: int | None = None) -> float:
    """Share of judged documents in the top k, or in the whole ranking.

    A ranking shorter than k is not padded. A negative grade is not a judgment. 0.0 if nothing was
    retrieved.
    """
    top = _top(judged, cutoff)
    known = sum(hit.grade >= 0 for hit in judged.hits if hit.rank <= top)
    return known / top if top else 0.0


@metric(
    "Accuracy",
    text="share of the pairs (relevant, not relevant) in the top k that are in that order",
    peers={"ir_measures": "Accuracy"},
)
def accuracy(judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1.0) -> float:
    """Probability that a relevant document ranks above a document that is not relevant.

    Both are drawn from the top k, or from the whole ranking; a document without a judgment is not
    relevant. 0.0 if nothing relevant was retrieved, 1.0 if only relevant documents were.
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
