"""What `Qrels` and `Run` have in common: a table, and every way to get one in and out.

Formats are imported where they are used: most programs start for the sake of one or two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from berryeval.io import trec
from berryeval.io.columns import number_column, string_column, table_from_arrays, table_from_columns
from berryeval.io.load import default_values, load_table
from berryeval.tables import Kind, QueryTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

    from berryeval.io.files import PathLike
    from berryeval.io.frames import FrameType

__all__ = ["TableValue"]


@dataclass(frozen=True, eq=False, repr=False)
class TableValue:
    """Rows of a document and a number, grouped by query, that never change."""

    table: QueryTable
    kind: ClassVar[Kind]

    @classmethod
    def load(
        cls,
        source: Any,
        *,
        lenient: bool = False,
        split: str | None = None,
        **columns: str,
    ) -> Self:
        """From anything that holds rows; what is one already is returned as it is.

        Args:
            source: a dict `{query: {document: number}}`; the path of a TREC, TSV (with a header, as
                BEIR has it; MS MARCO's runs have none), JSON, JSON lines or Parquet file ("-" for
                stdin; .gz and .zst are unpacked) or, for judgments, of a BEIR folder; a frame of
                pandas, polars, or anything else that gives Arrow data; a 2-D array of ids.
            lenient: leave out faulty and repeated rows and count them in `table.dropped`, rather
                than stop at the first.
            split: which `qrels/<split>.tsv` of a BEIR folder; "test" unless told.
            columns: which columns of a frame (keys of JSON lines) to take: `query=`, `document=`,
                and `score=` or `grade=`. Usual names are known.
        """
        if isinstance(source, cls):
            return source
        return cls._of(load_table(source, cls.kind, columns, lenient=lenient, split=split))

    @classmethod
    def _of(cls, table: QueryTable) -> Self:
        return cls(table)

    @classmethod
    def from_dict(cls, rows: Mapping[str, Mapping[str, float]]) -> Self:
        """From `{query: {document: number}}`."""
        return cls._of(QueryTable.from_dict(rows, kind=cls.kind))

    @classmethod
    def from_trec(cls, path: PathLike, *, lenient: bool = False) -> Self:
        """From a TREC file."""
        return cls._of(trec.read_table(path, cls.kind, lenient=lenient))

    @classmethod
    def from_json(cls, path: PathLike, *, lenient: bool = False) -> Self:
        """From a JSON file with `{query: {document: number}}`."""
        from berryeval.io.json_file import read_json

        return cls._of(read_json(path, cls.kind, lenient=lenient))

    @classmethod
    def from_json_lines(cls, path: PathLike, *, lenient: bool = False, **columns: str) -> Self:
        """From a file with an object per line; see `load` for its keys.

        This is read in Python, some 25 times slower than a TREC file.
        """
        from berryeval.io.json_lines import read_json_lines

        return cls._of(read_json_lines(path, cls.kind, columns, lenient=lenient))

    @classmethod
    def from_parquet(cls, path: PathLike, *, lenient: bool = False, **columns: str) -> Self:
        """From a Parquet file; see `load` for its columns."""
        from berryeval.io.frames import read_parquet

        return cls._of(read_parquet(path, cls.kind, columns, lenient=lenient))

    @classmethod
    def from_frame(cls, frame: Any, *, lenient: bool = False, **columns: str) -> Self:
        """From a frame of pandas, polars, or any Arrow producer; see `load` for its columns."""
        from berryeval.io.frames import table_from_frame

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
        """From three columns of one length, rows in any order. Ids are strings or whole numbers."""
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
        """From whole-number document ids, a row per query, padded with -1.

        Args:
            ids: 2-D; each becomes a string, in decimal.
            values: the score or grade of each, of the same shape. Without, every grade is 1, and
                the scores are such that the order stays.
            queries: the query id of each row; without, "0", "1" and so on.
            lenient: leave out faulty and repeated ids and count them.
        """
        if values is None and isinstance(ids, np.ndarray):
            values = default_values(ids, cls.kind)
        given = np.asarray(values)
        return cls._of(table_from_arrays(ids, given, queries, cls.kind, lenient=lenient))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """As `{query: {document: number}}`."""
        return self.table.to_dict()

    def _written(self) -> tuple[QueryTable, str]:
        """The table to write, and the name to write with it."""
        return self.table, ""

    def _written_flat(self) -> tuple[QueryTable, str]:
        """The same, with one row per document, for formats that know no groups."""
        return self._written()

    def to_trec(self, path: PathLike, *, drop_empty: bool = False) -> None:
        """Write a TREC file; nothing is there, or all of it.

        The format cannot tell of a query without rows, and whoever reads the file would average
        over fewer queries: such a query is a `DataError`, or left out with `drop_empty`.
        """
        from berryeval.io.writers import write_trec

        table, name = self._written()
        write_trec(table, path, self.kind, name, drop_empty=drop_empty)

    def to_json(self, path: PathLike) -> None:
        """Write a JSON file; nothing is there, or all of it."""
        from berryeval.io.json_file import write_json

        write_json(self._written_flat()[0], path)

    def to_parquet(self, path: PathLike) -> None:
        """Write a Parquet file; nothing is there, or all of it.

        Queries without rows stand in the metadata of the file, where `load` finds them.
        """
        from berryeval.io.frames import write_parquet

        table, name = self._written_flat()
        write_parquet(table, path, self.kind, name, ranks=self.kind == "run")

    def to_frame(self, frame: FrameType = "pandas") -> Any:
        """As a frame: query, document, and grade, or score and rank."""
        from berryeval.io.frames import to_frame

        table, name = self._written_flat()
        return to_frame(table, frame, self.kind, name, ranks=self.kind == "run")

    def __len__(self) -> int:
        return len(self.table.queries)
