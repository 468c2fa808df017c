"""Retrieval datasets of the Hugging Face Hub, as of MTEB and BEIR: `hf:ORG/NAME`, `mteb:NAME`.

A dataset has the configurations `corpus` (`_id`, `title`, `text`), `queries` (`_id`, `text`) and
`default` or `qrels` (`query-id`, `corpus-id`, `score`). `mteb:NAME` is `hf:mteb/NAME`. It is read
from the cache of the Hub if `hf download` has put it there; otherwise by the package `datasets`,
from its cache or the Hub. A folder with the same layout is read as it is: a copy of the repository,
or a folder or file for each configuration (Parquet, JSON lines, or written by `save_to_disk`).

The corpus is read when it is first needed, and not at all with `documents="none"`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import yaml

from berryeval._internal.files import plain_suffix
from berryeval._internal.json import Node, read_json_lines
from berryeval._internal.optional import import_optional
from berryeval.benchmarks.benchmark import ABOUT
from berryeval.benchmarks.build import read_optional_text
from berryeval.benchmarks.loading import JSON_LINES, PARQUET, Loader, NamedSource, Source
from berryeval.benchmarks.named_data import (
    JUDGED,
    NONE,
    Grade,
    LazyDocuments,
    build_named,
    check_selection,
)
from berryeval.data import Document, Query, read_parquet_rows
from berryeval.errors import BerryEvalError, DataError

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import Benchmark

# Names of the configurations, and of the folders and files of a copy.
_NAMES: Final = {"corpus": ("corpus",), "queries": ("queries",), "qrels": ("default", "qrels")}
_FOLDERS: Final = {**_NAMES, "qrels": ("default", "qrels", "data")}
_QUERY: Final = ("query-id", "query_id", "qid")
_DOCUMENT: Final = ("corpus-id", "corpus_id", "doc_id", "docid")
_GRADE: Final = ("score", "relevance", "label")
_PATIENCE: Final = 10.0  # seconds for the Hub to answer before the cache alone is read
_SAVED: Final = ("dataset_dict.json", "state.json")  # of `save_to_disk`
_PART: Final = re.compile(r"-\d+-of-(\d+)\.")
_SUBSET: Final = "-corpus"
_NUMBERED: Final = re.compile(r"-\d+-of-\d+$")


def load(
    source: Source,
    *,
    split: str | None = None,
    revision: str | None = None,
    subset: str | None = None,
    queries: str = JUDGED,
    documents: str = "all",
) -> Benchmark:
    """Load the dataset, or a folder with its layout.

    Args:
        source: Name of the dataset, or the folder.
        split: Split of the judgments; "test" or the only one by default.
        revision: Branch, tag or commit of the dataset.
        subset: First part of the names of configurations, such as "en" of "en-corpus".
        queries: "judged" for the queries of the split, "all" for every query.
        documents: "all" or "none".
    """
    check_selection(queries, documents)
    tables = _open(source, subset or "", revision)
    graded = _choose_split(tables, "qrels", split)
    asked = _choose_split(tables, "queries", graded, among=True)

    def choose_corpus() -> str:
        return _choose_split(tables, "corpus", graded, among=True)

    def read_corpus(judged: Sequence[str]) -> LazyDocuments:
        return LazyDocuments(
            source.name,
            lambda: _read_documents(tables, choose_corpus()),
            judged,
            lambda: tables.count("corpus", choose_corpus()),
        )

    return build_named(
        source,
        _read_queries(tables, asked),
        _read_grades(tables, graded),
        None if documents == NONE else read_corpus,
        wanted=queries,
        metadata={"split": graded, **({"revision": revision} if revision else {})},
    )


def _open(source: Source, subset: str, revision: str | None) -> _Tables:
    if not isinstance(source, NamedSource):
        if not source.is_folder:
            raise DataError(f"{source.name}: expected a folder with corpus, queries and default")
        return _Folder(source.path, source.name, subset)
    name = source.reference if source.prefix == "hf" else f"mteb/{source.reference}"
    copy = _find_copy(name, source.name, subset, revision)
    return copy or _Hub(name, source.name, subset, revision)


def _choose_split(tables: _Tables, kind: str, wanted: str | None, *, among: bool = False) -> str:
    """Return the wanted split, "test" or the only one; `among` takes the only one instead."""
    there = tables.list_splits(kind)
    if not there:
        subsets = [one for one in tables.list_subsets() if one != tables.subset]
        choice = f"; choose a subset of {', '.join(subsets)}" if subsets else ""
        advice = f"{choice}: subset={subsets[0]}" if subsets else ""
        raise DataError(
            f"{tables.name}: has no {_WORDS[kind]}; expected the configuration "
            f"{' or '.join(tables.names_of(kind))}, found "
            f"{', '.join(tables.list_parts()) or 'none'}{advice}"
        )
    only = there[0] if len(there) == 1 else ""
    named = wanted or ("test" if "test" in there else only)
    if named in there:
        return named
    if among and only:
        return only
    what = f"no split {named!r}" if named else "several splits"
    raise DataError(
        f"{tables.name}: {_WORDS[kind]} have {what}; there are {', '.join(there)}; choose one with "
        f"split={there[0]}"
    )


_WORDS: Final = {"corpus": "documents", "queries": "queries", "qrels": "judgments"}


def _read_queries(tables: _Tables, split: str) -> Iterator[tuple[Query, str]]:
    for row in tables.read("queries", split):
        extra = row.besides("_id", "id", "text", "title")
        metadata = {name: one for name, one in extra.items() if one not in (None, "", {}, [])}
        query = Query(row.one_of("_id", "id").id(), row["text"].text(), metadata=metadata)
        yield query, row.where


def _read_grades(tables: _Tables, split: str) -> Iterator[Grade]:
    for row in tables.read("qrels", split):
        grade = row.one_of(*_GRADE).number()
        query, document = row.one_of(*_QUERY).id(), row.one_of(*_DOCUMENT).id()
        yield Grade(query, document, grade, where=row.where)


def _read_documents(tables: _Tables, split: str) -> Iterator[Document]:
    for row in tables.read("corpus", split):
        found = row.get("title")
        title = found.text() if found is not None and found.value else ""
        text = f"{title} {read_optional_text(row, 'text')}".strip()  # as MTEB and BEIR search it
        yield Document(row.one_of("_id", "id").id(), text, title=title)


class _Tables(ABC):
    """The configurations of a dataset, by kind: corpus, queries and qrels."""

    def __init__(self, name: str, subset: str) -> None:
        self.name, self.subset = name, subset

    def names_of(self, kind: str) -> tuple[str, ...]:
        """Return the names that a configuration of this kind may have."""
        plain = _NAMES[kind]
        if not self.subset:
            return plain
        return (*(f"{self.subset}-{one}" for one in plain), *([self.subset] * (kind == "qrels")))

    @abstractmethod
    def list_parts(self) -> list[str]:
        """Return the names of the configurations."""

    def list_subsets(self) -> list[str]:
        """Return the first part of the names of configurations, such as "en" of "en-corpus"."""
        parts = {one.partition(".")[0] for one in self.list_parts()}
        return sorted(one.removesuffix(_SUBSET) for one in parts if one.endswith(_SUBSET))

    @abstractmethod
    def list_splits(self, kind: str) -> list[str]:
        """Return the splits of a kind; none if there is no such configuration."""

    @abstractmethod
    def read(self, kind: str, split: str) -> Iterator[Node]:
        """Read the rows of a split, one at a time."""

    def count(self, kind: str, split: str) -> int | None:  # noqa: ARG002 - unknown by default
        """Return the number of rows, if it is known without reading them."""
        return None


class _Folder(_Tables):
    """A folder with a copy of a dataset."""

    def __init__(self, path: Path, name: str, subset: str) -> None:
        super().__init__(name, subset)
        self._path = path

    def list_parts(self) -> list[str]:
        return sorted({*self._described, *(one.name for one in self._path.iterdir())})

    def list_splits(self, kind: str) -> list[str]:
        return sorted(self._find(kind))

    def read(self, kind: str, split: str) -> Iterator[Node]:
        for place in self._find(kind)[split]:
            if place.is_dir():
                yield from _read_saved(place, split)
            elif plain_suffix(place) in PARQUET:
                yield from read_parquet_rows(place)
            else:
                yield from (node for _, node in read_json_lines(place))

    def _find(self, kind: str) -> dict[str, list[Path]]:
        """Return the files of each split: those that README.md lists, or those that are there."""
        described = map(self._described.get, self.names_of(kind))
        folders = self.names_of(kind) if self.subset else _FOLDERS[kind]
        listed = (_list_tables(self._path, name) for name in folders)
        found = next(filter(None, (*described, *listed)), None) or {}
        for files in found.values():
            _require_all(files)
        return found

    @cached_property
    def _described(self) -> dict[str, dict[str, list[Path]]]:
        """The files by configuration and split, as the head of README.md lists them."""
        about = self._path / "README.md"
        head = about.read_text("utf-8", "replace").split("---\n") if about.is_file() else []
        if len(head) < 3 or head[0].strip():  # noqa: PLR2004 - nothing, the head, the text
            return {}
        try:
            read = yaml.safe_load(head[1])
        except yaml.YAMLError:
            return {}
        configs = read.get("configs") if isinstance(read, Mapping) else None
        found = {}
        for config in configs if isinstance(configs, list) else ():
            if isinstance(config, Mapping):
                splits = _expand(self._path, config.get("data_files"))
                found[str(config.get("config_name", "default"))] = splits
        return {name: splits for name, splits in found.items() if splits}


def _expand(folder: Path, given: Any) -> dict[str, list[Path]]:
    """Return the files of each split, of patterns inside the folder."""
    found: dict[str, list[Path]] = defaultdict(list)
    for one in given if isinstance(given, list) else [given]:
        about = one if isinstance(one, Mapping) else {"path": one}
        listed = about.get("path")
        for pattern in listed if isinstance(listed, list) else [listed]:
            path = PurePosixPath(pattern) if isinstance(pattern, str) and pattern else None
            if path is None or path.is_absolute() or ".." in path.parts:
                continue
            for file in sorted(folder.glob(str(path))):
                found[str(about.get("split") or _find_split(file))].append(file)
    return dict(found)


def _list_tables(folder: Path, name: str) -> dict[str, list[Path]]:
    """Return the files of each split of a configuration: in its folder, or one of its name."""
    inside, found = folder / name, defaultdict(list)
    if any((inside / one).is_file() for one in _SAVED):
        return {one: [inside] for one in _list_saved(inside)}
    there = inside.iterdir() if inside.is_dir() else folder.glob(f"{name}.*")
    for file in sorted(there):
        if plain_suffix(file) in (*PARQUET, *JSON_LINES) and file.is_file():
            found[_find_split(file)].append(file)
    return dict(found)


def _require_all(files: Sequence[Path]) -> None:
    """Reject files of which some are missing: scores on a part of a corpus are wrong."""
    part = _PART.search(files[0].name)
    if part and len(files) < int(part[1]):
        raise DataError(
            f"{files[0]}: found {len(files)} of {int(part[1])} parts; the copy is incomplete, "
            "download it again"
        )


def _find_split(file: Path) -> str:
    return _NUMBERED.sub("", file.name.partition(".")[0])


def _list_saved(folder: Path) -> list[str]:
    """Return the splits that `save_to_disk` wrote; a single table is the split "all"."""
    splits = sorted(one.parent.name for one in folder.glob("*/state.json"))
    return splits or ["all"]


def _read_saved(folder: Path, split: str) -> Iterator[Node]:
    library = import_optional("datasets", f"{folder}", extra="datasets")
    inner = folder / split if (folder / split).is_dir() else folder
    for place, row in enumerate(library.load_from_disk(str(inner))):
        yield Node(row, f"{inner}: row {place}")


class _Hub(_Tables):
    """A dataset in the cache of the package `datasets`, or on the Hub."""

    def __init__(self, repository: str, name: str, subset: str, revision: str | None) -> None:
        super().__init__(name, subset)
        self._repository, self._revision = repository, revision
        self._loaded: dict[str, Any] = {}

    @cached_property
    def _library(self) -> Any:
        return import_optional("datasets", self.name, extra="datasets")

    def list_parts(self) -> list[str]:
        with self._asking(self._repository):
            return list(
                self._library.get_dataset_config_names(self._repository, revision=self._revision)
            )

    def _find(self, kind: str) -> Any:
        """Return the splits of a kind; BEIR keeps judgments in a dataset of their own."""
        if kind not in self._loaded:
            places = [(self._repository, one, self._revision) for one in self.names_of(kind)]
            if kind == "qrels" and self._repository.lower().startswith("beir/"):
                places = [(f"{self._repository}-qrels", "default", None)]
            self._loaded[kind] = next(filter(None, map(self._load, places)), {})
        return self._loaded[kind]

    def _load(self, place: tuple[str, str, str | None]) -> Any:
        """Return the splits of a configuration; None if no configuration has this name."""
        repository, config, revision = place
        with self._asking(repository):
            try:
                return self._library.load_dataset(repository, config, revision=revision)
            except ValueError as error:
                if config in str(error) and "config" in str(error).lower():
                    return None
                raise

    def list_splits(self, kind: str) -> list[str]:
        return sorted(map(str, self._find(kind)))

    def read(self, kind: str, split: str) -> Iterator[Node]:
        for place, row in enumerate(self._find(kind)[split]):
            yield Node(row, f"{self.name}: {kind}, row {place}")

    def count(self, kind: str, split: str) -> int | None:
        return len(self._find(kind)[split])

    @cached_property
    def _is_reachable(self) -> bool:
        """Whether the Hub answers; asked once, as the libraries try again for half a minute."""
        hub = import_optional("huggingface_hub", self.name, extra="datasets")
        try:
            hub.get_session().head(hub.constants.ENDPOINT, timeout=_PATIENCE)
        except Exception:  # noqa: BLE001 - whatever the reason, only the cache is left
            return False
        return True

    @contextmanager
    def _asking(self, repository: str) -> Iterator[None]:
        """Turn errors of the libraries into one line that says what to do."""
        try:
            with self._offline():
                yield
        except BerryEvalError:
            raise
        except Exception as error:
            raise DataError(_explain(self.name, repository, error)) from error

    @contextmanager
    def _offline(self) -> Iterator[None]:
        """Let the libraries read only their cache for this call if the Hub does not answer."""
        config = self._library.config
        hub = import_optional("huggingface_hub", self.name, extra="datasets")
        settings = (hub.constants, config)
        before = [one.HF_HUB_OFFLINE for one in settings]
        try:
            if not any(before) and not self._is_reachable:
                for one in settings:
                    one.HF_HUB_OFFLINE = True
            yield
        finally:
            for one, value in zip(settings, before, strict=True):
                one.HF_HUB_OFFLINE = value


def _explain(name: str, repository: str, error: Exception) -> str:
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "DatasetNotFoundError" in kinds:
        return (
            f"{name}: the Hub has no dataset {repository!r}, or it is private or gated (then log "
            "in with `hf auth login`); names look like hf:ORG/NAME"
        )
    if isinstance(error, ConnectionError) or kinds & {"OfflineModeIsEnabled", "HTTPError"}:
        return (
            f"{name}: {repository!r} is not in the local cache, and the Hub cannot be reached; "
            f"download it once where there is a network, with `hf download {repository} "
            "--repo-type dataset`, or pass a folder that has a copy"
        )
    reason = next(iter(str(error).splitlines()), "")
    return f"{name}: {repository!r} cannot be read ({type(error).__name__}: {reason:.160})"


def _find_copy(repository: str, name: str, subset: str, revision: str | None) -> _Folder | None:
    """Return a dataset that `hf download` has put into the cache of the Hub, if it is all there."""
    try:
        library = import_optional("huggingface_hub", name, extra="datasets")
        found = library.snapshot_download(
            repository, repo_type="dataset", revision=revision, local_files_only=True
        )
    except (OSError, ValueError, BerryEvalError):
        return None
    copy = _Folder(Path(found), name, subset)
    return copy if all(map(copy.list_splits, _NAMES)) else None


def _recognises(source: Source) -> bool:
    if not source.is_folder or source.has(ABOUT) or any(source.path.glob("qrels/*.tsv*")):
        return False
    subsets = ["", *_Folder(source.path, source.name, "").list_subsets()]
    folders = [_Folder(source.path, source.name, subset) for subset in subsets]
    try:
        return any(all(map(one.list_splits, _NAMES)) for one in folders)
    except DataError:  # incomplete, which loading reports
        return True


LOADER = Loader(
    summary="retrieval dataset of the Hugging Face Hub (MTEB, BEIR)",
    signs="a name such as hf:mteb/scifact or mteb:scifact; a folder with corpus, queries and "
    "default or qrels, as Parquet or JSON lines",
    recognises=_recognises,
    load=load,
    prefixes=("hf", "mteb"),
)
