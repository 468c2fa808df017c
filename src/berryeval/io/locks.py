"""Locks on files: one process at a time, and none that outlives its process."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.io.files import PathLike

__all__ = ["lock", "locked"]

_FAR_AWAY = 1 << 62  # Windows locks bytes: one that no file of ours reaches


def lock(file: int) -> bool:
    """Take the lock of an open file; False if another has it.

    It is given back when the file is closed or the process ends, however it ends. A file system
    without locks counts as nobody having it.
    """
    try:
        import fcntl
    except ImportError:
        return _lock_on_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _lock_on_windows(file: int) -> bool:
    import msvcrt  # no such module elsewhere

    here = os.lseek(file, 0, os.SEEK_CUR)
    os.lseek(file, _FAR_AWAY, os.SEEK_SET)
    try:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return False
    finally:
        os.lseek(file, here, os.SEEK_SET)
    return True


@contextmanager
def locked(path: PathLike, problem: str) -> Iterator[None]:
    """Hold the lock of a file, which is made with its folder; `problem` says what if another does.

    The file stays: to remove it would give a third process a lock of its own.
    """
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        msg = f"{place}: cannot be written ({error.strerror or error})"
        raise DataError(msg) from None
    try:
        if not lock(file):
            raise DataError(problem)
        yield
    finally:
        os.close(file)
