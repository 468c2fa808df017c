"""Graded judgments of string ids, and the look-up every list metric starts with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from typing import SupportsIndex, TypeAlias

from berryeval.metrics import _formulas
from berryeval.metrics._validation import check_integer, shown_integer

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
