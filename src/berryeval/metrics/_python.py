"""The array metrics in plain Python: always available, and the specification of the native core.

The formulas are those of the catalogue (`berryeval.metrics.families`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from berryeval.data import JudgedHit, JudgedRanking
from berryeval.metrics import arrays
from berryeval.metrics.array_checks import PADDING_ID
from berryeval.metrics.families.ndcg import ndcg as _ndcg
from berryeval.metrics.families.precision import precision, success
from berryeval.metrics.families.recall import recall
from berryeval.metrics.families.rr import reciprocal_rank
from berryeval.metrics.families.sets import set_precision

if TYPE_CHECKING:
    from berryeval.metrics.array_checks import (
        GradeArray,
        MetricResult,
        QueryDocArray,
        RelevanceArray,
    )

Id = TypeVar("Id", int, str)
F = TypeVar("F", bound=Callable[..., Any])

_FORMULAS: dict[str, Callable[..., float]] = {
    "recall": recall,
    "precision_of_k": precision,
    "mrr": reciprocal_rank,
    "hit_rate": success,
}


def judge_ids(ranking: Sequence[Id], grade_of: Mapping[Id, float]) -> JudgedRanking:
    """Join a ranking with its judgments; a repeated id counts once, at its first rank."""
    hits: dict[Id, JudgedHit] = {}
    for rank, document in enumerate(ranking, start=1):
        if document in grade_of and document not in hits:
            hits[document] = JudgedHit(rank, grade_of[document])
    grades = sorted(grade_of.values(), reverse=True)
    return JudgedRanking(list(hits.values()), len(ranking), grades)


def score_rows(
    retrieved: QueryDocArray,
    relevant: RelevanceArray,
    grades: GradeArray | None,
    threshold: float,
    requests: Sequence[tuple[str, int]],
    out: MetricResult,
) -> tuple[int, int, int] | None:
    """Score every row for every `(metric, k)` of `requests` into `out[request, row]`.

    Returns:
        None, or `(row, column, column)` of the first id with two different grades in its row;
        the content of `out` is then undefined.
    """
    depth = max(k for _, k in requests)
    for row in range(len(retrieved)):
        ids = relevant[row].tolist()
        row_grades = [1.0] * len(ids) if grades is None else grades[row].tolist()
        columns: dict[int, int] = {}
        for column, document in enumerate(ids):
            if document == PADDING_ID:
                continue
            first = columns.setdefault(document, column)
            if row_grades[first] != row_grades[column]:
                return row, first, column
        grade_of = {document: row_grades[column] for document, column in columns.items()}
        ranking = retrieved[row, :depth].tolist()
        judged = judge_ids(ranking, grade_of)
        for request, (metric, k) in enumerate(requests):
            out[request, row] = _score(metric, judged, ranking, k, threshold)
    return None


def _score(
    metric: str, judged: JudgedRanking, ranking: list[int], k: int, threshold: float
) -> float:
    if metric == "ndcg":
        return _ndcg(judged, cutoff=k)
    if metric == "precision_of_retrieved":
        documents = k - ranking[:k].count(PADDING_ID)
        return set_precision(replace(judged.cut(k), retrieved=documents), rel=threshold)
    return _FORMULAS[metric](judged, cutoff=k, rel=threshold)


def _in_python(function: F) -> F:
    """Return an array function that uses the kernel of this module on any backend."""

    @wraps(function)
    def compute(*args: Any, **keywords: Any) -> Any:
        token = arrays.kernel.set(score_rows)
        try:
            return function(*args, **keywords)
        finally:
            arrays.kernel.reset(token)

    return cast("F", compute)


recall_at_k = _in_python(arrays.recall_at_k)
precision_at_k = _in_python(arrays.precision_at_k)
mrr = _in_python(arrays.mrr)
ndcg = _in_python(arrays.ndcg)
hit_rate = _in_python(arrays.hit_rate)
