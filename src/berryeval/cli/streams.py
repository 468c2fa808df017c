"""Streams and exit of the process, protected from the code of providers.

Python gives a closed descriptor to the next file it opens, so messages would end up in that file.
Without a `sys.stderr`, `print` and screens would write to stdout. At its end, Python waits for
threads that are no daemons, and for those of executors, for as long as they run; daemons that die
meanwhile may hold locks that it needs.
"""

from __future__ import annotations

import atexit
import errno
import io
import os
import sys
import threading
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


_LAST: Final = 2  # the descriptor of stderr
_GRACE: Final = 5.0  # seconds for threads to end


class _Outlet(io.RawIOBase):
    """A stream that drops everything after the first error and remembers the error."""

    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw = raw
        self.problem: OSError | None = None

    def write(self, data: ReadableBuffer) -> int | None:
        """Write bytes, or drop them."""
        if self.problem is None:
            try:
                return self._raw.write(data)
            except OSError as error:
                self.problem = error
        return memoryview(data).nbytes

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._raw.fileno()

    def isatty(self) -> bool:
        """Return whether this is a terminal."""
        return self._raw.isatty()


class _Stream(io.TextIOWrapper):
    """A text stream that stays open when the code of a provider closes it."""

    def close(self) -> None:
        """Flush the stream."""
        self.flush()


def secure_streams() -> None:
    """Open closed descriptors on the null device, and make stdout and stderr safe to write to."""
    place = os.open(os.devnull, os.O_RDWR)
    while place <= _LAST:
        os.set_inheritable(place, True)
        place = os.open(os.devnull, os.O_RDWR)
    os.close(place)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - a descriptor
    sys.stdout, sys.stderr = _secure(sys.stdout, 1), _secure(sys.stderr, 2)


def _secure(stream: TextIO | None, descriptor: int) -> TextIO:
    if stream is not None and not isinstance(stream, io.TextIOWrapper):
        return stream
    if stream is not None:
        stream.flush()
        descriptor = stream.fileno()
    own = os.dup(descriptor)  # the code of a provider may close the other one
    return _Stream(
        io.BufferedWriter(_Outlet(io.FileIO(own, "w", closefd=False))),
        encoding=stream.encoding if stream else "utf-8",
        line_buffering=bool(stream and stream.line_buffering),
        write_through=bool(stream and stream.write_through),
    )


def find_lost_output() -> OSError | None:
    """Return why stdout could not be written; None if it was, or if its reader has gone away."""
    sys.stdout.flush()
    outlet = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    problem = outlet.problem if isinstance(outlet, _Outlet) else None
    return None if problem is None or problem.errno == errno.EPIPE else problem


def end_in_time(code: int) -> None:
    """End the process with this code soon after Python starts to exit, whatever threads do."""
    if threading.active_count() == 1:
        return
    ours = threading.main_thread()
    ended = threading.Event()

    def leave() -> None:
        atexit.unregister(skip_the_rest)
        atexit._run_exitfuncs()  # noqa: SLF001 - such as stopping a server
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)

    def skip_the_rest() -> None:
        """Leave at once if threads still run; called after Python has waited for the others."""
        ended.set()
        if set(threading.enumerate()) - {ours, watch}:
            leave()

    def wait() -> None:
        if not ended.wait(_GRACE):
            text = f"threads of a provider did not end within {_GRACE:g} s"
            print(f"warning: {text}; the process ends without them", file=sys.stderr)
            leave()

    watch = threading.Thread(target=wait, name="berryeval end", daemon=True)
    atexit.register(skip_the_rest)
    watch.start()
