"""A PostgreSQL server as a provider uses it: a connection for each thread, and errors in words."""

from __future__ import annotations

import logging
import os
import platform
import re
import secrets
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.optional import imported
from berryeval._internal.secrets import address_parts, without_secrets
from berryeval.errors import ProviderError
from berryeval.providers.base import first_line, writable
from berryeval.providers.postgres_local import OwnPostgres

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from berryeval.data import Chunk


_CONNECT_SECONDS: Final = 10
# Lost connections, conflicts, a lack of resources, a server that stops or starts.
_PASSING: Final = ("08", "40", "53", "57P")
# What could not be connected to has no such code: these are the words of the same kinds.
_PASSING_WORDS: Final = re.compile(
    r"refused|time(d )?out|starting up|shutting down|recovery|not yet accepting|too many clients"
    r"|connection slots|reset by peer|closed the connection|broken pipe|unreachable|no route"
    r"|temporary failure|no such file",
    re.IGNORECASE,
)


@dataclass
class PostgresServer:
    """The server at an address, or one of our own that is started when it is first needed.

    Attributes:
        dsn: the address; "" for one of our own.
    """

    dsn: str = field(repr=False)
    _open: list[Any] = field(default_factory=list, init=False, repr=False)
    _own: threading.local = field(default_factory=threading.local, init=False, repr=False)
    _bundled: OwnPostgres | None = field(default=None, init=False, repr=False)

    @cached_property
    def psycopg(self) -> Any:
        """The package."""
        return imported("psycopg", "the provider postgres", extra="postgres")

    @cached_property
    def _parts(self) -> dict[str, str]:
        return address_parts("dsn of postgres", self.dsn) if self.dsn else {}

    @property
    def bundled(self) -> OwnPostgres | None:
        """The server that was started here."""
        return self._bundled

    @property
    def where(self) -> str:
        """Which server it is, without user and password."""
        if not self.dsn:
            return "its own socket"
        host = self._parts.get("host") or self._parts.get("hostaddr") or "localhost"
        return f"{host}:{self._parts.get('port') or 5432}"

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """The connection of this thread, made anew after it was lost."""
        psycopg = self.psycopg
        connection = getattr(self._own, "connection", None)
        try:
            if connection is None or connection.closed:
                connection = None
                connection = self._connected()
            yield connection
        except psycopg.Error as error:
            passing = self._may_pass(error, connection)
            if connection is not None and (connection.closed or passing):
                self._forget(connection)
            raise ProviderError(self._message(error), passing=passing) from None

    def _connected(self) -> Any:
        address = {**self._address, "connect_timeout": _CONNECT_SECONDS}
        connection = self.psycopg.connect(**address, autocommit=True)
        self._own.connection = connection
        self._open.append(connection)
        return connection

    @property
    def _address(self) -> Mapping[str, Any]:
        """What to connect with: the parts, which psycopg need not read again."""
        if self.dsn:
            return self._parts
        if self._bundled is None:
            self._bundled = OwnPostgres()
        return address_parts("a PostgreSQL of our own", self._bundled.dsn)

    def _may_pass(self, error: Any, connection: Any) -> bool:
        """Whether asking again may help: not with a wrong password, nor with too long a text."""
        if error.sqlstate:
            return str(error.sqlstate).startswith(_PASSING)
        if connection is None:
            return bool(_PASSING_WORDS.search(str(error)))
        return bool(connection.closed)

    def _forget(self, connection: Any) -> None:
        with suppress(self.psycopg.Error):
            connection.close()
        self._own.connection = None

    def _message(self, error: Exception) -> str:
        words = without_secrets(first_line(error), self._parts)
        return f"PostgreSQL at {self.where}: {words}"

    def close(self) -> None:
        """Close every connection, and stop a server that was started here."""
        for connection in self._open:
            with suppress(self.psycopg.Error):
                connection.close()
        self._open.clear()
        self._own = threading.local()
        if self._bundled is not None:
            self._bundled.stop()
            self._bundled = None


# The table of chunks that the provider `postgres` searches: made, loaded, and not left behind.

_PREFIX: Final = "chunks_"
_MARK: Final = "berryeval: "
_LOCKS: Final = 0x62727279  # "brry": the upper half of the numbers of our locks, above the oid
_ITERATIVE_SINCE: Final = (0, 8)
_LARGEST_SEARCH: Final = 1000  # what pgvector takes as `hnsw.ef_search`
_LEFT_BEHIND: Final = f"""
    SELECT relname FROM pg_class
    WHERE relnamespace = to_regnamespace(%(schema)s) AND relkind = 'r'
      AND relname ~ '^{_PREFIX}[0-9a-f]{{12}}$'
      AND starts_with(obj_description(oid, 'pg_class'), '{_MARK}')
      AND pg_has_role(relowner, 'USAGE')
      AND NOT EXISTS (
        SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = {_LOCKS} AND objsubid = 1
          AND objid = pg_class.oid
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"""  # noqa: S608 - of constants
log = logging.getLogger("berryeval")


