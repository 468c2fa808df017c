"""What came of a run, as `run_benchmark` returns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ConfigurationError
from berryeval.metrics import direction_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from berryeval.benchmarks import Benchmark
    from berryeval.data import Query
    from berryeval.gates import Verdict
    from berryeval.runs import (
        AnswerRecord,
        BenchmarkRecord,
        HitRecord,
        Latency,
        ProviderRecord,
        RunRecord,
    )
    from berryeval.scoring import Scores


@dataclass(frozen=True)
class ProviderResult:
    """What one provider did on one benchmark: its record, and where its journal and scores are."""

    record: ProviderRecord
    folder: Path

    @property
    def name(self) -> str:
        """What the plan calls the provider."""
        return self.record.name

    @property
    def scores(self) -> Scores | None:
        """Of every query that was to be asked; None if the run of the provider failed."""
        return self.record.scores

    @property
    def outcomes(self) -> Mapping[str, int]:
        """How many queries were answered, were empty, failed, or timed out."""
        return self.record.outcomes

    @property
    def latency(self) -> Latency | None:
        """Of the answered queries."""
        return self.record.latency

    @property
    def cost(self) -> Mapping[str, float]:
        """What an answered query cost on average, where the provider says so: tokens, money."""
        return self.record.cost

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was not as it should be: too many hits, repeats, queries that failed."""
        return self.record.warnings

    @property
    def failure(self) -> str:
        """Why there are no scores."""
        return self.record.failure

    def __repr__(self) -> str:
        means = self.scores.mean if self.scores is not None else {}
        shown = [f"{metric}={value:.4f}" for metric, value in means.items()] or ["no scores"]
        return f"ProviderResult({', '.join([repr(self.name), *shown])})"


@dataclass(frozen=True)
class BenchmarkResult:
    """What all providers did on one benchmark; `result["bm25"]` is what one of them did.

    `run` is the record of the whole run, for reports and stores; `verdicts` are those of the
    thresholds and rules that the run was asked to satisfy, each with a `status`.
    """

    benchmark: Benchmark
    queries: tuple[Query, ...]
    providers: tuple[ProviderResult, ...]
    record: BenchmarkRecord
    run: RunRecord | None = None
    verdicts: tuple[Verdict, ...] = ()

    def __repr__(self) -> str:
        return f"BenchmarkResult({self.record.brief})"

    def __getitem__(self, name: str) -> ProviderResult:
        for one in self.providers:
            if one.name == name:
                return one
        msg = f"no provider {name!r}; there are {', '.join(one.name for one in self.providers)}"
        raise KeyError(msg)

    @property
    def whole_run(self) -> RunRecord:
        """The record of the whole run, for who cannot do without one."""
        if self.run is None:
            msg = "this result is no part of a finished run; run_benchmark returns one that is"
            raise ConfigurationError(msg)
        return self.run


# Where it fails: the worst queries, what came back for them, and what was wanted.

_SHOWN: Final = 5  # hits of each query


@dataclass(frozen=True)
class Returned:
    """A hit, with its name and the beginning of its text for people."""

    hit: HitRecord
    name: str
    text: str

    @property
    def grade(self) -> str:
        """What it counts, in words."""
        if self.hit.again:
            return "found above"
        return "not judged" if self.hit.grade is None else f"grade {self.hit.grade:g}"

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        hit = self.hit
        return {
            "id": hit.id,
            "score": hit.score,
            "grade": hit.grade,
            "name": self.name,
            "text": self.text,
        }


@dataclass(frozen=True)
class WorstQuery:
    """A query with a low score.

    Attributes:
        query: the query.
        metric: which metric is low.
        value: its value.
        answer: what the provider answered.
        returned: the first hits.
    """

    query: Query
    metric: str
    value: float
    answer: AnswerRecord
    returned: tuple[Returned, ...]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        answer = self.answer
        return {
            "query": self.query.to_json(),
            "metric": self.metric,
            "value": self.value,
            "outcome": answer.outcome,
            "error": answer.error,
            "retrieved": len(answer.hits),
            "returned": [one.to_dict() for one in self.returned],
            "missed": [{"target": one.name, "grade": one.grade} for one in answer.missed],
            "expected": answer.expected,
        }


def worst_queries(
    benchmark: BenchmarkRecord,
    provider: ProviderRecord,
    count: int,
    metric: str = "",
    queries: Sequence[Query] | None = None,
) -> list[WorstQuery]:
    """The queries with the worst values of a metric, the worst first.

    Args:
        benchmark: whose queries.
        provider: whose answers.
        count: how many at most.
        metric: which one; the first of the run unless given.
        queries: look at these only.
    """
    scores = provider.scores
    if metric and scores is not None and metric not in scores.metrics:
        scores = provider.standard
    if scores is None or not scores.metrics:
        return []
    metric = metric or scores.metrics[0]
    if metric not in scores.metrics:
        return []
    value_of = scores.per_query(metric)
    there = dict(zip(scores.queries, scores.outcomes, strict=True))
    answers = {answer.query_id: answer for answer in provider.answers}
    looked_at = benchmark.queries if queries is None else queries
    sign = -1 if direction_of(metric) == "down" else 1
    worst = sorted(
        (q for q in looked_at if there.get(q.id) not in {None, "no relevant documents"}),
        key=lambda query: sign * value_of[query.id],
    )[:count]
    return [
        WorstQuery(
            query,
            metric,
            value_of[query.id],
            answers[query.id],
            tuple(_returned(benchmark, hit) for hit in answers[query.id].hits[:_SHOWN]),
        )
        for query in worst
    ]


def _returned(benchmark: BenchmarkRecord, hit: HitRecord) -> Returned:
    if hit.passage is None:
        return Returned(hit, hit.id, "")
    passage = benchmark.passages[hit.passage]
    return Returned(hit, passage.name or hit.id, passage.text)
