"""Transactions on the database of a store, and its errors in words that help."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import create_engine, event, inspect, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from berryeval.errors import DataError
from berryeval.store.migrations import check_version, migrate, version_of
from berryeval.store.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

    from berryeval.store.place import Place

__all__ = ["Database", "NoStoreError"]

PATIENCE: Final = 60  # seconds to wait for another process that writes
_WRITING: Final = "berryeval_writing"
_LOCK: Final = 0x62657272  # "berr"; PostgreSQL knows locks by numbers
_NOT_OURS: Final = ("not a database", "malformed")
_NO_ROOM: Final = ("disk is full", "disk I/O error", "No space left")
_NOT_ALLOWED: Final = ("readonly", "unable to open", "read-only")
_NAMED: Final = 3  # tables in a message


class NoStoreError(DataError):
    """There is no store in this place yet."""


class Database:
    """A database with the tables of today; one process at a time writes to it.

    SQLite keeps its usual rollback journal: the store stays one file, which can be read where
    nothing may be written. Without `make` no store is made, and a SQLite file with tables of
    something else never becomes one: a store is alone in its file. A PostgreSQL may be shared.
    """

    def __init__(self, place: Place, *, make: bool) -> None:
        self.place = place
        if place.file is not None:
            _check_file(place, make=make)
        self._engine = _engine(place)
        try:
            self._prepare(make=make)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()

    def _prepare(self, *, make: bool) -> None:
        with self.reading() as connection:
            version = version_of(connection)
            others = [] if version is not None else inspect(connection).get_table_names()
        if version is not None:
            check_version(version, self.place.shown)
        elif others and self.place.file is not None:
            raise DataError(_foreign(self.place, others))
        elif not make:
            raise NoStoreError(_nothing_at(self.place))
        if version != SCHEMA_VERSION:
            with self.writing() as connection:
                migrate(connection, self.place.shown)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the store, whatever others write meanwhile."""
        level = {} if self.place.file else {"isolation_level": "REPEATABLE READ"}
        engine = self._engine.execution_options(**level)
        with self._said("read"), engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction; other writers wait for its end."""
        engine = self._engine.execution_options(**{_WRITING: True})
        with self._said("written"), engine.begin() as connection:
            if self.place.file is None:
                connection.execute(text(f"SET LOCAL lock_timeout = '{PATIENCE}s'"))
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            yield connection

    def tidy(self) -> None:
        """Give the room of what was deleted back to the file system, if it can be done now."""
        if self.place.file is None:
            return  # the server does so by itself
        with suppress(SQLAlchemyError, sqlite3.Error), self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            if isinstance(raw, sqlite3.Connection):
                raw.execute("VACUUM")

    @contextmanager
    def _said(self, doing: str) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise DataError(self._message(error, doing)) from None

    def _message(self, error: SQLAlchemyError, doing: str) -> str:
        original = error.orig if isinstance(error, DBAPIError) else None
        problem = self.place.cleaned(str(original or error))
        hint = ""
        if any(part in problem for part in _NOT_OURS):
            hint = (
                "; move it away and make it again from the folders of your runs: "
                "berryeval results import .berryeval/runs"
            )
        elif "locked" in problem or "lock timeout" in problem:
            hint = f"; another process has been writing for {PATIENCE} seconds: try again later"
        elif any(part in problem for part in _NO_ROOM):
            hint = "; is there room on the disk? The store is as it was"
        elif any(part in problem for part in _NOT_ALLOWED):
            hint = "; the file and its folder must be writable, or name another store: --store PATH"
        return f"the store {self.place.shown} cannot be {doing} ({problem}){hint}"


def _check_file(place: Place, *, make: bool) -> None:
    file = place.file
    if file is None:
        return
    try:
        if file.is_file():
            return
        if file.exists():
            msg = f"the store {place.shown}: expected a file, found a folder"
            raise DataError(msg)
        if not make:
            raise NoStoreError(_nothing_at(place))
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = error.strerror or error
        msg = f"the store {place.shown} cannot be made in {file.parent} ({problem})"
        raise DataError(msg) from None


def _nothing_at(place: Place) -> str:
    return (
        f"there is no store at {place.shown} yet; berryeval eval makes it, or "
        "berryeval results import FOLDER"
    )


def _foreign(place: Place, tables: list[str]) -> str:
    named = ", ".join(tables[:_NAMED]) + (", ..." if len(tables) > _NAMED else "")
    return (
        f"the store {place.shown}: a database of something else, with the tables {named}; it is "
        "left as it is: name another file, as --store PATH"
    )


def _engine(place: Place) -> Engine:
    if place.file is None:
        return create_engine(place.url, connect_args={"connect_timeout": 10})
    engine = create_engine(place.url, connect_args={"timeout": PATIENCE})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_in_sqlite)
    return engine


def _set_up_sqlite(raw: Any, _record: object) -> None:
    """We begin transactions ourselves: Python's module begins some too late, for tables never."""
    raw.isolation_level = None
    raw.execute("PRAGMA foreign_keys = ON")


def _begin_in_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITING)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
