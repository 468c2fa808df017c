"""One query of a benchmark with what is relevant to it, to be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from berryeval.benchmarks.checks.subject import Passage, Subject
from berryeval.errors import DataError
from berryeval.io.words import cut
from berryeval.registry import nearest

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.records import Query

__all__ = ["Example", "example_of"]


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
