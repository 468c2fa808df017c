"""Metrics for incomplete judgments: bpref and inferred average precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.metrics.base import metric
from berryeval.metrics.families.ap import LEAST

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking

# Smoothing of the estimated precision above a document.
EPSILON = 0.00001


@metric(
    "Bpref",
    text="mean over relevant documents of 1 - |judged nonrelevant above, at most R| / min(N, R)",
    aliases=("bpref",),
    peers={"trec_eval": "bpref", "ir_measures": "Bpref", "ranx": "bpref"},
    condensable=False,
)
def bpref(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """Binary preference: how rarely judged nonrelevant documents rank above relevant ones.

    Buckley and Voorhees, SIGIR 2004, in trec_eval's form, with R relevant and N judged nonrelevant
    documents. Unjudged documents are ignored. Without nonrelevant judgments, the value is the share
    of relevant documents found (ranx returns NaN).
    """
    relevant = judged.relevant_total(rel)
    nonrelevant = sum(0 <= grade < rel for grade in judged.grades)
    most = min(nonrelevant, relevant)
    found_at = dict(judged.found_at(rel))
    above = 0
    total = 0.0
    for hit in judged.hits:
        if hit.grade < 0:
            continue
        if hit.grade < rel:
            above += 1
        elif above and most:  # repeated hits of a judgment rank above without one of their own
            total += found_at[hit.rank] * (1.0 - min(above, most) / most)
        else:
            total += found_at[hit.rank]
    return total / relevant if relevant else 0.0


@metric(
    "GMBpref",
    within=(1e-5, 1.0),
    text="max(Bpref, 0.00001), averaged by the geometric mean",
    aliases=("gm_bpref",),
    peers={"trec_eval": "gm_bpref"},
    aggregate="geometric mean",
    condensable=False,
)
def geometric_bpref(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """Binary preference for the geometric mean, which weights hard queries more.

    A query's value is bpref, at least 0.00001; pytrec_eval returns its logarithm instead.
    """
    return max(bpref(judged, rel=rel), LEAST)


@metric(
    "infAP",
    text="AP with the precision above each relevant document estimated from the judged sample",
    aliases=("infap", "inferred_ap"),
    peers={"trec_eval": "infAP", "ir_measures": "infAP"},
)
def inferred_average_precision(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """Inferred average precision (Yilmaz and Aslam, CIKM 2006).

    For partly judged pools: a negative grade means that a document was in the pool but was not
    sampled for judging.
    """
    relevant = judged.relevant_total(rel)
    found_at = dict(judged.found_at(rel))
    found = nonrelevant = unjudged = 0
    total = 0.0
    for hit in judged.hits:
        if hit.grade < 0:
            unjudged += 1
        elif hit.grade < rel:
            nonrelevant += 1
        else:
            above = float(hit.rank - 1)
            if above:
                pooled = (found + nonrelevant + unjudged) / above
                precision = (found + EPSILON) / (found + nonrelevant + 2.0 * EPSILON)
                here = 1.0 / hit.rank + above / hit.rank * pooled * precision
                total += found_at[hit.rank] * here
            else:
                total += found_at[hit.rank]
            found += 1
    return total / relevant if relevant else 0.0
