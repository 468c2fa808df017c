"""`Store`: past runs in a database."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sqlalchemy import delete, insert, select

from berryeval._internal.validate import nearest, require, suggest
from berryeval.errors import ConfigurationError, DataError, MetricError
from berryeval.metrics import parse_metric
from berryeval.runs.store.database import Database, Place
from berryeval.runs.store.queries import (
    Filters,
    RunOrder,
    distinct_names,
    find_failures,
    list_runs,
    list_tags,
    list_units,
    load_run,
    match_runs,
    page_runs,
)
from berryeval.runs.store.schema import (
    TIMES,
    hash_identity,
    hash_record,
    measured,
    pack_parts,
    pack_run,
    parts,
    results,
    runs,
    to_column_text,
)
from berryeval.runs.store.trends import Followed, load_recent, load_trend
from berryeval.runs.store.users import Users

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

    from berryeval._internal.files import PathLike
    from berryeval.runs.record import RunRecord
    from berryeval.runs.store.queries import FailedResult, RunPage, StoredRun
    from berryeval.runs.store.schema import PackedPart
    from berryeval.runs.store.trends import Owner, TrendPoint


How: TypeAlias = Literal["added", "there already", "replaced", "differs"]


@dataclass(frozen=True)
class Added:
    """The result of adding a record.

    Attributes:
        id: Name of the run in the store; longer than its own if another run has that name.
        how: "added", "there already" (identical), "replaced" (the content differed), or "differs"
            (the content differs and was not replaced).
    """

    id: str
    how: How


@contextmanager
def open_store(place: PathLike, *, make: bool = True) -> Iterator[Store]:
    """Open a store.

    A store with an older schema is upgraded. A store with a newer schema and a SQLite file with
    other tables are errors.

    Args:
        place: A path, `sqlite:///path`, or `postgresql://user:password@host/name`.
        make: Whether to create a missing store; otherwise it is a `NoStoreError`.
    """
    database = Database(Place.of(place), make=make)
    try:
        yield Store(database)
    finally:
        database.close()


class Store:
    """A store of past runs, and of the people who may see them; every call is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.shown = database.place.shown
        self.users = Users(database)

    def add(self, record: RunRecord, *, replace_content: bool = False) -> Added:
        """Add a run, unless the store has it already.

        If another run has the same name, the new one gets a longer name. With `replace_content`,
        the same run with other content, as after `eval --resume`, replaces the old one.
        """
        with self._database.reading() as connection:
            known = _find_run(connection, record.id)
        if known is not None and known.digest == hash_record(record):
            return Added(record.id, "there already")
        body = pack_parts(record)  # slow, so before the transaction that blocks other writers
        longer = f"{record.id}-{hash_identity(record)[:8]}"
        with self._database.writing() as connection:
            for name in (record.id, longer):
                one = replace(record, id=name)
                known = _find_run(connection, name)
                if known is not None and known.identity != hash_identity(one):
                    continue  # another run
                return _write_if_new(connection, known, one, body, replace_content=replace_content)
        raise DataError(
            f"the store {self.shown} has other runs {record.id} and {longer}; rename this one"
        )

    def get(self, name: str) -> RunRecord:
        """Return the record of a run, identical to the one that was added."""
        with self._database.reading() as connection:
            found = load_run(connection, name, f"run {name} of the store {self.shown}")
        if found is None:
            near = nearest(name, self.names())
            hint = f"; {suggest(name, near)}" if near else ""
            raise DataError(f"no run {name!r} in the store {self.shown}{hint}")
        return found

    def digest(self, name: str) -> str | None:
        """Return a hash of the content of a run; None if the store does not have it."""
        with self._database.reading() as connection:
            found = _find_run(connection, name)
            return None if found is None else str(found.digest)

    def list_runs(
        self,
        filters: Filters | None = None,
        *,
        limit: int | None = None,
        metrics: Sequence[str] | None = None,
    ) -> list[StoredRun]:
        """Return the runs without their answers, newest first.

        Args:
            filters: Filters of runs and results.
            limit: Maximum number of runs; None or 0 for all.
            metrics: Metrics to return, in any spelling; None for all.
        """
        if limit is not None and limit < 0:
            raise ConfigurationError(f"limit must be 0 (all runs) or more, found {limit}")
        names = None if metrics is None else list(map(canonical_metric, metrics))
        with self._database.reading() as connection:
            return list_runs(connection, filters or Filters(), limit or None, names)

    def page_runs(
        self,
        filters: Filters | None = None,
        *,
        sort: str = "created",
        reverse: bool = False,
        number: int = 1,
        size: int = 50,
        metrics: Sequence[str] | None = None,
    ) -> RunPage:
        """Return one page of the runs, without their answers.

        Args:
            filters: Filters of runs and results.
            sort: "created" (newest first), "name", "latency" (fastest first), or a metric in any
                spelling (best first).
            reverse: Turn the order round.
            number: Number of the page, from 1.
            size: Runs per page.
            metrics: Metrics to return, in any spelling; None for all.
        """
        require(number >= 1, "page", "1 or more", number)
        require(size >= 1, "size", "1 or more", size)
        known = sort if sort in {"created", "name", "latency"} else canonical_metric(sort)
        names = None if metrics is None else list(map(canonical_metric, metrics))
        order = RunOrder(known, reverse, number, size)
        with self._database.reading() as connection:
            return page_runs(connection, filters or Filters(), order, names)

    def names(self, filters: Filters | None = None) -> list[str]:
        """Return the names of the runs, newest first."""
        return [name for name, _ in self.times(filters)]

    def times(self, filters: Filters | None = None) -> list[tuple[str, float]]:
        """Return the names and start times (seconds since 1970) of the runs, newest first."""
        with self._database.reading() as connection:
            return [
                (row.id, row.moment) for row in match_runs(connection, filters or Filters(), None)
            ]

    def trend(
        self,
        metric: str = "",
        filters: Filters | None = None,
        *,
        latency: str = "",
        cost: str = "",
        tag: str = "",
    ) -> list[TrendPoint]:
        """Return values over time, oldest first.

        Args:
            metric: Metric in any spelling.
            filters: Filters of runs and results.
            latency: Instead of a metric, a percentile of the latency: p50, p95, p99 or max.
            cost: Instead of a metric, the unit of a mean cost per query, such as usd.
            tag: Distinguish providers by the value of this tag: "dense (model=small)".
        """
        require(not latency or latency in TIMES, "latency", f"one of {', '.join(TIMES)}", latency)
        asked = (
            Followed("metric", metric and canonical_metric(metric)),
            Followed("latency", latency),
            Followed("cost", cost),
        )
        found = [one for one in asked if one.name]
        if len(found) != 1:
            raise ConfigurationError(
                f"a trend follows one of metric, latency and cost, found {len(found)}"
            )
        with self._database.reading() as connection:
            return load_trend(connection, found[0], filters or Filters(), tag)

    def recent_values(
        self, metric: str, wanted: Collection[Owner], count: int
    ) -> dict[Owner, tuple[float, ...]]:
        """Return the last comparable values up to each run, benchmark and provider."""
        with self._database.reading() as connection:
            return load_recent(connection, canonical_metric(metric), wanted, count)

    def failures(self, filters: Filters | None = None) -> list[FailedResult]:
        """Return the providers that failed and have no values, oldest first."""
        with self._database.reading() as connection:
            return find_failures(connection, filters or Filters())

    def metrics(self) -> list[str]:
        """Return the metrics of all runs."""
        with self._database.reading() as connection:
            return distinct_names(connection, measured.c.metric)

    def benchmarks(self) -> list[str]:
        """Return the benchmarks of all runs."""
        with self._database.reading() as connection:
            return distinct_names(connection, parts.c.benchmark)

    def providers(self) -> list[str]:
        """Return the providers of all runs."""
        with self._database.reading() as connection:
            return distinct_names(connection, results.c.provider)

    def costs(self) -> list[str]:
        """Return the units of the costs of all runs."""
        with self._database.reading() as connection:
            return list_units(connection)

    def tags(self) -> list[str]:
        """Return the names of the tags of all runs."""
        with self._database.reading() as connection:
            return list(dict.fromkeys(name for name, _ in list_tags(connection)))

    def tag_values(self) -> list[str]:
        """Return the tags of all runs with their values, such as "model=small"."""
        with self._database.reading() as connection:
            return [f"{name}={value}" for name, value in list_tags(connection)]

    def delete(self, names: Sequence[str]) -> int:
        """Delete runs in one transaction; return how many existed."""
        with self._database.writing() as connection:
            count = 0
            for name in names:
                gone = delete(runs).where(runs.c.id == to_column_text(name))
                count += connection.execute(gone).rowcount
        if count:
            self._database.tidy()
        return count


