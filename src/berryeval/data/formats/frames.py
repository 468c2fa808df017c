"""Frames in and out: Arrow is the form that pandas, polars and Parquet files all come in.

Needs pyarrow. Strings are taken over where they lie if they are stored end to end; other forms
(views, dictionaries, whole numbers) are converted once.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval._internal.files import PathLike, name_of, read_bytes, writing
from berryeval._internal.json import Node
from berryeval._internal.optional import imported
from berryeval.data.columns import ViewColumn, as_views, table_from_columns
from berryeval.data.formats.layouts import choose_columns
from berryeval.data.formats.trec import record_of_empty, with_queries
from berryeval.data.table import VALUE_OF, Kind, QueryTable, StringColumn
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


FrameType: TypeAlias = Literal["pandas", "polars", "arrow"]

# What a Parquet file written here tells besides its rows.
_NAME = b"berryeval.name"
_EMPTY = b"berryeval.empty_queries"


def _pyarrow(doing: str) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        msg = f"{doing} needs pyarrow; pip install berryeval[frames]"
        raise DataError(msg) from None
    return pa


def is_frame(source: object) -> bool:
    """Whether this is a pandas frame or anything that can give its content as Arrow."""
    return (
        hasattr(source, "__arrow_c_stream__")
        or hasattr(source, "__arrow_c_array__")
        or _is_pandas(source)
    )


def _is_pandas(source: object) -> bool:
    kind = type(source)
    return kind.__module__.split(".")[0] == "pandas" and kind.__name__ == "DataFrame"


def table_from_frame(
    frame: Any, kind: Kind, names: Mapping[str, str], *, lenient: bool = False, source: str = ""
) -> QueryTable:
    """The table of a frame; `names` says which columns to take where their names do not."""
    pa = _pyarrow("reading a frame")
    try:
        if _is_pandas(frame):
            found = choose_columns(list(map(str, frame.columns)), kind, names, source)
            arrow = pa.Table.from_pandas(frame[list(found)], preserve_index=False)
        else:
            arrow = pa.table(frame)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        msg = f"the frame cannot be read as Arrow: {_first_line(error)}"
        raise DataError(msg) from None
    return _table_from_arrow(pa, arrow, kind, names, lenient=lenient, source=source)


def read_parquet(
    path: PathLike, kind: Kind, names: Mapping[str, str], *, lenient: bool = False
) -> QueryTable:
    """Read a Parquet file; of its columns only the three that are needed."""
    source = name_of(path)
    pa = _pyarrow(f"{source}: reading Parquet files")
    content = read_bytes(path)
    try:
        file = pa.parquet.ParquetFile(pa.BufferReader(pa.py_buffer(content)))
        chosen = choose_columns(file.schema_arrow.names, kind, names, source)
        arrow = file.read(columns=list(dict.fromkeys(chosen)))
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        msg = f"{source}: cannot be read as Parquet: {_first_line(error)}"
        raise DataError(msg) from None
    table = _table_from_arrow(pa, arrow, kind, names, lenient=lenient, source=source)
    if not len(table.values):
        msg = f"{source}: holds no rows"
        raise DataError(msg)
    recorded = (arrow.schema.metadata or {}).get(_EMPTY)
    return table if recorded is None else with_queries(table, recorded, arrow.num_rows)


def _table_from_arrow(
    pa: Any, arrow: Any, kind: Kind, names: Mapping[str, str], *, lenient: bool, source: str
) -> QueryTable:
    query, document, value = choose_columns(arrow.column_names, kind, names, source)
    columns = [arrow.column(name) for name in (query, document, value)]
    queries = _ids(pa, columns[0], query, source)
    ids = _ids(pa, columns[1], document, source)
    documents = ids.copy() if isinstance(ids, ViewColumn) else ids
    values = _numbers(pa, columns[2], value, source)
    missing = _missing(columns)
    if missing.any():
        if not lenient:
            _raise_missing(columns, ("query", "document", VALUE_OF[kind]), source)
        kept = np.flatnonzero(~missing)
        queries, documents, values = queries.take(kept), documents.take(kept), values[kept]
    table = table_from_columns(
        queries, documents, values, kind,
        source=source, lenient=lenient, dropped=int(missing.sum()),
    )  # fmt: skip
    name = (arrow.schema.metadata or {}).get(_NAME)
    if name is None:
        return table
    return replace(table, labels={"tag": name.decode(errors="replace")})


def _missing(columns: list[Any]) -> npt.NDArray[np.bool_]:
    """Which rows lack a value in any of the columns."""
    missing = np.zeros(len(columns[0]), dtype=np.bool_)
    for column in columns:
        if column.null_count:
            missing |= column.is_null().to_numpy()
    return missing


def _raise_missing(columns: list[Any], roles: tuple[str, ...], source: str) -> None:
    start = f"{source}: " if source else ""
    row, role = min(
        (int(np.argmax(column.is_null().to_numpy())), place)
        for place, column in enumerate(columns)
        if column.null_count
    )
    msg = f"{start}row {row}: the {roles[role]} is missing"
    raise DataError(msg)


def _ids(pa: Any, column: Any, name: str, source: str) -> StringColumn | ViewColumn:
    """The ids of a column, where they lie if they are views."""
    views = as_views(_one_chunk(pa, column)) if str(column.type) == "string_view" else None
    return _strings(pa, column, name, source) if views is None else views


def _strings(pa: Any, column: Any, name: str, source: str) -> StringColumn:
    """The ids of a column; what is missing is an empty string."""
    if pa.types.is_null(column.type):  # nothing in it, and so no type: an empty pandas frame
        column = column.cast(pa.large_string())
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    text = {"string", "large_string", "string_view", "binary", "large_binary", "binary_view"}
    if not (pa.types.is_integer(kind) or str(kind) in text):
        start = f"{source}: " if source else ""
        msg = f"{start}column {name!r} must hold ids (strings or whole numbers), found {kind}"
        raise DataError(msg)
    try:
        array = _one_chunk(pa, _as_large_string(pa, column, kind))
    except pa.ArrowInvalid as error:
        start = f"{source}: " if source else ""
        msg = f"{start}column {name!r}: {_first_line(error)}"
        raise DataError(msg) from None
    _, offset_buffer, data_buffer = array.buffers()
    if not len(array):
        return StringColumn.from_bytes([])
    offsets = np.frombuffer(offset_buffer, dtype=np.int64)
    offsets = offsets[array.offset : array.offset + len(array) + 1]
    start_at, end_at = int(offsets[0]), int(offsets[-1])
    data = np.frombuffer(data_buffer, dtype=np.uint8) if end_at else np.zeros(0, np.uint8)
    return StringColumn(data[start_at:end_at], offsets - start_at if start_at else offsets)


def _as_large_string(pa: Any, column: Any, kind: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(kind)
    if str(kind) == "binary_view":
        column = column.cast(pa.large_binary())
    return column.cast(pa.large_string())


def _one_chunk(pa: Any, column: Any) -> Any:
    if column.num_chunks == 1:
        return column.chunk(0)
    combined = column.combine_chunks()
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined


def _numbers(pa: Any, column: Any, name: str, source: str) -> npt.NDArray[np.float64]:
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        start = f"{source}: " if source else ""
        msg = f"{start}column {name!r} must hold numbers, found {kind}"
        raise DataError(msg)
    # A copy: the frame may lie on an array that its owner goes on changing.
    return np.array(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def to_arrow(table: QueryTable, kind: Kind, name: str = "", *, ranks: bool = False) -> Any:
    """A pyarrow table with the columns query, document, score or grade, and, if asked for, rank."""
    pa = _pyarrow("making a frame")
    sizes = np.diff(table.offsets)
    rows = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    columns = {
        "query": _arrow_strings(pa, table.queries.take(rows)),
        "document": _arrow_strings(pa, table.documents),
        VALUE_OF[kind]: pa.array(table.values),
    }
    if ranks:
        columns["rank"] = pa.array(np.arange(len(rows), dtype=np.int64) - table.offsets[rows] + 1)
    return pa.table(columns, metadata={_NAME: name.encode()} if name else None)


def _arrow_strings(pa: Any, column: StringColumn) -> Any:
    return pa.LargeStringArray.from_buffers(
        len(column), pa.py_buffer(column.offsets), pa.py_buffer(column.data)
    )


def to_frame(
    table: QueryTable, frame: FrameType, kind: Kind, name: str = "", *, ranks: bool = False
) -> Any:
    """The rows as a frame of pandas, polars or pyarrow."""
    arrow = to_arrow(table, kind, name, ranks=ranks)
    if frame == "arrow":
        return arrow
    if frame not in {"pandas", "polars"}:
        msg = f"a frame is of 'pandas', 'polars' or 'arrow', found {frame!r}"
        raise ValueError(msg)
    try:
        if frame == "pandas":
            return arrow.replace_schema_metadata(None).to_pandas()
        import polars as pl
    except ImportError:
        msg = f"making a {frame} frame needs {frame}; pip install {frame}"
        raise DataError(msg) from None
    return pl.from_arrow(arrow)


def write_parquet(
    table: QueryTable, path: PathLike, kind: Kind, name: str = "", *, ranks: bool = False
) -> None:
    """Write a Parquet file, which also tells of queries without rows."""
    pa = _pyarrow(f"{name_of(path)}: writing Parquet files")
    arrow = to_arrow(table, kind, name, ranks=ranks)
    recorded = record_of_empty(table)
    if recorded is not None:
        told = {**(arrow.schema.metadata or {}), _EMPTY: recorded}
        arrow = arrow.replace_schema_metadata(told)
    with writing(path) as stream:
        pa.parquet.write_table(arrow, stream, compression="zstd")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


# The rows of a Parquet file as JSON values. Needs pyarrow.


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
