"""The array metrics in plain Python: always there, and the measure of the native twin."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from berryeval.metrics import _formulas
from berryeval.metrics._types import PADDING_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from berryeval.metrics._types import (
        GradeArray,
        MetricResult,
        QueryDocArray,
        RelevanceArray,
    )

    Formula: TypeAlias = Callable[[_formulas.JudgedRanking, int, float], float]


def _ndcg(judged: _formulas.JudgedRanking, k: int, _threshold: float) -> float:
    return _formulas.ndcg(judged, k)


FORMULAS: dict[str, Formula] = {
    "recall": _formulas.recall,
    "precision_of_retrieved": partial(_formulas.precision, denominator="retrieved"),
    "precision_of_k": partial(_formulas.precision, denominator="k"),
    "mrr": _formulas.reciprocal_rank,
    "ndcg": _ndcg,
    "hit_rate": _formulas.hit_rate,
}


def score_rows(
    retrieved: QueryDocArray,
    relevant: RelevanceArray,
    grades: GradeArray | None,
    threshold: float,
    requests: Sequence[tuple[str, int]],
    out: MetricResult,
) -> tuple[int, int, int] | None:
    """Score every row for every `(measure, k)` of `requests` into `out[request, row]`.

    Returns:
        None, or, where a row grades an id twice and differently, `(row, column, column)` of the
        first such place; `out` is then not to be used.
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
        judged = _formulas.judge(retrieved[row, :depth].tolist(), grade_of, PADDING_ID)
        for request, (measure, k) in enumerate(requests):
            out[request, row] = FORMULAS[measure](judged, k, threshold)
    return None
