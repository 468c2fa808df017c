"""How a file begins: enough to know what it is, however large it may be."""

from __future__ import annotations

import io
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from berryeval.errors import DataError
from berryeval.io.files import BYTE_ORDER_MARK, GZIP, ZSTD, imported_zstandard, name_of

if TYPE_CHECKING:
    from berryeval.io.files import PathLike

__all__ = ["beginning_of", "is_regular"]

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
