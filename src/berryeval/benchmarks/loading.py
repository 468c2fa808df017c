"""`load_benchmark`: find, recognize and load a benchmark by name or path."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.files import (
    PathLike,
    display_name,
    plain_suffix,
    read_bytes,
    suggest_file,
)
from berryeval._internal.json import read_json_lines, read_json_node
from berryeval._internal.registry import Registry
from berryeval._internal.text import pluralize
from berryeval._internal.validate import nearest, reject_unknown, require, suggest
from berryeval.data import (
    DOCUMENT,
    QUERY,
    QUESTION,
    choose_column,
    choose_columns,
    find_column,
    format_scope,
    read_header,
    read_parquet_columns,
    read_property,
)
from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from berryeval._internal.json import Node
    from berryeval.benchmarks.benchmark import Benchmark


def bundled_benchmarks() -> list[str]:
    """Return the names of the bundled benchmarks, sorted."""
    data = bundled_folder("")
    folders = (entry for entry in data.iterdir() if entry.is_dir()) if data.is_dir() else ()
    return sorted(entry.name for entry in folders if not entry.name.startswith((".", "_")))


def bundled_folder(name: str) -> Path:
    """Return the folder of a bundled benchmark."""
    return Path(str(files("berryeval.benchmarks") / "data" / name))


_PACKED = ("", ".gz", ".zst")
JSON_LINES = (".jsonl", ".ndjson")
TABLES = (".csv", ".tsv")
PARQUET = (".parquet", ".pq")


class Source:
    """File or folder of a benchmark: loaders ask it for names first, then for content.

    Content read to recognize the format is cached, so that a large file is read once.
    """

    def __init__(self, path: PathLike, encoding: str = "utf-8") -> None:
        self.path = Path(path)
        self.encoding = encoding  # of a CSV or TSV file
        self.name = display_name(path)

    @property
    def stem(self) -> str:
        """Default name of the benchmark: the file name without its suffix."""
        if self.is_folder:
            return self.path.resolve().name
        name = self.path.stem if self.path.suffix in _PACKED else self.path.name
        return Path(name).stem

    @cached_property
    def is_folder(self) -> bool:
        """Whether this is a readable folder."""
        try:
            return self.path.is_dir()
        except (OSError, ValueError):
            return False

    @cached_property
    def names(self) -> frozenset[str]:
        """Names in the folder."""
        try:
            return frozenset(entry.name for entry in self.path.iterdir())
        except OSError as error:
            raise DataError(f"{self.name}: cannot be read ({error.strerror or error})") from None

    def has(self, *names: str) -> bool:
        """Whether the folder has all of these files, compressed or not."""
        return self.is_folder and all(
            any(name + packing in self.names for packing in _PACKED) for name in names
        )

    def has_folder(self, name: str) -> bool:
        """Whether the folder has a subfolder of this name."""
        return self.is_folder and (self.path / name).is_dir()

    def file(self, name: str) -> Path:
        """Return the path of a file in the folder, compressed or not, whether it exists or not."""
        packed = (name + packing for packing in _PACKED)
        return self.path / next((one for one in packed if one in self.names), name)

    @property
    def suffix(self) -> str:
        """Suffix of the file, such as ".json" for "a.json.gz"; "" for a folder."""
        return "" if self.is_folder else plain_suffix(self.path)

    @property
    def is_empty(self) -> bool:
        """Whether the file has nothing but white space, or the folder no files."""
        return not self.names if self.is_folder else not read_bytes(self.path).tobytes().strip()

    @cached_property
    def json(self) -> Node:
        """Content of a JSON file."""
        return read_json_node(self.path)

    @cached_property
    def first_line(self) -> Node | None:
        """First value of a JSON lines file."""
        return next((node for _, node in read_json_lines(self.path)), None)

    @cached_property
    def columns(self) -> list[str]:
        """Column names of a CSV, TSV or Parquet file."""
        parquet = self.suffix in PARQUET
        if parquet:
            return read_parquet_columns(self.path)
        return read_header(self.path, self.encoding)

    def json_has(self, *names: str) -> bool:
        """Whether this is a JSON file whose object has these names."""
        return self.suffix == ".json" and self.json.has(*names)

    def array_has(self, outer: str, inner: str) -> bool:
        """Whether the array `outer` of a JSON file has an object with the name `inner`."""
        listed = self.json_has(outer) and isinstance(self.json.value[outer], list)
        return listed and any(item.has(inner) for item in self.json[outer].items())

    def rows_have(self, *names: str) -> bool:
        """Whether the first object of a JSON array or JSON lines has these names."""
        if self.suffix == ".json":
            value = self.json.value
            return isinstance(value, list) and bool(value) and self.json.items()[0].has(*names)
        if self.suffix in JSON_LINES:
            return self.first_line is not None and self.first_line.has(*names)
        return False

    def columns_have(self, *names: str) -> bool:
        """Whether this is a CSV, TSV or Parquet file with these columns."""
        return self.suffix in (*TABLES, *PARQUET) and set(names) <= set(self.columns)

    @property
    def has_grade_columns(self) -> bool:
        """Whether this is a CSV or TSV file with columns for query, document and grade."""
        if self.suffix not in TABLES:
            return False
        try:
            choose_columns(self.columns, "qrels", {})
        except DataError:
            return False
        return True

    @property
    def has_questions(self) -> bool:
        """Whether this is a CSV or TSV file with questions and documents, and maybe grades."""
        if self.suffix not in TABLES or not find_column(self.columns, DOCUMENT):
            return False
        alone = len(self.columns) == 2 and find_column(self.columns, QUERY)  # noqa: PLR2004 - query and document
        return bool(alone or find_column(self.columns, QUESTION))

    def find_missing_column(self) -> str:
        """Return the column that a table of questions and documents lacks; "" for other files."""
        if self.suffix not in TABLES:
            return ""
        try:
            choose_column(self.columns, "query", (*QUERY, *QUESTION), None)
            choose_column(self.columns, "document", DOCUMENT, None)
        except DataError as error:
            return str(error)
        return ""


@dataclass(frozen=True)
class Loader:
    """A benchmark format.

    Attributes:
        summary: Description in a few words.
        signs: Files or fields by which the format is recognized.
        recognises: Whether a source has these signs.
        load: Function that loads the benchmark; its keyword arguments are the format's options.
        prefixes: Words before the colon of names of datasets, such as "hf" of "hf:mteb/scifact".
    """

    summary: str
    signs: str
    recognises: Callable[[Source], bool]
    load: Callable[..., Benchmark]
    prefixes: tuple[str, ...] = ()


class NamedSource(Source):
    """A dataset named "prefix:name" instead of a path."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
        self.prefix, _, self.reference = name.partition(":")

    @property
    def stem(self) -> str:
        """Default name of the benchmark: the name without its prefix."""
        return self.reference.strip("/").replace("/", "-")


