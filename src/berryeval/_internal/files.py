"""Files: reading, atomic writing, and locks."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval._internal.compression import (
    SUFFIXES,
    decompress,
    decompress_start,
    find_packing,
    import_zstandard,
    unpack,
)
from berryeval._internal.limits import PIPE_MB, UNPACKED_MB, WHOLE_MB, Limit
from berryeval._internal.validate import nearest
from berryeval.errors import BerryEvalError, DataError, NotWrittenError

PathLike: TypeAlias = str | os.PathLike[str]
STDIN = "-"


class Sink(Protocol):
    """A binary stream for writers."""

    def write(self, data: bytes, /) -> object:
        """Write bytes."""


BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_TEMPORARY: Final = re.compile(r"\.berryeval-[0-9a-f]{16}\.tmp")
_LISTED: Final = 1_000  # names of a folder that a suggestion is sought among
_PIECE: Final = 1 << 20  # bytes


def display_name(path: PathLike) -> str:
    """Return the name of a file for messages."""
    return "<stdin>" if os.fspath(path) == STDIN else os.fspath(path)


def suggest_file(path: PathLike) -> str:
    """Suggest a similar name in the folder, with the same suffix, as the end of a message."""
    wanted = Path(path)
    stems: dict[str, str] = {}
    with suppress(OSError, ValueError), os.scandir(wanted.parent) as entries:
        paths = [Path(one.name) for one in islice(entries, _LISTED)]
        stems = {one.stem: one.name for one in paths if one.suffix == wanted.suffix}
    near = nearest(wanted.stem, stems, 1)
    return f"; did you mean {str(wanted.with_name(stems[near[0]]))!r}?" if near else ""


def plain_suffix(path: PathLike) -> str:
    """Return the suffix without that of the compression: ".json" for "a.json.gz"."""
    name = Path(path)
    return Path(name.stem).suffix.lower() if name.suffix in SUFFIXES else name.suffix.lower()


def read_bytes(path: PathLike) -> npt.NDArray[np.uint8]:
    """Read a file, or stdin for "-", into an array of bytes.

    Gzip and zstd data, recognized by their first bytes or the suffix, are decompressed. A byte
    order mark is removed.
    """
    with _explaining(path):
        return _strip_mark(_read_content(path))


def _strip_mark(content: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return content[3:] if content[:3].tobytes() == BYTE_ORDER_MARK else content


def stream_bytes(path: PathLike, tell: Callable[[int], None] | None = None) -> Iterator[bytes]:
    """Yield the content of a regular file in pieces, as `read_bytes` reads it.

    `tell` is called with the number of bytes of each piece that was read from the disk.
    """
    with _explaining(path), Path(path).open("rb", buffering=0) as stream:
        before = os.fstat(stream.fileno())
        pieces = _unpack_stream(stream, path, before.st_size, tell or (lambda _: None))
        first = b""
        while len(first) < len(BYTE_ORDER_MARK) and (piece := next(pieces, b"")):
            first += piece
        yield first.removeprefix(BYTE_ORDER_MARK)
        yield from pieces
        _require_unchanged(path, before, os.fstat(stream.fileno()), stream.tell())


def stream_any(path: PathLike) -> Iterator[bytes]:
    """Yield the content of a file in pieces; a file without a size is read at once."""
    try:
        sized = os.fspath(path) != STDIN and _has_size(Path(path).stat())
    except (OSError, ValueError):
        sized = False  # `read_bytes` reports the cause
    if sized:
        yield from stream_bytes(path)
    else:
        yield read_bytes(path).tobytes()


@contextmanager
def keep_pipe(path: PathLike) -> Iterator[npt.NDArray[np.uint8] | Path | None]:
    """Read stdin or a named pipe to its end; the value is None for any other file.

    The value is the content, as of `read_bytes`, or if that is large, a temporary file with it.
    """
    if os.fspath(path) != STDIN and not _is_pipe(path):
        yield None
        return
    import tempfile

    name = display_name(path)
    with ExitStack() as resources:
        with _explaining(path):
            stream: IO[bytes] = sys.stdin.buffer
            if os.fspath(path) != STDIN:
                stream = resources.enter_context(Path(path).open("rb"))
            start = _read_some(stream, WHOLE_MB.size)
            text = None
            if len(start) < WHOLE_MB.size:
                text = _strip_mark(_decompress(np.frombuffer(start, dtype=np.uint8), "", name))
        if text is not None:
            yield text
            return
        try:
            made = tempfile.TemporaryDirectory(prefix="berryeval-pipe-")
            place = Path(resources.enter_context(made), "content")
            _copy_pipe(start, stream, place, name)
        except OSError as error:
            raise DataError(
                f"{name}: cannot be kept in {tempfile.gettempdir()} ({error.strerror or error}); "
                "make room there, or name another folder with TMPDIR"
            ) from None
        del start
        yield place


def _is_pipe(path: PathLike) -> bool:
    try:
        return stat.S_ISFIFO(Path(path).stat().st_mode)
    except (OSError, ValueError):
        return False


def _read_some(stream: IO[bytes], most: int) -> bytearray:
    content = bytearray()
    while len(content) < most and (piece := stream.read(min(_PIECE, most - len(content)))):
        content += piece
    return content


def _copy_pipe(start: bytearray, stream: IO[bytes], place: Path, name: str) -> None:
    size = len(start)
    with place.open("wb") as file:
        file.write(start)
        while piece := stream.read(_PIECE):
            size += file.write(piece)
            PIPE_MB.check(size, name)


def _unpack_stream(
    stream: IO[bytes], path: PathLike, size: int, tell: Callable[[int], None]
) -> Iterator[bytes]:
    start = stream.read(4)
    stream.seek(0)

    def read(most: int) -> Iterator[bytes]:
        while piece := stream.read(most):
            tell(len(piece))
            yield piece

    packing = find_packing(start, Path(path).suffix)
    return unpack(packing, read, display_name(path), size) if packing else read(_PIECE)


@contextmanager
def _explaining(path: PathLike) -> Iterator[None]:
    """Convert errors of reading a file into a DataError that names it."""
    try:
        yield
    except FileNotFoundError:
        problem = f"no such file{suggest_file(path)}"
    except IsADirectoryError:
        problem = "is a directory, expected a file"
    except EOFError:
        problem = "ends in the middle of its compressed data"
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error})"
    except BerryEvalError:
        raise
    except ValueError as error:  # an invalid path, such as one with a null byte
        problem = f"cannot be read ({error})"
    else:
        return
    raise DataError(f"{display_name(path)}: {problem}") from None


def _read_content(path: PathLike) -> npt.NDArray[np.uint8]:
    if os.fspath(path) == STDIN:
        raw, suffix = _read_stream(sys.stdin.buffer, display_name(path), PIPE_MB), ""
    else:
        raw, suffix = _read_file(Path(path)), Path(path).suffix
    return _decompress(raw, suffix, display_name(path))


def _decompress(raw: npt.NDArray[np.uint8], suffix: str, name: str) -> npt.NDArray[np.uint8]:
    packing = find_packing(raw[:4].tobytes(), suffix)
    return np.frombuffer(decompress(packing, raw.data, name), dtype=np.uint8) if packing else raw


def _read_file(file: Path) -> npt.NDArray[np.uint8]:
    """Read a file. It is not mapped: touching a map of a file that was cut ends the process."""
    with file.open("rb", buffering=0) as stream:
        before = os.fstat(stream.fileno())
        if not _has_size(before):  # a device such as /dev/zero has no end
            most = UNPACKED_MB if stat.S_ISCHR(before.st_mode) else PIPE_MB
            return _read_stream(stream, display_name(file), most)
        content = np.empty(before.st_size, dtype=np.uint8)
        done = 0
        while count := stream.readinto(content[done:].data):
            done += count
        _require_unchanged(file, before, os.fstat(stream.fileno()), done)
    return content


def _read_stream(stream: IO[bytes], name: str, most: Limit) -> npt.NDArray[np.uint8]:
    content = bytearray()
    while piece := stream.read(_PIECE):
        content += piece
        most.check(len(content), name)
    return np.frombuffer(content, dtype=np.uint8)


def _has_size(status: os.stat_result) -> bool:
    """Whether the size of a file is known: pipes and files made by the system have none."""
    return stat.S_ISREG(status.st_mode) and status.st_size > 0


def _require_unchanged(
    path: PathLike, before: os.stat_result, after: os.stat_result, size: int
) -> None:
    found = (before.st_size, before.st_mtime_ns)
    if size != before.st_size or (after.st_size, after.st_mtime_ns) != found:
        raise DataError(
            f"{display_name(path)}: was changed while it was read; try again when it is complete"
        )


def read_in_place(path: PathLike, read: Callable[[int, int], bool]) -> bool:
    """Call `read(descriptor, size)`, which returns whether it read the file to its end.

    Return False, without a call, for what only `read_bytes` can read: compressed files and pipes.
    """
    if os.fspath(path) == STDIN or Path(path).suffix in SUFFIXES:
        return False
    try:
        with Path(path).open("rb", buffering=0) as stream:
            before = os.fstat(stream.fileno())
            start = stream.read(4) if _has_size(before) else b""
            if not start or find_packing(start, ""):
                return False
            stream.seek(len(BYTE_ORDER_MARK) if start.startswith(BYTE_ORDER_MARK) else 0)
            size = stream.tell() if read(stream.fileno(), before.st_size) else before.st_size
            _require_unchanged(path, before, os.fstat(stream.fileno()), size)
    except (OSError, ValueError) as error:  # such as a path with a null byte
        if isinstance(error, DataError):
            raise
        return False  # `read_bytes` reports the cause
    return True


@contextmanager
def replace_file(path: PathLike, inside: PathLike | None = None) -> Iterator[Sink]:
    """Open a stream whose content replaces the file when the block ends without an error.

    The content goes to a temporary file in the same folder; after an error that file is removed
    and the old content stays, and after a kill the next process that writes there removes it.
    Names that end in .gz or .zst are compressed. Devices and pipes are written to directly.
    A link is followed, unless it leads out of the folder `inside`: then the file replaces the link.
    """
    import shutil

    target = Path(os.path.realpath(path))
    if inside is not None and not target.is_relative_to(os.path.realpath(inside)):
        target = Path(os.path.realpath(Path(path).parent), Path(path).name)
    place = target
    special = False
    try:
        special = not target.is_symlink() and target.exists() and not target.is_file()
        if special:
            raw: IO[bytes] = target.open("wb")
        else:
            _remove_abandoned(target.parent)
            place, raw = _create_temporary(target.parent)
        with raw:
            with _compress(raw, target) as stream:
                yield stream
            if not special:
                if target.exists() and not target.is_symlink():
                    shutil.copymode(target, place)
                raw.flush()
                if sys.platform == "win32":  # which renames no open file
                    raw.close()
                place.replace(target)  # while it is locked
    except OSError as error:
        raise NotWrittenError(
            f"{os.fspath(path)}: cannot be written ({error.strerror or error})"
        ) from None
    finally:
        if place != target:
            with suppress(OSError):  # the first error is the one to report
                place.unlink()


def _create_temporary(folder: Path) -> tuple[Path, IO[bytes]]:
    """Create a file and lock it, so that others see that it is in use."""
    import secrets

    while True:
        place = folder / f".berryeval-{secrets.token_hex(8)}.tmp"
        raw = place.open("xb")
        if try_lock(raw.fileno()) and os.fstat(raw.fileno()).st_nlink:
            return place, raw
        raw.close()  # another process took it for abandoned before it was locked
        with suppress(OSError):
            place.unlink()


_tidied: Final[set[Path]] = set()  # folders, once in a process


def _remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of killed processes, which no process has locked."""
    if folder in _tidied or sys.platform == "win32":
        return
    _tidied.add(folder)
    import fcntl

    for place in folder.glob(".berryeval-*.tmp"):
        if not _TEMPORARY.fullmatch(place.name) or place.is_symlink() or not is_regular(place):
            continue
        with suppress(OSError), place.open("r+b") as file:  # also: a file system without locks
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            place.unlink()


