"""Summary of a benchmark in numbers, and an example query."""

from __future__ import annotations

import statistics
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from berryeval._internal.text import truncate
from berryeval._internal.validate import nearest
from berryeval.benchmarks.checks.finding import words_of
from berryeval.benchmarks.checks.subject import Passage, Subject
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.data import Anchor, Query


@dataclass(frozen=True)
class Spread:
    """Minimum, median, maximum and mean."""

    least: float = 0
    median: float = 0
    greatest: float = 0
    mean: float = 0.0

    @classmethod
    def of(cls, numbers: Sequence[int]) -> Spread:
        """Compute the spread of numbers; all zero without numbers."""
        if not numbers:
            return cls()
        return cls(
            min(numbers), statistics.median(numbers), max(numbers), statistics.fmean(numbers)
        )


@dataclass(frozen=True)
class Summary:
    """A benchmark in numbers."""

    documents: int
    queries: int
    judgments: int
    document_words: Spread
    query_words: Spread
    judged_per_query: Spread  # above grade 0
    categories: dict[str, int]  # queries by category
    difficulties: dict[str, int]  # queries by difficulty
    grades: dict[float, int]  # judgments by grade
    targets: dict[str, int]  # judgments by kind of target
    content_hash: str

    @classmethod
    def of(cls, benchmark: Benchmark) -> Summary:
        """Summarize a benchmark."""
        relevant = Counter(one.query_id for one in benchmark.judgments if one.grade > 0)
        grades = Counter(one.grade for one in benchmark.judgments)
        return cls(
            documents=len(benchmark.documents),
            queries=len(benchmark.queries),
            judgments=len(benchmark.judgments),
            document_words=Spread.of(
                array("q", (len(words_of(one.text)) for one in benchmark.documents))
            ),
            query_words=Spread.of([len(words_of(one.text)) for one in benchmark.queries]),
            judged_per_query=Spread.of([relevant[one.id] for one in benchmark.queries]),
            categories=_count(one.category for one in benchmark.queries),
            difficulties=_count(one.difficulty for one in benchmark.queries),
            grades={grade: grades[grade] for grade in sorted(grades)},
            targets=_count(kind_of(one.target) for one in benchmark.judgments),
            content_hash=benchmark.content_hash,
        )

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        grades = [{"grade": grade, "count": count} for grade, count in self.grades.items()]
        return {**asdict(self), "grades": grades}


def kind_of(anchor: Anchor) -> str:
    """Return the kind of target."""
    if anchor.chunk:
        return "chunk"
    if anchor.section:
        return "section"
    if anchor.start is not None:
        return "span"
    return "quote" if anchor.quote else "document"


def _count(words: Iterable[str]) -> dict[str, int]:
    """Count words, most frequent first; empty if all are blank."""
    found = Counter(words)
    return dict(found.most_common()) if any(found) else {}


@dataclass(frozen=True)
class Example:
    """A query with its labels and its targets, highest grade first."""

    query: Query
    labels: dict[str, str]
    targets: tuple[Passage, ...]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        targets = [
            {"grade": one.grade, "name": one.name, "texts": list(one.texts)} for one in self.targets
        ]
        return {"query": self.query.to_json(), "targets": targets}


def build_example(benchmark: Benchmark, query_id: str = "") -> Example:
    """Return the query with this id; by default the first with a relevant passage, if any."""
    subject = Subject(benchmark)
    query = _select_query(subject, query_id)
    targets = sorted(subject.passages_for(query), key=lambda one: -one.grade)
    labels = {name: truncate(str(value), 200) for name, value in query.metadata.items() if value}
    return Example(query, labels, tuple(targets))


def _select_query(subject: Subject, query_id: str) -> Query:
    benchmark = subject.benchmark
    if query_id:
        if query_id not in benchmark.query_of:
            near = nearest(query_id, benchmark.query_of)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise DataError(f"{benchmark.name} has no query {query_id!r}{hint}")
        return benchmark.query_of[query_id]
    relevant = (
        query
        for query in benchmark.queries
        if any(passage.grade > 0 and passage.texts for passage in subject.passages_for(query))
    )
    return next(relevant, benchmark.queries[0])
