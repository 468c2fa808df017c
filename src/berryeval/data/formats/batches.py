"""Arrow batches of Parquet and CSV files, of one run in one or many files, in bounded memory."""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval._internal.files import PathLike, display_name, stream_bytes
from berryeval._internal.optional import import_optional
from berryeval._internal.text import pluralize
from berryeval.data.formats.frames import check_size, reading_arrow
from berryeval.data.formats.layouts import choose_columns
from berryeval.data.formats.part_files import form_of, list_part_files
from berryeval.data.table import VALUE_OF
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval.data.table import Kind

BLOCK_ROWS: Final = 1 << 17
_BATCH: Final = 1 << 16  # rows
_LARGE_BATCH: Final = 1 << 18  # of a part, which others than Python hold in memory too
# Without a buffer, and with one for all columns, whole row groups would be in memory.
_OPTIONS: Final = {"buffer_size": 1 << 20, "pre_buffer": False}
_PLAIN: Final = 4  # bytes of a file that text takes at least where it is not in a dictionary


def cut_blocks(batches: Iterable[Any], key: str, least: int = BLOCK_ROWS) -> Iterator[Any]:
    """Yield Arrow tables of about `least` rows that end where the column `key` changes.

    Rows with equal keys that follow each other are never divided, however many they are.
    """
    pa = import_optional("pyarrow", "reading Arrow batches", extra="frames")
    waiting: list[Any] = []
    rows = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        start = _find_last_key(batch.column(key)) if rows + batch.num_rows >= least else None
        if start == 0 and waiting and _differ(waiting[-1], batch, key):
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
        elif start:
            yield pa.Table.from_batches([*waiting, batch.slice(0, start)])
            waiting, rows, batch = [], 0, batch.slice(start)  # noqa: PLW2901 - what is left of it
        waiting.append(batch)
        rows += batch.num_rows
    if waiting:
        yield pa.Table.from_batches(waiting)


def _find_last_key(column: Any) -> int:
    """Return the place at which the last key of a column begins."""
    key, length, near = column[len(column) - 1], len(column), 4096
    while True:  # from the end, where it is most often
        near = min(near * 4, length)
        places = _find_others(column.slice(length - near), key)
        if len(places) or near == length:
            return length - near + int(places[-1]) + 1 if len(places) else 0


def _find_others(column: Any, key: Any) -> Any:
    """Return the places of a column with another key."""
    compute = import_optional("pyarrow.compute", "reading Arrow batches", extra="frames")
    if not key.is_valid:
        same = compute.is_null(column)
    elif hasattr(column, "dictionary"):
        same = compute.equal(column.dictionary, key.as_py()).take(column.indices)
    else:
        same = compute.equal(column, key)
    other = compute.invert(compute.fill_null(same, False)).to_numpy(zero_copy_only=False)
    return other.nonzero()[0]


def _differ(before: Any, after: Any, key: str) -> bool:
    return bool(before.column(key)[before.num_rows - 1].as_py() != after.column(key)[0].as_py())


class ParquetPart(NamedTuple):
    """The row groups of a Parquet file that begin between two of its bytes."""

    path: str
    start: int
    end: int


def find_coded(opened: Any, name: str) -> list[str]:
    """Return the name of a column that is best read as codes of a dictionary, or nothing.

    It is text, and repeated in a file: text that is not in a dictionary takes four bytes of the
    file per value, and more.
    """
    if str(opened.schema_arrow.field(name).type) not in {"string", "large_string"}:
        return []
    for group in map(opened.metadata.row_group, range(opened.metadata.num_row_groups)[:1]):
        for column in map(group.column, range(group.num_columns)):
            if column.path_in_schema == name:
                return [name] * (column.total_uncompressed_size < _PLAIN * column.num_values)
    return []


def read_part(
    part: ParquetPart, columns: Sequence[tuple[str, str]], coded: Sequence[str]
) -> Iterator[Any]:
    """Yield query, document and value of the queries that begin in a part, as Arrow batches.

    Parts of a file divide its queries among them if the rows of each are together: the rows of a
    query that begins before the part are left out, and the last query is read beyond its end.
    `columns` are the names of the three columns, and the types that they have in all files;
    `coded` those to read as codes of a dictionary, as found by `find_coded`.
    """
    source = display_name(part.path)
    with (
        reading_arrow(source) as pa,
        pa.parquet.ParquetFile(part.path) as plain,
        pa.parquet.ParquetFile(
            part.path, metadata=plain.metadata, read_dictionary=coded, **_OPTIONS
        ) as opened,
    ):
        check_size(plain, Path(part.path).stat().st_size, source)
        _require_types(plain.schema_arrow, columns, source)
        groups = [one for one in _list_groups(plain.metadata) if one.rows]
        inside = [one.place for one in groups if part.start <= one.start < part.end]
        before = [one.place for one in groups if one.start < part.start]
        after = [one.place for one in groups if one.start >= part.end]
        read = partial(_read_columns, pa, opened, [name for name, _ in columns], coded)
        last: Any = None
        for batch in read(before[-1:], 1) if inside else ():
            last = batch
        begun = last is None
        for batch in read(inside):
            start = 0 if begun else _count_same(batch.column(0), last.column(0))
            if start < batch.num_rows:
                last, begun = batch, True
                yield batch.slice(start)
        for batch in read(after) if begun and last is not None else ():
            end = _count_same(batch.column(0), last.column(0))
            yield batch.slice(0, end)
            if end < batch.num_rows:
                return


