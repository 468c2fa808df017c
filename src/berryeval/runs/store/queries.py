"""Queries of a store: lists of runs and whole runs."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlalchemy import ColumnElement, func, or_, select

from berryeval._internal.json import parse_json
from berryeval._internal.text import parse_timestamp
from berryeval._internal.validate import is_number
from berryeval.errors import BerryEvalError, DataError
from berryeval.metrics import direction_of
from berryeval.runner import count_failed
from berryeval.runs.record import RunRecord, StoredValue, read_plan_tags
from berryeval.runs.stages import Latency, read_amounts
from berryeval.runs.store.schema import (
    format_tags_column,
    measured,
    parts,
    results,
    runs,
    to_column_text,
    unpack,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select


T = TypeVar("T")
log = logging.getLogger("berryeval")


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
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RunPage:
    """Some of the runs that were asked for: those of page `number`, of `total` in all."""

    runs: tuple[StoredRun, ...]
    total: int
    number: int
    size: int

    @property
    def pages(self) -> int:
        """Number of pages; at least 1."""
        return max(1, -(-self.total // self.size))


@dataclass(frozen=True)
class RunOrder:
    """Order of runs, and the page to show.

    Attributes:
        sort: "created" (newest first), "name", "latency" (fastest p95 first), or a metric (best
            first, by the best provider that the filters leave).
        reverse: Whether to turn the order round; runs without a value stay last.
        number: Number of the page, from 1.
        size: Number of runs per page.
    """

    sort: str = "created"
    reverse: bool = False
    number: int = 1
    size: int = 50


@dataclass(frozen=True)
class FailedResult:
    """A provider that failed in a run and has no values."""

    run: str
    created: str
    benchmark: str
    provider: str
    failure: str


@dataclass(frozen=True)
class Filters:
    """Filters of runs by benchmark, provider, start time and tag.

    `tag` is the name of a tag, or name and value as in "model=small". Each of the `words` must be
    part of the name of the run, of a benchmark, a provider or a tag, in any case of letters.
    """

    benchmark: str | None = None
    provider: str | None = None
    since: float | None = None
    until: float | None = None
    tag: str | None = None
    words: str = ""

    def of_runs(self) -> list[ColumnElement[bool]]:
        """Return the SQL conditions on runs."""
        found: list[ColumnElement[bool]] = []
        if self.since is not None:
            found.append(runs.c.moment >= self.since)
        if self.until is not None:
            found.append(runs.c.moment <= self.until)
        if self.tag is not None:
            name, equals, wanted = self.tag.partition("=")
            pair = format_tags_column({name: wanted})[1:-1]
            beginning = pair if equals else pair.removesuffix('""')
            found.append(runs.c.tags.contains(beginning, autoescape=True))
        if inner := self.of_results():
            found.append(runs.c.key.in_(_RUNS_OF_RESULTS.where(*inner)))
        return [*found, *map(_match_word, self.words.split())]

    def of_results(self) -> list[ColumnElement[bool]]:
        """Return the SQL conditions on results."""
        found: list[ColumnElement[bool]] = []
        if self.benchmark is not None:
            found.append(parts.c.benchmark == to_column_text(self.benchmark))
        if self.provider is not None:
            found.append(results.c.provider == to_column_text(self.provider))
        return found


_RUNS_OF_RESULTS: Final = select(parts.c.run).select_from(
    parts.outerjoin(results, results.c.part == parts.c.key)
)


def _match_word(word: str) -> ColumnElement[bool]:
    text, (name, equals, value) = to_column_text(word), word.partition("=")
    tag = format_tags_column({name: value} if equals else {word: ""})[2 : -2 if equals else -6]
    named = (parts.c.benchmark, results.c.provider)
    inside = or_(*(column.icontains(text, autoescape=True) for column in named))
    return or_(
        runs.c.id.icontains(text, autoescape=True),
        runs.c.tags.icontains(tag, autoescape=True),
        runs.c.key.in_(_RUNS_OF_RESULTS.where(inside)),
    )


def match_runs(connection: Connection, filters: Filters, limit: int | None) -> list[Any]:
    """Return key, id, time and hash of the runs, newest first."""
    return list(connection.execute(_newest_first(filters, limit, *_RUN)))


_RUN: Final = (
    runs.c.key, runs.c.id, runs.c.created, runs.c.config_hash, runs.c.moment, runs.c.tags,
)  # fmt: skip


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
    chosen = _newest_first(filters, limit, runs.c.key)
    return _build_runs(connection, found, chosen, filters, metrics)


def page_runs(
    connection: Connection, filters: Filters, order: RunOrder, metrics: Sequence[str] | None
) -> RunPage:
    """Return one page of the runs, in an order."""
    conditions = filters.of_runs()
    total = connection.scalar(select(func.count()).select_from(runs).where(*conditions)) or 0
    asked = (
        _sort_runs(select(*_RUN), filters, order)
        .where(*conditions)
        .limit(order.size)
        .offset((order.number - 1) * order.size)
    )
    found = list(connection.execute(asked))
    keys = [row.key for row in found]
    listed = _build_runs(connection, found, keys, filters, metrics)
    return RunPage(tuple(listed), total, order.number, order.size)


def _sort_runs(found: Select[Any], filters: Filters, order: RunOrder) -> Select[Any]:
    newest = (runs.c.moment.desc(), runs.c.key.desc())
    if order.sort == "created":
        return found.order_by(*((runs.c.moment, runs.c.key) if order.reverse else newest))
    if order.sort == "name":
        return found.order_by(runs.c.id.desc() if order.reverse else runs.c.id)
    both = parts.join(results, results.c.part == parts.c.key)
    where, down = filters.of_results(), order.sort == "latency"
    column: ColumnElement[Any] = results.c.p95
    if not down:
        both = both.join(measured, measured.c.result == results.c.key)
        where.append(measured.c.metric == to_column_text(order.sort))
        column, down = measured.c.value, direction_of(order.sort) == "down"
    best = (func.min if down else func.max)(column).label("best")
    values = select(parts.c.run, best).select_from(both).where(*where).group_by(parts.c.run)
    known = values.subquery()
    value = known.c.best
    return (
        found.outerjoin(known, known.c.run == runs.c.key)
        .order_by(value.is_(None), value if down != order.reverse else value.desc())
        .order_by(*newest)
    )


def _build_runs(
    connection: Connection,
    found: Sequence[Any],
    chosen: Any,
    filters: Filters,
    metrics: Sequence[str] | None,
) -> list[StoredRun]:
    """Build the runs of these rows; `chosen` are their keys, or a query for them."""
    if not found:
        return []
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
        return StoredRun(row.id, row.created, row.config_hash, tuple(built), read_tags(row))

    return build_readable(found, build)


def build_readable(rows: Iterable[Any], build: Callable[[Any], T]) -> list[T]:
    """Build something of each row; log the runs that are damaged, and leave them out."""
    found, wrong = [], {}
    for row in rows:
        try:
            found.append(build(row))
        except BerryEvalError as error:  # noqa: PERF203 - a damaged row hides no other
            wrong[row.id] = error
    for run, problem in wrong.items():
        log.warning("run %s is damaged in the store and left out: %s", run, problem)
    return found


def read_numbers(text: str, owner: str) -> dict[str, float]:
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
        .with_only_columns(*VALUE)
        .where(parts.c.run.in_(chosen))
        .order_by(measured.c.result, measured.c.place)
    )
    if metrics is not None:
        wanted = wanted.where(measured.c.metric.in_(list(map(to_column_text, metrics))))
    for result, *value in connection.execute(wanted):
        found[result].append(StoredValue(*value))
    return found


VALUE = (
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
        row.failure, read_numbers(row.outcomes, f"{run}: outcomes"), latency, tuple(values),
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


def list_units(connection: Connection) -> list[str]:
    """Return the units of the costs of all results."""
    joined = results.join(parts, parts.c.key == results.c.part).join(
        runs, runs.c.key == parts.c.run
    )
    first = func.min(runs.c.id).label("id")
    asked = select(first, results.c.cost).select_from(joined).where(results.c.cost != "{}")
    rows = connection.execute(asked.group_by(results.c.cost))
    found = build_readable(rows, lambda row: read_numbers(row.cost, f"{row.id}: cost"))
    return sorted({unit for cost in found for unit in cost})


def list_tags(connection: Connection) -> list[tuple[str, str]]:
    """Return the names and values of the tags of all runs."""
    first = func.min(runs.c.id).label("id")
    found = connection.execute(select(first, runs.c.tags).group_by(runs.c.tags))
    return sorted({pair for tags in build_readable(found, read_tags) for pair in tags.items()})


def read_tags(row: Any) -> dict[str, str]:
    """Return the tags of a run."""
    found = parse_json(str(row.tags), f"{row.id}: tags")
    return read_plan_tags({"tags": found})


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
