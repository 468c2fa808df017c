"""Files: reading and decompressing, atomic writing, and locks."""

from __future__ import annotations

import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval._internal.limits import PIPE_MB, UNPACKED_MB, Limit, Unpacked
from berryeval.errors import BerryEvalError, DataError, NotWrittenError

PathLike: TypeAlias = str | os.PathLike[str]
STDIN = "-"


class Sink(Protocol):
    """A binary stream for writers."""

    def write(self, data: bytes, /) -> object:
        """Write bytes."""


GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_COMPRESSED = (".gz", ".zst")
_TEMPORARY: Final = re.compile(r"\.berryeval-[0-9a-f]{16}\.tmp")
_ANY_GZIP: Final = 31  # the `wbits` of zlib for data with a gzip header
_PIECE: Final = 1 << 20  # bytes
_GZIP_PIECE: Final = 1 << 15  # bytes; gzip makes at most 1,032 bytes of one
_ZSTD_PIECE: Final = 1 << 11  # bytes; zstd makes at most 32,768 bytes of one


def display_name(path: PathLike) -> str:
    """Return the name of a file for messages."""
    return "<stdin>" if os.fspath(path) == STDIN else os.fspath(path)


def plain_suffix(path: PathLike) -> str:
    """Return the suffix without that of the compression: ".json" for "a.json.gz"."""
    name = Path(path)
    return Path(name.stem).suffix.lower() if name.suffix in _COMPRESSED else name.suffix.lower()


def read_bytes(path: PathLike) -> npt.NDArray[np.uint8]:
    """Read a file, or stdin for "-", into an array of bytes.

    Gzip and zstd data, recognized by their first bytes or the suffix, are decompressed. A byte
    order mark is removed.
    """
    try:
        content = _read_content(path)
    except FileNotFoundError:
        problem = "no such file"
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
        return content[3:] if content[:3].tobytes() == BYTE_ORDER_MARK else content
    raise DataError(f"{display_name(path)}: {problem}") from None


def _read_content(path: PathLike) -> npt.NDArray[np.uint8]:
    if os.fspath(path) == STDIN:
        raw, suffix = _read_stream(sys.stdin.buffer, display_name(path), PIPE_MB), ""
    else:
        raw, suffix = _read_file(Path(path)), Path(path).suffix
    start = raw[:4].tobytes()
    if start.startswith(GZIP) or suffix == ".gz":
        return np.frombuffer(decompress_gzip(raw.data, display_name(path)), dtype=np.uint8)
    if start == ZSTD or suffix == ".zst":
        return np.frombuffer(_decompress_zstd(raw.data, display_name(path)), dtype=np.uint8)
    return raw


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
        if len(content) > most.size:
            raise DataError(
                f"{name}: more than {most.value:,} MB, from a pipe or device; {most.advice}"
            )
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
    if os.fspath(path) == STDIN or Path(path).suffix in _COMPRESSED:
        return False
    try:
        with Path(path).open("rb", buffering=0) as stream:
            before = os.fstat(stream.fileno())
            start = stream.read(4) if _has_size(before) else b""
            if not start or start.startswith(GZIP) or start == ZSTD:
                return False
            stream.seek(len(BYTE_ORDER_MARK) if start.startswith(BYTE_ORDER_MARK) else 0)
            size = stream.tell() if read(stream.fileno(), before.st_size) else before.st_size
            _require_unchanged(path, before, os.fstat(stream.fileno()), size)
    except (OSError, ValueError) as error:  # such as a path with a null byte
        if isinstance(error, DataError):
            raise
        return False  # `read_bytes` reports the cause
    return True


# Runs shrink to a tenth with gzip, to a fiftieth with zstd if they are very regular.
_GZIP_RATIO: Final = 32
_ZSTD_RATIO: Final = 200


def decompress_gzip(packed: bytes | memoryview, name: str) -> bytearray:
    """Decompress gzip data, with the limits of a file; raise EOFError if they end too early."""
    found, view = Unpacked(name, len(packed), _GZIP_RATIO), memoryview(packed)
    try:
        _decompress_members(view, found, lambda: zlib.decompressobj(_ANY_GZIP), padding=b"\0")
    except zlib.error as error:
        raise DataError(f"{name}: is not valid gzip data ({error})") from None
    return found.data


def decompress_zlib(packed: bytes, name: str) -> bytearray:
    """Decompress data of zlib, with the limits of a file; raise zlib.error if they are damaged."""
    found = Unpacked(name, len(packed), _GZIP_RATIO)
    try:
        _decompress_members(memoryview(packed), found, zlib.decompressobj)
    except EOFError:
        raise zlib.error("incomplete data") from None
    return found.data


def _decompress_members(
    packed: memoryview,
    found: Unpacked,
    start: Callable[[], Any],
    size: int = _GZIP_PIECE,
    padding: bytes = b"",
) -> None:
    """Decompress data of one or several members in pieces, so that none is large."""
    place = 0
    unpacker = start()
    is_inside = True
    while place < len(packed):
        piece = bytes(packed[place : place + size])
        if not is_inside:
            skipped = len(piece) - len(piece.lstrip(padding)) if padding else 0
            place += skipped
            if skipped:
                continue
            unpacker, is_inside = start(), True
        found.add(unpacker.decompress(piece))
        place += len(piece) - len(unpacker.unused_data)
        is_inside = not unpacker.eof
    if is_inside:
        raise EOFError


def import_zstandard(name: str, doing: str) -> Any:
    """Import zstandard to read or write the file `name`."""
    try:
        import zstandard
    except ImportError:
        raise DataError(
            f"{name}: {doing} zstd data needs zstandard; pip install berryeval[zstd]"
        ) from None
    return zstandard


def _decompress_zstd(packed: memoryview, name: str) -> bytearray:
    zstandard = import_zstandard(name, "reading")
    found = Unpacked(name, len(packed), _ZSTD_RATIO)
    try:
        unpacker = zstandard.ZstdDecompressor()
        _decompress_members(packed, found, unpacker.decompressobj, _ZSTD_PIECE)
    except zstandard.ZstdError as error:
        raise DataError(f"{name}: is not valid zstd data ({error})") from None
    return found.data


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
    except BlockingIOError:
        return False
    except OSError:
        return True
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
    suffix = Path(path).suffix
    if start.startswith(GZIP) or suffix == ".gz":
        start = _decompress_gzip_start(start, most, display_name(path))
    elif start.startswith(ZSTD) or suffix == ".zst":
        start = _decompress_zstd_start(start, most, display_name(path))
    return start.removeprefix(BYTE_ORDER_MARK)


def _decompress_gzip_start(packed: bytes, most: int, name: str) -> bytes:
    try:
        return zlib.decompressobj(_ANY_GZIP).decompress(packed, most)
    except zlib.error as error:
        raise DataError(f"{name}: is not valid gzip data ({error})") from None


def _decompress_zstd_start(packed: bytes, most: int, name: str) -> bytes:
    zstandard = import_zstandard(name, "reading")
    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed)) as stream:
            return bytes(stream.read(most))
    except zstandard.ZstdError as error:
        raise DataError(f"{name}: is not valid zstd data ({error})") from None
