"""Queries of a store: lists of runs, whole runs and trends."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

from sqlalchemy import ColumnElement, literal, null, select

from berryeval._internal.json import parse_json
from berryeval._internal.text import parse_timestamp
from berryeval._internal.validate import is_number
from berryeval.errors import DataError
from berryeval.runner import FAILED, count_failed
from berryeval.runs.data_changes import DataChange, DataVersion
from berryeval.runs.record import Asked, Latency, ProviderRecord, RunRecord, read_amounts
from berryeval.runs.store.schema import measured, parts, results, runs, to_column_text, unpack

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select


T = TypeVar("T")
log = logging.getLogger("berryeval")
TrendAbout: TypeAlias = Literal["metric", "latency", "cost"]


class Followed(NamedTuple):
    """What a trend follows: a metric, a percentile of the latency, or the mean cost in a unit."""

    about: TrendAbout
    name: str

    @property
    def title(self) -> str:
        """Its name beside others, as in gates: "nDCG@10", "latency p95" or "cost in usd"."""
        prefix = {"metric": "", "latency": "latency ", "cost": "cost in "}[self.about]
        return f"{prefix}{self.name}"


@dataclass(frozen=True)
class StoredValue:
    """A metric of a result: its mean over `n` queries and its 95 % confidence interval.

    Metrics that were not requested have no interval.
    """

    metric: str
    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class StoredResult:
    """The result of a provider on a benchmark, without answers."""

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
        """Number of queries without an answer, which count as 0."""
        return count_failed(self.outcomes)


@dataclass(frozen=True)
class StoredRun:
    """A run with its results, without answers."""

    id: str
    created: str
    config_hash: str
    results: tuple[StoredResult, ...] = ()


@dataclass(frozen=True)
class FailedResult:
    """A provider that failed in a run and has no values."""

    run: str
    created: str
    benchmark: str
    provider: str
    failure: str


@dataclass(frozen=True)
class SharedValues:
    """Values of two runs over the `n` queries that are the same in both; `run` is the earlier."""

    run: str
    before: float
    after: float
    n: int


@dataclass(frozen=True)
class TrendPoint:
    """The value of a metric, a latency (in seconds) or a cost in one run, with its conditions.

    `moment` is the start time in seconds since 1970, `sample` the hash of the query ids, `failed`
    the number of queries without an answer, which count as 0 in a metric and not at all in others,
    and `packed` the fingerprints of the queries. If the run before has other data, `since` compares
    the two.
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
    packed: bytes | None = field(default=None, repr=False)
    since: SharedValues | None = None
    followed: Followed | None = None

    def differs_from(self, before: TrendPoint) -> str:
        """Explain why two values cannot be compared; empty if they can.

        Values on changed data can, if some queries are the same and every query was asked.
        """
        change = self.change_since(before)
        if change is not None and change.compared:
            asked = change.missing or not set(change.new).isdisjoint(before.data.unasked)
            return "other queries were asked" if asked else ""
        return self.asked.differs_from(before.asked)

    def change_since(self, before: TrendPoint) -> DataChange | None:
        """Return what changed in the data; None if nothing did, or if it is not known."""
        if self.content_hash == before.content_hash or self.k != before.k:
            return None
        if not (self.packed and before.packed):
            return None
        return DataChange.between(before.data, self.data)

    @cached_property
    def data(self) -> DataVersion:
        """The data of the value, without the corpus."""
        try:
            found = unpack(self.packed, self.run) if self.packed else {}
            known, unasked = (
                dict(found.get("fingerprints", {})),
                frozenset(found.get("unasked", ())),
            )
        except (ValueError, TypeError) as error:  # damaged: as if nothing were known
            log.warning("the fingerprints of run %s in the store are damaged: %s", self.run, error)
            known, unasked = {}, frozenset()
        return DataVersion(self.content_hash, known, unasked=unasked)

    @property
    def asked(self) -> Asked:
        """Conditions of the value."""
        return Asked(self.content_hash, self.sample, self.k)


@dataclass(frozen=True)
class Filters:
    """Filters of runs by benchmark, provider and start time."""

    benchmark: str | None = None
    provider: str | None = None
    since: float | None = None
    until: float | None = None

    def of_runs(self) -> list[ColumnElement[bool]]:
        """Return the SQL conditions on runs."""
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
        """Return the SQL conditions on results."""
        found: list[ColumnElement[bool]] = []
        if self.benchmark is not None:
            found.append(parts.c.benchmark == to_column_text(self.benchmark))
        if self.provider is not None:
            found.append(results.c.provider == to_column_text(self.provider))
        return found


def match_runs(connection: Connection, filters: Filters, limit: int | None) -> list[Any]:
    """Return key, id, time and hash of the runs, newest first."""
    columns = (runs.c.key, runs.c.id, runs.c.created, runs.c.config_hash, runs.c.moment)
    return list(connection.execute(_newest_first(filters, limit, *columns)))