@contextmanager
def _compress(raw: IO[bytes], target: Path) -> Iterator[Sink]:
    if target.suffix == ".gz":  # neither name nor time inside: same content, same bytes
        import gzip

        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream:
            yield stream
    elif target.suffix == ".zst":
        packer = import_zstandard(os.fspath(target), "writing").ZstdCompressor()
        with packer.stream_writer(raw, closefd=False) as stream:
            yield stream
    else:
        yield raw


# Locks

_FAR_AWAY = 1 << 62  # Windows locks bytes: use one beyond the end of any file


def try_lock(file: int) -> bool:
    """Lock an open file until it is closed; return False if another process holds the lock.

    On a file system without locks the call succeeds.
    """
    try:
        import fcntl
    except ImportError:
        return _lock_on_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return not isinstance(error, BlockingIOError)
    return True


def _lock_on_windows(file: int) -> bool:
    import msvcrt  # only exists on Windows

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
def hold_lock(path: PathLike, problem: str) -> Iterator[None]:
    """Hold the lock of a file, created with its folder; raise `problem` if another process has it.

    The file is not removed afterwards: a third process could then lock a new file of that name.
    """
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise DataError(f"{place}: cannot be written ({error.strerror or error})") from None
    try:
        if not try_lock(file):
            raise DataError(problem)
        yield
    finally:
        os.close(file)


# The beginning of a file


def is_regular(path: Path) -> bool:
    """Whether a path is a regular file: not a pipe, and not a broken link."""
    try:
        return path.is_file()
    except OSError:  # inside a folder without permission
        return False


def read_beginning(path: PathLike, most: int) -> bytes:
    """Read at most the first `most` bytes of a file and decompress them as `read_bytes` does."""
    try:
        with Path(path).open("rb") as stream:
            start = stream.read(most)
    except OSError as error:
        raise DataError(
            f"{display_name(path)}: cannot be read ({error.strerror or error})"
        ) from None
    if packing := find_packing(start[:4], Path(path).suffix):
        start = decompress_start(packing, start, most, display_name(path))
    return start.removeprefix(BYTE_ORDER_MARK)
