"""Metrics of one ranked list of string ids with graded judgments, and a report over many lists.

    >>> judgments = [RelevanceJudgment("a", 2), RelevanceJudgment("b", 1)]
    >>> round(ndcg(["a", "c", "b"], judgments, k=3), 4)
    0.9502
    >>> compute_all(["a", "c", "b"], judgments, k=3).recall
    1.0

Judgments may also be a mapping of id to grade, or a set of relevant ids, which have grade 1. UUIDs
are ids too. A document is relevant if its grade is at least `threshold` (1 by default); a document
without a judgment is not. A repeated id counts once, at its first rank. `k=None` reads the whole
list. Precision divides by `k`, so that a short list is not rewarded; `denominator="retrieved"`
divides by the number of results in the top `k`, the default of `berryeval.metrics.precision_at_k`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from numbers import Real
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias, cast
from uuid import UUID

from berryeval.metrics._python import judge_ids
from berryeval.metrics.array_checks import (
    as_cutoff,
    check_denominator,
    check_integer,
    shown_integer,
)
from berryeval.metrics.families import ap, rr, sets
from berryeval.metrics.families import ndcg as _ndcg
from berryeval.metrics.families import precision as _precision
from berryeval.metrics.families import recall as _recall

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking
    from berryeval.metrics.array_checks import Denominator

Id: TypeAlias = str | UUID
_LARGEST_GRADE = 2**53  # float64 represents every integer up to here exactly


class QueryType(str, Enum):
    """Type of question a query asks; `QueryType("code-lookup")` finds CODE_LOOKUP."""

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
    """The relevance of one chunk to a query: any integer grade; bundled sets use 0 to 3."""

    chunk_id: Id
    grade: int

    def __post_init__(self) -> None:
        """Reject an id or a grade of the wrong type."""
        object.__setattr__(self, "chunk_id", _read_id("chunk_id", self.chunk_id))
        what = f"grade of {self.chunk_id!r}"
        grade = check_integer(what, self.grade)
        if abs(grade) > _LARGEST_GRADE:
            raise ValueError(f"{what} must be within 2**53 of zero, found {shown_integer(grade)}")
        object.__setattr__(self, "grade", grade)


Judgments: TypeAlias = (
    Iterable[RelevanceJudgment]
    | Mapping[str, int]
    | Mapping[UUID, int]
    | AbstractSet[str]
    | AbstractSet[UUID]
)


def _judge(
    retrieved: Iterable[Id], judgments: Judgments, k: SupportsIndex | None
) -> tuple[JudgedRanking, int]:
    """Return the judged ranking and the cutoff of a list metric."""
    ids, cutoff = as_ids(retrieved), as_cutoff(k)
    grades = {document: float(grade) for document, grade in as_grades(judgments).items()}
    return judge_ids(ids, grades), cutoff or len(ids) or 1


def as_text(identity: Id) -> str:
    """Return an id as text; a UUID in its usual form."""
    return str(identity) if isinstance(identity, UUID) else identity


def _read_id(name: str, given: Id) -> str:
    """Return an id as text; errors call it `name`."""
    found = as_text(given)
    if not isinstance(found, str):
        raise TypeError(f"{name} must be a str, found {type(found).__name__} {found!r}")
    return found


def as_ids(retrieved: Iterable[Id], name: str = "retrieved") -> tuple[str, ...]:
    """Return the ids of a ranked list; errors call it `name`."""
    unordered = isinstance(retrieved, str | bytes | Mapping | AbstractSet)
    if unordered or not isinstance(retrieved, Iterable):
        raise TypeError(
            f"{name} must be a list of ids, found {type(retrieved).__name__} {retrieved!r:.80}"
        )
    ids = tuple(map(as_text, retrieved))
    for rank, document in enumerate(ids, start=1):
        if not isinstance(document, str):
            raise TypeError(
                f"{name} must hold str ids, found {type(document).__name__} {document!r:.80} "
                f"at rank {rank}"
            )
    return ids


def as_grades(judgments: Judgments, name: str = "judgments") -> dict[str, int]:
    """Return the grade of each judged id; errors call the judgments `name`."""
    if isinstance(judgments, AbstractSet):
        judgments = [
            one if isinstance(one, RelevanceJudgment) else RelevanceJudgment(cast("Id", one), 1)
            for one in judgments
        ]
    elif isinstance(judgments, Mapping):
        judgments = [RelevanceJudgment(chunk_id, grade) for chunk_id, grade in judgments.items()]
    elif isinstance(judgments, str | bytes) or not isinstance(judgments, Iterable):
        raise TypeError(
            f"{name} must be a list of RelevanceJudgment or a mapping of id to grade, "
            f"found {type(judgments).__name__} {judgments!r:.80}"
        )
    grades: dict[str, int] = {}
    for judgment in judgments:
        if not isinstance(judgment, RelevanceJudgment):
            raise TypeError(
                f"{name} must hold RelevanceJudgment(chunk_id, grade), "
                f"found {type(judgment).__name__} {judgment!r:.80}"
            )
        document = as_text(judgment.chunk_id)
        if grades.setdefault(document, judgment.grade) != judgment.grade:
            raise ValueError(
                f"{name} must give an id one grade, found {grades[document]} and "
                f"{judgment.grade} for {document!r}"
            )
    return grades


_UNNAMED = "unspecified"


@dataclass(frozen=True)
class QueryResult:
    """The retrieved ids and the judgments of one query.

    Attributes:
        query_id: Id of the query.
        retrieved: Ranked ids.
        judgments: Judgments, grades by id, or a set of relevant ids.
        category: Category of the query.
        difficulty: Difficulty of the query.
        text: Text of the query.
        duration_ms: Time of the search in milliseconds, if known.
    """

    query_id: Id
    retrieved: Iterable[Id]
    judgments: Judgments
    category: str | QueryType | None = None
    difficulty: str | None = None
    text: str = ""
    duration_ms: float | None = None

    @property
    def first_relevant_rank(self) -> int | None:
        """Rank of the first document of grade 1 or more, or None."""
        judged, _ = _judge(self.retrieved, self.judgments, None)
        return min(judged.relevant_ranks(1.0), default=None)

    def __post_init__(self) -> None:
        """Read both inputs once, so that the first metric does not exhaust an iterator."""
        object.__setattr__(self, "query_id", _read_id("query_id", self.query_id))
        where = f"of query {self.query_id!r}"
        grades = as_grades(self.judgments, f"judgments {where}")
        judgments = tuple(RelevanceJudgment(*judgment) for judgment in grades.items())
        object.__setattr__(self, "retrieved", as_ids(self.retrieved, f"retrieved {where}"))
        object.__setattr__(self, "judgments", judgments)
        duration = self.duration_ms
        if duration is not None and (isinstance(duration, bool) or not isinstance(duration, Real)):
            found = f"{type(duration).__name__} {duration!r:.80}"
            raise TypeError(f"duration_ms {where} must be a number, found {found}")
        for name in ("category", "difficulty", "text"):
            label = getattr(self, name)
            if label is not None and not isinstance(label, str):
                raise TypeError(
                    f"{name} {where} must be a str, found {type(label).__name__} {label!r:.80}"
                )


@dataclass(frozen=True)
class QualitySlice:
    """Means of one group of queries."""

    count: int
    precision_at_5: float
    recall_at_10: float
    mrr: float


@dataclass(frozen=True)
class QualityReport:
    """Means of a set of queries, overall and by group; `dataclasses.asdict` makes it JSON.

    Every query counts in every mean; a query without relevant documents counts as 0.0.
    `queries_without_hit` is the number of queries without a relevant document at any rank.
    Queries without a category or difficulty form the group "unspecified".
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
    """Compute mean P@5, P@10, R@10 and MRR (whole lists), also by category and by difficulty."""
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
    """Compute the mean of `reciprocal_rank` over queries; 0.0 without queries."""
    level = check_integer("threshold", threshold)
    cutoff = as_cutoff(k)
    return _mean(
        reciprocal_rank(result.retrieved, result.judgments, cutoff, threshold=level)
        for result in _as_results(query_results)
    )


