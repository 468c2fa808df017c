"""Conversion of frames and Parquet files through Arrow; needs pyarrow.

Contiguous strings are used without a copy; other forms (views, dictionaries, integers) are
converted once.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from berryeval._internal.files import (
    PathLike,
    display_name,
    is_regular,
    read_beginning,
    read_bytes,
    replace_file,
)
from berryeval._internal.json import Node
from berryeval._internal.limits import Unpacked
from berryeval._internal.notebook import choose_library
from berryeval._internal.optional import import_optional, install_command, is_missing
from berryeval._internal.text import prefix_place
from berryeval.data.columns import Origin, ViewColumn, as_views, table_from_columns
from berryeval.data.formats.layouts import choose_columns
from berryeval.data.formats.trec import add_empty_queries, encode_empty_queries
from berryeval.data.table import VALUE_OF, Kind, QueryTable, StringColumn
from berryeval.errors import DataError

FrameType: TypeAlias = Literal["pandas", "polars", "arrow"]

# Metadata keys of our Parquet files.
_NAME = b"berryeval.name"
_EMPTY = b"berryeval.empty_queries"
_RATIO = 200  # as of zstd, with which it may be compressed
_VALUE_BYTES = 8
_ROWS = 4096  # rows of a corpus that are read together
_ASCII = 128  # the first byte that is not ASCII


def _import_pyarrow(doing: str) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        install = install_command({"pyarrow": "frames"})
        raise DataError(f"{doing} needs pyarrow: {install}") from None
    return pa


def is_frame(source: object) -> bool:
    """Whether an object is a pandas frame or an Arrow producer."""
    return (
        hasattr(source, "__arrow_c_stream__")
        or hasattr(source, "__arrow_c_array__")
        or _is_pandas(source)
    )


def _is_pandas(source: object) -> bool:
    kind = type(source)
    return kind.__module__.split(".")[0] == "pandas" and kind.__name__ == "DataFrame"


def table_from_frame(
    frame: Any,
    kind: Kind,
    names: Mapping[str, str],
    *,
    lenient: bool = False,
    source: str = "",
    origin: Origin | None = None,
) -> QueryTable:
    """Convert a frame; `names` gives column names by role where they are not common ones."""
    pa = _import_pyarrow("reading a frame")
    try:
        if _is_pandas(frame):
            found = choose_columns(list(map(str, frame.columns)), kind, names, source)
            arrow = pa.Table.from_pandas(frame[list(found)], preserve_index=False)
        else:
            arrow = pa.table(frame)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise DataError(f"the frame cannot be read as Arrow: {_first_line(error)}") from None
    return _convert_arrow(pa, arrow, kind, names, lenient=lenient, source=source, origin=origin)


def read_parquet(
    path: PathLike, kind: Kind, names: Mapping[str, str], *, lenient: bool = False
) -> QueryTable:
    """Read the three needed columns of a Parquet file."""
    source = display_name(path)
    pa = _import_pyarrow(f"{source}: reading Parquet files")
    content = read_bytes(path)
    try:
        file = pa.parquet.ParquetFile(pa.BufferReader(pa.py_buffer(content)))
        check_size(file, len(content), source)
        chosen = choose_columns(file.schema_arrow.names, kind, names, source)
        arrow = file.read(columns=list(dict.fromkeys(chosen)))
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        raise DataError(f"{source}: cannot be read as Parquet: {_first_line(error)}") from None
    table = _convert_arrow(pa, arrow, kind, names, lenient=lenient, source=source)
    if not len(table.values):
        raise DataError(f"{source}: holds no rows")
    recorded = read_empty_queries(arrow.schema)
    return table if recorded is None else add_empty_queries(table, recorded, arrow.num_rows)


def read_empty_queries(schema: Any) -> bytes | None:
    """Return the encoded queries without rows of a file that `write_parquet` wrote."""
    recorded: bytes | None = (schema.metadata or {}).get(_EMPTY)
    return recorded


def _convert_arrow(
    pa: Any,
    arrow: Any,
    kind: Kind,
    names: Mapping[str, str],
    *,
    lenient: bool,
    source: str,
    origin: Origin | None = None,
) -> QueryTable:
    origin = origin or Origin(None, lambda row: f"{source}: row {row}" if source else f"row {row}")
    query, document, value = choose_columns(arrow.column_names, kind, names, source)
    ids_of = (_decode_missing(pa, arrow.column(name), name, source) for name in (query, document))
    columns = [*ids_of, arrow.column(value)]
    queries = _read_ids(pa, columns[0], query, source)
    ids = _read_ids(pa, columns[1], document, source)
    documents = ids.copy() if isinstance(ids, ViewColumn) else ids
    values = _read_numbers(pa, columns[2], value, source)
    missing = _find_missing(columns)
    if missing.any():
        if not lenient:
            _raise_missing(columns, ("query", "document", VALUE_OF[kind]), origin)
        kept = np.flatnonzero(~missing)
        queries, documents, values = queries.take(kept), documents.take(kept), values[kept]
        origin = origin.take(kept)
    table = table_from_columns(
        queries, documents, values, kind,
        source=source, lenient=lenient, dropped=int(missing.sum()), origin=origin,
    )  # fmt: skip
    for column, strings in ((query, table.queries), (document, table.documents)):
        _require_text(column, strings, source)
    name = (arrow.schema.metadata or {}).get(_NAME)
    if name is None:
        return table
    return replace(table, labels={**table.labels, "tag": name.decode(errors="replace")})


def _require_text(name: str, column: StringColumn, source: str) -> None:
    """Reject strings that are not UTF-8, which Arrow does not check."""
    if column.data.max(initial=0) < _ASCII:
        return
    try:
        for _ in column:
            pass
    except UnicodeDecodeError as error:
        start = prefix_place(source)
        raise DataError(f"{start}column {name!r} must hold UTF-8 text: {error}") from None


def _decode_missing(pa: Any, column: Any, name: str, source: str) -> Any:
    """Return the strings of a dictionary that holds a missing one: their rows count as present."""
    if not pa.types.is_dictionary(column.type):
        return column
    if not any(chunk.dictionary.null_count for chunk in column.chunks):
        return column
    try:
        return column.cast(column.type.value_type)
    except (pa.ArrowInvalid, IndexError) as error:
        start = prefix_place(source)
        raise DataError(f"{start}column {name!r}: {_first_line(error)}") from None


def _find_missing(columns: list[Any]) -> npt.NDArray[np.bool_]:
    missing = np.zeros(len(columns[0]), dtype=np.bool_)
    for column in columns:
        if column.null_count:
            missing |= column.is_null().to_numpy()
    return missing


def _raise_missing(columns: list[Any], roles: tuple[str, ...], origin: Origin) -> None:
    row, role = min(
        (int(np.argmax(column.is_null().to_numpy())), place)
        for place, column in enumerate(columns)
        if column.null_count
    )
    raise DataError(f"{origin.locate(row)}: the {roles[role]} is missing")


def _read_ids(pa: Any, column: Any, name: str, source: str) -> StringColumn | ViewColumn:
    """Return the ids of a column; views are not copied, and codes of a dictionary made views."""
    is_view = str(column.type) == "string_view" or pa.types.is_dictionary(column.type)
    views = as_views(_combine_chunks(pa, column)) if is_view else None
    return _read_strings(pa, column, name, source) if views is None else views


def _read_strings(pa: Any, column: Any, name: str, source: str) -> StringColumn:
    """Return the ids of a column; missing ones are empty strings."""
    if pa.types.is_null(column.type):  # the type of columns in an empty pandas frame
        column = column.cast(pa.large_string())
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    text = {"string", "large_string", "string_view", "binary", "large_binary", "binary_view"}
    if not (pa.types.is_integer(kind) or str(kind) in text):
        start = prefix_place(source)
        raise DataError(
            f"{start}column {name!r} must hold ids (strings or whole numbers), found {kind}"
        )
    try:
        array = _combine_chunks(pa, _to_large_string(pa, column, kind))
    except (pa.ArrowInvalid, IndexError) as error:
        start = prefix_place(source)
        raise DataError(f"{start}column {name!r}: {_first_line(error)}") from None
    _, offset_buffer, data_buffer = array.buffers()
    if not len(array):
        return StringColumn.from_bytes([])
    offsets = np.frombuffer(offset_buffer, dtype=np.int64)
    offsets = offsets[array.offset : array.offset + len(array) + 1]
    start_at, end_at = int(offsets[0]), int(offsets[-1])
    if start_at < 0 or (np.diff(offsets) < 0).any():
        start = prefix_place(source)
        raise DataError(f"{start}column {name!r} is damaged: its offsets do not rise")
    data = np.frombuffer(data_buffer, dtype=np.uint8) if end_at else np.zeros(0, np.uint8)
    return StringColumn(data[start_at:end_at], offsets - start_at if start_at else offsets)


def _to_large_string(pa: Any, column: Any, kind: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(kind)
    if str(kind) == "binary_view":
        column = column.cast(pa.large_binary())
    return column.cast(pa.large_string())


def _combine_chunks(pa: Any, column: Any) -> Any:
    chunks = [chunk for chunk in column.chunks if len(chunk)]  # pyarrow fails on some empty ones
    if not chunks:
        return pa.array([], column.type)
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)


def _read_numbers(pa: Any, column: Any, name: str, source: str) -> npt.NDArray[np.float64]:
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        start = prefix_place(source)
        raise DataError(f"{start}column {name!r} must hold numbers, found {kind}")
    # Copy, because the owner of the frame may change its array.
    return np.array(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def to_arrow(table: QueryTable, kind: Kind, name: str = "", *, ranks: bool = False) -> Any:
    """Return a pyarrow table with query, document, score or grade, and optionally rank."""
    pa = _import_pyarrow("making a frame")
    rows, within = _number_rows(table)
    columns = {
        "query": _to_arrow_strings(pa, table.queries.take(rows)),
        "document": _to_arrow_strings(pa, table.documents),
        VALUE_OF[kind]: pa.array(table.values),
    }
    if ranks:
        columns["rank"] = pa.array(within)
    return pa.table(columns, metadata={_NAME: name.encode()} if name else None)


def _to_arrow_strings(pa: Any, column: StringColumn) -> Any:
    return pa.LargeStringArray.from_buffers(
        len(column), pa.py_buffer(column.offsets), pa.py_buffer(column.data)
    )


def to_frame(
    table: QueryTable, library: FrameType | None, kind: Kind, name: str = "", *, ranks: bool = False
) -> Any:
    """Return the rows as a frame of pandas, polars or pyarrow; the first two need no pyarrow."""
    chosen = choose_library(library, get_args(FrameType))
    if chosen == "arrow":
        return to_arrow(table, kind, name, ranks=ranks)
    package = import_optional(chosen, "a data frame")
    if is_missing("pyarrow"):
        return package.DataFrame(_to_lists(table, kind, ranks=ranks))
    arrow = to_arrow(table, kind, name, ranks=ranks)
    if chosen == "polars":
        return package.from_arrow(arrow)
    return arrow.replace_schema_metadata(None).to_pandas()


def _to_lists(table: QueryTable, kind: Kind, *, ranks: bool) -> dict[str, Any]:
    """Return the columns of `to_arrow` without pyarrow."""
    rows, within = _number_rows(table)
    queries = list(table.queries)
    columns: dict[str, Any] = {
        "query": [queries[row] for row in rows.tolist()],
        "document": list(table.documents),
        VALUE_OF[kind]: table.values,
    }
    return columns | ({"rank": within} if ranks else {})


def _number_rows(table: QueryTable) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the number of the query of each row, and its place in the query, from 1."""
    sizes = np.diff(table.offsets)
    rows = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    return rows, np.arange(len(rows), dtype=np.int64) - table.offsets[rows] + 1


