"""Metrics on one ranked list of string ids with graded judgments, and a report over many.

    >>> judgments = [RelevanceJudgment("a", 2), RelevanceJudgment("b", 1)]
    >>> round(ndcg(["a", "c", "b"], judgments, k=3), 4)
    0.9502
    >>> compute_all(["a", "c", "b"], judgments, k=3).recall
    1.0

Judgments may also be a mapping of id to grade. A document is relevant from grade `threshold` on (1
unless given); one without a judgment is not relevant. An id repeated in a list counts once, at its
first rank. `k=None` reads the whole list. Precision divides by `k`, so that a short list is not
rewarded; `denominator="retrieved"` divides by the number of results that are there, as
`berryeval.metrics.precision_at_k` does by default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsIndex

from berryeval.metrics import _formulas
from berryeval.metrics._judgments import Judgments, QueryType, RelevanceJudgment, judge_list
from berryeval.metrics._quality import (
    QualityReport,
    QualitySlice,
    QueryResult,
    mean_reciprocal_rank,
    quality_report,
)
from berryeval.metrics._validation import check_denominator, check_integer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.metrics._types import Denominator

__all__ = [
    "ListScores",
    "QualityReport",
    "QualitySlice",
    "QueryResult",
    "QueryType",
    "RelevanceJudgment",
    "average_precision",
    "compute_all",
    "f1",
    "hit_rate",
    "mean_reciprocal_rank",
    "ndcg",
    "precision",
    "quality_report",
    "recall",
    "reciprocal_rank",
]


@dataclass(frozen=True)
class ListScores:
    """Every metric of one list at one cutoff."""

    recall: float
    precision: float
    f1: float
    reciprocal_rank: float
    ndcg: float
    average_precision: float
    hit_rate: float


def recall(
    retrieved: Iterable[str],
    judgments: Judgments,
    k: SupportsIndex | None = None,
    *,
    threshold: int = 1,
) -> float:
    """The share of the relevant documents that the top `k` holds."""
    return _formulas.recall(
        *judge_list(retrieved, judgments, k), check_integer("threshold", threshold)
    )


def precision(
    retrieved: Iterable[str],
    judgments: Judgments,
    k: SupportsIndex | None = None,
    *,
    threshold: int = 1,
    denominator: Denominator = "k",
) -> float:
    """The share of relevant documents in the top `k`."""
    return _formulas.precision(
        *judge_list(retrieved, judgments, k),
        check_integer("threshold", threshold),
        check_denominator(denominator),
    )


def f1(
    retrieved: Iterable[str],
    judgments: Judgments,
    k: SupportsIndex | None = None,
    *,
    threshold: int = 1,
    denominator: Denominator = "k",
) -> float:
    """The harmonic mean of precision and recall at `k`."""
    return _formulas.f1(
        *judge_list(retrieved, judgments, k),
        check_integer("threshold", threshold),
        check_denominator(denominator),
    )


def reciprocal_rank(
    retrieved: Iterable[str],
    judgments: Judgments,
    k: SupportsIndex | None = None,
    *,
    threshold: int = 1,
) -> float:
    """One over the rank of the first relevant document in the top `k`."""
    judged, cutoff = judge_list(retrieved, judgments, k)
    return _formulas.reciprocal_rank(judged, cutoff, check_integer("threshold", threshold))


def ndcg(retrieved: Iterable[str], judgments: Judgments, k: SupportsIndex | None = None) -> float:
    """Normalised discounted cumulative gain: gain = grade, ideal over all judgments cut at `k`."""
    return _formulas.ndcg(*judge_list(retrieved, judgments, k))


def average_precision(
    retrieved: Iterable[str],
    judgments: Judgments,
    k: SupportsIndex | None = None,
    *,
    threshold: int = 1,
) -> float:
    """Precision at each relevant document in the top `k`, divided by all relevant documents."""
    judged, cutoff = judge_list(retrieved, judgments, k)
    return _formulas.average_precision(judged, cutoff, check_integer("threshold", threshold))


def hit_rate(
    retrieved: Iterable[str],
    judgments: Judgments,
    k: SupportsIndex | None = None,
    *,
    threshold: int = 1,
) -> float:
    """1.0 if the top `k` holds a relevant document, else 0.0."""
    return _formulas.hit_rate(
        *judge_list(retrieved, judgments, k), check_integer("threshold", threshold)
    )


def compute_all(
    retrieved: Iterable[str],
    judgments: Judgments,
    k: SupportsIndex | None = None,
    *,
    threshold: int = 1,
    denominator: Denominator = "k",
) -> ListScores:
    """Every metric at once, each id looked up once."""
    judged, cutoff = judge_list(retrieved, judgments, k)
    level = check_integer("threshold", threshold)
    places = check_denominator(denominator)
    return ListScores(
        recall=_formulas.recall(judged, cutoff, level),
        precision=_formulas.precision(judged, cutoff, level, places),
        f1=_formulas.f1(judged, cutoff, level, places),
        reciprocal_rank=_formulas.reciprocal_rank(judged, cutoff, level),
        ndcg=_formulas.ndcg(judged, cutoff),
        average_precision=_formulas.average_precision(judged, cutoff, level),
        hit_rate=_formulas.hit_rate(judged, cutoff, level),
    )
