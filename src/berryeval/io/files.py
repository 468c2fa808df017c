"""The bytes of a file: mapped where possible, decompressed or read from stdin where needed."""

from __future__ import annotations

import mmap
import os
import sys
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval.errors import DataError

__all__ = ["PathLike", "name_of", "read_bytes"]

PathLike: TypeAlias = str | os.PathLike[str]
STDIN = "-"


def name_of(path: PathLike) -> str:
    """What messages call the file."""
    return "<stdin>" if os.fspath(path) == STDIN else os.fspath(path)


def read_bytes(path: PathLike) -> npt.NDArray[np.uint8]:
    """The content of a file (of stdin for "-"; unpacked for .gz and .zst) as an array of bytes."""
    if os.fspath(path) == STDIN:
        return np.frombuffer(sys.stdin.buffer.read(), dtype=np.uint8)
    file = Path(path)
    try:
        if file.suffix == ".gz":
            import gzip

            return np.frombuffer(gzip.decompress(file.read_bytes()), dtype=np.uint8)
        if file.suffix == ".zst":
            return np.frombuffer(_unpack_zstd(file), dtype=np.uint8)
        return _mapped(file)
    except FileNotFoundError:
        msg = f"{file}: no such file"
        raise DataError(msg) from None
    except IsADirectoryError:
        msg = f"{file}: is a directory, expected a file"
        raise DataError(msg) from None
    except EOFError as error:
        msg = f"{file}: ends in the middle of its compressed data ({error})"
        raise DataError(msg) from None
    except OSError as error:
        msg = f"{file}: cannot be read ({error.strerror or error})"
        raise DataError(msg) from None


def _mapped(file: Path) -> npt.NDArray[np.uint8]:
    with file.open("rb") as stream:
        if os.fstat(stream.fileno()).st_size == 0:  # an empty file cannot be mapped
            return np.frombuffer(stream.read(), dtype=np.uint8)
        try:
            return np.frombuffer(
                mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint8
            )
        except (OSError, ValueError):  # a pipe or a device
            return np.frombuffer(stream.read(), dtype=np.uint8)


def _unpack_zstd(file: Path) -> bytes:
    try:
        import zstandard
    except ImportError:
        msg = f"{file}: reading .zst files needs zstandard; pip install berryeval[zstd]"
        raise DataError(msg) from None
    try:
        with file.open("rb") as stream:
            return bytes(zstandard.ZstdDecompressor().stream_reader(stream).read())
    except zstandard.ZstdError as error:
        msg = f"{file}: is not valid zstd data ({error})"
        raise DataError(msg) from None
