"""Rows in any order, sorted by query on disk; needs DuckDB."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from berryeval._internal.backend import thread_count
from berryeval._internal.limits import SORT_MB
from berryeval._internal.optional import import_optional
from berryeval.data.columns import Origin
from berryeval.data.formats.batches import BLOCK_ROWS, cut_blocks
from berryeval.data.formats.frames import table_from_frame, to_arrow
from berryeval.errors import DataError, RepeatedDocumentError

if TYPE_CHECKING:
    from berryeval.data.row_sources import RowSource
    from berryeval.data.table import Kind, QueryTable

_BATCH: Final = 1 << 16  # rows
_INTERRUPTED: Final = "Query interrupted"  # what DuckDB makes of Ctrl-C


def sort_blocks(
    source: RowSource, kind: Kind, *, lenient: bool = False, least: int = BLOCK_ROWS
) -> Iterator[QueryTable]:
    """Yield the rows of a source as tables of whole queries, each in the order of the source.

    An invalid row is a `DataError`; a repeated document is found last, and of several the first.
    """
    import_optional("duckdb", f"{source.name}: sorting rows by query on disk", extra="sort")
    tally = _Tally()
    parts = tally.convert(source.read_blocks(least=least, whole=False), kind)
    repeated: tuple[int, RepeatedDocumentError] | None = None
    with _sorting(parts, tally) as batches:
        for block in cut_blocks(batches, "key", least):
            rows = block.column("row").to_numpy()
            lowest: list[int] = []

            def locate(row: int, lowest: list[int] = lowest) -> str:
                lowest.append(row)
                return source.locate(row)

            try:
                table = table_from_frame(
                    block,
                    kind,
                    {},
                    lenient=lenient,
                    source=source.name,
                    origin=Origin(rows, locate),
                )
            except RepeatedDocumentError as error:
                if repeated is None or lowest[0] < repeated[0]:
                    repeated = lowest[0], error
                continue
            if repeated is None:
                dropped = table.dropped + tally.take_dropped()
                yield replace(source.complete(table), dropped=dropped, labels={"tag": tally.tag})
    if repeated is not None:
        raise repeated[1]


class _Tally:
    """What happens while another library reads the rows: the error, and the dropped rows."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.tag = ""
        self._dropped = 0

    def take_dropped(self) -> int:
        """Return the number of dropped rows since the last call."""
        count, self._dropped = self._dropped, 0
        return count

    def convert(self, tables: Iterable[QueryTable], kind: Kind) -> Iterator[Any]:
        """Yield the rows of tables as Arrow batches with the number of each row."""
        import pyarrow as pa

        try:
            for table in tables:
                self._dropped += table.dropped
                self.tag = table.labels.get("tag", "") or self.tag
                numbers = table.labels["row" if "row" in table.labels else "line"]
                arrow = to_arrow(table, kind).append_column("row", pa.array(np.asarray(numbers)))
                yield from arrow.combine_chunks().to_batches()
        except BaseException as error:  # a library between would wrap it, also an interrupt
            self.error = error
            raise


@contextmanager
def _sorting(parts: Iterator[Any], tally: _Tally) -> Iterator[Iterator[Any]]:
    """Sort Arrow batches by a hash of the query, and row; nothing stays in the temporary folder."""
    import duckdb

    try:
        with tempfile.TemporaryDirectory(prefix="berryeval-sort-") as folder:
            settings: dict[str, Any] = {
                "temp_directory": folder,
                "memory_limit": f"{SORT_MB.value}MB",
                "threads": thread_count(),
                "preserve_insertion_order": False,
            }
            with duckdb.connect(":memory:", config=settings) as database:
                database.execute("SET enable_progress_bar = false")  # it goes to stdout
                yield _run_sort(database, parts)
    except (duckdb.Error, OSError) as error:
        if tally.error is not None:
            raise tally.error from None
        raise DataError(
            f"rows cannot be sorted on disk in {tempfile.gettempdir()}: "
            f"{str(error).splitlines()[0]}; make room there, or name another folder with TMPDIR"
        ) from None
    except RuntimeError as error:
        if str(error) != _INTERRUPTED:
            raise
        raise KeyboardInterrupt from None


def _run_sort(database: Any, parts: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa

    first = next(parts, None)
    if first is None:
        return

    def chain() -> Iterator[Any]:
        yield first
        yield from parts

    rows = pa.RecordBatchReader.from_batches(first.schema, chain())
    database.register("rows", rows)
    # Numbers are sorted four times as fast as text. Queries with one hash are in one block.
    found = database.sql('SELECT *, hash(query) AS "key" FROM "rows" ORDER BY "key", "row"')
    yield from found.to_arrow_reader(_BATCH)
