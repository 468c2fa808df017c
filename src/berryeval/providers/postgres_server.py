"""A PostgreSQL server as a provider uses it: a connection for each thread, and errors in words."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ProviderError
from berryeval.io.postgres_address import address_parts, without_secrets
from berryeval.optional import imported
from berryeval.providers.base import first_line
from berryeval.providers.own_postgres import OwnPostgres

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["PostgresServer"]

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
