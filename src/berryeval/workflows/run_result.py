"""The result of a benchmark, as `run_benchmark` returns it, and its worst queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.numbers import LIMIT_ROUNDING
from berryeval.errors import ConfigurationError, RunFailedError
from berryeval.metrics import direction_of, range_of

if TYPE_CHECKING:
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
        WantedTarget,
    )
    from berryeval.scoring import Scores


@dataclass(frozen=True)
class ProviderResult:
    """The result of one provider on one benchmark: its record and its folder."""

    record: ProviderRecord
    folder: Path
    in_process: bool = False  # whether its searches ran in this process

    @property
    def name(self) -> str:
        """Name of the provider in the plan."""
        return self.record.name

    @property
    def scores(self) -> Scores:
        """Scores of every query; a `RunFailedError` if the provider failed (see `failure`)."""
        if self.record.scores is None:
            raise RunFailedError(f"{self.name} failed and has no scores: {self.failure}")
        return self.record.scores

    @property
    def outcomes(self) -> Mapping[str, int]:
        """Number of queries by outcome: answered, empty, failed, timed out."""
        return self.record.outcomes

    @property
    def latency(self) -> Latency | None:
        """Latency of the answered queries."""
        return self.record.latency

    @property
    def cost(self) -> Mapping[str, float]:
        """Mean cost of an answered query (tokens, money), if the provider reports it."""
        return self.record.cost

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the answers: too many hits, repeats, failed queries."""
        return self.record.warnings

    @property
    def failure(self) -> str:
        """Why the provider has no scores; empty if it has."""
        return self.record.failure

    def __repr__(self) -> str:
        means = self.record.scores.mean if self.record.scores is not None else {}
        shown = [f"{metric}={value:.4f}" for metric, value in means.items()] or ["no scores"]
        return f"ProviderResult({', '.join([repr(self.name), *shown])})"


@dataclass(frozen=True)
class BenchmarkResult:
    """The results of all providers on one benchmark; `result["bm25"]` is that of one provider.

    `run` is the record of the whole run, for reports and stores; `verdicts` are those of the
    thresholds and rules of the plan, each with a `status`.
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
        raise KeyError(
            f"no provider {name!r}; there are {', '.join(one.name for one in self.providers)}"
        )

    @property
    def whole_run(self) -> RunRecord:
        """Record of the whole run; an error without one."""
        if self.run is None:
            raise ConfigurationError(
                "this result has no record of a run; use a result of run_benchmark"
            )
        return self.run


# The worst queries.

_SHOWN: Final = 5  # hits of each query


@dataclass(frozen=True)
class Returned:
    """A hit with its name and the beginning of its text, for display."""

    hit: HitRecord
    name: str
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for JSON."""
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
    """A query with a bad score, the answer, its first hits, and every wanted target."""

    query: Query
    metric: str
    value: float
    answer: AnswerRecord
    returned: tuple[Returned, ...]
    wanted: tuple[WantedTarget, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for JSON."""
        answer = self.answer
        return {
            "query": self.query.to_json(),
            "metric": self.metric,
            "value": self.value,
            "outcome": answer.outcome,
            "error": answer.error,
            "retrieved": len(answer.hits),
            "returned": [one.to_dict() for one in self.returned],
            "wanted": [one._asdict() for one in self.wanted],
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
    """Return the queries with the worst values of a metric, by default the first metric.

    Queries with a perfect value are left out.
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
    outcomes = dict(zip(scores.queries, scores.outcomes, strict=True))
    answers = {answer.query_id: answer for answer in provider.answers}
    considered = benchmark.queries if queries is None else queries
    sign = -1 if direction_of(metric) == "down" else 1
    judged = [q for q in considered if outcomes.get(q.id) not in {None, "no relevant documents"}]
    if direction_of(metric) == "up":
        full = range_of(metric)[1] - LIMIT_ROUNDING
        judged = [query for query in judged if value_of[query.id] < full]
    worst = sorted(judged, key=lambda query: sign * value_of[query.id])[:count]
    return [
        WorstQuery(
            query,
            metric,
            value_of[query.id],
            answers[query.id],
            tuple(_build_returned(benchmark, hit) for hit in answers[query.id].hits[:_SHOWN]),
            tuple(answers[query.id].list_wanted(benchmark.passages)),
        )
        for query in worst
    ]


def _build_returned(benchmark: BenchmarkRecord, hit: HitRecord) -> Returned:
    text = "" if hit.passage is None else benchmark.passages[hit.passage].text
    return Returned(hit, hit.name_in(benchmark.passages), text)