_HERE: Final = "berryeval.benchmarks.loaders"
LOADERS: Final[Registry[Loader]] = Registry(
    "loader",
    {
        "berryeval": f"{_HERE}.own:LOADER",
        "jsonl": f"{_HERE}.own:JSONL",
        "golden-set": f"{_HERE}.golden_set:LOADER",
        "technical-docs": f"{_HERE}.technical_docs:LOADER",
        "rag-template": f"{_HERE}.rag_template:LOADER",
        "beir": f"{_HERE}.beir:LOADER",
        "trec": f"{_HERE}.trec:LOADER",
        "locomo": f"{_HERE}.locomo:LOADER",
        "longmemeval": f"{_HERE}.longmemeval:LOADER",
        "code-retrieval": f"{_HERE}.code_retrieval:LOADER",
        "csv": f"{_HERE}.table:LOADER",
        "ragas": f"{_HERE}.ragas:LOADER",
        "deepeval": f"{_HERE}.deepeval:LOADER",
        "quepid": f"{_HERE}.quepid:LOADER",
        "rre": f"{_HERE}.rre:LOADER",
        "rank-eval": f"{_HERE}.rank_eval:LOADER",
        "autorag": f"{_HERE}.autorag:LOADER",
        "ir_datasets": f"{_HERE}.ir_datasets:LOADER",
        "hf": f"{_HERE}.hugging_face:LOADER",
    },
)


