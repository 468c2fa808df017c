"""Transactions on the database of a store, and its errors in words that help."""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import URL, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from berryeval._internal.optional import imported
from berryeval._internal.secrets import address_parts, without_secrets
from berryeval.errors import ConfigurationError, DataError
from berryeval.runs.store.schema import SCHEMA_VERSION, check_version, migrate, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

    from berryeval._internal.files import PathLike


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
                "berryeval runs import .berryeval/runs"
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
        "berryeval runs import FOLDER"
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


# Where a store is: a file, or the URL of a database; passwords are never shown.

_URL: Final = re.compile(r"[A-Za-z][\w+.-]+://")
_POSTGRES_URL: Final = re.compile(r"postgres(ql)?(\+psycopg)?:/", re.IGNORECASE)
# Pairs as libpq takes them, some of which say where a server is or who asks.
_PAIRS: Final = re.compile(
    r"\s*(?:\w+\s*=.*\s)?(?:host|hostaddr|dbname|user|password|service)\s*=",
    re.IGNORECASE | re.DOTALL,
)
_FOLDER: Final = re.compile(r"(?:host|dbname|user)=[^\s/]+/\S*")  # as in user=joe/results.db
_ONE_HOST: Final = re.compile(r"[^/@,]+")  # no socket, not several


@dataclass(frozen=True)
class Place:
    """A database.

    Attributes:
        url: as SQLAlchemy takes it.
        file: the file, if it is one.
        shown: what messages call it.
    """

    url: URL
    file: Path | None
    shown: str

    @classmethod
    def of(cls, text: PathLike) -> Place:
        """The database that a path or a URL means."""
        given = str(text)
        if _POSTGRES_URL.match(given) or _is_pairs(given):
            return cls._of_server(given)
        if not _URL.match(given):
            return cls._of_file(Path(given))
        try:
            url = make_url(given)
        except (ArgumentError, ValueError):  # a port that is none
            scheme = given.partition(":")[0]
            msg = f"the store {scheme}://...: not a URL; expected postgresql://user@host:5432/name"
            raise ConfigurationError(msg) from None
        if url.drivername in {"sqlite", "sqlite+pysqlite"}:
            if not url.database or url.database == ":memory:":
                msg = f"the store {given}: names no file; expected sqlite:///path/to/results.db"
                raise ConfigurationError(msg)
            return cls._of_file(Path(url.database))
        msg = (
            f"the store {url.drivername}://...: expected a path, sqlite:///path, or "
            "postgresql://user@host/name"
        )
        raise ConfigurationError(msg)

    @classmethod
    def _of_server(cls, address: str) -> Place:
        """A PostgreSQL; SQLAlchemy gets the parts as they were read and checked, not the text."""
        imported("psycopg", "a store in PostgreSQL", extra="postgres")
        parts = address_parts("the store", address)
        user, password, name = (parts.pop(one, None) for one in ("user", "password", "dbname"))
        url = URL.create("postgresql", user, password, database=name)
        host, port = parts.get("host", ""), parts.get("port", "")
        if _ONE_HOST.fullmatch(host):
            del parts["host"]
            url = url.set(host=host, port=int(parts.pop("port")) if port else None)
        elif port and "," not in port:  # one for all; SQLAlchemy wants it for each
            parts["port"] = ",".join([port] * (host.count(",") + 1))
        shown = url.render_as_string(hide_password=True)
        return cls(url.set(drivername="postgresql+psycopg", query=parts), None, shown)

    @classmethod
    def _of_file(cls, file: Path) -> Place:
        return cls(make_url("sqlite://").set(database=str(file)), file, str(file))

    def cleaned(self, text: str) -> str:
        """A text without the password, in any form that it takes in URLs."""
        secrets = {name: str(value) for name, value in self.url.query.items()}
        if self.url.password:
            secrets["password"] = self.url.password
        return " ".join(without_secrets(text, secrets).split())


def _is_pairs(text: str) -> bool:
    return bool(_PAIRS.match(text)) and not _FOLDER.fullmatch(text)
