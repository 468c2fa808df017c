"""The rows of a Parquet file as JSON values. Needs pyarrow."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from berryeval.errors import DataError
from berryeval.io.files import PathLike, name_of, read_bytes
from berryeval.io.json_node import Node
from berryeval.optional import imported

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_parquet_columns", "read_parquet_rows"]


def read_parquet_columns(path: PathLike) -> list[str]:
    """The names of the columns."""
    with _readable(name_of(path)) as pyarrow:
        return list(_file(pyarrow, path).schema_arrow.names)


def read_parquet_rows(path: PathLike) -> Iterator[Node]:
    """The rows, each an object; missing values and NaN are null, times are written as ISO 8601."""
    source, number = name_of(path), 0
    with _readable(source) as pyarrow:
        for batch in _file(pyarrow, path).iter_batches():
            for row in batch.to_pylist():
                where = f"{source}: row {number}"
                yield Node({name: _plain(value, where) for name, value in row.items()}, where)
                number += 1


@contextmanager
def _readable(source: str) -> Iterator[Any]:
    """The library, with what it complains of while it reads made a complaint about the file."""
    pyarrow = imported("pyarrow", f"{source}: reading Parquet files", extra="frames")
    imported("pyarrow.parquet", f"{source}: reading Parquet files", extra="frames")
    try:
        yield pyarrow
    except (pyarrow.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        msg = f"{source}: cannot be read as Parquet: {str(error).splitlines()[0]}"
        raise DataError(msg) from None


def _file(pyarrow: Any, path: PathLike) -> Any:
    content = pyarrow.py_buffer(read_bytes(path))
    return pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content))


def _plain(value: Any, where: str) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_plain(item, where) for item in value]
    if isinstance(value, dict):
        return {str(name): _plain(item, where) for name, item in value.items()}
    if isinstance(value, dt.date | dt.time):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    msg = f"{where}: expected text, numbers, times, lists or structs, found {type(value).__name__}"
    raise DataError(msg)
