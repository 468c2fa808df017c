"""`Store`: the runs that were made, kept in a database."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sqlalchemy import delete, insert, select

from berryeval._internal.validate import nearest
from berryeval.errors import ConfigurationError, DataError, MetricError
from berryeval.metrics import parse_metric
from berryeval.runs.store.database import Database, Place
from berryeval.runs.store.queries import (
    Filters,
    failed_results,
    known_names,
    listed,
    matching,
    trend_points,
    whole_run,
)
from berryeval.runs.store.schema import (
    column_text,
    digest_of,
    identity_of,
    measured,
    packed_parts,
    parts,
    results,
    run_row,
    runs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection, Table

    from berryeval._internal.files import PathLike
    from berryeval.runs.record import RunRecord
    from berryeval.runs.store.queries import FailedResult, StoredRun, TrendPoint
    from berryeval.runs.store.schema import PackedPart


How: TypeAlias = Literal["added", "there already", "replaced", "differs"]


@dataclass(frozen=True)
class Added:
    """What became of a record that was to be kept.

    Attributes:
        id: under which name the run is in the store: its own, unless another run has that.
        how: "added", "there already" (the same to the bit), "replaced" (it was there with other
            content), or "differs" (it is there with other content, which stays).
    """

    id: str
    how: How


@contextmanager
def open_store(place: PathLike, *, make: bool = True) -> Iterator[Store]:
    """Open a store: a path, `sqlite:///path`, or `postgresql://user:password@host/name`.

    One of an older schema is brought to that of today; one of a newer is refused, and so is a
    SQLite file that has tables of something else.

    Args:
        place: where it is.
        make: make the file and the tables of a store that does not exist yet; without, nothing is
            written, and that there is none is an error (`NoStoreError`).
    """
    database = Database(Place.of(place), make=make)
    try:
        yield Store(database)
    finally:
        database.close()


class Store:
    """The runs that were made. Every call is one transaction: it happens whole or not at all."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.shown = database.place.shown

    def add(self, record: RunRecord, *, replace_content: bool = False) -> Added:
        """Keep a run; one that is there already is not kept twice.

        Another run of the same name stays: the new one gets a longer name. The same run with other
        content, as after `eval --resume`, takes the place of the old with `replace_content`.
        """
        with self._database.reading() as connection:
            known = _known(connection, record.id)
        if known is not None and known.digest == digest_of(record):
            return Added(record.id, "there already")
        body = packed_parts(record)  # before the transaction: it takes time, and others would wait
        longer = f"{record.id}-{identity_of(record)[:8]}"
        with self._database.writing() as connection:
            for name in (record.id, longer):
                one = replace(record, id=name)
                known = _known(connection, name)
                if known is not None and known.identity != identity_of(one):
                    continue  # another run
                return _settled(connection, known, one, body, replace_content=replace_content)
        msg = f"the store {self.shown} has other runs called {record.id} and {longer}; rename this"
        raise DataError(msg)

    def get(self, name: str) -> RunRecord:
        """The record of a run, equal to the one that was added, scores to the bit."""
        with self._database.reading() as connection:
            found = whole_run(connection, name, f"run {name} of the store {self.shown}")
        if found is None:
            near = nearest(name, self.names())
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            msg = f"no run {name!r} in the store {self.shown}{hint}"
            raise DataError(msg)
        return found

    def list_runs(
        self,
        filters: Filters | None = None,
        *,
        limit: int | None = None,
        metrics: Sequence[str] | None = None,
    ) -> list[StoredRun]:
        """The runs, the newest first, without their answers.

        Args:
            filters: which runs, and which results of them.
            limit: at most so many; None or 0 for all.
            metrics: only the values of these, by any spelling; of all if None.
        """
        if limit is not None and limit < 0:
            msg = f"limit must be 0 (all runs) or more, found {limit}"
            raise ConfigurationError(msg)
        names = None if metrics is None else list(map(canonical, metrics))
        with self._database.reading() as connection:
            return listed(connection, filters or Filters(), limit or None, names)

    def names(self, filters: Filters | None = None) -> list[str]:
        """The names of the runs, the newest first."""
        return [name for name, _ in self.times(filters)]

    def times(self, filters: Filters | None = None) -> list[tuple[str, float]]:
        """The names of the runs and when they were started (seconds since 1970), newest first."""
        with self._database.reading() as connection:
            return [
                (row.id, row.moment) for row in matching(connection, filters or Filters(), None)
            ]

    def trend(self, metric: str, filters: Filters | None = None) -> list[TrendPoint]:
        """The values of a metric over time, the oldest first, by any spelling of its name."""
        name = canonical(metric)
        with self._database.reading() as connection:
            return trend_points(connection, name, filters or Filters())

    def failures(self, filters: Filters | None = None) -> list[FailedResult]:
        """The providers that failed altogether and have no values, the oldest first."""
        with self._database.reading() as connection:
            return failed_results(connection, filters or Filters())

    def metrics(self) -> list[str]:
        """The metrics that any run has."""
        with self._database.reading() as connection:
            return known_names(connection, measured.c.metric)

    def benchmarks(self) -> list[str]:
        """The benchmarks that any run is of."""
        with self._database.reading() as connection:
            return known_names(connection, parts.c.benchmark)

    def providers(self) -> list[str]:
        """The providers that any run has asked."""
        with self._database.reading() as connection:
            return known_names(connection, results.c.provider)

    def delete(self, names: Sequence[str]) -> int:
        """Forget these runs, all or none; how many there were."""
        with self._database.writing() as connection:
            count = 0
            for name in names:
                gone = delete(runs).where(runs.c.id == column_text(name))
                count += connection.execute(gone).rowcount
        if count:
            self._database.tidy()
        return count


def canonical(metric: str) -> str:
    """The name under which the values of a metric are kept; a name nobody knows is kept as is."""
    try:
        return str(parse_metric(metric))
    except MetricError:
        return metric  # a metric of the user, who has not registered it in this process


def _known(connection: Connection, name: str) -> Any:
    """The key and hashes of a run; None if there is none of this name."""
    wanted = select(runs.c.key, runs.c.identity, runs.c.digest)
    return connection.execute(wanted.where(runs.c.id == column_text(name))).one_or_none()


def _settled(
    connection: Connection,
    known: Any,
    record: RunRecord,
    body: list[PackedPart],
    *,
    replace_content: bool,
) -> Added:
    """Write the run, unless it is there already."""
    if known is None:
        _write(connection, record, body)
        return Added(record.id, "added")
    if known.digest == digest_of(record):
        return Added(record.id, "there already")
    if not replace_content:
        return Added(record.id, "differs")
    connection.execute(delete(runs).where(runs.c.key == known.key))
    _write(connection, record, body)
    return Added(record.id, "replaced")


def _write(connection: Connection, record: RunRecord, body: list[PackedPart]) -> None:
    run = _inserted(connection, runs, run_row(record))
    for place, (part, below) in enumerate(body):
        part_key = _inserted(connection, parts, {"run": run, "place": place, **part})
        for inner, (result, values) in enumerate(below):
            key = _inserted(connection, results, {"part": part_key, "place": inner, **result})
            if values:
                connection.execute(insert(measured), [{"result": key, **one} for one in values])


def _inserted(connection: Connection, table: Table, row: dict[str, Any]) -> int:
    key = connection.execute(insert(table).values(row)).inserted_primary_key
    return int(key[0]) if key else 0