def write_parquet(
    table: QueryTable, path: PathLike, kind: Kind, name: str = "", *, ranks: bool = False
) -> None:
    """Write a Parquet file; its metadata hold the queries without rows."""
    pa = _import_pyarrow(f"{display_name(path)}: writing Parquet files")
    arrow = to_arrow(table, kind, name, ranks=ranks)
    recorded = encode_empty_queries(table)
    if recorded is not None:
        metadata = {**(arrow.schema.metadata or {}), _EMPTY: recorded}
        arrow = arrow.replace_schema_metadata(metadata)
    with replace_file(path) as stream:
        pa.parquet.write_table(arrow, stream, compression="zstd")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def read_parquet_columns(path: PathLike) -> list[str]:
    """Return the column names of a Parquet file."""
    with reading_arrow(display_name(path)) as pyarrow:
        return list(_open_parquet(pyarrow, path).schema_arrow.names)


def read_parquet_rows(path: PathLike) -> Iterator[Node]:
    """Yield the rows as JSON objects; missing values and NaN are null, times ISO 8601 strings."""
    source, number = display_name(path), 0
    with reading_arrow(source) as pyarrow:
        for batch in _open_rows(pyarrow, path).iter_batches(_ROWS):
            for row in batch.to_pylist():
                where = f"{source}: row {number}"
                yield Node({name: _to_json(value, where) for name, value in row.items()}, where)
                number += 1


