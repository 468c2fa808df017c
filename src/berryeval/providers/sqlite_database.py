"""A database of SQLite, in a file or in memory, with a connection for each thread."""

from __future__ import annotations

import ctypes
import secrets
import threading
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ProviderError
from berryeval.optional import imported

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SqliteDatabase"]

_LARGEST: Final = 2**46  # bytes; a database in memory is refused more than 2**30 unless told
_PATIENCE: Final = 10_000  # milliseconds, for who else writes to the file


class SqliteDatabase:
    """All connections to one database.

    A file that is missing is made, and removed by `close` if there are no tables left in it.

    Args:
        path: the file; "" for a database in memory that nobody else sees.
        with_vectors: whether to load sqlite-vec.
    """

    def __init__(self, path: str, *, with_vectors: bool) -> None:
        self._path = Path(path).expanduser() if path else None
        self._with_vectors = with_vectors
        self._made_file = False
        self._open: list[Any] = []
        self._own = threading.local()

    @cached_property
    def package(self) -> Any:
        """The package `apsw`."""
        return imported("apsw", "the provider sqlite", extra="sqlite")

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """The connection of this thread; the errors of SQLite as ours."""
        apsw = self.package
        try:
            if getattr(self._own, "connection", None) is None:
                self._own.connection = self._connect()
            yield self._own.connection
        except apsw.Error as error:
            passing = isinstance(error, apsw.BusyError | apsw.LockedError)
            msg = f"SQLite at {self._path or 'memory'}: {error}"
            raise ProviderError(msg, passing=passing) from None

    def _connect(self) -> Any:
        connection = self._opened()
        self._open.append(connection)
        connection.set_busy_timeout(_PATIENCE)
        if self._with_vectors:
            extension = imported("sqlite_vec", "the provider sqlite", extra="sqlite")
            connection.enable_load_extension(True)
            connection.load_extension(extension.loadable_path())
            connection.enable_load_extension(False)
        return connection

    def _opened(self) -> Any:
        apsw = self.package
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        if self._path is not None:
            self._made_file = self._made_file or not self._path.exists()
            return apsw.Connection(str(self._path), flags=flags)
        connection = apsw.Connection(self._memory, flags=flags | apsw.SQLITE_OPEN_URI)
        limit = ctypes.c_int64(_LARGEST)
        connection.file_control("main", apsw.SQLITE_FCNTL_SIZE_LIMIT, ctypes.addressof(limit))
        return connection

    @cached_property
    def _memory(self) -> str:
        """The address of a database that the connections of one process share."""
        return f"file:/berryeval-{secrets.token_hex(8)}?vfs=memdb"

    def close(self) -> None:
        """Close every connection, and remove a file that was made here and is empty."""
        empty = False
        if self._made_file:
            with suppress(ProviderError), self.connection() as connection:
                empty = not connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
        for connection in self._open:
            connection.close()
        self._open.clear()
        self._own = threading.local()
        if empty and self._path is not None:  # others may have put their tables into it
            self._path.unlink(missing_ok=True)
        self._made_file = False
