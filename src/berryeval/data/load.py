"""Loading of tables from any source, and `TableValue`, the base of `Qrels` and `Run`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from berryeval._internal.files import STDIN, PathLike, display_name, plain_suffix, read_bytes
from berryeval.data.formats import trec
from berryeval.data.formats.part_files import PARQUET, holds_tables, is_pattern
from berryeval.data.table import VALUE_OF, Kind, QueryTable
from berryeval.errors import DataError

if TYPE_CHECKING:
    from typing_extensions import Self

    from berryeval.data.formats.frames import FrameType
    from berryeval.data.formats.trec import FaultyLine, RawRow


_JSON_LINES = {".jsonl", ".ndjson"}


def load_table(
    source: Any,
    kind: Kind,
    names: Mapping[str, str],
    *,
    lenient: bool = False,
    split: str | None = None,
) -> QueryTable:
    """Load a table from any source of `TableValue.load`; `names` gives columns by role."""
    if isinstance(source, Mapping):
        return QueryTable.from_dict(source, kind=kind)
    if isinstance(source, str | os.PathLike):
        return _load_file(source, kind, names, lenient=lenient, split=split)
    if isinstance(source, np.ndarray):
        from berryeval.data.columns import table_from_arrays

        return table_from_arrays(source, default_values(source, kind), None, kind, lenient=lenient)
    from berryeval.data.formats.frames import is_frame, table_from_frame

    if is_frame(source):
        return table_from_frame(source, kind, names, lenient=lenient)
    raise DataError(
        f"{'judgments' if kind == 'qrels' else 'a run'} must be a dict "
        f"{{query: {{document: {VALUE_OF[kind]}}}}}, a path, a frame (pandas, polars, Arrow) or a "
        f"2-D array of ids; found {type(source).__name__} {source!r:.80}"
    )


def default_values(ids: np.ndarray[Any, Any], kind: Kind) -> np.ndarray[Any, Any]:
    """Return default numbers for ids: grade 1, or scores that keep the order."""
    if kind == "qrels" or ids.ndim != 2:  # noqa: PLR2004 - the caller checks the shape
        return np.ones(ids.shape)
    return np.broadcast_to(np.arange(ids.shape[1], 0, -1, dtype=np.float64), ids.shape)


def is_text_file(path: PathLike) -> bool:
    """Whether to read a file as text with one row per line."""
    if os.fspath(path) == STDIN:
        return True
    return (
        plain_suffix(path) not in {".json", ".csv", *_JSON_LINES, *PARQUET}
        and not is_pattern(path)
        and not _is_folder(path)
    )


def read_raw_rows(path: PathLike, kind: Kind) -> Iterator[RawRow | FaultyLine] | None:
    """Return the unchecked rows of a file, or None if the file does not consist of lines."""
    if is_text_file(path):
        from berryeval.data.formats.trec import read_rows

        return read_rows(path, kind)
    if plain_suffix(path) in _JSON_LINES:
        from berryeval.data.formats.json_tables import read_json_rows

        return read_json_rows(path, kind, {})
    return None


def _is_folder(path: PathLike) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - does not raise for invalid paths


def _load_file(
    path: PathLike, kind: Kind, names: Mapping[str, str], *, lenient: bool, split: str | None
) -> QueryTable:
    if kind == "qrels" and _is_folder(path) and _is_beir(Path(path)):
        path = find_beir_qrels(Path(path), split)
    if is_text_file(path):
        return trec.table_from_text(read_bytes(path), kind, display_name(path), lenient=lenient)
    if plain_suffix(path) == ".json":
        from berryeval.data.formats.json_tables import read_json

        return read_json(path, kind, lenient=lenient)
    if plain_suffix(path) in _JSON_LINES:
        from berryeval.data.formats.json_tables import read_json_lines

        return read_json_lines(path, kind, names, lenient=lenient)
    if plain_suffix(path) in PARQUET and not is_pattern(path) and not _is_folder(path):
        from berryeval.data.formats.frames import read_parquet

        return read_parquet(path, kind, names, lenient=lenient)
    from berryeval.data.row_sources import ArrowRows

    return ArrowRows(path, kind, names, lenient=lenient).read_table()


def _is_beir(folder: Path) -> bool:
    """Whether to look for the judgments of BEIR: in a folder without other tables."""
    return (folder / "qrels").is_dir() or not holds_tables(folder)


def find_beir_qrels(folder: Path, split: str | None = None) -> Path:
    """Return the judgments of a BEIR folder: `qrels/<split>.tsv`, by default the test split."""
    if folder.is_file():
        raise DataError(
            f"{folder}: is a file, expected a BEIR folder with corpus.jsonl, queries.jsonl and "
            "qrels; leave the format out to recognize the file"
        )
    found = {
        path.name.split(".")[0]: path
        for path in sorted((folder / "qrels").glob("*.tsv*"))
        if plain_suffix(path) == ".tsv"
    }
    wanted = split or ("test" if "test" in found or len(found) != 1 else next(iter(found)))
    if wanted in found:
        return found[wanted]
    there = ", ".join(path.name for path in found.values()) or "none"
    raise DataError(
        f"{folder}: is a directory, expected a file, or a BEIR folder with qrels/{wanted}.tsv; "
        f"found {there}"
    )


@dataclass(frozen=True, eq=False, repr=False, init=False)
class TableValue:
    """Immutable rows of a document and a number, grouped by query."""

    table: QueryTable
    kind: ClassVar[Kind]

    def __init__(self, table: QueryTable | Mapping[str, Mapping[str, float]]) -> None:
        """Take a table or `{query: {document: number}}`; reject anything else."""
        if isinstance(table, Mapping):
            table = QueryTable.from_dict(table, kind=self.kind)
        elif not isinstance(table, QueryTable):
            name = type(self).__name__
            raise DataError(
                f"{name}(...) takes {{query: {{document: {VALUE_OF[self.kind]}}}}}, found "
                f"{type(table).__name__} {table!r:.80}; {name}.load(...) reads files, "
                "frames and arrays"
            )
        object.__setattr__(self, "table", table)

    @classmethod
    def load(
        cls, source: Any, *, lenient: bool = False, split: str | None = None, **columns: str
    ) -> Self:
        """Load rows from any source; an object of this class is returned unchanged.

        Args:
            source: A dict `{query: {document: number}}`; the path of a TREC, TSV (with a header, as
                in BEIR; runs of MS MARCO need none), CSV (with a header), JSON, JSON lines or
                Parquet file ("-" for stdin; .gz and .zst are decompressed), of a folder of Parquet
                or CSV files, or for judgments of a BEIR folder, or a pattern ("run/*.parquet"); a
                frame of pandas, polars or any Arrow producer; a 2-D array of ids.
            lenient: Whether to drop invalid and repeated rows, counted in `table.dropped`, instead
                of raising an error.
            split: Split of a BEIR folder, as in `qrels/<split>.tsv`; the default is "test".
            columns: Column names of a frame (keys of JSON lines): `query=`, `document=`, and
                `score=` or `grade=`. Common names are recognized.
        """
        if isinstance(source, cls):
            return source
        return cls._of(load_table(source, cls.kind, columns, lenient=lenient, split=split))

    @classmethod
    def _of(cls, table: QueryTable) -> Self:
        return cls(table)

    @classmethod
    def from_dict(cls, rows: Mapping[str, Mapping[str, float]]) -> Self:
        """Build from `{query: {document: number}}`."""
        return cls._of(QueryTable.from_dict(rows, kind=cls.kind))

    @classmethod
    def from_trec(cls, path: PathLike, *, lenient: bool = False) -> Self:
        """Read a TREC file."""
        return cls._of(trec.read_table(path, cls.kind, lenient=lenient))

    @classmethod
    def from_json(cls, path: PathLike, *, lenient: bool = False) -> Self:
        """Read a JSON file with `{query: {document: number}}`."""
        from berryeval.data.formats.json_tables import read_json

        return cls._of(read_json(path, cls.kind, lenient=lenient))

    @classmethod
    def from_json_lines(cls, path: PathLike, *, lenient: bool = False, **columns: str) -> Self:
        """Read a file with one JSON object per line; see `load` for the keys.

        The reader is written in Python and about 25 times slower than that of TREC files.
        """
        from berryeval.data.formats.json_tables import read_json_lines

        return cls._of(read_json_lines(path, cls.kind, columns, lenient=lenient))

    @classmethod
    def from_parquet(cls, path: PathLike, *, lenient: bool = False, **columns: str) -> Self:
        """Read a Parquet file; see `load` for the columns."""
        from berryeval.data.formats.frames import read_parquet

        return cls._of(read_parquet(path, cls.kind, columns, lenient=lenient))

    @classmethod
    def from_frame(cls, frame: Any, *, lenient: bool = False, **columns: str) -> Self:
        """Convert a frame of pandas, polars or any Arrow producer; see `load` for the columns."""
        from berryeval.data.formats.frames import table_from_frame

        return cls._of(table_from_frame(frame, cls.kind, columns, lenient=lenient))

    @classmethod
    def from_columns(
        cls,
        queries: Sequence[Any] | npt.NDArray[Any],
        documents: Sequence[Any] | npt.NDArray[Any],
        values: Sequence[float] | npt.NDArray[Any],
        *,
        lenient: bool = False,
    ) -> Self:
        """Build from three columns of equal length, rows in any order; ids are str or int."""
        from berryeval.data.columns import number_column, string_column, table_from_columns

        table = table_from_columns(
            string_column(queries, "query"),
            string_column(documents, "document"),
            number_column(values, cls.kind),
            cls.kind,
            lenient=lenient,
        )
        return cls._of(table)

    @classmethod
    def from_arrays(
        cls,
        ids: npt.NDArray[np.integer[Any]],
        values: npt.NDArray[Any] | None = None,
        *,
        queries: Sequence[Any] | None = None,
        lenient: bool = False,
    ) -> Self:
        """Build from a 2-D array of integer document ids, one row per query, padded with -1.

        Args:
            ids: Document ids, converted to decimal strings.
            values: Scores or grades, in the same shape. By default every grade is 1, and scores
                keep the order.
            queries: Query ids; by default "0", "1" and so on.
            lenient: Whether to drop and count invalid and repeated ids.
        """
        from berryeval.data.columns import table_from_arrays

        if values is None and isinstance(ids, np.ndarray):
            values = default_values(ids, cls.kind)
        given = np.asarray(values)
        return cls._of(table_from_arrays(ids, given, queries, cls.kind, lenient=lenient))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return `{query: {document: number}}`."""
        return self.table.to_dict()

    def _output(self) -> tuple[QueryTable, str]:
        """Return the table and name to write."""
        return self.table, ""

    def _flat_output(self) -> tuple[QueryTable, str]:
        """Return the table with one row per document, for formats without groups, and the name."""
        return self._output()

    def to_trec(self, path: PathLike, *, drop_empty: bool = False) -> None:
        """Write a TREC file atomically.

        The format cannot hold queries without rows, and readers would average over fewer queries:
        such a query is a `DataError`, or left out with `drop_empty`.
        """
        from berryeval.data.formats.trec import write_trec

        table, name = self._output()
        write_trec(table, path, self.kind, name, drop_empty=drop_empty)

    def to_json(self, path: PathLike) -> None:
        """Write a JSON file atomically."""
        from berryeval.data.formats.json_tables import write_json

        write_json(self._flat_output()[0], path)

    def to_parquet(self, path: PathLike) -> None:
        """Write a Parquet file atomically; its metadata hold the queries without rows."""
        from berryeval.data.formats.frames import write_parquet

        table, name = self._flat_output()
        write_parquet(table, path, self.kind, name, ranks=self.kind == "run")

    def to_frame(self, library: FrameType | None = None) -> Any:
        """Return a frame with query, document, and grade or score and rank.

        `library` is "pandas", "polars" or "arrow"; by default pandas, or polars without pandas.
        """
        from berryeval.data.formats.frames import to_frame

        table, name = self._flat_output()
        return to_frame(table, library, self.kind, name, ranks=self.kind == "run")

    def __len__(self) -> int:
        return len(self.table.queries)
