"""The database of a store: its place, transactions and error messages."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from sqlalchemy import URL, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from berryeval._internal.optional import import_optional
from berryeval._internal.secrets import mask_passwords, parse_address
from berryeval.errors import ConfigurationError, DataError
from berryeval.runs.store.schema import SCHEMA_VERSION, check_version, migrate, read_version

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from berryeval._internal.files import PathLike


LOCK_TIMEOUT: Final = 60  # seconds
_WRITING: Final = "berryeval_writing"
_LOCK: Final = 0x62657272  # "berr"; PostgreSQL identifies locks by number
_NOT_A_DATABASE: Final = ("not a database", "malformed")
_DISK_FULL: Final = ("disk is full", "disk I/O error", "No space left")
_READ_ONLY: Final = ("readonly", "unable to open", "read-only")
_NAMED: Final = 3  # tables in a message


class NoStoreError(DataError):
    """There is no store at this place."""


class Database:
    """A database with the current schema; one process at a time writes to it.

    SQLite uses its rollback journal, so the store is a single file that works on read-only disks.
    Without `make`, a missing store is an error. A SQLite file with other tables is never used; a
    PostgreSQL database may be shared.
    """

    def __init__(self, place: Place, *, make: bool) -> None:
        self.place = place
        _check_file(place, make=make)
        self._engine = _create_engine(place)
        try:
            self._prepare(make=make)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _prepare(self, *, make: bool) -> None:
        with self.reading() as connection:
            version = read_version(connection)
            others = [] if version is not None else inspect(connection).get_table_names()
        if version is not None:
            check_version(version, self.place.shown)
        elif others and self.place.file is not None:
            raise DataError(_describe_foreign(self.place, others))
        elif not make:
            raise NoStoreError(_describe_missing(self.place))
        if version != SCHEMA_VERSION:
            with self.writing() as connection:
                migrate(connection, self.place.shown)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a connection with a consistent snapshot of the store."""
        level = {} if self.place.file else {"isolation_level": "REPEATABLE READ"}
        engine = self._engine.execution_options(**level)
        with self._explain_errors("read"), engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction; other writers wait for its end."""
        engine = self._engine.execution_options(**{_WRITING: True})
        with self._explain_errors("written"), engine.begin() as connection:
            if self.place.file is None:
                connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}s'"))
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            yield connection

    def tidy(self) -> None:
        """Release the disk space of deleted runs, if possible now."""
        if self.place.file is None:
            return  # the server does this itself
        with suppress(SQLAlchemyError, sqlite3.Error), self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            if isinstance(raw, sqlite3.Connection):
                raw.execute("VACUUM")

    @contextmanager
    def _explain_errors(self, doing: str) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise DataError(self._message(error, doing)) from None

    def _message(self, error: SQLAlchemyError, doing: str) -> str:
        original = error.orig if isinstance(error, DBAPIError) else None
        problem = self.place.mask_text(str(original or error))
        hint = ""
        if any(part in problem for part in _NOT_A_DATABASE):
            hint = (
                "; move it away and rebuild it from your run folders: "
                "berryeval runs import .berryeval/runs"
            )
        elif "locked" in problem or "lock timeout" in problem:
            hint = f"; another process has been writing for {LOCK_TIMEOUT} seconds: try again later"
        elif any(part in problem for part in _DISK_FULL):
            hint = "; check the free disk space. The store is unchanged"
        elif any(part in problem for part in _READ_ONLY):
            hint = "; make the file and its folder writable, or use another store with --store PATH"
        return f"the store {self.place.shown} cannot be {doing} ({problem}){hint}"


def _check_file(place: Place, *, make: bool) -> None:
    file = place.file
    try:
        if file is None or file.is_file():
            return
        if file.exists():
            raise DataError(f"the store {place.shown}: expected a file, found a folder")
        if not make:
            raise NoStoreError(_describe_missing(place))
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        folder = Path(place.shown).parent
        raise DataError(
            f"the store {place.shown} cannot be created in {folder} ({error.strerror or error})"
        ) from None


def _describe_missing(place: Place) -> str:
    return (
        f"there is no store at {place.shown}; create it with berryeval eval or "
        "berryeval runs import FOLDER"
    )


def _describe_foreign(place: Place, tables: list[str]) -> str:
    named = ", ".join(tables[:_NAMED]) + (", ..." if len(tables) > _NAMED else "")
    return (
        f"the store {place.shown} is another database, with the tables {named}; it was not "
        "changed: use another file with --store PATH"
    )


def _create_engine(place: Place) -> Engine:
    if place.file is None:
        return create_engine(place.url, connect_args={"connect_timeout": 10})
    engine = create_engine(place.url, connect_args={"timeout": LOCK_TIMEOUT})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_transaction)
    return engine


def _set_up_sqlite(raw: Any, _record: object) -> None:
    """Turn off the implicit transactions of `sqlite3`, which start late or not at all."""
    raw.isolation_level = None
    raw.execute("PRAGMA foreign_keys = ON")


def _begin_transaction(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITING)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


_URL: Final = re.compile(r"[A-Za-z][\w+.-]+://")
_POSTGRES_URL: Final = re.compile(r"postgres(ql)?(\+psycopg)?:/", re.IGNORECASE)
# The `key=value` form of libpq, with at least one key that identifies a server or user.
_PAIRS: Final = re.compile(
    r"\s*(?:\w+\s*=.*\s)?(?:host|hostaddr|dbname|user|password|service)\s*=",
    re.IGNORECASE | re.DOTALL,
)
_FOLDER: Final = re.compile(r"(?:host|dbname|user)=[^\s/]+/\S*")  # such as user=joe/results.db
_PLACES: Final = ("host", "hostaddr", "port", "service")  # parts of an address that name a server
_ONE_HOST: Final = re.compile(r"[^/@,]+")  # neither a socket nor several hosts


@dataclass(frozen=True)
class Place:
    """The place of a database: its URL, its SQLite file or None, and a name without passwords."""

    url: URL
    file: Path | None
    shown: str

    @classmethod
    def of(cls, text: PathLike) -> Place:
        """Parse a path or URL."""
        given = str(text)
        if _POSTGRES_URL.match(given) or (_PAIRS.match(given) and not _FOLDER.fullmatch(given)):
            return cls._of_server(given)
        if not _URL.match(given):
            return cls._of_file(Path(given))
        try:
            url = make_url(given)
        except (ArgumentError, ValueError):  # an invalid port
            scheme = given.partition(":")[0]
            raise ConfigurationError(
                f"the store {scheme}://...: not a URL; expected postgresql://user@host:5432/name"
            ) from None
        if url.drivername in {"sqlite", "sqlite+pysqlite"}:
            if not url.database or url.database == ":memory:":
                raise ConfigurationError(
                    f"the store {given}: expected a file, as in sqlite:///path/to/results.db"
                )
            return cls._of_file(Path(url.database))
        raise ConfigurationError(
            f"the store {url.drivername}://...: expected a path, sqlite:///path, or "
            "postgresql://user@host/name"
        )

    @classmethod
    def _of_server(cls, address: str) -> Place:
        """Parse a PostgreSQL address; SQLAlchemy gets the checked parts, not the text."""
        import_optional("psycopg", "a store in PostgreSQL", extra="postgres")
        parts = parse_address("the store", address)
        user, password, name = (parts.pop(one, None) for one in ("user", "password", "dbname"))
        url = URL.create("postgresql", user, password, database=name)
        host, port = parts.get("host", ""), parts.get("port", "")
        if _ONE_HOST.fullmatch(host):
            del parts["host"]
            url = url.set(host=host, port=int(parts.pop("port")) if port else None)
        elif port and "," not in port:  # one port for all hosts; SQLAlchemy needs one for each
            parts["port"] = ",".join([port] * (host.count(",") + 1))
        places: dict[str, str] = {one: parts[one] for one in _PLACES if one in parts}
        shown = url.render_as_string(hide_password=True)
        shown += f"?{urlencode(places, safe='/,:')}" if places else ""
        return cls(url.set(drivername="postgresql+psycopg", query=parts), None, shown)

    @classmethod
    def _of_file(cls, file: Path) -> Place:
        return cls(make_url("sqlite://").set(database=str(file)), file, str(file))

    def mask_text(self, text: str) -> str:
        """Mask the password in a text and put the text on one line."""
        secrets = {name: str(value) for name, value in self.url.query.items()}
        if self.url.password:
            secrets["password"] = self.url.password
        return " ".join(mask_passwords(text, secrets).split())
