"""Parquet files that executors read themselves, without Java and without a shuffle.

Java hands rows to Python and shuffles them: most of the time of a job. Where the rows of each query
are together in a file that every worker sees under the same path, neither is needed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from berryeval._internal.optional import import_optional
from berryeval.data import ParquetPart, find_coded, read_part

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST: Final = 64 << 20  # bytes of a file for one task
_LEAST: Final = 4 << 20
_TASKS: Final = 2  # per core, at least
_LOCAL: Final = re.compile("file:(?://)?(/(?!/).*)")


@dataclass(frozen=True)
class FileParts:
    """Parts of files by task.

    Attributes:
        columns: Name and type of the columns with query, document and score.
        coded: The columns that are read as codes of a dictionary.
        tasks: What each task reads.
    """

    columns: tuple[tuple[str, str], ...]
    coded: tuple[str, ...]
    tasks: tuple[tuple[ParquetPart, ...], ...]

    def read(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows of the tasks whose numbers come in batches."""
        for batch in batches:
            for task in batch.column(0).to_pylist():
                for part in self.tasks[task]:
                    yield from read_part(part, self.columns, self.coded)

    def read_first(self, most: int) -> Any:
        """Return the first rows of the files as an Arrow table."""
        pa = import_optional("pyarrow", "berryeval.spark", extra="spark")
        found, rows = [], 0
        for part in itertools.chain.from_iterable(self.tasks):
            for batch in read_part(part, self.columns, self.coded):
                found.append(batch)
                rows += batch.num_rows
                if rows >= most:
                    return pa.Table.from_batches(found).slice(0, most)
        return pa.Table.from_batches(found)


def divide_files(addresses: Sequence[str], names: Sequence[str], cores: int) -> FileParts | None:
    """Divide Parquet files among tasks; None if a file or column is not within reach of Python."""
    paths = [find_local_path(address) for address in addresses]
    if not paths or None in paths:
        return None
    parquet = import_optional("pyarrow.parquet", "berryeval.spark", extra="spark")
    local = sorted(filter(None, paths))
    try:
        with parquet.ParquetFile(local[0]) as first:
            schema = first.schema_arrow
            coded = find_coded(first, names[0]) if names[0] in schema.names else []
        sizes = [Path(path).stat().st_size for path in local]
    except (OSError, ValueError):
        return None  # Spark explains it
    if not set(names) <= set(schema.names):  # such as one that is in the names of folders
        return None
    columns = tuple([(name, str(schema.field(name).type)) for name in names])
    most = min(max(sum(sizes) // (_TASKS * max(cores, 1)), _LEAST), _MOST)
    tasks: list[list[ParquetPart]] = [[]]
    taken = 0
    for path, size in zip(local, sizes, strict=True):
        count = max(1, round(size / most))
        edges = [size * place // count for place in range(count + 1)]
        for start, end in itertools.pairwise(edges):
            if taken and taken + end - start > most:
                tasks.append([])
                taken = 0
            tasks[-1].append(ParquetPart(path, start, end))
            taken += end - start
    return FileParts(columns, tuple(coded), tuple(map(tuple, tasks)))


def find_local_path(address: str) -> str | None:
    """Return the path of an address of Spark such as file:///run/part%200; None if it has none."""
    found = _LOCAL.fullmatch(address)
    return unquote(found[1]) if found else None
