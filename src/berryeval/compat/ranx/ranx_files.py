"""The files of ranx, and the error for input that it rejects."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from berryeval._internal.files import read_bytes, replace_file
from berryeval._internal.optional import import_optional
from berryeval.data import table_from_text
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.data import Kind, QueryTable

_KINDS = ("json", "trec", "lz4", "gz", "parquet")
_SUFFIXES = {"txt": "trec", "parq": "parquet"}


class RejectedInputError(DataError, AssertionError):
    """Input that ranx rejects with an `AssertionError`."""


class MissingFileError(DataError, FileNotFoundError):
    """A file that does not exist: ranx raises a `FileNotFoundError`."""


@contextmanager
def noticing_a_missing_file(path: PathLike) -> Iterator[None]:
    """Raise a `MissingFileError` if reading fails because nothing is there."""
    try:
        yield
    except DataError as error:
        if os.path.lexists(path):
            raise
        raise MissingFileError(str(error)) from None


def get_file_kind(path: PathLike = "run.json", kind: str | None = None) -> str:
    """Return the kind of a file, by default from its suffix."""
    suffix = Path(path).suffix[1:]
    found = _SUFFIXES.get(suffix, suffix) if kind is None else kind
    if found not in _KINDS:
        raise RejectedInputError(
            f"{path}: the kind of file must be one of {', '.join(_KINDS)}, found {found!r}; "
            "give it as kind="
        )
    return found


def read_trec(path: PathLike, kind: Kind) -> QueryTable:
    """Read a TREC file, compressed or not."""
    return table_from_text(read_bytes(path), kind, str(path))


def read_parquet(path: PathLike, options: Mapping[str, Any]) -> Any:
    """Read a Parquet file with options of pandas."""
    pandas = import_optional("pandas", "from_parquet with pd_kwargs")
    return pandas.read_parquet(path, **options)


def read_lz4(path: PathLike) -> Any:
    """Read the format of ranx: CBOR, compressed with LZ4 twice."""
    frame = import_optional("lz4.frame", "the LZ4 format of ranx")
    cbor = import_optional("cbor2", "the LZ4 format of ranx")
    return cbor.loads(frame.decompress(frame.decompress(read_bytes(path).tobytes())))


def write_lz4(rows: Mapping[str, Any], path: PathLike) -> None:
    """Write the format of ranx."""
    frame = import_optional("lz4.frame", "the LZ4 format of ranx")
    cbor = import_optional("cbor2", "the LZ4 format of ranx")
    with replace_file(path) as stream:
        stream.write(frame.compress(frame.compress(cbor.dumps(rows))))
