"""Metrics of chunks: how much text was retrieved, how much of it was wanted, and from where.

They look at the characters of passages, where other metrics look at grades: they need the texts,
and so are computed in Python, by `evaluate_hits`, and never from ids alone. A character or token
that two chunks hold counts once, and spans that only touch share nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from berryeval.metrics.base import metric
from berryeval.metrics.ranges import WITHIN_ONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.data import Shared, SpanRanking
    from berryeval.metrics.base import Count
    from berryeval.metrics.ranges import Range


@metric(
    "CharIoU",
    within=WITHIN_ONE,
    text="|wanted and retrieved characters| / |wanted or retrieved characters|",
    aliases=("char_iou", "iou"),
    peers={"chunking_evaluation": "iou"},
    condensable=False,
    kind="spans",
)
def character_iou(ranking: SpanRanking, *, cutoff: int | None = None, rel: float = 1.0) -> float:
    """Intersection over union of the characters that were wanted and those in the top k.

    Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma, 2024, where
    overlapping chunks count a character as often as they hold it; here it counts once.
    """
    return _over_union(ranking.shared(rel, cutoff))


@metric(
    "TokenR",
    within=WITHIN_ONE,
    text="|wanted tokens in the top k| / |wanted tokens|",
    aliases=("token_recall",),
    peers={"chunking_evaluation": "recall"},
    condensable=False,
    kind="spans",
)
def token_recall(ranking: SpanRanking, *, cutoff: int | None = None, rel: float = 1.0) -> float:
    """Token recall: the share of what was wanted that the top k holds.

    Tokens are words, and each sign that is none; a token belongs to the passage in which it begins.
    """
    shared = ranking.shared(rel, cutoff, "tokens")
    return shared.found / shared.wanted if shared.wanted else 0.0


@metric(
    "TokenP",
    within=WITHIN_ONE,
    text="|wanted tokens in the top k| / |tokens in the top k|",
    aliases=("token_precision",),
    peers={"chunking_evaluation": "precision"},
    condensable=False,
    kind="spans",
)
def token_precision(ranking: SpanRanking, *, cutoff: int | None = None, rel: float = 1.0) -> float:
    """Token precision: the share of the top k that was wanted. 0.0 if nothing was retrieved."""
    shared = ranking.shared(rel, cutoff, "tokens")
    return shared.found / shared.retrieved if shared.retrieved else 0.0


@metric(
    "PrecisionOmega",
    within=WITHIN_ONE,
    text="CharIoU, if exactly the chunks that hold a wanted character were retrieved",
    aliases=("precision_omega", "POmega"),
    peers={"chunking_evaluation": "precision_omega"},
    condensable=False,
    kind="spans",
)
def precision_omega(ranking: SpanRanking, *, rel: float = 1.0) -> float:
    """How much of perfectly retrieved chunks was wanted: the best a chunking allows.

    Precision with perfect recall (Smith and Troynikov, Chroma, 2024): of all chunks that share a
    character with a wanted passage. What no chunk holds counts as missed. It says nothing about
    the ranking, and needs the chunks of the system.
    """
    return _over_union(ranking.shared_by_chunks(rel))


def _up_to_the_budget(params: Mapping[str, Any]) -> Range:
    return 0.0, float(params["budget"])


@metric(
    "TokensToHit",
    within=_up_to_the_budget,
    text="tokens of the hits down to the first relevant one, at most the budget",
    aliases=("tokens_to_hit", "tokens_to_first_hit"),
    condensable=False,
    kind="spans",
)
def tokens_to_hit(ranking: SpanRanking, *, budget: Count = 8192, rel: float = 1.0) -> float:
    """How much must be read until something relevant comes; less is better.

    What was not found costs the whole budget, so that returning nothing does not pay.
    """
    ranks = ranking.judged.relevant_ranks(rel)
    return float(min(ranking.tokens_read(ranks[0]), budget)) if ranks else float(budget)


@metric(
    "FileR",
    within=WITHIN_ONE,
    text="|relevant files among the first k files| / |relevant files|",
    aliases=("file_recall",),
    condensable=False,
    kind="spans",
)
def file_recall(ranking: SpanRanking, *, cutoff: int, rel: float = 1.0) -> float:
    """File recall: the ranking as one of files, each where its first hit stands."""
    wanted = ranking.wanted_files(rel)
    seen = set().union(*ranking.ranked_files()[:cutoff])
    found = sum(not names.isdisjoint(seen) for names in wanted)
    return found / len(wanted) if wanted else 0.0


@metric(
    "FileRR",
    within=WITHIN_ONE,
    text="1 / rank of the first relevant file among the files",
    aliases=("file_mrr", "file_rr"),
    condensable=False,
    kind="spans",
)
def file_reciprocal_rank(
    ranking: SpanRanking, *, cutoff: int | None = None, rel: float = 1.0
) -> float:
    """File reciprocal rank: the ranking as one of files, each where its first hit stands."""
    wanted = set().union(*ranking.wanted_files(rel))
    for rank, names in enumerate(ranking.ranked_files()[:cutoff], start=1):
        if not wanted.isdisjoint(names):
            return 1.0 / rank
    return 0.0


def _over_union(shared: Shared) -> float:
    union = shared.wanted + shared.retrieved - shared.found
    return shared.found / union if union else 0.0
