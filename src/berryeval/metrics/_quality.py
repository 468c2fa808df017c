"""The report over many judged lists: means of the whole set, by category and by difficulty."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsIndex

from berryeval.metrics import _formulas
from berryeval.metrics._judgments import (
    Judgments,
    QueryType,
    RelevanceJudgment,
    as_cutoff,
    as_grades,
    as_ids,
    judge_list,
)
from berryeval.metrics._validation import check_integer

if TYPE_CHECKING:
    from collections.abc import Callable

_UNNAMED = "unspecified"


@dataclass(frozen=True)
class QueryResult:
    """What was retrieved for one query and what should have been."""

    query_id: str
    retrieved: Iterable[str]
    judgments: Judgments
    category: str | QueryType | None = None
    difficulty: str | None = None

    def __post_init__(self) -> None:
        """Read both inputs once, so that an iterator cannot be used up by the first metric."""
        if not isinstance(self.query_id, str):
            msg = f"query_id must be a str, found {type(self.query_id).__name__} {self.query_id!r}"
            raise TypeError(msg)
        where = f"of query {self.query_id!r}"
        grades = as_grades(self.judgments, f"judgments {where}")
        judgments = tuple(RelevanceJudgment(*judgment) for judgment in grades.items())
        object.__setattr__(self, "retrieved", as_ids(self.retrieved, f"retrieved {where}"))
        object.__setattr__(self, "judgments", judgments)
        for name in ("category", "difficulty"):
            label = getattr(self, name)
            if label is not None and not isinstance(label, str):
                msg = f"{name} {where} must be a str, found {type(label).__name__} {label!r:.80}"
                raise TypeError(msg)


@dataclass(frozen=True)
class QualitySlice:
    """The means of one group of queries."""

    count: int
    precision_at_5: float
    recall_at_10: float
    mrr: float


@dataclass(frozen=True)
class QualityReport:
    """The means of a set of queries, whole and by group; `dataclasses.asdict` makes it JSON.

    Every query counts in every mean, one without relevant documents as 0.0.
    `queries_without_hit` is the number of queries whose list holds nothing relevant at any rank.
    Queries without a category or difficulty are grouped as "unspecified".
    """

    total_queries: int
    precision_at_5: float
    precision_at_10: float
    recall_at_10: float
    mrr: float
    queries_without_hit: int
    by_category: dict[str, QualitySlice]
    by_difficulty: dict[str, QualitySlice]


@dataclass(frozen=True)
class _Row:
    category: str
    difficulty: str
    precision_at_5: float
    precision_at_10: float
    recall_at_10: float
    reciprocal_rank: float


def quality_report(query_results: Iterable[QueryResult], *, threshold: int = 1) -> QualityReport:
    """Mean P@5, P@10, R@10 and MRR (over whole lists), also by category and by difficulty."""
    level = check_integer("threshold", threshold)
    rows = [_score_query(result, level) for result in _as_results(query_results)]
    return QualityReport(
        total_queries=len(rows),
        precision_at_5=_mean(row.precision_at_5 for row in rows),
        precision_at_10=_mean(row.precision_at_10 for row in rows),
        recall_at_10=_mean(row.recall_at_10 for row in rows),
        mrr=_mean(row.reciprocal_rank for row in rows),
        queries_without_hit=sum(row.reciprocal_rank == 0 for row in rows),
        by_category=_slices(rows, lambda row: row.category),
        by_difficulty=_slices(rows, lambda row: row.difficulty),
    )


def mean_reciprocal_rank(
    query_results: Iterable[QueryResult], k: SupportsIndex | None = None, *, threshold: int = 1
) -> float:
    """The mean of `reciprocal_rank` over queries; 0.0 if there are none."""
    level = check_integer("threshold", threshold)
    cutoff = as_cutoff(k)
    return _mean(
        _formulas.reciprocal_rank(*judge_list(result.retrieved, result.judgments, cutoff), level)
        for result in _as_results(query_results)
    )


def _as_results(query_results: Iterable[QueryResult]) -> list[QueryResult]:
    results = list(query_results) if isinstance(query_results, Iterable) else [query_results]
    for place, result in enumerate(results):
        if not isinstance(result, QueryResult):
            msg = (
                "query_results must be a list of QueryResult, "
                f"found {type(result).__name__} {result!r:.80} at place {place}"
            )
            raise TypeError(msg)
    return results


def _score_query(result: QueryResult, threshold: int) -> _Row:
    judged, length = judge_list(result.retrieved, result.judgments, None)
    return _Row(
        category=_UNNAMED if result.category is None else str(result.category),
        difficulty=_UNNAMED if result.difficulty is None else str(result.difficulty),
        precision_at_5=_formulas.precision(judged, 5, threshold, "k"),
        precision_at_10=_formulas.precision(judged, 10, threshold, "k"),
        recall_at_10=_formulas.recall(judged, 10, threshold),
        reciprocal_rank=_formulas.reciprocal_rank(judged, length, threshold),
    )


def _slices(rows: list[_Row], key: Callable[[_Row], str]) -> dict[str, QualitySlice]:
    groups: dict[str, list[_Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return {
        name: QualitySlice(
            count=len(group),
            precision_at_5=_mean(row.precision_at_5 for row in group),
            recall_at_10=_mean(row.recall_at_10 for row in group),
            mrr=_mean(row.reciprocal_rank for row in group),
        )
        for name, group in sorted(groups.items())
    }


def _mean(values: Iterable[float]) -> float:
    """The mean, exactly rounded, so that it does not depend on the order; 0.0 of nothing."""
    numbers = list(values)
    return math.fsum(numbers) / len(numbers) if numbers else 0.0
