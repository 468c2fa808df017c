"""Passage metrics: how much relevant text was retrieved, and from which files.

They compare the characters of passages instead of grades, so they need texts and are computed in
Python by `evaluate_hits`. A character or token in two chunks counts once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.metrics.base import metric

if TYPE_CHECKING:
    from berryeval.data import Shared, SpanRanking
    from berryeval.metrics.base import Count


@metric(
    "CharIoU",
    text="|wanted and retrieved characters| / |wanted or retrieved characters|",
    aliases=("char_iou", "iou"),
    peers={"chunking_evaluation": "iou"},
    condensable=False,
    kind="spans",
)
def character_iou(ranking: SpanRanking, *, cutoff: int | None = None, rel: float = 1.0) -> float:
    """Intersection over union of the wanted characters and those in the top k.

    Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma, 2024. There a
    character counts once per overlapping chunk; here it counts once.
    """
    return _over_union(ranking.shared(rel, cutoff))


@metric(
    "TokenR",
    text="|wanted tokens in the top k| / |wanted tokens|",
    aliases=("token_recall",),
    peers={"chunking_evaluation": "recall"},
    condensable=False,
    kind="spans",
)
def token_recall(ranking: SpanRanking, *, cutoff: int | None = None, rel: float = 1.0) -> float:
    """Token recall: the share of the wanted tokens in the top k.

    Tokens are words and single other characters; a token belongs to the passage where it starts.
    """
    shared = ranking.shared(rel, cutoff, "tokens")
    return shared.found / shared.wanted if shared.wanted else 0.0


@metric(
    "TokenP",
    text="|wanted tokens in the top k| / |tokens in the top k|",
    aliases=("token_precision",),
    peers={"chunking_evaluation": "precision"},
    condensable=False,
    kind="spans",
)
def token_precision(ranking: SpanRanking, *, cutoff: int | None = None, rel: float = 1.0) -> float:
    """Token precision: the share of wanted tokens in the top k. 0.0 if nothing was retrieved."""
    shared = ranking.shared(rel, cutoff, "tokens")
    return shared.found / shared.retrieved if shared.retrieved else 0.0


@metric(
    "PrecisionOmega",
    text="CharIoU, if exactly the chunks that hold a wanted character were retrieved",
    aliases=("precision_omega", "POmega"),
    peers={"chunking_evaluation": "precision_omega"},
    condensable=False,
    kind="spans",
)
def precision_omega(ranking: SpanRanking, *, rel: float = 1.0) -> float:
    """Share of wanted text in perfectly retrieved chunks: the best a chunking allows.

    Precision at perfect recall (Smith and Troynikov, Chroma, 2024), over all chunks that share a
    character with a wanted passage. Text in no chunk counts as missed. The value does not depend on
    the ranking and needs the chunks of the system.
    """
    return _over_union(ranking.shared_by_chunks(rel))


@metric(
    "TokensToHit",
    within=lambda params: (0.0, float(params["budget"])),
    text="tokens of the hits down to the first relevant one, at most the budget",
    aliases=("tokens_to_hit", "tokens_to_first_hit"),
    condensable=False,
    kind="spans",
    better="lower",
)
def tokens_to_hit(ranking: SpanRanking, *, budget: Count = 8192, rel: float = 1.0) -> float:
    """Number of tokens to read up to the first relevant hit; lower is better.

    Finding nothing costs the whole budget, so that returning nothing does not pay.
    """
    ranks = ranking.judged.relevant_ranks(rel)
    return float(min(ranking.tokens_read(ranks[0]), budget)) if ranks else float(budget)


@metric(
    "FileR",
    text="|relevant files among the first k files| / |relevant files|",
    aliases=("file_recall",),
    condensable=False,
    kind="spans",
)
def file_recall(ranking: SpanRanking, *, cutoff: int, rel: float = 1.0) -> float:
    """File recall of the ranking of files, each at the rank of its first hit."""
    wanted = ranking.wanted_files(rel)
    seen = set().union(*ranking.ranked_files()[:cutoff])
    found = sum(not names.isdisjoint(seen) for names in wanted)
    return found / len(wanted) if wanted else 0.0


@metric(
    "FileRR",
    text="1 / rank of the first relevant file among the files",
    aliases=("file_mrr", "file_rr"),
    condensable=False,
    kind="spans",
)
def file_reciprocal_rank(
    ranking: SpanRanking, *, cutoff: int | None = None, rel: float = 1.0
) -> float:
    """Reciprocal rank in the ranking of files, each at the rank of its first hit."""
    wanted = set().union(*ranking.wanted_files(rel))
    for rank, names in enumerate(ranking.ranked_files()[:cutoff], start=1):
        if not wanted.isdisjoint(names):
            return 1.0 / rank
    return 0.0


def _over_union(shared: Shared) -> float:
    union = shared.wanted + shared.retrieved - shared.found
    return shared.found / union if union else 0.0
