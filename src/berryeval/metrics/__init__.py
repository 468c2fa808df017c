"""Metrics on integer ids held in NumPy arrays, and (in `.lists`) on lists of string ids.

Ranks are columns counted from 1. -1 is padding and may stand anywhere in a row. An id repeated in a
row counts once, at its first rank; its later copies are misses that keep their place. Arithmetic is
in float64, the result in float32. `BACKEND` says which implementation is at work ("native" or
"python"); both give the same bytes.
"""

from berryeval._backend import BACKEND
from berryeval.metrics._arrays import (
    evaluate_arrays,
    hit_rate,
    mrr,
    ndcg,
    precision_at_k,
    recall_at_k,
)
from berryeval.metrics._types import (
    PADDING_ID,
    GradeArray,
    MetricResult,
    QueryDocArray,
    RelevanceArray,
)
from berryeval.metrics._validation import validate_inputs, validate_score_inputs

__all__ = [
    "BACKEND",
    "PADDING_ID",
    "GradeArray",
    "MetricResult",
    "QueryDocArray",
    "RelevanceArray",
    "evaluate_arrays",
    "hit_rate",
    "mrr",
    "ndcg",
    "precision_at_k",
    "recall_at_k",
    "validate_inputs",
    "validate_score_inputs",
]
