"""Blocks of whole queries from files of any size, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from berryeval._internal.files import PathLike, display_name, is_regular, stream_bytes
from berryeval._internal.limits import WHOLE_MB
from berryeval.data.columns import Origin
from berryeval.data.formats.batches import (
    BLOCK_ROWS,
    PartFiles,
    cut_blocks,
)
from berryeval.data.formats.frames import read_empty_queries, table_from_frame
from berryeval.data.formats.layouts import (
    Layout,
    TextLayout,
    choose_columns,
    convert_ranks,
    detect_layout,
)
from berryeval.data.formats.part_files import form_of, is_pattern, list_part_files
from berryeval.data.formats.trec import add_empty_queries, parse_text, require_rows
from berryeval.data.load import is_text_file
from berryeval.data.table import Kind, QueryTable

_ROW_BYTES: Final = 32  # of a line, about
_BEGINNING: Final = 1 << 16  # bytes to detect the layout
_PACKED: Final = (".gz", ".zst")
_RATIO: Final = 4  # at least, of rows to their compressed form


class RowSource(Protocol):
    """The rows of a run that is read block by block, from its beginning each time.

    Attributes:
        name: Name of the source, for messages.
        rows: Number of rows in the blocks so far.
    """

    name: str
    rows: int

    @property
    def size(self) -> int:
        """Number of units, rows or bytes, that are there to read."""

    @property
    def done(self) -> int:
        """Number of those that have been read."""

    def read_blocks(self, *, least: int = BLOCK_ROWS, whole: bool = True) -> Iterator[QueryTable]:
        """Yield tables of about `least` rows, checked.

        A block holds `whole` queries if the rows of each are together in the source. Otherwise
        blocks end anywhere, and their labels number the rows: see `locate`.
        """

    def locate(self, row: int) -> str:
        """Return the place of a row in the source, for messages."""

    def complete(self, table: QueryTable) -> QueryTable:
        """Finish a table of whole queries that was built from parts of blocks."""

    def empty_queries(self, rows: int) -> list[str]:
        """Return the queries that the source records without rows, if it had this many rows."""


def open_rows(path: PathLike, *, lenient: bool = False, name: str = "") -> RowSource | None:
    """Open the rows of a run to read them block by block; None if it is small enough for memory.

    JSON files, compressed Parquet files and pipes are always read as a whole. `name` is the name
    of a text file in messages.
    """
    if is_pattern(path) or os.path.isdir(path):  # noqa: PTH112 - does not raise for invalid paths
        size = sum(measure_rows(file) for file in list_part_files(path))
        is_arrow = True
    elif is_regular(Path(path)):
        size, is_arrow = measure_rows(path), bool(form_of(path))
        if not is_arrow and not is_text_file(path):
            return None
    else:
        return None
    if size < WHOLE_MB.size:
        return None
    if is_arrow:
        return ArrowRows(path, "run", {}, lenient=lenient)
    return TextRows(path, "run", lenient=lenient, name=name)


def measure_rows(path: PathLike) -> int:
    """Return about how many bytes the rows of a file need in memory."""
    compressed = Path(path).suffix in _PACKED or bool(form_of(path) == "Parquet")
    return Path(path).stat().st_size * (_RATIO if compressed else 1)


class ArrowRows:
    """The rows of Parquet or CSV files."""

    def __init__(
        self, path: PathLike, kind: Kind, names: Mapping[str, str], *, lenient: bool = False
    ) -> None:
        """Take a file, a folder or a pattern."""
        self._files = PartFiles(path, kind, names, lenient=lenient)
        self._kind: Kind = kind
        self._names = names
        self._lenient = lenient
        self.name = self._files.source
        self.rows = 0

    @property
    def size(self) -> int:
        """Number of rows of Parquet files, or of bytes of CSV files."""
        return self._files.size

    @property
    def done(self) -> int:
        """Number of those that have been read."""
        return self._files.done

    def read_blocks(self, *, least: int = BLOCK_ROWS, whole: bool = True) -> Iterator[QueryTable]:
        """Yield checked tables; see `RowSource`."""
        batches: Iterable[Any] = self._files.read()
        if whole:
            batches = _cut_first_column(batches, self._kind, self._names, least)
        start = dropped = self.rows = 0
        for block in batches:
            numbers = np.arange(start, start + block.num_rows, dtype=np.int64)
            table = self._convert(block, Origin(numbers, self.locate))
            start += block.num_rows
            self.rows += len(table.values)
            yield replace(table, dropped=table.dropped + self._files.dropped - dropped)
            dropped = self._files.dropped
        require_rows(self.name, self.rows)

    def read_table(self) -> QueryTable:
        """Return all rows as one table."""
        import pyarrow as pa

        batches = list(self._files.read())
        require_rows(self.name, sum(batch.num_rows for batch in batches))
        arrow = pa.Table.from_batches(batches).replace_schema_metadata(self._files.schema.metadata)
        table = self._convert(arrow, Origin(np.arange(arrow.num_rows), self.locate))
        require_rows(self.name, len(table.values))
        recorded = read_empty_queries(self._files.schema)
        if recorded is not None:
            table = add_empty_queries(table, recorded, arrow.num_rows)
        return replace(table, dropped=table.dropped + self._files.dropped)

    def locate(self, row: int) -> str:
        """Return the file and the row in it."""
        return self._files.locate(row)

    def complete(self, table: QueryTable) -> QueryTable:
        """Return the table unchanged."""
        return table

    def empty_queries(self, rows: int) -> list[str]:
        """Return the queries that the metadata of the file record without rows."""
        recorded = read_empty_queries(self._files.schema) if self._files.schema else None
        if recorded is None:
            return []
        nothing = QueryTable.from_dict({}, kind=self._kind)
        return list(add_empty_queries(nothing, recorded, rows).queries)

    def _convert(self, arrow: Any, origin: Origin) -> QueryTable:
        return table_from_frame(
            arrow, self._kind, self._names, lenient=self._lenient, source=self.name, origin=origin
        )


def _cut_first_column(
    batches: Iterable[Any], kind: Kind, names: Mapping[str, str], least: int
) -> Iterator[Any]:
    """Cut batches where the query changes."""
    batches = iter(batches)
    first = next(batches, None)
    if first is None:
        return
    key, _, _ = choose_columns(first.schema.names, kind, names)

    def chain() -> Iterator[Any]:
        yield first
        yield from batches

    yield from cut_blocks(chain(), key, least)


class TextRows:
    """The rows of a text file with one row per line: TREC or three columns, also compressed."""

    def __init__(
        self, path: PathLike, kind: Kind, *, lenient: bool = False, name: str = ""
    ) -> None:
        """Take a regular file, and a name for messages."""
        self._path = path
        self._kind: Kind = kind
        self._lenient = lenient
        self._named = True
        self.name = name or display_name(path)
        self.size = Path(path).stat().st_size
        self.done = self.rows = 0

    def read_blocks(self, *, least: int = BLOCK_ROWS, whole: bool = True) -> Iterator[QueryTable]:
        """Yield checked tables; see `RowSource`."""
        self.done = 0
        pieces = stream_bytes(self._path, self._advance)
        first = b""
        while len(first) < _BEGINNING and (piece := next(pieces, b"")):
            first += piece
        layout, text, self._named = detect_layout(np.frombuffer(first, dtype=np.uint8), self._kind)
        texts = _cut_lines(text.tobytes(), pieces, layout, least * _ROW_BYTES, whole=whole)
        self.rows = dropped = lines = 0
        seen: set[bytes] = set()
        for block in texts:
            part = TextLayout(layout, np.frombuffer(block, dtype=np.uint8), self._named)
            table = parse_text(part, self.name, lenient=self._lenient, lines_before=lines)
            lines += block.count(b"\n")
            self.rows += len(table.values)
            dropped += table.dropped
            if whole and not self._named:
                queries = table.queries.to_bytes_list()
                if seen.isdisjoint(queries):  # else ranks go on from those of another block
                    table = convert_ranks(table)
                seen.update(queries)
            yield table
        require_rows(self.name, self.rows, dropped, lenient=self._lenient)

    def locate(self, row: int) -> str:
        """Return the file and the line."""
        return f"{self.name}:{row}"

    def complete(self, table: QueryTable) -> QueryTable:
        """Convert ranks of a file without a header to scores."""
        if self._named:
            return table
        if "line" not in table.labels:
            table = replace(table, labels={"line": table.labels["row"]})
        return convert_ranks(table)

    def empty_queries(self, rows: int) -> list[str]:
        """Return nothing: a text cannot hold queries without rows."""
        del rows
        return []

    def _advance(self, count: int) -> None:
        self.done += count


def _cut_lines(
    first: bytes, pieces: Iterator[bytes], layout: Layout, least: int, *, whole: bool
) -> Iterator[bytes]:
    """Yield texts of about `least` bytes that end where a line ends, or if `whole`, a query."""
    waiting = bytearray(first)
    wanted = least
    for piece in pieces:
        waiting += piece
        if len(waiting) < wanted:
            continue
        end = _find_last_query(waiting, layout) if whole else waiting.rfind(b"\n") + 1
        if end:
            yield bytes(memoryview(waiting)[:end])
            del waiting[:end]
        wanted = max(least, 2 * len(waiting))  # looking at a long query again and again takes long
    if waiting:
        yield bytes(waiting)


def _find_last_query(text: bytearray, layout: Layout) -> int:
    """Return where the lines of the last query begin, 0 if there is no other query.

    The last line may be incomplete and is not looked at.
    """
    separator = b"\t" if "tsv" in layout else None
    last, start, end = b"", 0, text.rfind(b"\n")
    while end > 0:
        begin = text.rfind(b"\n", 0, end) + 1
        line = bytes(text[begin:end])
        if line.strip() and (separator or not line.lstrip().startswith(b"#")):
            query = line.split(separator, 1)[0]
            if last and query != last:
                return start
            last, start = query, begin
        end = begin - 1
    return 0
