"""Code retrieval: questions whose answers are lines of source files.

A query has `ground_truth` (or `locations`): an array of files, each a path, or an object with
`path` and optionally `start_line` and `end_line` (from 1, inclusive). Files that are not text are
skipped, with a remark. The pack `code-retrieval` derives relevance from the locations.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.files import is_regular
from berryeval._internal.json import Node, read_json_lines, read_text
from berryeval.benchmarks.benchmark import ABOUT, Benchmark, BenchmarkBuilder, read_about
from berryeval.benchmarks.build import read_id, read_metadata
from berryeval.benchmarks.documents import find_files_below
from berryeval.benchmarks.loading import Loader, Source
from berryeval.data import Document, Query
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike


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
    """Load a folder, or a file of queries with the folder of source files.

    Args:
        source: Folder with queries.jsonl and a folder source, or a file of queries.
        files: Folder of source files; by default `source` beside the queries.
        suffixes: Suffixes of the files to load, such as [".py", ".c"]; all by default.
    """
    builder = BenchmarkBuilder(source)
    path = source.file(QUERIES) if source.is_folder else source.path
    folder = path.parent / FILES if files is None else Path(files)
    _add_files(builder, folder, tuple(suffixes or ()))
    lengths = {
        document.id: document.text.count("\n") + (not document.text.endswith("\n"))
        for document in builder.documents
    }
    for line, node in read_json_lines(path):
        builder.add_query(_parse_query(builder, node, lengths), os.fspath(path), line)
    return builder.build(**{"pack": "code-retrieval", **read_about(source)})


def _add_files(builder: BenchmarkBuilder, folder: Path, suffixes: tuple[str, ...]) -> None:
    for path in find_files_below(
        builder, folder, lambda name: not suffixes or name.endswith(suffixes)
    ):
        identity = path.relative_to(folder).as_posix()
        if path.exists() and not is_regular(path):  # reading a pipe may never end
            builder.add_remark(f"{path}: is not a regular file; skipped")
            continue
        try:
            text = read_text(path)
        except DataError as error:
            builder.add_remark(f"{error}; skipped")
            continue
        builder.add_document(Document(identity, text, source=identity), os.fspath(path))


def _parse_query(builder: BenchmarkBuilder, node: Node, lengths: dict[str, int]) -> Query:
    locations = [_parse_location(item) for item in node.one_of(*_TRUTH).items()]
    for location in locations:
        lines = lengths.get(location["path"])
        if lines is None:
            builder.add_remark(f"{node.where}: there is no file {location['path']!r}")
        elif location.get("end_line", 0) > lines:
            builder.add_remark(
                f"{node.where}: {location['path']} has {lines} lines, found lines "
                f"{location['start_line']} to {location['end_line']}"
            )
    return Query(
        id=read_id(node, str(len(builder.queries) + 1)),
        text=node.one_of(*_QUERY).text(),
        metadata={**read_metadata(node), "locations": locations},
        extra=node.besides("id", "metadata", *_QUERY, *_TRUTH),
    )


def _parse_location(item: Node) -> dict[str, Any]:
    if isinstance(item.value, str):
        return {"path": item.id()}
    location: dict[str, Any] = {"path": item.one_of(*_PATH).id()}
    first, last = item.get(*_FIRST), item.get(*_LAST)
    if first is not None or last is not None:
        start = item.one_of(*_FIRST).whole()
        end = start if last is None else last.whole()
        if not 1 <= start <= end:
            raise DataError(
                f"{item.where}: expected lines with 1 <= start_line <= end_line, found {start} "
                f"to {end}"
            )
        location |= {"start_line": start, "end_line": end}
    return {**location, **item.besides(*_PATH, *_FIRST, *_LAST)}


def _recognises(source: Source) -> bool:
    if source.is_folder:
        others = any(source.has(name) for name in ("corpus.jsonl", "documents.jsonl", ABOUT))
        return source.has(QUERIES) and source.has_folder(FILES) and not others
    return source.suffix != ".json" and any(source.rows_have("query", truth) for truth in _TRUTH)


LOADER = Loader(
    summary="questions on source code",
    signs=f"{QUERIES} and a folder {FILES}; or a .jsonl file with query and ground_truth",
    recognises=_recognises,
    load=load,
)
