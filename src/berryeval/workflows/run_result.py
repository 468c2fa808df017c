"""The result of a benchmark, as `run_benchmark` returns it, its frame, and its worst queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.notebook import (
    MOST_METRICS,
    MOST_RESAMPLED,
    SHOWN,
    Card,
    Cell,
    build_frame,
)
from berryeval._internal.numbers import LIMIT_ROUNDING, NOTHING, format_milliseconds
from berryeval._internal.text import pluralize
from berryeval.errors import ConfigurationError, RunFailedError
from berryeval.metrics import direction_of, find_deciding, gain_sign, range_of
from berryeval.reports import best_of, format_outcomes, is_best
from berryeval.scoring import show_value

if TYPE_CHECKING:
    from berryeval._internal.charts import Charts
    from berryeval._internal.notebook import Content, FrameLibrary
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

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a data frame with a row per provider and query.

        The columns are provider, query, text, category, difficulty, outcome, seconds (the latency,
        if there was an answer) and the metrics. A provider without scores has the outcome "failed"
        and no values. `library` is "pandas" or "polars"; by default pandas, or polars without it.
        """
        return build_frame(tabulate(self), library)

    def plot(self, *names: str) -> Charts:
        """Draw the charts of the HTML report: metrics, lead, differences, latency and others.

        They show themselves in a notebook and have `save(path)`; they need the extra `report`.
        `names` chooses some, as in `plot("latency")`.
        """
        from berryeval.reports import draw_benchmark

        return draw_benchmark(self.record).select(names)

    def _repr_html_(self) -> str:
        return preview(self)

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
    sign = gain_sign(metric)
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


# The result as columns of a frame, and what a notebook shows of it.


def tabulate(result: BenchmarkResult) -> dict[str, list[Any]]:
    """Return a row per provider and query as columns; see `BenchmarkResult.to_frame`."""
    metrics = _list_metrics(result)
    known = ("provider", "query", "text", "category", "difficulty", "outcome", "seconds")
    columns: dict[str, list[Any]] = {name: [] for name in (*known, *metrics)}
    for one in result.providers:
        answers = {answer.query_id: answer for answer in _list_answers(one.record)}
        scores = one.record.scores
        values = {
            metric: {}
            if scores is None or metric not in scores.metrics
            else scores.per_query(metric)
            for metric in metrics
        }
        unknown = "failed" if one.failure else "missing"
        for query in result.queries:
            answer = answers.get(query.id)
            outcome = unknown if answer is None else answer.outcome
            seconds = None if answer is None else answer.latency
            row = (one.name, query.id, query.text, query.category, query.difficulty)
            for name, value in zip(known, (*row, outcome, seconds), strict=True):
                columns[name].append(value)
            for metric in metrics:
                columns[metric].append(values[metric].get(query.id))
    return columns


def _list_answers(record: ProviderRecord) -> Iterator[Any]:
    """Yield the answers of a record without building their hits."""
    from berryeval.runs import AnswerColumns

    answers = record.answers
    return answers.without_hits() if isinstance(answers, AnswerColumns) else iter(answers)


def _list_metrics(result: BenchmarkResult) -> list[str]:
    tables = [one.record.scores for one in result.providers if one.record.scores is not None]
    return list(dict.fromkeys(name for scores in tables for name in scores.metrics))


def preview(result: BenchmarkResult) -> str:
    """Render the providers with their metrics, the verdicts, the warnings and the worst queries."""
    record = result.record
    card = Card(
        f"Benchmark {record.name}",
        pluralize(len(result.queries), "query"),
        f"{pluralize(record.k, 'hit')} per query",
    )
    metrics = _list_metrics(result)
    shown = metrics[:MOST_METRICS]
    many = len(result.queries) > MOST_RESAMPLED
    title = "" if many else "Each value with its 95 % interval; the best is bold."
    card.add_table(
        ["provider", *shown, "median ms", "outcomes"],
        _show_providers(result, shown),
        caption=title,
        noun=("provider", "providers"),
    )
    notes = [f"{pluralize(len(metrics) - len(shown), 'more metric')}: to_frame() has all"]
    card.add_notes(notes if len(metrics) > len(shown) else [])
    card.add_notes(
        f"{one.status}: {one.sentence} ({one.provider})"
        for one in sorted(result.verdicts, key=lambda one: one.status == "pass")
    )
    card.add_notes(
        f"{one.name}: {text}"
        for one in result.providers
        for text in (*filter(None, [one.failure]), *one.warnings)
    )
    _add_worst(card, result, metrics)
    return card.render()


def _show_providers(result: BenchmarkResult, metrics: Sequence[str]) -> list[list[Content]]:
    tables = {one.name: one.record.scores for one in result.providers}
    best = {
        name: best_of([_value_of(scores, name) for scores in tables.values()], name)
        for name in metrics
    }
    rows: list[list[Content]] = []
    for one in result.providers:
        scores, latency = one.record.scores, one.latency
        row: list[Content] = [one.name]
        for name in metrics:
            value = _value_of(scores, name)
            cell = None
            if scores is not None and value is not None:
                cell = show_value(scores, name, bold=is_best(value, best[name]))
            row.append(cell)
        row.append(Cell(NOTHING if latency is None else format_milliseconds(latency.p50)))
        rows.append([*row, format_outcomes(one.record)])
    return rows


def _value_of(scores: Scores | None, metric: str) -> float | None:
    return None if scores is None or metric not in scores.metrics else scores.mean[metric]


def _add_worst(card: Card, result: BenchmarkResult, metrics: Sequence[str]) -> None:
    """Add the queries that all providers together answer worst, by the first metric."""
    metric = find_deciding(metrics)
    values = {
        one.name: one.record.scores.per_query(metric)
        for one in result.providers
        if metric and one.record.scores is not None and metric in one.record.scores.metrics
    }
    if not values:
        return
    sign = gain_sign(metric)
    full = sign * range_of(metric)[1 if sign > 0 else 0] - LIMIT_ROUNDING
    means = _average(values, [query.id for query in result.queries])
    wrong = [query for query in result.queries if sign * means.get(query.id, full) < full]
    wrong.sort(key=lambda query: sign * means[query.id])
    rows: list[list[Content]] = [
        [query.id, query.text, *(table.get(query.id) for table in values.values())]
        for query in wrong[:SHOWN]
    ]
    card.add_table(
        ["query", "text", *values],
        rows,
        caption=f"Worst queries by {metric}",
        total=len(wrong),
        noun=("query below the best value", "queries below the best value"),
    )


def _average(values: Mapping[str, Mapping[str, float]], queries: Sequence[str]) -> dict[str, float]:
    """Return the mean over the providers that have a value, by query."""
    found = {query: [one[query] for one in values.values() if query in one] for query in queries}
    return {query: sum(own) / len(own) for query, own in found.items() if own}
