"""`load_benchmark`: from a name or a path to a `Benchmark`."""

from __future__ import annotations

import inspect
import os
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from berryeval._internal.files import PathLike, name_of, plain_suffix
from berryeval._internal.json import read_json_lines, read_json_node
from berryeval._internal.validate import nearest
from berryeval.benchmarks.loaders.catalogue import LOADERS, Loader
from berryeval.data import read_header, read_parquet_columns
from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

    from berryeval._internal.json import Node
    from berryeval.benchmarks.benchmark import Benchmark


# The benchmarks that come with the package.


def _data() -> Traversable:
    return files("berryeval.benchmarks") / "data"


def bundled_benchmarks() -> list[str]:
    """Their names, in order."""
    data = _data()
    if not data.is_dir():
        return []
    return sorted(entry.name for entry in data.iterdir() if _is_benchmark(entry))


def _is_benchmark(entry: Traversable) -> bool:
    return entry.is_dir() and not entry.name.startswith((".", "_"))


def bundled_folder(name: str) -> Path:
    """Where the files of a bundled benchmark are."""
    return Path(str(_data() / name))


# `Source`: a file or folder that may hold a benchmark, looked into once.

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


def load_benchmark(source: PathLike, *, format: str | None = None, **options: Any) -> Benchmark:  # noqa: A002 - the word people look for
    """A benchmark that is bundled, or that lies in a file or folder.

    Args:
        source: the name of a bundled benchmark ("technical-docs"), or a path. A string that is such
            a name always means it; write "./technical-docs" for a folder that is called so.
        format: the name of a loader. Without it the format is known by clear signs; where there are
            none, or those of several formats, that is an error which names them.
        options: what the loader of the format takes, as `split="dev"` for BEIR.
    """
    found, loader = check_source(source, format, options)
    return loader.load(found, **options)


def check_source(
    source: PathLike, format_: str | None, options: Mapping[str, Any]
) -> tuple[Source, Loader]:
    """Where the files are and who reads them; refused unless all is there and known."""
    found = Source(_path_of(source))
    name = format_ or detect_format(found)
    loader = LOADERS.get(name)
    _check_options(name, loader, options)
    return found, loader


def _path_of(source: PathLike) -> PathLike:
    name = os.fspath(source)
    if isinstance(source, str) and name in bundled_benchmarks():
        return bundled_folder(name)
    try:
        there = os.path.exists(name)  # noqa: PTH110 - a path that no system takes is just not there
    except ValueError:
        there = False
    if there:
        return source
    bundled = bundled_benchmarks()
    near = nearest(name, bundled)
    hint = f"did you mean {' or '.join(near)}?" if near else f"bundled: {', '.join(bundled)}"
    msg = f"{name}: no such file or folder, and no bundled benchmark of this name"
    raise DataError(f"{msg}; {hint}" if bundled else msg)


def detect_format(source: Source) -> str:
    """The name of the one loader that knows these files."""
    names = [name for name in LOADERS if LOADERS.get(name).recognises(source)]
    if len(names) == 1:
        return names[0]
    if names:
        msg = (
            f"{source.name}: could be {' or '.join(names)}; say which with --format {names[0]}, "
            f"or format={names[0]!r} in Python"
        )
        raise DataError(msg)
    msg = (
        f"{source.name}: no known format; say which with --format, or format= in Python: "
        f"one of {', '.join(LOADERS)}"
    )
    raise DataError(msg)


def options_of(loader: Loader) -> list[str]:
    """The names of the options that a loader takes."""
    return [
        parameter.name
        for parameter in inspect.signature(loader.load).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]


def _check_options(name: str, loader: Loader, options: Mapping[str, Any]) -> None:
    takes = options_of(loader)
    for option, value in options.items():
        if option not in takes:
            near = nearest(option, takes, 1)
            there = f"it takes {', '.join(takes)}" if takes else "it takes none"
            hint = f"did you mean {near[0]!r}? {there}" if near else there
            msg = f"the loader {name} has no option {option!r}; {hint}"
            raise ConfigurationError(msg)
        wanted = _wanted(inspect.signature(loader.load).parameters[option].annotation, value)
        if wanted:
            msg = f"{option} of the loader {name} must be {wanted}, found {value!r:.80}"
            raise ConfigurationError(msg)


def _wanted(declared: Any, value: Any) -> str:
    """What a value should be that it is not; empty if nothing can be said against it.

    A number would fail somewhere in the loader, and of a text a list would take the letters.
    """
    kind = str(declared).removesuffix(" | None")
    if value is None:
        return ""
    if kind in {"str", "PathLike"} and not isinstance(value, str | os.PathLike):
        return "a text"
    if kind.startswith("Collection[") and isinstance(value, str):
        return "a list, as [a, b]"
    return ""
