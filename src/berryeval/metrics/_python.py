"""The array metrics in plain Python: always there, and the metric of the native twin."""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from berryeval.metrics.validation import PADDING_ID

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from berryeval.metrics.validation import Denominator


# What the metrics mean: pure functions of one judged ranking. This file is the specification.

Id = TypeVar("Id", int, str)


class JudgedRanking(NamedTuple):
    """A ranking after every id was looked up in its judgments, once.

    Attributes:
        hits: `(rank, grade)` of the judged documents in the ranking, best rank first.
        grades: the grades of all judged documents, found or not.
        retrieved_ranks: the ranks that hold a document, that is, all but padding.
    """

    hits: Sequence[tuple[int, float]]
    grades: Sequence[float]
    retrieved_ranks: Sequence[int]


def judge(
    ranking: Iterable[Id], grade_of: Mapping[Id, float], padding: Id | None = None
) -> JudgedRanking:
    """Look the documents of `ranking` up in `grade_of`."""
    hits: list[tuple[int, float]] = []
    retrieved_ranks: list[int] = []
    seen: set[Id] = set()
    for rank, document in enumerate(ranking, start=1):
        if document == padding:
            continue
        retrieved_ranks.append(rank)
        if document in grade_of and document not in seen:
            seen.add(document)
            hits.append((rank, grade_of[document]))
    return JudgedRanking(hits, list(grade_of.values()), retrieved_ranks)


def relevant_ranks(judged: JudgedRanking, k: int, threshold: float) -> list[int]:
    """The ranks up to `k` of the documents whose grade reaches `threshold`."""
    return [rank for rank, grade in judged.hits if rank <= k and grade >= threshold]


def relevant_total(judged: JudgedRanking, threshold: float) -> int:
    """How many documents there are to be found."""
    return sum(grade >= threshold for grade in judged.grades)


def recall(judged: JudgedRanking, k: int, threshold: float) -> float:
    """The share of the relevant documents that the top `k` holds."""
    return _divide(len(relevant_ranks(judged, k, threshold)), relevant_total(judged, threshold))


def precision(judged: JudgedRanking, k: int, threshold: float, denominator: Denominator) -> float:
    """The share of the top `k` that is relevant: of `k` places, or of the documents in them."""
    places = k if denominator == "k" else bisect_right(judged.retrieved_ranks, k)
    return _divide(len(relevant_ranks(judged, k, threshold)), places)


def f1(judged: JudgedRanking, k: int, threshold: float, denominator: Denominator) -> float:
    """The harmonic mean of precision and recall."""
    p = precision(judged, k, threshold, denominator)
    r = recall(judged, k, threshold)
    return _divide(2 * p * r, p + r)


def reciprocal_rank(judged: JudgedRanking, k: int, threshold: float) -> float:
    """One over the rank of the first relevant document in the top `k`."""
    ranks = relevant_ranks(judged, k, threshold)
    return 1.0 / ranks[0] if ranks else 0.0


def hit_rate(judged: JudgedRanking, k: int, threshold: float) -> float:
    """1.0 if the top `k` holds a relevant document, else 0.0."""
    return 1.0 if relevant_ranks(judged, k, threshold) else 0.0


def average_precision(judged: JudgedRanking, k: int, threshold: float) -> float:
    """The precision at each relevant document in the top `k`, over all relevant documents."""
    total = 0.0
    for found, rank in enumerate(relevant_ranks(judged, k, threshold), start=1):
        total += found / rank
    return _divide(total, relevant_total(judged, threshold))


def ndcg(judged: JudgedRanking, k: int) -> float:
    """Discounted gain of the top `k` over that of the best possible ranking (gain = grade > 0).

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4),
    2002, with the discount log2(rank + 1) that is customary since Burges et al., ICML 2005.
    """
    gains = sorted((grade for grade in judged.grades if grade > 0), reverse=True)
    ideal = _discounted(enumerate(gains[:k], start=1))
    found = _discounted((rank, grade) for rank, grade in judged.hits if rank <= k and grade > 0)
    # Rounding may lift the sum of another order over that of the best one, by a hair.
    return min(1.0, _divide(found, ideal))


def _discounted(gains: Iterable[tuple[int, float]]) -> float:
    total = 0.0
    for rank, gain in gains:
        total += gain / math.log2(rank + 1)
    return total


def _divide(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from berryeval.metrics.validation import GradeArray, MetricResult, QueryDocArray, RelevanceArray

    Formula: TypeAlias = Callable[[JudgedRanking, int, float], float]


def _ndcg(judged: JudgedRanking, k: int, _threshold: float) -> float:
    return ndcg(judged, k)


FORMULAS: dict[str, Formula] = {
    "recall": recall,
    "precision_of_retrieved": partial(precision, denominator="retrieved"),
    "precision_of_k": partial(precision, denominator="k"),
    "mrr": reciprocal_rank,
    "ndcg": _ndcg,
    "hit_rate": hit_rate,
}


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
        judged = judge(retrieved[row, :depth].tolist(), grade_of, PADDING_ID)
        for request, (metric, k) in enumerate(requests):
            out[request, row] = FORMULAS[metric](judged, k, threshold)
    return None
