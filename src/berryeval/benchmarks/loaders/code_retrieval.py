"""Code retrieval: questions whose answers are lines of source files.

A file of JSON lines with `query` (or `text`), an `id` if there is one, and `ground_truth` (or
`locations`): an array of files, each a path, or an object with `path` (or `file`, `filepath`) and,
for a part of it, `start_line` and `end_line` (from 1, the last included). The corpus is a folder of
source files, whose ids are their paths below it. Files that are not text are left out, and
remarked. The locations go into the metadata of the query; the pack `code-retrieval` decides by
them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.json import read_json_lines, read_text
from berryeval.benchmarks.benchmark import ABOUT, read_about
from berryeval.benchmarks.build import Gather
from berryeval.benchmarks.documents import files_below
from berryeval.benchmarks.loaders.catalogue import Loader
from berryeval.data import Document, Query
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection

    from berryeval._internal.files import PathLike
    from berryeval._internal.json import Node
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.loading import Source


QUERIES: Final = "queries.jsonl"
FILES: Final = "source"
_QUERY: Final = ("query", "text", "question")
_TRUTH: Final = ("ground_truth", "locations", "ground_truth_locations")
_PATH: Final = ("path", "file", "filepath", "file_path")
_FIRST: Final = ("start_line", "startLine", "start")
_LAST: Final = ("end_line", "endLine", "end")


def load(
    source: Source, *, files: PathLike | None = None, suffixes: Collection[str] | None = None
) -> Benchmark:
    """Read a folder, or a file of queries with the folder of source files.

    Args:
        source: a folder with queries.jsonl and a folder source, or the file of queries.
        files: the folder of source files; `source` beside the queries, unless given.
        suffixes: the endings of the files to take, as [".py", ".c"]; all, unless given.
    """
    gather = Gather(source)
    path = source.file(QUERIES) if source.is_folder else source.path
    folder = path.parent / FILES if files is None else Path(files)
    _add_files(gather, folder, tuple(suffixes or ()))
    lengths = {document.id: _line_count(document.text) for document in gather.documents}
    for line, node in read_json_lines(path):
        gather.query(_query(gather, node, lengths), os.fspath(path), line)
    return gather.benchmark(**{"pack": "code-retrieval", **read_about(source)})


def _add_files(gather: Gather, folder: Path, suffixes: tuple[str, ...]) -> None:
    for path in files_below(folder, lambda name: not suffixes or name.endswith(suffixes)):
        identity = path.relative_to(folder).as_posix()
        try:
            text = read_text(path)
        except DataError as error:
            gather.remark(f"{error}; left out")
            continue
        gather.document(Document(identity, text, source=identity), os.fspath(path))


def _line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def _query(gather: Gather, node: Node, lengths: dict[str, int]) -> Query:
    given, metadata = node.get("id"), node.get("metadata")
    locations = [_location(item) for item in node.one_of(*_TRUTH).items()]
    for location in locations:
        lines = lengths.get(location["path"])
        if lines is None:
            gather.remark(f"{node.where}: there is no file {location['path']!r}")
        elif location.get("end_line", 0) > lines:
            gather.remark(
                f"{node.where}: {location['path']} has {lines} lines, found lines "
                f"{location['start_line']} to {location['end_line']}"
            )
    return Query(
        id=str(len(gather.queries) + 1) if given is None else given.id(),
        text=node.one_of(*_QUERY).text(),
        metadata={**({} if metadata is None else metadata.object()), "locations": locations},
        extra=node.besides("id", "metadata", *_QUERY, *_TRUTH),
    )


def _location(item: Node) -> dict[str, Any]:
    if isinstance(item.value, str):
        return {"path": item.id()}
    location: dict[str, Any] = {"path": item.one_of(*_PATH).id()}
    first, last = item.get(*_FIRST), item.get(*_LAST)
    if first is not None or last is not None:
        start = item.one_of(*_FIRST).whole()
        end = start if last is None else last.whole()
        if not 1 <= start <= end:
            msg = (
                f"{item.where}: expected lines with 1 <= start_line <= end_line, found {start} "
                f"to {end}"
            )
            raise DataError(msg)
        location |= {"start_line": start, "end_line": end}
    return {**location, **item.besides(*_PATH, *_FIRST, *_LAST)}


def _recognises(source: Source) -> bool:
    if source.is_folder:
        corpus = source.has("corpus.jsonl") or source.has("documents.jsonl")
        return (
            source.has(QUERIES)
            and source.has_folder(FILES)
            and not corpus
            and not source.has(ABOUT)
        )
    return source.suffix != ".json" and any(source.rows_have("query", truth) for truth in _TRUTH)


LOADER = Loader(
    summary="questions on source code",
    signs=f"{QUERIES} and a folder {FILES}; or a .jsonl file with query and ground_truth",
    recognises=_recognises,
    load=load,
)