class _RowGroup(NamedTuple):
    place: int
    start: int
    rows: int


def _list_groups(metadata: Any) -> Iterator[_RowGroup]:
    for place in range(metadata.num_row_groups):
        group = metadata.row_group(place)
        first = group.column(0)
        start = first.dictionary_page_offset or first.data_page_offset
        yield _RowGroup(place, start, group.num_rows)


def _read_columns(
    pa: Any,
    opened: Any,
    names: list[str],
    coded: Sequence[str],
    groups: list[int],
    count: int = 3,
) -> Iterator[Any]:
    """Yield the first `count` of the columns as text, text and numbers."""
    query = pa.dictionary(pa.int32(), pa.string()) if coded else pa.string()
    names, kinds = names[:count], (query, pa.string(), pa.float64())[:count]
    schema = pa.schema(list(zip(("query", "document", "value")[:count], kinds, strict=True)))
    wanted = list(dict.fromkeys(names))
    for group in groups:
        for batch in opened.iter_batches(_LARGE_BATCH, [group], columns=wanted, use_threads=False):
            columns = [
                column if column.type == kind else column.cast(kind, safe=False)
                for column, kind in zip(map(batch.column, names), kinds, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _require_types(schema: Any, columns: Sequence[tuple[str, str]], source: str) -> None:
    for name, expected in columns:
        found = str(schema.field(name).type) if name in schema.names else "no such column"
        if found != expected:
            raise DataError(
                f"{source}: column {name!r} must be {expected} as in the other files, "
                f"found {found}; all files of a run have the same columns"
            )


def _count_same(column: Any, before: Any) -> int:
    """Return how many values at the beginning of a column are the last one of `before`."""
    others = _find_others(column, before[len(before) - 1])
    return int(others[0]) if len(others) else len(column)


class PartFiles:
    """The rows of Parquet or CSV files as Arrow batches, in the order of the files.

    Attributes:
        size: Number of rows of Parquet files, or of bytes of CSV files.
        done: Number of those that have been read.
        dropped: Number of rows of CSV files that have been left out, if lenient.
    """

    def __init__(
        self, path: PathLike, kind: Kind, names: Mapping[str, str], *, lenient: bool = False
    ) -> None:
        """Take a file, a folder or a pattern; `names` gives columns by role."""
        self.files = list_part_files(path)
        self.source = display_name(path)
        self.size = self.done = self.dropped = self._rows = 0
        self._lenient = lenient
        self._kind = kind
        self._names = names
        self._starts: list[int] = []  # first row of each file
        self._schema: Any = None
        self._first: Path | None = None
        self._coded: list[str] = []
        for file in self.files:
            self.size += self._measure(file)

    @property
    def schema(self) -> Any:
        """The schema of the first file that was read, with its metadata."""
        return self._schema

    def read(self) -> Iterator[Any]:
        """Yield the batches, with the three columns that are needed."""
        pa = import_optional("pyarrow", f"{self.source}: reading tables", extra="frames")
        pa.default_memory_pool().release_unused()  # what reading the judgments left
        self.done = self.dropped = self._rows = 0
        self._starts = []
        for file in self.files:
            self._starts.append(self._rows)
            for batch in self._read_file(file):
                yield batch
                self._rows += batch.num_rows

    def locate(self, row: int) -> str:
        """Return the file and the row in it, for messages."""
        place = bisect_right(self._starts, row) - 1
        return f"{display_name(self.files[place])}: row {row - self._starts[place]}"

    def _measure(self, file: Path) -> int:
        if form_of(file) == "CSV":
            return file.stat().st_size if file.is_file() else 0
        source = display_name(file)
        with reading_arrow(source) as pa, pa.parquet.ParquetFile(file) as opened:
            check_size(opened, file.stat().st_size, source)
            rows: int = opened.metadata.num_rows
            return rows

    def _read_file(self, file: Path) -> Iterator[Any]:
        source = display_name(file)
        if form_of(file) == "CSV":
            yield from self._read_csv(file, source)
            return
        with reading_arrow(source) as pa, pa.parquet.ParquetFile(file) as plain:
            columns = self._choose(plain.schema_arrow, file)
            if file == self._first:
                self._coded = find_coded(plain, columns[0])
            options = {**_OPTIONS, "metadata": plain.metadata, "read_dictionary": self._coded}
            with pa.parquet.ParquetFile(file, **options) as opened:
                threads = not self._coded  # each takes 10 MB, and codes are read as fast by one
                for batch in opened.iter_batches(_BATCH, columns=columns, use_threads=threads):
                    self.done += batch.num_rows
                    yield batch.select(columns)

    def _read_csv(self, file: Path, source: str) -> Iterator[Any]:
        with reading_arrow(source, "CSV") as pa:
            stream = _Pieces(stream_bytes(file, self._advance))
            names, delimiter = _read_header(stream.beginning(), source)
            columns = choose_columns(names, self._kind, self._names, source)
            short: list[str] = []
            try:
                reader = pa.csv.open_csv(
                    pa.PythonFile(stream, mode="r"),
                    parse_options=pa.csv.ParseOptions(
                        delimiter=delimiter,
                        newlines_in_values=True,
                        invalid_row_handler=partial(self._judge_row, short),
                    ),
                    convert_options=pa.csv.ConvertOptions(
                        column_types=dict.fromkeys(columns, pa.string()),
                        include_columns=list(dict.fromkeys(columns)),
                        null_values=[""],
                        strings_can_be_null=True,
                        quoted_strings_can_be_null=False,
                    ),
                )
                self._choose(reader.schema, file)
                for batch in reader:
                    yield self._convert_numbers(pa, batch, columns[-1])
            except pa.ArrowInvalid as error:
                if "straddl" in str(error):
                    short.append("a row is longer than 1 MB; is a quotation mark not closed?")
                if not short:
                    raise
                raise DataError(f"{source}: {short[0]}") from None

    def _judge_row(self, short: list[str], row: Any) -> str:
        """Skip a row of CSV with too few or too many cells, or remember what is wrong with it."""
        if self._lenient:
            self.dropped += 1
            return "skip"
        expected = pluralize(row.expected_columns, "column")
        short.append(f"expected {expected}, found {row.actual_columns}: {row.text!r:.80}")
        return "error"

    def _convert_numbers(self, pa: Any, batch: Any, name: str) -> Any:
        """Convert the numbers of a batch of CSV; other texts become null if lenient."""
        texts = batch.column(name)
        try:
            numbers = texts.cast(pa.float64())
        except pa.ArrowInvalid:
            values = [_to_number(text) for text in texts.to_pylist()]
            row = _find_faulty(values, texts.is_valid().to_pylist())
            if row is not None and not self._lenient:
                raise DataError(
                    f"{self.locate(self._rows + row)}: the {VALUE_OF[self._kind]} must be a "
                    f"number, found {texts[row].as_py()!r:.80}"
                ) from None
            numbers = pa.array(values, pa.float64())
        return batch.set_column(batch.schema.get_field_index(name), name, numbers)

    def _advance(self, count: int) -> None:
        self.done += count

    def _choose(self, schema: Any, file: Path) -> list[str]:
        """Return the columns to read; all files must have them, with the same types."""
        source = display_name(file)
        names = choose_columns(schema.names, self._kind, self._names, source)
        columns = list(dict.fromkeys(names))
        if self._schema is None or self._first == file:
            self._schema, self._first = schema, file
        first = choose_columns(self._schema.names, self._kind, self._names, source)
        for name, expected in zip(names, first, strict=True):
            found, wanted = schema.field(name).type, self._schema.field(expected).type
            if name != expected or found != wanted:
                raise DataError(
                    f"{source}: column {name!r} ({found}) differs from {expected!r} ({wanted}) in "
                    f"{display_name(self._first or file)}; all files of a run have the same columns"
                )
        return columns


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def beginning(self) -> bytes:
        """Return the first line, which stays in the stream."""
        start = b""
        while b"\n" not in start and (piece := next(self._pieces, b"")):
            start += piece
        self._rest = memoryview(start)
        return start.partition(b"\n")[0]

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, room: Any) -> int:
        """Fill the room with the next bytes."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        count = min(len(room), len(self._rest))
        room[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _find_faulty(values: list[float | None], given: list[bool]) -> int | None:
    """Return the first row with a text that is not a number."""
    pairs = enumerate(zip(values, given, strict=True))
    return next((row for row, (value, is_given) in pairs if is_given and value is None), None)


def _to_number(text: str | None) -> float | None:
    try:
        return None if text is None or "_" in text else float(text)
    except ValueError:
        return None


def _read_header(line: bytes, source: str) -> tuple[list[str], str]:
    """Return the names of the columns and their separator: comma, semicolon or tab."""
    try:
        text = line.decode().strip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{source}:1: is not UTF-8 text ({error})") from None
    delimiter = max(",;\t", key=text.count)
    try:
        names = next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error as error:
        raise DataError(f"{source}:1: the header line cannot be read ({error})") from None
    if not any(names):
        raise DataError(f"{source}: is empty, expected a header line with column names")
    return names, delimiter
