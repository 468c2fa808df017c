"""Recall and R-precision of the top of the ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from berryeval.metrics.base import metric

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking
    from berryeval.metrics.base import Positive


@metric(
    "R",
    text="|relevant in the top k| / |relevant|",
    aliases=("recall",),
    peers={"trec_eval": "recall", "ir_measures": "R", "ranx": "recall"},
)
def recall(judged: JudgedRanking, *, cutoff: int, rel: float = 1.0) -> float:
    """Recall: the share of the relevant documents in the top k."""
    relevant = judged.relevant_total(rel)
    return judged.relevant_found(rel, cutoff) / relevant if relevant else 0.0


@metric(
    "AllFound",
    text="1 if the top k holds every relevant document, else 0",
    aliases=("all_found", "recall_all", "evidence_completeness"),
    peers={"LongMemEval": "recall_all"},
    native=False,
)
def all_found(judged: JudgedRanking, *, cutoff: int, rel: float = 1.0) -> float:
    """Evidence completeness: whether the top k holds all relevant documents.

    For questions that need several pieces of evidence. 0.0 if nothing is relevant.
    """
    relevant = judged.relevant_total(rel)
    return 1.0 if relevant and judged.relevant_found(rel, cutoff) == relevant else 0.0


@metric(
    "RelP",
    text="|relevant in the top k| / min(k, |relevant|)",
    aliases=("relative_P", "R_cap", "recall_cap", "capped_recall"),
    peers={"trec_eval": "relative_P", "BEIR": "R_cap"},
)
def relative_precision(judged: JudgedRanking, *, cutoff: int, rel: float = 1.0) -> float:
    """Relative precision: precision divided by the best possible precision at rank k."""
    best = min(cutoff, judged.relevant_total(rel))
    return min(judged.relevant_found(rel, cutoff), best) / best if best else 0.0


@metric(
    "F1",
    text="2 P R / (P + R) with P = precision and R = recall in the top k",
    aliases=("f1", "f1_score"),
    peers={"ranx": "f1"},
)
def f1(judged: JudgedRanking, *, cutoff: int, rel: float = 1.0) -> float:
    """Harmonic mean of P@k and R@k; `SetF` covers the whole ranking."""
    hits = len(judged.relevant_ranks(rel, cutoff))
    if not hits:
        return 0.0
    precision = hits / cutoff
    recalled = judged.relevant_found(rel, cutoff) / judged.relevant_total(rel)
    return 2.0 * precision * recalled / (precision + recalled)


@metric(
    "Rprec",
    text="|relevant in the top R| / R with R = |relevant|",
    aliases=("r-precision", "r_precision"),
    peers={"trec_eval": "Rprec", "ir_measures": "Rprec", "ranx": "r-precision"},
)
def r_precision(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """R-precision: precision at the rank where precision equals recall."""
    relevant = judged.relevant_total(rel)
    return judged.relevant_found(rel, relevant) / relevant if relevant else 0.0


def parse_multiples(tail: str) -> list[Mapping[str, float]]:
    """Parse `Rprec_mult_0.20` and `Rprec_mult.0.2,0.4`, one metric per number."""
    return [{"mult": float(number)} for number in tail[1:].split(",")]


@metric(
    "RprecMult",
    text="|relevant in the top c| / c with c = floor(mult |relevant| + 0.9)",
    aliases=("Rprec_mult",),
    peers={"trec_eval": "Rprec_mult"},
    suffix=parse_multiples,
)
def r_precision_multiple(judged: JudgedRanking, *, mult: Positive, rel: float = 1.0) -> float:
    """Precision at a multiple of the number of relevant documents, rounded up from 0.1."""
    cutoff = math.floor(mult * judged.relevant_total(rel) + 0.9)
    return min(judged.relevant_found(rel, cutoff), cutoff) / cutoff if cutoff else 0.0