def load_benchmark(
    source: PathLike,
    *,
    format: str | None = None,  # noqa: A002 - the word people look for
    scope: str | Sequence[str] | None = None,
    **options: Any,
) -> Benchmark:
    """Load a bundled benchmark, one from a file or folder, or a dataset of a library.

    Args:
        source: Name of a bundled benchmark ("technical-docs"), a path, or the name of a dataset
            ("ir_datasets:beir/scifact/test", "hf:ORG/NAME", "mteb:NAME"). A string that is a
            bundled name always means that benchmark; write "./technical-docs" for a folder of that
            name.
        format: Name of a loader. By default the format is recognized from the files; if no format
            or several match, the error lists them.
        scope: Fields that limit each query to the documents with the query's own value, such as
            "conversation"; "none" lets every query search all documents. By default the files
            decide: the scopes of their queries, or `scope` in `benchmark.json`. Scopes in the files
            are replaced, which a remark says.
        options: Options of the loader, such as `split="dev"` for BEIR.
    """
    found, loader = check_source(source, format, options)
    benchmark = loader.load(found, **options)
    named = benchmark.metadata.get(_SCOPE)
    if scope is None:
        return benchmark if named is None else set_scope(benchmark, named, in_files=True)
    metadata = {name: value for name, value in benchmark.metadata.items() if name != _SCOPE}
    return set_scope(replace(benchmark, metadata=metadata), scope)


_SCOPE: Final = "scope"  # an option of every format
_NO_SCOPE: Final = "none"
_QUERY_FIELDS: Final = ("id", "category", "difficulty")


def set_scope(
    benchmark: Benchmark, given: str | Sequence[str], *, in_files: bool = False
) -> Benchmark:
    """Limit every query to the documents that have its own values of these fields.

    A remark counts the scopes that are replaced; they are an error if the files name the fields.
    """
    listed = given.split(",") if isinstance(given, str) else given
    ok = isinstance(listed, list | tuple) and all(isinstance(name, str) for name in listed)
    require(ok, f"scope of {benchmark.name}", "names of fields, such as [conversation]", given)
    names = [name for one in listed if (name := one.strip()) not in {"", _NO_SCOPE}]
    queries, without = [], 0
    for query in benchmark.queries:
        values = {name: read_property(query, name, _QUERY_FIELDS) for name in names}
        scope = {name: found[0] if len(found) == 1 else found for name, found in values.items()}
        queries.append(replace(query, scope={name: one for name, one in scope.items() if one}))
        without += not all(values.values())
    for name in names:
        if not any(name in query.scope for query in queries):
            fields = dict.fromkeys(key for one in queries for key in (*one.metadata, *one.extra))
            raise ConfigurationError(
                f"scope: no query of {benchmark.name} has a {name!r}; {suggest(name, fields)}"
            )
    remarks = [*benchmark.remarks]
    if without:
        count = pluralize(without, "query")
        lack = "lacks" if without == 1 else "lack"
        remarks.append(f"{count} {lack} a value of {', '.join(names)}; the scope of these is wider")
    pairs = enumerate(zip(benchmark.queries, queries, strict=True))
    replaced = [place for place, (old, new) in pairs if old.scope and old.scope != new.scope]
    if replaced and in_files:
        raise _reject_two_scopes(benchmark, replaced[0], names)
    if replaced and names:
        count = pluralize(len(replaced), "query")
        first = benchmark.queries[replaced[0]].id
        remarks.append(
            f"scope={','.join(names)} replaces the scope of {count}, such as {first!r:.80}"
        )
    return replace(benchmark, queries=tuple(queries), remarks=tuple(remarks))


