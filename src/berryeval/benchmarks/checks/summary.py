"""`Summary`: a benchmark in numbers."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from berryeval._internal.text import cut
from berryeval._internal.validate import nearest
from berryeval.benchmarks.checks.finding import words_of
from berryeval.benchmarks.checks.subject import Passage, Subject
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.data import Anchor, Query


@dataclass(frozen=True)
class Spread:
    """The least, the middle and the greatest of some numbers, and their mean."""

    least: float = 0
    median: float = 0
    greatest: float = 0
    mean: float = 0.0

    @classmethod
    def of(cls, numbers: Sequence[int]) -> Spread:
        """The spread of the numbers; all zero if there are none."""
        if not numbers:
            return cls()
        return cls(
            min(numbers), statistics.median(numbers), max(numbers), statistics.fmean(numbers)
        )


@dataclass(frozen=True)
class Summary:
    """A benchmark in numbers.

    Attributes:
        documents: how many there are.
        queries: how many there are.
        judgments: how many there are.
        document_words: how many words documents have.
        query_words: how many words queries have.
        judged_per_query: how many judgments above grade 0 a query has.
        categories: how many queries are in each.
        difficulties: how many queries are of each.
        grades: how many judgments give each.
        targets: how many judgments point at a document, section, span, quote or chunk.
        content_hash: of everything that can change a score.
    """

    documents: int
    queries: int
    judgments: int
    document_words: Spread
    query_words: Spread
    judged_per_query: Spread
    categories: dict[str, int]
    difficulties: dict[str, int]
    grades: dict[float, int]
    targets: dict[str, int]
    content_hash: str

    @classmethod
    def of(cls, benchmark: Benchmark) -> Summary:
        """Count everything."""
        relevant = Counter(one.query_id for one in benchmark.judgments if one.grade > 0)
        grades = Counter(one.grade for one in benchmark.judgments)
        return cls(
            documents=len(benchmark.documents),
            queries=len(benchmark.queries),
            judgments=len(benchmark.judgments),
            document_words=Spread.of([len(words_of(one.text)) for one in benchmark.documents]),
            query_words=Spread.of([len(words_of(one.text)) for one in benchmark.queries]),
            judged_per_query=Spread.of([relevant[one.id] for one in benchmark.queries]),
            categories=_counted(one.category for one in benchmark.queries),
            difficulties=_counted(one.difficulty for one in benchmark.queries),
            grades={grade: grades[grade] for grade in sorted(grades)},
            targets=_counted(kind_of(one.target) for one in benchmark.judgments),
            content_hash=benchmark.content_hash,
        )

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        grades = [{"grade": grade, "count": count} for grade, count in self.grades.items()]
        return {**asdict(self), "grades": grades}


def kind_of(anchor: Anchor) -> str:
    """What an anchor points at."""
    if anchor.chunk:
        return "chunk"
    if anchor.section:
        return "section"
    if anchor.start is not None:
        return "span"
    return "quote" if anchor.quote else "document"


def _counted(words: Iterable[str]) -> dict[str, int]:
    """The words by how often they come, most often first; none if there is none but blank ones."""
    found = Counter(words)
    return dict(found.most_common()) if any(found) else {}


# One query of a benchmark with what is relevant to it, to be looked at.


@dataclass(frozen=True)
class Example:
    """A query, what it says of its answer, and its targets, the highest grades first."""

    query: Query
    labels: dict[str, str]
    targets: tuple[Passage, ...]

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        targets = [
            {"grade": one.grade, "name": one.name, "texts": list(one.texts)} for one in self.targets
        ]
        return {"query": self.query.to_json(), "targets": targets}


def example_of(benchmark: Benchmark, query_id: str = "") -> Example:
    """The query of this id; without one, the first with a passage to find, else the first."""
    subject = Subject(benchmark)
    query = _chosen(subject, query_id)
    targets = sorted(subject.passages_for(query), key=lambda one: -one.grade)
    labels = {name: cut(str(value), 200) for name, value in query.metadata.items() if value}
    return Example(query, labels, tuple(targets))


def _chosen(subject: Subject, query_id: str) -> Query:
    benchmark = subject.benchmark
    if query_id:
        known = benchmark.query_of
        if query_id not in known:
            near = nearest(query_id, list(known))
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            msg = f"{benchmark.name} has no query {query_id!r}{hint}"
            raise DataError(msg)
        return known[query_id]
    relevant = (
        query
        for query in benchmark.queries
        if any(passage.grade > 0 and passage.texts for passage in subject.passages_for(query))
    )
    return next(relevant, benchmark.queries[0])
