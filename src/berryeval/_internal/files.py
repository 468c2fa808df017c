"""The bytes of a file: mapped where possible, unpacked where needed; and writing all or nothing."""

from __future__ import annotations

import io
import mmap
import os
import sys
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval.errors import DataError, NotWrittenError

if TYPE_CHECKING:
    from collections.abc import Iterator


PathLike: TypeAlias = str | os.PathLike[str]
STDIN = "-"


class Sink(Protocol):
    """What our writers write to."""

    def write(self, data: bytes, /) -> object:
        """Take more bytes."""


GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PACKED = (".gz", ".zst")


def name_of(path: PathLike) -> str:
    """What messages call the file."""
    return "<stdin>" if os.fspath(path) == STDIN else os.fspath(path)


def plain_suffix(path: PathLike) -> str:
    """The ending of a file's name without that of its packing: ".json" for "a.json.gz"."""
    name = Path(path)
    return Path(name.stem).suffix.lower() if name.suffix in _PACKED else name.suffix.lower()


def read_bytes(path: PathLike) -> npt.NDArray[np.uint8]:
    """The content of a file (of stdin for "-") as an array of bytes.

    Gzip and zstd data are unpacked, known by their first bytes or the name's ending. A byte order
    mark at the beginning is left out.
    """
    try:
        content = _content(path)
    except FileNotFoundError:
        problem = "no such file"
    except IsADirectoryError:
        problem = "is a directory, expected a file"
    except EOFError:
        problem = "ends in the middle of its compressed data"
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error})"
    except DataError:
        raise
    except ValueError as error:  # a path that no system takes
        problem = f"cannot be read ({error})"
    else:
        return content[3:] if content[:3].tobytes() == BYTE_ORDER_MARK else content
    msg = f"{name_of(path)}: {problem}"
    raise DataError(msg) from None


def _content(path: PathLike) -> npt.NDArray[np.uint8]:
    if os.fspath(path) == STDIN:
        raw, suffix = np.frombuffer(sys.stdin.buffer.read(), dtype=np.uint8), ""
    else:
        raw, suffix = _mapped(Path(path)), Path(path).suffix
    start = raw[:4].tobytes()
    if start.startswith(GZIP) or suffix == ".gz":
        if not len(raw):
            raise EOFError
        return np.frombuffer(_unpack_gzip(raw, name_of(path)), dtype=np.uint8)
    if start == ZSTD or suffix == ".zst":
        return np.frombuffer(_unpack_zstd(raw.tobytes(), name_of(path)), dtype=np.uint8)
    return raw


def _mapped(file: Path) -> npt.NDArray[np.uint8]:
    with file.open("rb") as stream:
        if os.fstat(stream.fileno()).st_size == 0:  # an empty file cannot be mapped, a pipe neither
            return np.frombuffer(stream.read(), dtype=np.uint8)
        try:
            return np.frombuffer(
                mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint8
            )
        except (OSError, ValueError):  # a file system that maps no files
            return np.frombuffer(stream.read(), dtype=np.uint8)


def _unpack_gzip(packed: npt.NDArray[np.uint8], name: str) -> bytes:
    import gzip
    import zlib

    try:
        return gzip.decompress(packed.data)
    except (gzip.BadGzipFile, zlib.error) as error:
        msg = f"{name}: is not valid gzip data ({error})"
        raise DataError(msg) from None


def imported_zstandard(name: str, doing: str) -> Any:
    """The package, to read or write what this file is called."""
    try:
        import zstandard
    except ImportError:
        msg = f"{name}: {doing} zstd data needs zstandard; pip install berryeval[zstd]"
        raise DataError(msg) from None
    return zstandard


def _unpack_zstd(packed: bytes, name: str) -> bytes:
    zstandard = imported_zstandard(name, "reading")
    parts: list[bytes] = []
    try:
        while packed or not parts:  # one frame after the other
            unpacker = zstandard.ZstdDecompressor().decompressobj()
            parts.append(unpacker.decompress(packed))
            if not unpacker.eof:
                raise EOFError
            packed = unpacker.unused_data
    except zstandard.ZstdError as error:
        msg = f"{name}: is not valid zstd data ({error})"
        raise DataError(msg) from None
    return b"".join(parts)


@contextmanager
def writing(path: PathLike) -> Iterator[Sink]:
    """A stream whose content takes the place of the file when the block ends without an error.

    Until then it is written beside the file under another name; if anything goes wrong that is
    removed, and what was there before stays. Names that end in .gz or .zst are packed. A device or
    a pipe is written to directly.
    """
    import secrets
    import shutil

    target = Path(os.path.realpath(path))
    place = target.with_name(f".berryeval-{secrets.token_hex(8)}.tmp")
    special = False
    try:
        special = target.exists() and not target.is_file()
        place = target if special else place
        with place.open("wb" if special else "xb") as raw, _packing(raw, target) as stream:
            yield stream
        if not special:
            if target.exists():
                shutil.copymode(target, place)
            place.replace(target)
    except OSError as error:
        msg = f"{os.fspath(path)}: cannot be written ({error.strerror or error})"
        raise NotWrittenError(msg) from None
    finally:
        if not special:
            with suppress(OSError):  # what went wrong is said already
                place.unlink()


@contextmanager
def _packing(raw: IO[bytes], target: Path) -> Iterator[Sink]:
    if target.suffix == ".gz":  # no name and no time inside: same content, same bytes
        import gzip

        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream:
            yield stream
    elif target.suffix == ".zst":
        packer = imported_zstandard(os.fspath(target), "writing").ZstdCompressor()
        with packer.stream_writer(raw, closefd=False) as stream:
            yield stream
    else:
        yield raw


# Locks on files: one process at a time, and none that outlives its process.

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


# How a file begins: enough to know what it is, however large it may be.

_ANY_GZIP: Final = 31  # what zlib calls a stream with the head of gzip


def is_regular(path: Path) -> bool:
    """Whether it is a file that can be read to its end: no pipe, no link that leads nowhere."""
    try:
        return path.is_file()
    except OSError:  # behind a folder that is closed to us
        return False


def beginning_of(path: PathLike, most: int) -> bytes:
    """The first bytes of a file, unpacked as `read_bytes` does; no more than `most` are read."""
    try:
        with Path(path).open("rb") as stream:
            start = stream.read(most)
    except OSError as error:
        msg = f"{name_of(path)}: cannot be read ({error.strerror or error})"
        raise DataError(msg) from None
    suffix = Path(path).suffix
    if start.startswith(GZIP) or suffix == ".gz":
        start = _gzip(start, most, name_of(path))
    elif start.startswith(ZSTD) or suffix == ".zst":
        start = _zstd(start, most, name_of(path))
    return start.removeprefix(BYTE_ORDER_MARK)


def _gzip(packed: bytes, most: int, name: str) -> bytes:
    try:
        return zlib.decompressobj(_ANY_GZIP).decompress(packed, most)
    except zlib.error as error:
        msg = f"{name}: is not valid gzip data ({error})"
        raise DataError(msg) from None


def _zstd(packed: bytes, most: int, name: str) -> bytes:
    zstandard = imported_zstandard(name, "reading")
    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed)) as stream:
            return bytes(stream.read(most))
    except zstandard.ZstdError as error:
        msg = f"{name}: is not valid zstd data ({error})"
        raise DataError(msg) from None
