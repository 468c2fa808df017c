"""What is asked of a store: lists of runs, whole runs, values over time."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, select

from berryeval.runner import failed_of
from berryeval.runs.record import Asked, Latency, RunRecord
from berryeval.runs.store.schema import column_text, measured, parts, results, runs, unpack

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection, Select


# What lists and trends show of a run, without its answers.


@dataclass(frozen=True)
class StoredValue:
    """One metric of one result.

    Attributes:
        metric: its canonical name.
        value: over all queries.
        low: where its 95 % interval begins; None for metrics that nobody asked for.
        high: where it ends.
        n: of how many queries.
    """

    metric: str
    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class StoredResult:
    """What a provider did on a benchmark."""

    benchmark: str
    content_hash: str
    k: int
    queries: int
    provider: str
    type: str
    chunker: str
    failure: str
    outcomes: Mapping[str, Any]
    latency: Latency | None
    values: tuple[StoredValue, ...] = ()

    @property
    def failed(self) -> int:
        """How many queries ended without an answer, and count as 0."""
        return failed_of(self.outcomes)


@dataclass(frozen=True)
class StoredRun:
    """A run: its name, when it was started, and what each provider reached."""

    id: str
    created: str
    config_hash: str
    results: tuple[StoredResult, ...] = ()


@dataclass(frozen=True)
class FailedResult:
    """A provider that has no value in a run, for it failed altogether.

    Attributes:
        run: which run.
        created: when it was started, as its record says.
        benchmark: on what.
        provider: who.
        failure: why.
    """

    run: str
    created: str
    benchmark: str
    provider: str
    failure: str


@dataclass(frozen=True)
class TrendPoint:
    """The value of a metric in one run.

    Attributes:
        run: which run.
        created: when it was started, as its record says.
        moment: the same in seconds since 1970, for axes.
        benchmark: of what.
        provider: by whom.
        value: what was reached.
        content_hash: of the benchmark at that time.
        sample: a hash of the queries that were asked.
        k: how many hits were asked for.
        failed: how many queries ended without an answer, and count as 0.
    """

    run: str
    created: str
    moment: float
    benchmark: str
    provider: str
    value: StoredValue
    content_hash: str
    sample: str
    k: int
    failed: int = 0

    def differs_from(self, before: TrendPoint) -> str:
        """Why the two values cannot be compared; empty if they can."""
        return self.asked.differs_from(before.asked)

    @property
    def asked(self) -> Asked:
        """What the value depends on besides the provider."""
        return Asked(self.content_hash, self.sample, self.k)


@dataclass(frozen=True)
class Filters:
    """Which runs: those with such a benchmark and provider, started in this time."""

    benchmark: str | None = None
    provider: str | None = None
    since: float | None = None
    until: float | None = None

    def of_runs(self) -> list[ColumnElement[bool]]:
        """The conditions on a run."""
        found: list[ColumnElement[bool]] = []
        if self.since is not None:
            found.append(runs.c.moment >= self.since)
        if self.until is not None:
            found.append(runs.c.moment <= self.until)
        inner = self.of_results()
        if inner:
            both = parts.join(results, results.c.part == parts.c.key)
            found.append(runs.c.key.in_(select(parts.c.run).select_from(both).where(*inner)))
        return found

    def of_results(self) -> list[ColumnElement[bool]]:
        """The conditions on what a provider did."""
        found: list[ColumnElement[bool]] = []
        if self.benchmark is not None:
            found.append(parts.c.benchmark == column_text(self.benchmark))
        if self.provider is not None:
            found.append(results.c.provider == column_text(self.provider))
        return found


def matching(connection: Connection, filters: Filters, limit: int | None) -> list[Any]:
    """Key, id, time and hash of the runs, the newest first."""
    columns = (runs.c.key, runs.c.id, runs.c.created, runs.c.config_hash, runs.c.moment)
    return list(connection.execute(_newest(filters, limit, *columns)))


def _newest(filters: Filters, limit: int | None, *columns: ColumnElement[Any]) -> Select[Any]:
    return (
        select(*columns)
        .where(*filters.of_runs())
        .order_by(runs.c.moment.desc(), runs.c.id.desc())
        .limit(limit)
    )


def listed(
    connection: Connection, filters: Filters, limit: int | None, metrics: Sequence[str] | None
) -> list[StoredRun]:
    """The runs with their values, the newest first; of these metrics, or of all."""
    found = matching(connection, filters, limit)
    if not found:
        return []
    chosen = _newest(filters, limit, runs.c.key)
    rows = connection.execute(
        select(parts, results)
        .join(results, results.c.part == parts.c.key)
        .with_only_columns(
            parts.c.run, parts.c.benchmark, parts.c.content_hash, parts.c.k, parts.c.queries,
            results.c.key, results.c.provider, results.c.type, results.c.chunker,
            results.c.failure, results.c.outcomes,
            results.c.p50, results.c.p95, results.c.p99, results.c.max,
        )
        .where(parts.c.run.in_(chosen), *filters.of_results())
        .order_by(parts.c.run, parts.c.place, results.c.place)
    ).all()  # fmt: skip
    values = _values(connection, chosen, metrics)
    below: dict[int, list[StoredResult]] = defaultdict(list)
    for row in rows:
        below[row.run].append(_result(row, values.get(row.key, [])))
    return [StoredRun(row.id, row.created, row.config_hash, tuple(below[row.key])) for row in found]


def _values(
    connection: Connection, chosen: Any, metrics: Sequence[str] | None
) -> dict[int, list[StoredValue]]:
    """The values by result."""
    found: dict[int, list[StoredValue]] = defaultdict(list)
    wanted = (
        select(measured)
        .join(results, results.c.key == measured.c.result)
        .join(parts, parts.c.key == results.c.part)
        .with_only_columns(*_VALUE)
        .where(parts.c.run.in_(chosen))
        .order_by(measured.c.result, measured.c.place)
    )
    if metrics is not None:
        wanted = wanted.where(measured.c.metric.in_(list(map(column_text, metrics))))
    for result, *value in connection.execute(wanted):
        found[result].append(StoredValue(*value))
    return found


_VALUE = (
    measured.c.result, measured.c.metric, measured.c.value, measured.c.low, measured.c.high,
    measured.c.n,
)  # fmt: skip


def _result(row: Any, values: list[StoredValue]) -> StoredResult:
    latency = None if row.p50 is None else Latency(row.p50, row.p95, row.p99, row.max)
    return StoredResult(
        row.benchmark, row.content_hash, row.k, row.queries, row.provider, row.type, row.chunker,
        row.failure, json.loads(row.outcomes), latency, tuple(values),
    )  # fmt: skip


def whole_run(connection: Connection, name: str, owner: str) -> RunRecord | None:
    """The record of a run; None if there is no such run."""
    row = connection.execute(
        select(runs.c.key, runs.c.head).where(runs.c.id == column_text(name))
    ).one_or_none()
    if row is None:
        return None
    below: dict[int, list[Any]] = defaultdict(list)
    both = select(results.c.part, results.c.body).join(parts, parts.c.key == results.c.part)
    for part, body in connection.execute(
        both.where(parts.c.run == row.key).order_by(results.c.place)
    ):
        below[part].append(unpack(body, owner))
    of_run = select(parts.c.key, parts.c.body).where(parts.c.run == row.key)
    benchmarks = [
        {**unpack(body, owner), "providers": below[key]}
        for key, body in connection.execute(of_run.order_by(parts.c.place))
    ]
    return RunRecord.from_json({**unpack(row.head, owner), "benchmarks": benchmarks}, owner)


def trend_points(connection: Connection, metric: str, filters: Filters) -> list[TrendPoint]:
    """The values of a metric, the oldest first."""
    found = (
        select(runs.c.id, runs.c.created, runs.c.moment, parts.c.benchmark, results.c.provider)
        .add_columns(*_VALUE[1:], parts.c.content_hash, parts.c.sample, parts.c.k)
        .add_columns(results.c.outcomes)
        .select_from(measured)
        .join(results, results.c.key == measured.c.result)
        .join(parts, parts.c.key == results.c.part)
        .join(runs, runs.c.key == parts.c.run)
        .where(measured.c.metric == column_text(metric))
        .where(*filters.of_runs(), *filters.of_results())
        .order_by(runs.c.moment, runs.c.id, parts.c.place, results.c.place)
    )
    rows: list[Any] = list(connection.execute(found))
    return [
        TrendPoint(
            row.id, row.created, row.moment, row.benchmark, row.provider, StoredValue(*row[5:10]),
            row.content_hash, row.sample, row.k, failed_of(json.loads(row.outcomes)),
        )
        for row in rows
    ]  # fmt: skip


def failed_results(connection: Connection, filters: Filters) -> list[FailedResult]:
    """The providers that failed altogether, the oldest first."""
    found = (
        select(runs.c.id, runs.c.created, parts.c.benchmark, results.c.provider, results.c.failure)
        .join(parts, parts.c.run == runs.c.key)
        .join(results, results.c.part == parts.c.key)
        .where(results.c.failure != "", *filters.of_runs(), *filters.of_results())
        .order_by(runs.c.moment, runs.c.id, parts.c.place, results.c.place)
    )
    return [FailedResult(*row) for row in connection.execute(found)]


def known_names(connection: Connection, column: ColumnElement[str]) -> list[str]:
    """The different values of a column, in their order."""
    return list(connection.scalars(select(column).distinct().order_by(column)))