def _as_results(query_results: Iterable[QueryResult]) -> list[QueryResult]:
    results = list(query_results) if isinstance(query_results, Iterable) else [query_results]
    for place, result in enumerate(results):
        if not isinstance(result, QueryResult):
            raise TypeError(
                "query_results must be a list of QueryResult, "
                f"found {type(result).__name__} {result!r:.80} at index {place}"
            )
    return results


def _score_query(result: QueryResult, threshold: int) -> _Row:
    judged, length = _judge(result.retrieved, result.judgments, None)
    return _Row(
        category=_UNNAMED if result.category is None else str(result.category),
        difficulty=_UNNAMED if result.difficulty is None else str(result.difficulty),
        precision_at_5=_precision.precision(judged, cutoff=5, rel=threshold),
        precision_at_10=_precision.precision(judged, cutoff=10, rel=threshold),
        recall_at_10=_recall.recall(judged, cutoff=10, rel=threshold),
        reciprocal_rank=rr.reciprocal_rank(judged, cutoff=length, rel=threshold),
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
    """Return the correctly rounded mean, which does not depend on the order; 0.0 if empty."""
    numbers = list(values)
    return math.fsum(numbers) / len(numbers) if numbers else 0.0


@dataclass(frozen=True)
class ListScores:
    """All metrics of one list at one cutoff."""

    recall: float
    precision: float
    f1: float
    reciprocal_rank: float
    ndcg: float
    average_precision: float
    hit_rate: float


def recall(
    retrieved: Iterable[Id],
    judgments: Judgments,
    k: SupportsIndex | None = None,
    *,
    threshold: int = 1,
) -> float:
    """Compute recall: the share of the relevant documents in the top `k`."""
    judged, cutoff = _judge(retrieved, judgments, k)
    return _recall.recall(judged, cutoff=cutoff, rel=check_integer("threshold", threshold))


def precision(
    retrieved: Iterable[Id],
    judgments: Judgments,
    k: SupportsIndex | None = None,
    *,
    threshold: int = 1,
    denominator: Denominator = "k",
) -> float:
    """Compute precision: the share of relevant documents in the top `k`."""
    judged, cutoff = _judge(retrieved, judgments, k)
    return _compute_precision(judged, cutoff, check_integer("threshold", threshold), denominator)


def f1(
    retrieved: Iterable[Id],
    judgments: Judgments,
    k: SupportsIndex | None = None,
    *,
    threshold: int = 1,
    denominator: Denominator = "k",
) -> float:
    """Compute the harmonic mean of precision and recall at `k`."""
    judged, cutoff = _judge(retrieved, judgments, k)
    return _compute_f1(judged, cutoff, check_integer("threshold", threshold), denominator)


def reciprocal_rank(
    retrieved: Iterable[Id],
    judgments: Judgments,
    k: SupportsIndex | None = None,
    *,
    threshold: int = 1,
) -> float:
    """Compute 1 / rank of the first relevant document in the top `k`; 0.0 without one."""
    judged, cutoff = _judge(retrieved, judgments, k)
    return rr.reciprocal_rank(judged, cutoff=cutoff, rel=check_integer("threshold", threshold))


def ndcg(retrieved: Iterable[Id], judgments: Judgments, k: SupportsIndex | None = None) -> float:
    """Compute nDCG at `k` with the grade as gain; the ideal ranking holds all judgments."""
    judged, cutoff = _judge(retrieved, judgments, k)
    return _ndcg.ndcg(judged, cutoff=cutoff)


def average_precision(
    retrieved: Iterable[Id],
    judgments: Judgments,
    k: SupportsIndex | None = None,
    *,
    threshold: int = 1,
) -> float:
    """Compute average precision of the top `k`, divided by all relevant documents."""
    judged, cutoff = _judge(retrieved, judgments, k)
    return ap.average_precision(judged, cutoff=cutoff, rel=check_integer("threshold", threshold))


def hit_rate(
    retrieved: Iterable[Id],
    judgments: Judgments,
    k: SupportsIndex | None = None,
    *,
    threshold: int = 1,
) -> float:
    """Return 1.0 if the top `k` holds a relevant document, else 0.0."""
    judged, cutoff = _judge(retrieved, judgments, k)
    return _precision.success(judged, cutoff=cutoff, rel=check_integer("threshold", threshold))


def compute_all(
    retrieved: Iterable[Id],
    judgments: Judgments,
    k: SupportsIndex | None = None,
    *,
    threshold: int = 1,
    denominator: Denominator = "k",
) -> ListScores:
    """Compute all metrics at once; each id is looked up once."""
    judged, cutoff = _judge(retrieved, judgments, k)
    rel = check_integer("threshold", threshold)
    return ListScores(
        recall=_recall.recall(judged, cutoff=cutoff, rel=rel),
        precision=_compute_precision(judged, cutoff, rel, denominator),
        f1=_compute_f1(judged, cutoff, rel, denominator),
        reciprocal_rank=rr.reciprocal_rank(judged, cutoff=cutoff, rel=rel),
        ndcg=_ndcg.ndcg(judged, cutoff=cutoff),
        average_precision=ap.average_precision(judged, cutoff=cutoff, rel=rel),
        hit_rate=_precision.success(judged, cutoff=cutoff, rel=rel),
    )


def _compute_precision(
    judged: JudgedRanking, cutoff: int, rel: int, denominator: Denominator
) -> float:
    if check_denominator(denominator) == "k":
        return _precision.precision(judged, cutoff=cutoff, rel=rel)
    return sets.set_precision(judged.cut(cutoff), rel=rel)


def _compute_f1(judged: JudgedRanking, cutoff: int, rel: int, denominator: Denominator) -> float:
    if check_denominator(denominator) == "k":
        return _recall.f1(judged, cutoff=cutoff, rel=rel)
    return sets.set_f(judged.cut(cutoff), rel=rel)