def _newest_first(filters: Filters, limit: int | None, *columns: ColumnElement[Any]) -> Select[Any]:
    return (
        select(*columns)
        .where(*filters.of_runs())
        .order_by(runs.c.moment.desc(), runs.c.key.desc())
        .limit(limit)
    )


def list_runs(
    connection: Connection, filters: Filters, limit: int | None, metrics: Sequence[str] | None
) -> list[StoredRun]:
    """Return the runs with the values of these or all metrics, newest first."""
    found = match_runs(connection, filters, limit)
    if not found:
        return []
    chosen = _newest_first(filters, limit, runs.c.key)
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
    values = _load_values(connection, chosen, metrics)
    below: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        below[row.run].append(row)

    def build(row: Any) -> StoredRun:
        parse_timestamp(row.created, row.id)
        built = [_build_result(one, values.get(one.key, []), row.id) for one in below[row.key]]
        return StoredRun(row.id, row.created, row.config_hash, tuple(built))

    return _build_readable(found, build)


def _build_readable(rows: Iterable[Any], build: Callable[[Any], T]) -> list[T]:
    """Build something of each row; log the runs that are damaged, and leave them out."""
    found, wrong = [], {}
    for row in rows:
        try:
            found.append(build(row))
        except DataError as error:  # noqa: PERF203 - a damaged row hides no other
            wrong[row.id] = error
    for run, problem in wrong.items():
        log.warning("run %s is damaged in the store and left out: %s", run, problem)
    return found


def _read_amounts(text: str, owner: str) -> dict[str, float]:
    """Read a column with numbers by name."""
    return read_amounts(parse_json(str(text), owner), owner)


def _load_values(
    connection: Connection, chosen: Any, metrics: Sequence[str] | None
) -> dict[int, list[StoredValue]]:
    """Return the values by result."""
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
        wanted = wanted.where(measured.c.metric.in_(list(map(to_column_text, metrics))))
    for result, *value in connection.execute(wanted):
        found[result].append(StoredValue(*value))
    return found


_VALUE = (
    measured.c.result, measured.c.metric, measured.c.value, measured.c.low, measured.c.high,
    measured.c.n,
)  # fmt: skip


def _build_result(row: Any, values: list[StoredValue], run: str) -> StoredResult:
    times = (row.p50, row.p95, row.p99, row.max)
    latency = None if row.p50 is None else Latency(*times)
    numbers = [one.value for one in values] + ([*times] if latency else [])
    if not all(map(is_number, numbers)):
        raise DataError(f"{run}: a value of {row.provider} on {row.benchmark} is not a number")
    return StoredResult(
        row.benchmark, row.content_hash, row.k, row.queries, row.provider, row.type, row.chunker,
        row.failure, _read_amounts(row.outcomes, f"{run}: outcomes"), latency, tuple(values),
    )  # fmt: skip


