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

import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias

from berryeval.metrics import _python as _formulas
from berryeval.metrics.validation import check_denominator, check_integer, shown_integer

if TYPE_CHECKING:
    from collections.abc import Callable

    from berryeval.metrics.validation import Denominator


# Graded judgments of string ids, and the look-up every list metric starts with.

_LARGEST_GRADE = 2**53  # up to here float64 holds every integer exactly


class QueryType(str, Enum):
    """What kind of question a query asks. `QueryType("code-lookup")` finds CODE_LOOKUP."""

    FACTUAL = "FACTUAL"
    CONCEPTUAL = "CONCEPTUAL"
    CODE_LOOKUP = "CODE_LOOKUP"
    TROUBLESHOOTING = "TROUBLESHOOTING"
    PROCEDURAL = "PROCEDURAL"
    COMPARATIVE = "COMPARATIVE"

    def __str__(self) -> str:
        return self.value

    @classmethod
    def _missing_(cls, value: object) -> QueryType | None:
        if not isinstance(value, str):
            return None
        return cls.__members__.get(value.strip().upper().replace("-", "_").replace(" ", "_"))


@dataclass(frozen=True)
class RelevanceJudgment:
    """How relevant one chunk is to a query: any integer grade, 0 to 3 in the bundled sets."""

    chunk_id: str
    grade: int

    def __post_init__(self) -> None:
        """Refuse an id or a grade of the wrong kind."""
        if not isinstance(self.chunk_id, str):
            msg = f"chunk_id must be a str, found {type(self.chunk_id).__name__} {self.chunk_id!r}"
            raise TypeError(msg)
        grade = check_integer(f"grade of {self.chunk_id!r}", self.grade)
        if abs(grade) > _LARGEST_GRADE:
            found = shown_integer(grade)
            msg = f"grade of {self.chunk_id!r} must be within 2**53 of zero, found {found}"
            raise ValueError(msg)
        object.__setattr__(self, "grade", grade)


Judgments: TypeAlias = Iterable[RelevanceJudgment] | Mapping[str, int]


def judge_list(
    retrieved: Iterable[str], judgments: Judgments, k: SupportsIndex | None
) -> tuple[_formulas.JudgedRanking, int]:
    """The judged ranking and the cutoff that a list metric computes from."""
    ids = as_ids(retrieved)
    cutoff = as_cutoff(k)
    judged = _formulas.judge(ids, as_grades(judgments))
    return judged, len(ids) if cutoff is None else cutoff


def as_cutoff(k: SupportsIndex | None) -> int | None:
    """`k` as a plain int from 1 up, or None."""
    if k is None:
        return None
    cutoff = check_integer("k", k)
    if cutoff < 1:
        msg = f"k must be 1 or more, found {shown_integer(cutoff)}"
        raise ValueError(msg)
    return cutoff


def as_ids(retrieved: Iterable[str], name: str = "retrieved") -> tuple[str, ...]:
    """The ids of a ranked list; `name` is what errors call it."""
    unordered = isinstance(retrieved, str | bytes | Mapping | AbstractSet)
    if unordered or not isinstance(retrieved, Iterable):
        msg = f"{name} must be a list of ids, found {type(retrieved).__name__} {retrieved!r:.80}"
        raise TypeError(msg)
    ids = tuple(retrieved)
    for rank, document in enumerate(ids, start=1):
        if not isinstance(document, str):
            msg = (
                f"{name} must hold str ids, found {type(document).__name__} {document!r:.80} "
                f"at rank {rank}"
            )
            raise TypeError(msg)
    return ids


def as_grades(judgments: Judgments, name: str = "judgments") -> dict[str, int]:
    """The grade of each judged id; `name` is what errors call the judgments."""
    if isinstance(judgments, Mapping):
        judgments = [RelevanceJudgment(chunk_id, grade) for chunk_id, grade in judgments.items()]
    elif isinstance(judgments, str | bytes) or not isinstance(judgments, Iterable):
        msg = (
            f"{name} must be a list of RelevanceJudgment or a mapping of id to grade, "
            f"found {type(judgments).__name__} {judgments!r:.80}"
        )
        raise TypeError(msg)
    grades: dict[str, int] = {}
    for judgment in judgments:
        if not isinstance(judgment, RelevanceJudgment):
            msg = (
                f"{name} must hold RelevanceJudgment(chunk_id, grade), "
                f"found {type(judgment).__name__} {judgment!r:.80}"
            )
            raise TypeError(msg)
        if grades.setdefault(judgment.chunk_id, judgment.grade) != judgment.grade:
            msg = (
                f"{name} must give an id one grade, found {grades[judgment.chunk_id]} and "
                f"{judgment.grade} for {judgment.chunk_id!r}"
            )
            raise ValueError(msg)
    return grades


# The report over many judged lists: means of the whole set, by category and by difficulty.

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