@contextmanager
def reading_arrow(source: str, form: str = "Parquet") -> Iterator[Any]:
    """Import pyarrow and convert its errors into errors about the file."""
    pyarrow = import_optional("pyarrow", f"{source}: reading {form} files", extra="frames")
    import_optional(f"pyarrow.{form.lower()}", f"{source}: reading {form} files", extra="frames")
    try:
        yield pyarrow
    except (pyarrow.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        raise DataError(f"{source}: cannot be read as {form}: {_first_line(error)}") from None


def _open_parquet(pyarrow: Any, path: PathLike) -> Any:
    content = read_bytes(path)
    file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(pyarrow.py_buffer(content)))
    check_size(file, len(content), display_name(path))
    return file


def _open_rows(pyarrow: Any, path: PathLike) -> Any:
    """Open a file to read its rows in batches, without its content in memory."""
    if not is_regular(Path(path)) or read_beginning(path, 4) != b"PAR1":
        return _open_parquet(pyarrow, path)
    file = pyarrow.parquet.ParquetFile(pyarrow.OSFile(os.fspath(path)))
    check_size(file, Path(path).stat().st_size, display_name(path))
    return file


def check_size(file: Any, packed: int, source: str) -> None:
    """Reject a file that is too large without its compression, by what it says of itself."""
    about = file.metadata
    sizes = (about.row_group(place).total_byte_size for place in range(about.num_row_groups))
    values = _VALUE_BYTES * about.num_rows * about.num_columns  # repeated ones take no space in it
    Unpacked(source, packed, _RATIO).expect(max(sum(sizes), values))


def _to_json(value: Any, where: str) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_to_json(item, where) for item in value]
    if isinstance(value, dict):
        return {str(name): _to_json(item, where) for name, item in value.items()}
    if isinstance(value, dt.date | dt.time):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    raise DataError(
        f"{where}: expected text, numbers, times, lists or structs, found {type(value).__name__}"
    )