def load_run(connection: Connection, name: str, owner: str) -> RunRecord | None:
    """Return the record of a run, or None."""
    row = connection.execute(
        select(runs.c.key, runs.c.head).where(runs.c.id == to_column_text(name))
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


def load_trend(
    connection: Connection, followed: Followed, filters: Filters, tag: str = ""
) -> list[TrendPoint]:
    """Return the values of a trend, oldest first; with a tag, by provider and its value."""
    found = (
        _select_values(followed)
        .add_columns(runs.c.id, runs.c.created, runs.c.moment, parts.c.benchmark)
        .add_columns(results.c.provider, parts.c.content_hash, parts.c.sample, parts.c.k)
        .add_columns(results.c.outcomes, results.c.data, runs.c.head)
        .join(parts, parts.c.key == results.c.part)
        .join(runs, runs.c.key == parts.c.run)
        .where(*filters.of_runs(), *filters.of_results())
        .order_by(runs.c.moment, runs.c.key, parts.c.place, results.c.place)
    )
    rows: list[Any] = list(connection.execute(found))
    built = _build_readable(rows, lambda row: _build_point(row, followed, tag))
    points = [one[0] for one in built if one is not None]
    labels = [one[1] for one in built if one is not None]
    compared = _compare_newest(connection, points, labels)
    return [replace(one, provider=label) for one, label in zip(compared, labels, strict=True)]


def _build_point(row: Any, followed: Followed, tag: str) -> tuple[TrendPoint, str] | None:
    """Return a point and the label of its line; None if it has no cost in the unit."""
    amount = row.value
    if followed.about == "cost":
        amount = _read_amounts(amount, f"{row.id}: cost").get(followed.name)
        if amount is None:
            return None
    if not is_number(amount):
        raise DataError(f"{row.id}: the {followed.title} of {row.provider} is not a number")
    point = TrendPoint(
        row.id, row.created, row.moment, row.benchmark, row.provider,
        StoredValue(row.metric, amount, row.low, row.high, row.n),
        row.content_hash, row.sample, row.k,
        count_failed(_read_amounts(row.outcomes, f"{row.id}: outcomes")), row.data,
        followed=followed,
    )  # fmt: skip
    return point, f"{row.provider}{_describe_tag(row, tag)}"


def _select_values(followed: Followed) -> Select[Any]:
    """Select name, value, interval and number of queries; costs are JSON with all units."""
    about, name = followed
    if about == "metric":
        joined = measured.join(results, results.c.key == measured.c.result)
        found = select(*_VALUE[1:]).select_from(joined)
        return found.where(measured.c.metric == to_column_text(name))
    column: ColumnElement[Any] = results.c.cost if about == "cost" else results.c[name]
    ends = (null().label("low"), null().label("high"))
    title = literal(followed.title).label("metric")
    found = select(title, column.label("value"), *ends, parts.c.queries.label("n"))
    return found.select_from(results).where(column.is_not(None))


def list_units(connection: Connection) -> list[str]:
    """Return the units of the costs of all results."""
    joined = results.join(parts, parts.c.key == results.c.part).join(
        runs, runs.c.key == parts.c.run
    )
    rows = connection.execute(select(runs.c.id, results.c.cost).select_from(joined))
    found = _build_readable(rows, lambda row: _read_amounts(row.cost, f"{row.id}: cost"))
    return sorted({unit for cost in found for unit in cost})


def list_tags(connection: Connection) -> list[str]:
    """Return the names of the tags of all runs."""
    found = connection.execute(select(runs.c.id, runs.c.head))
    return sorted({name for tags in _build_readable(found, _read_tags) for name in tags})


def _read_tags(row: Any) -> Mapping[str, str]:
    return RunRecord.from_json({**unpack(row.head, row.id), "benchmarks": []}, row.id).tags


def _describe_tag(row: Any, tag: str) -> str:
    if not tag:
        return ""
    tags = _read_tags(row)
    return f" ({tag}={tags[tag]})" if tag in tags else ""


def _compare_newest(
    connection: Connection, points: list[TrendPoint], labels: list[str]
) -> list[TrendPoint]:
    """Compare the newest value of each line with the one before, if their data differ."""
    lines: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, point in enumerate(points):
        lines[point.benchmark, labels[place]].append(place)
    found = list(points)
    for places in lines.values():
        newest = points[places[-1]]
        same = (points[place] for place in reversed(places[:-1]))
        before = next((one for one in same if not newest.differs_from(one)), None)
        change = None if before is None else newest.change_since(before)
        if before is not None and change is not None:
            try:
                old = _load_shared(connection, before, change.compared)
                new = _load_shared(connection, newest, change.compared)
            except DataError as error:
                log.warning("%s is not compared with %s: %s", newest.run, before.run, error)
                continue
            if old is not None and new is not None:
                shared = SharedValues(before.run, old, new, len(change.compared))
                found[places[-1]] = replace(newest, since=shared)
    return found


def _load_shared(connection: Connection, point: TrendPoint, queries: Sequence[str]) -> float | None:
    """Return the value of a point over these of its queries; None without an answer."""
    body: Any = connection.scalar(
        select(results.c.body)
        .join(parts, parts.c.key == results.c.part)
        .join(runs, runs.c.key == parts.c.run)
        .where(runs.c.id == to_column_text(point.run))
        .where(parts.c.benchmark == to_column_text(point.benchmark))
        .where(results.c.provider == to_column_text(point.provider))
    )
    record = ProviderRecord.from_json(unpack(body, point.run), point.run)
    if point.followed is not None and point.followed.about != "metric":
        return _summarize_answers(record, point.followed, set(queries))
    scores = record.scores_with(point.value.metric)
    if scores is None:
        raise DataError(f"{point.run}: the store has no {point.value.metric} by query")
    return scores.select(queries).mean[point.value.metric]


def _summarize_answers(
    record: ProviderRecord, followed: Followed, queries: set[str]
) -> float | None:
    """Return a latency or a mean cost over the answered ones of these queries, if any."""
    answers = [
        one for one in record.answers if one.query_id in queries and one.outcome not in FAILED
    ]
    if followed.about == "cost":
        amounts = [float(one.cost.get(followed.name, 0)) for one in answers]
        return sum(amounts) / len(amounts) if amounts else None
    times = Latency.of([one.latency for one in answers if one.latency is not None])
    return None if times is None else float(getattr(times, followed.name))


def find_failures(connection: Connection, filters: Filters) -> list[FailedResult]:
    """Return the failed providers, oldest first."""
    found = (
        select(runs.c.id, runs.c.created, parts.c.benchmark, results.c.provider, results.c.failure)
        .join(parts, parts.c.run == runs.c.key)
        .join(results, results.c.part == parts.c.key)
        .where(results.c.failure != "", *filters.of_runs(), *filters.of_results())
        .order_by(runs.c.moment, runs.c.key, parts.c.place, results.c.place)
    )
    return [FailedResult(*row) for row in connection.execute(found)]


def distinct_names(connection: Connection, column: ColumnElement[str]) -> list[str]:
    """Return the distinct values of a column, sorted."""
    return list(connection.scalars(select(column).distinct().order_by(column)))