def canonical_metric(metric: str) -> str:
    """Return the name of a metric in the store; an unknown name stays as it is."""
    try:
        return str(parse_metric(metric))
    except MetricError:
        return metric  # a custom metric that this process has not registered


def _find_run(connection: Connection, name: str) -> Any:
    """Return the key and hashes of the run with this name, or None."""
    wanted = select(runs.c.key, runs.c.identity, runs.c.digest)
    return connection.execute(wanted.where(runs.c.id == to_column_text(name))).one_or_none()


def _write_if_new(
    connection: Connection,
    known: Any,
    record: RunRecord,
    body: list[PackedPart],
    *,
    replace_content: bool,
) -> Added:
    if known is None:
        _write_run(connection, record, body)
        return Added(record.id, "added")
    if known.digest == hash_record(record):
        return Added(record.id, "there already")
    if not replace_content:
        return Added(record.id, "differs")
    connection.execute(delete(runs).where(runs.c.key == known.key))
    _write_run(connection, record, body)
    return Added(record.id, "replaced")


def _write_run(connection: Connection, record: RunRecord, body: list[PackedPart]) -> None:
    run = _insert_row(connection, runs, pack_run(record))
    for place, (part, below) in enumerate(body):
        part_key = _insert_row(connection, parts, {"run": run, "place": place, **part})
        for inner, (result, values) in enumerate(below):
            key = _insert_row(connection, results, {"part": part_key, "place": inner, **result})
            if values:
                connection.execute(insert(measured), [{"result": key, **one} for one in values])


def _insert_row(connection: Connection, table: Table, row: dict[str, Any]) -> int:
    key = connection.execute(insert(table).values(row)).inserted_primary_key
    return int(key[0]) if key else 0
