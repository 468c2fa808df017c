"""Compressed data: gzip, zstd and zlib, with limits on the decompressed size."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from berryeval._internal.limits import Unpacked
from berryeval._internal.optional import install_command
from berryeval.errors import DataError

Packing: TypeAlias = Literal["gzip", "zstd", ""]
GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
SUFFIXES: Final = (".gz", ".zst")
_ANY_GZIP: Final = 31  # the `wbits` of zlib for data with a gzip header
_GZIP_PIECE: Final = 1 << 15  # bytes; gzip makes at most 1,032 bytes of one
_ZSTD_PIECE: Final = 1 << 11  # bytes; zstd makes at most 32,768 bytes of one
# Runs shrink to a tenth with gzip, to a fiftieth with zstd if they are very regular.
_GZIP_RATIO: Final = 32
_ZSTD_RATIO: Final = 200


def find_packing(start: bytes, suffix: str) -> Packing:
    """Return how a file is compressed, by its first four bytes or its suffix; "" if it is not."""
    if start.startswith(GZIP) or suffix == ".gz":
        return "gzip"
    return "zstd" if start.startswith(_ZSTD) or suffix == ".zst" else ""


def unpack(
    packing: Packing, read: Callable[[int], Iterator[bytes]], name: str, size: int
) -> Iterator[bytes]:
    """Decompress the pieces of gzip or zstd data; raise EOFError if they end too early.

    Args:
        packing: How the data are compressed.
        read: Yields the compressed data in pieces of the given size.
        name: Name of the data in messages.
        size: Number of compressed bytes.
    """
    if packing == "gzip":
        found = Unpacked(name, size, _GZIP_RATIO)
        try:
            yield from map(found.count, _unpack_members(read(_GZIP_PIECE), _open_gzip, b"\0"))
        except zlib.error as error:
            raise DataError(f"{name}: is not valid gzip data ({error})") from None
        return
    zstandard = import_zstandard(name, "reading")
    found, unpacker = Unpacked(name, size, _ZSTD_RATIO), zstandard.ZstdDecompressor()
    try:
        members = _unpack_members(read(_ZSTD_PIECE), unpacker.decompressobj)
        yield from map(found.count, members)
    except zstandard.ZstdError as error:
        raise DataError(f"{name}: is not valid zstd data ({error})") from None


def decompress(packing: Packing, packed: bytes | memoryview, name: str) -> bytearray:
    """Decompress gzip or zstd data as a whole, as `unpack` does."""
    return _join(unpack(packing, partial(_divide, packed), name, len(packed)))


def decompress_zlib(packed: bytes, name: str) -> bytearray:
    """Decompress zlib data, with the limits of gzip; raise zlib.error if they are damaged."""
    found = Unpacked(name, len(packed), _GZIP_RATIO)
    pieces = _unpack_members(_divide(packed, _GZIP_PIECE), zlib.decompressobj)
    try:
        return _join(map(found.count, pieces))
    except EOFError:
        raise zlib.error("incomplete data") from None


def decompress_start(packing: Packing, packed: bytes, most: int, name: str) -> bytes:
    """Decompress at most the first `most` bytes of gzip or zstd data, which may be cut off."""
    if packing == "gzip":
        try:
            return _open_gzip().decompress(packed, most)  # type: ignore[no-any-return]
        except zlib.error as error:
            raise DataError(f"{name}: is not valid gzip data ({error})") from None
    zstandard = import_zstandard(name, "reading")
    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed)) as stream:
            return bytes(stream.read(most))
    except zstandard.ZstdError as error:
        raise DataError(f"{name}: is not valid zstd data ({error})") from None


def import_zstandard(name: str, doing: str) -> Any:
    """Import zstandard to read or write the file `name`."""
    try:
        import zstandard
    except ImportError:
        install = install_command({"zstandard": "zstd"})
        raise DataError(f"{name}: {doing} zstd data needs zstandard: {install}") from None
    return zstandard


def _open_gzip() -> Any:
    return zlib.decompressobj(_ANY_GZIP)


def _divide(packed: bytes | memoryview, size: int) -> Iterator[bytes]:
    view = memoryview(packed)
    return (bytes(view[place : place + size]) for place in range(0, len(view), size))


def _join(pieces: Iterable[bytes]) -> bytearray:
    data = bytearray()
    for piece in pieces:
        data += piece
    return data


def _unpack_members(
    pieces: Iterable[bytes], start: Callable[[], Any], padding: bytes = b""
) -> Iterator[bytes]:
    """Decompress data of one or several members in small pieces, so that no result is large."""
    unpacker = start()
    is_inside = True
    for piece in pieces:
        left = piece
        while left:
            if not is_inside:
                left = left.lstrip(padding) if padding else left
                if not left:
                    break
                unpacker, is_inside = start(), True
            yield unpacker.decompress(left)
            left = unpacker.unused_data
            is_inside = not unpacker.eof
    if is_inside:
        raise EOFError