@dataclass(frozen=True)
class ChunkTable:
    """The table of a run.

    Attributes:
        name: quoted, with its schema.
        lock: the number of its advisory lock.
        vectors_in: the quoted schema of pgvector; "" without vectors.
        iterative: whether pgvector can go on beyond what it looks at first.
    """

    name: str
    lock: int
    vectors_in: str = ""
    iterative: bool = False

    def hold(self, connection: Any) -> None:
        """Say that a run with this connection uses the table."""
        connection.execute(f"SELECT pg_advisory_lock_shared({self.lock})")

    def look_deeper(self, connection: Any, depth: int) -> None:
        """Let the index of vectors look at as many as are asked for, and not at the usual 40."""
        connection.execute(f"SET hnsw.ef_search = {min(max(depth, 40), _LARGEST_SEARCH)}")
        if self.iterative:
            connection.execute("SET hnsw.iterative_scan = strict_order")

    def load(
        self, connection: Any, chunks: Sequence[Chunk], texts: list[str], vectors: Any
    ) -> None:
        """Copy the chunks into it, and let the server count what it has."""
        columns = "place, id, body" + ("" if vectors is None else ", embedding")
        with connection.cursor().copy(f"COPY {self.name} ({columns}) FROM STDIN") as copy:
            for place, (chunk, text) in enumerate(zip(chunks, texts, strict=True)):
                row: list[Any] = [place, writable(chunk.id), writable(text)]
                if vectors is not None:
                    row.append(as_vector(vectors[place]))
                copy.write_row(row)

    def make_indexes(self, connection: Any, *, words: bool, approximate: bool) -> None:
        """Index what is searched by an index."""
        if words:
            connection.execute(f"CREATE INDEX ON {self.name} USING gin (words)")
        if self.vectors_in and approximate:
            kind = f"{self.vectors_in}.vector_cosine_ops"
            connection.execute(f"CREATE INDEX ON {self.name} USING hnsw (embedding {kind})")
        connection.execute(f"ANALYZE {self.name}")

    def drop(self, connection: Any) -> None:
        """Remove it."""
        connection.execute(f"DROP TABLE IF EXISTS {self.name}")
        connection.execute(f"SELECT pg_advisory_unlock_shared({self.lock})")


def make_table(
    connection: Any, psycopg: Any, schema: str, *, language: str | None, dimensions: int | None
) -> ChunkTable:
    """An empty table; those that runs left behind are dropped.

    Args:
        connection: to the server.
        psycopg: the package.
        schema: made if it is missing.
        language: the text search configuration; None without full text.
        dimensions: of the vectors; None without.
    """
    quoted = _quoted(connection, psycopg, schema)
    if not connection.execute("SELECT to_regnamespace(%s)", [quoted]).fetchone()[0]:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted}")
    _drop_left_behind(connection, psycopg, quoted)
    columns = ["place int PRIMARY KEY", "id text NOT NULL", "body text NOT NULL"]
    if language is not None:
        words = f"to_tsvector({_literal(connection, psycopg, language)}::regconfig, body)"
        columns.append(f"words tsvector GENERATED ALWAYS AS ({words}) STORED")
    vectors_in, iterative = "", False
    if dimensions is not None:
        home, version = _pgvector(connection)
        vectors_in, iterative = _quoted(connection, psycopg, home), version >= _ITERATIVE_SINCE
        columns.append(f"embedding {vectors_in}.vector({dimensions})")
    name = f"{quoted}.{_PREFIX}{secrets.token_hex(6)}"
    with connection.transaction():  # others see it when its lock is held, not before
        connection.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        connection.execute(f"COMMENT ON TABLE {name} IS {_literal(connection, psycopg, _about())}")
        (number,) = connection.execute("SELECT %s::regclass::oid::bigint", [name]).fetchone()
        table = ChunkTable(name, _LOCKS << 32 | number, vectors_in, iterative)
        table.hold(connection)
    return table


def _about() -> str:
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return f"{_MARK}a run on {platform.node()}, process {os.getpid()}, since {now}"


def _drop_left_behind(connection: Any, psycopg: Any, schema: str) -> None:
    for (name,) in connection.execute(_LEFT_BEHIND, {"schema": schema}).fetchall():
        with suppress(psycopg.Error), connection.transaction():  # or the next run does it
            connection.execute("SET LOCAL lock_timeout = '1s'")
            connection.execute(f"DROP TABLE IF EXISTS {schema}.{name}")
            log.info("dropped %s.%s, which a run that did not end had left", schema, name)


def _pgvector(connection: Any) -> tuple[str, tuple[int, ...]]:
    """The schema of pgvector, which is installed if it is missing, and its version."""
    asked = (
        "SELECT nspname, extversion FROM pg_extension "
        "JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'"
    )
    found = connection.execute(asked).fetchone()
    if found is None:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        found = connection.execute(asked).fetchone()
    home, version = found
    return home, tuple(int(part) for part in version.split(".") if part.isdigit())


def _quoted(connection: Any, psycopg: Any, name: str) -> str:
    return str(psycopg.sql.Identifier(name).as_string(connection))


def _literal(connection: Any, psycopg: Any, text: str) -> str:
    return str(psycopg.sql.Literal(text).as_string(connection))


def as_vector(values: Any) -> str | None:
    """As pgvector reads it; no vector for a text that says nothing."""
    return f"[{','.join(map(repr, values.tolist()))}]" if values.any() else None
