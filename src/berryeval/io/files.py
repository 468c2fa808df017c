"""The bytes of a file: mapped where possible, unpacked where needed; and writing all or nothing."""

from __future__ import annotations

import mmap
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval.errors import DataError, NotWrittenError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BYTE_ORDER_MARK",
    "GZIP",
    "ZSTD",
    "PathLike",
    "imported_zstandard",
    "name_of",
    "plain_suffix",
    "read_bytes",
    "writing",
]

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
