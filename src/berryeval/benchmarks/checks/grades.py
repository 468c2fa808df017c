"""Grades, and queries to which nothing is relevant."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks.checks.finding import Finding
from berryeval.relevance.packs import Labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.benchmarks.checks.subject import Subject
    from berryeval.records import Query

__all__ = ["check_grades", "check_something_relevant"]

HIGHEST: Final = 10  # grades above are more likely scores, or ids
# Where a query itself says what is relevant to it, or what the answer is.
_LABELS: Final = (
    "relevant_ids", "relevant_chunk_ids", "ground_truth_ids", "qrels", "evidence",
    "answer_corpus_ids", "answer_session_ids", "locations", "expected_answer", "answer",
)  # fmt: skip


def check_grades(subject: Subject) -> Iterator[Finding]:
    """Grades that are not among those announced, below 0, not whole, or very high."""
    announced = _announced(subject.benchmark.metadata.get("grades"))
    places: dict[float, list[int]] = defaultdict(list)
    for place, judgment in enumerate(subject.benchmark.judgments):
        places[judgment.grade].append(place)
    for grade in sorted(places):
        problem = _problem(grade, announced)
        if problem is None:
            continue
        severity, what, advice = problem
        count = len(places[grade])
        times = f"; {count} judgments have it" if count > 1 else ""
        yield Finding(
            "grade", severity, subject.where("judgments", places[grade][0]),
            f"the grade {grade:g} {what}{times}", advice,
        )  # fmt: skip


def _announced(value: Any) -> list[float]:
    """The grades that the benchmark says it uses, if it does."""
    if not isinstance(value, list) or not all(isinstance(one, int | float) for one in value):
        return []
    return value


def _problem(grade: float, announced: list[float]) -> tuple[Any, str, str] | None:
    if not math.isfinite(grade):
        return "error", "is no finite number: nothing can be scored with it", "correct the grade"
    if announced and grade not in announced:
        known = ", ".join(f"{one:g}" for one in announced)
        return "error", f"is none of those announced: {known}", "correct the grade, or announce it"
    if grade < 0:
        return "info", "is below 0 and counts as not relevant", "use 0 if nothing else is meant"
    if grade != int(grade):
        return "info", "is not whole", "thresholds such as rel=1 compare it as it is"
    if grade > HIGHEST and not announced:
        return "warning", "is high: is it a score?", "grades are usually 0 to 3; nDCG gains them"
    return None


def check_something_relevant(subject: Subject) -> Iterator[Finding]:
    """Queries without a judgment above 0, and without a label that says what is relevant."""
    for place, query in enumerate(subject.benchmark.queries):
        why = _why_nothing(subject, query)
        if why and query.metadata.get("abstention") is not True:
            yield Finding(
                "nothing relevant", "warning", subject.where("queries", place),
                f"the query {query.id!r} has {why}: every system scores 0 for it",
                "judge it, or remove it",
            )  # fmt: skip


def _why_nothing(subject: Subject, query: Query) -> str:
    """Why nothing is relevant to a query; nothing, if something is."""
    judged = subject.judged.get(query.id, [])
    if judged:
        return "" if any(one.grade > 0 for one in judged) else "only judgments of grade 0"
    ids = subject.explicit(query)
    if isinstance(ids, dict) and not any(grade > 0 for grade in ids.values()):
        return "no id above grade 0 in its metadata"
    labels = subject.labels(query)
    if isinstance(labels, Labels) and labels.grades is not None:
        return "" if labels.grades else "no labels that its pack can read"
    return "" if any(query.metadata.get(name) for name in _LABELS) else "no judgment"