def _reject_two_scopes(benchmark: Benchmark, place: int, names: Sequence[str]) -> DataError:
    where = benchmark.where("queries", place) or f"query {benchmark.queries[place].id!r:.80}"
    named = ",".join(names) or _NO_SCOPE
    return DataError(
        f"{where}: the scope of the query is {format_scope(benchmark.queries[place].scope)}, and "
        f'the benchmark says "scope": "{named}"; remove one of them, or choose '
        f"(scope={named}, scope={_NO_SCOPE})"
    )


def check_source(
    source: PathLike, format_: str | None, options: Mapping[str, Any]
) -> tuple[Source, Loader]:
    """Find the files and their loader, and check the options."""
    encoding = options.get("encoding")
    found: Source
    if named := find_named(source):
        found = NamedSource(str(source))
        require(not found.stem.startswith("."), "a dataset", "named after the colon", source)
    else:
        found = Source(_find_path(source), encoding if isinstance(encoding, str) else "utf-8")
    name = format_ or named or detect_format(found)
    loader = LOADERS.get(name)
    reject_unknown(f"the loader {name}", options, [*options_of(loader), _SCOPE])
    parameters = inspect.signature(loader.load).parameters
    for option, value in options.items():
        if option == _SCOPE:
            continue
        kind = str(parameters[option].annotation).removesuffix(" | None")
        owned = f"{option} of the loader {name}"
        if kind in {"str", "PathLike"}:
            require(value is None or isinstance(value, str | os.PathLike), owned, "a text", value)
        elif kind.startswith("Collection["):
            require(not isinstance(value, str), owned, "a list such as [a, b]", value)
    return found, loader


def find_named(source: object) -> str:
    """Return the loader of a dataset named "prefix:name"; "" for anything else."""
    prefix, colon, name = source.partition(":") if isinstance(source, str) else ("", "", "")
    if not colon or not name.strip("/ "):
        return ""
    return next((one for one in LOADERS if prefix in LOADERS.get(one).prefixes), "")


def _find_path(source: PathLike) -> PathLike:
    name = os.fspath(source)
    if isinstance(source, str) and name in bundled_benchmarks():
        return bundled_folder(name)
    try:
        there = os.path.exists(name)  # noqa: PTH110 - an invalid path does not exist
    except ValueError:
        there = False
    if there:
        return source
    hint = suggest(name, bundled_benchmarks(), listed="bundled:")
    prefixes = [one for known in LOADERS for one in LOADERS.get(known).prefixes]
    if near := nearest(name.partition(":")[0], prefixes) if ":" in name else []:
        hint = f"datasets are named as {near[0]}:NAME"
    hint = suggest_file(name) or f"; {hint}"
    raise DataError(f"{name}: no such file or folder, and no bundled benchmark of this name{hint}")


def detect_format(source: Source) -> str:
    """Return the name of the only loader that recognizes these files."""
    names = [name for name in LOADERS if LOADERS.get(name).recognises(source)]
    if len(names) == 1:
        return names[0]
    if source.is_empty:
        raise DataError(f"{source.name}: is empty, expected a benchmark")
    if not names and (missing := source.find_missing_column()):
        cure = "rename the column, or choose the format and its columns, such as --format csv "
        cure += "--options document=page"
        if len(source.columns) == 1:
            cure = "separate the columns by commas, semicolons or tabs"
        elif not any(find_column(source.columns, one) for one in (QUERY, QUESTION, DOCUMENT)):
            cure = f"the first line must name the columns, such as question,doc_id; or {cure}"
        raise DataError(f"{source.name}: is no benchmark: {missing}; {cure}")
    problem = (
        f"could be {' or '.join(names)}; choose one with --format {names[0]}, or "
        f"format={names[0]!r} in Python"
        if names
        else "unknown format; choose one with --format, or format= in Python: " + ", ".join(LOADERS)
    )
    raise DataError(f"{source.name}: {problem}")


def options_of(loader: Loader) -> list[str]:
    """Return the names of a loader's options."""
    return [
        parameter.name
        for parameter in inspect.signature(loader.load).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
