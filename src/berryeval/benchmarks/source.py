"""`Source`: a file or folder that may hold a benchmark, looked into once."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from berryeval.errors import DataError
from berryeval.io.csv_rows import read_header
from berryeval.io.files import PathLike, name_of, plain_suffix
from berryeval.io.json_text import read_json_lines, read_json_node
from berryeval.io.parquet_rows import read_parquet_columns

if TYPE_CHECKING:
    from berryeval.io.json_node import Node

__all__ = ["Source"]

_PACKED = ("", ".gz", ".zst")
JSON_LINES = (".jsonl", ".ndjson")
TABLES = (".csv", ".tsv")
PARQUET = (".parquet", ".pq")


class Source:
    """Where a benchmark is read from: loaders ask it what is there, then for its content.

    What has been read to tell the format is kept, so that a large file is read once.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = Path(path)
        self.name = name_of(path)

    @property
    def stem(self) -> str:
        """What the benchmark is called if nothing else says it: the name without its ending."""
        if self.is_folder:
            return self.path.resolve().name
        name = self.path.stem if self.path.suffix in _PACKED else self.path.name
        return Path(name).stem

    @cached_property
    def is_folder(self) -> bool:
        """Whether this is a folder; what cannot be looked at is none."""
        try:
            return self.path.is_dir()
        except (OSError, ValueError):
            return False

    @cached_property
    def names(self) -> frozenset[str]:
        """The names in the folder."""
        try:
            return frozenset(entry.name for entry in self.path.iterdir())
        except OSError as error:
            msg = f"{self.name}: cannot be read ({error.strerror or error})"
            raise DataError(msg) from None

    def has(self, *names: str) -> bool:
        """Whether all of these, packed or not, are in the folder."""
        return self.is_folder and all(
            any(name + packing in self.names for packing in _PACKED) for name in names
        )

    def has_folder(self, name: str) -> bool:
        """Whether there is a folder of this name in the folder."""
        return self.is_folder and (self.path / name).is_dir()

    def file(self, name: str) -> Path:
        """The file of this name in the folder, packed or not, whether it is there or not."""
        for packing in _PACKED:
            if name + packing in self.names:
                return self.path / (name + packing)
        return self.path / name

    @property
    def suffix(self) -> str:
        """The ending of the file's name, ".json" for "a.json.gz"; "" for a folder."""
        return "" if self.is_folder else plain_suffix(self.path)

    @cached_property
    def json(self) -> Node:
        """The value of a JSON file."""
        return read_json_node(self.path)

    @cached_property
    def first_line(self) -> Node | None:
        """The first value of a file with a JSON value per line."""
        return next((node for _, node in read_json_lines(self.path)), None)

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns of a CSV, TSV or Parquet file."""
        parquet = self.suffix in PARQUET
        return read_parquet_columns(self.path) if parquet else read_header(self.path)

    def json_has(self, *names: str) -> bool:
        """Whether this is a JSON file with an object that has these names."""
        return self.suffix == ".json" and self.json.has(*names)

    def rows_have(self, *names: str) -> bool:
        """Whether this is a JSON array, or JSON lines, whose first object has these names."""
        if self.suffix == ".json":
            value = self.json.value
            return isinstance(value, list) and bool(value) and self.json.items()[0].has(*names)
        if self.suffix in JSON_LINES:
            return self.first_line is not None and self.first_line.has(*names)
        return False

    def columns_have(self, *names: str) -> bool:
        """Whether this is a CSV, TSV or Parquet file that has columns of these names."""
        return self.suffix in (*TABLES, *PARQUET) and set(names) <= set(self.columns)
