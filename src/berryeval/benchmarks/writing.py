"""`write_benchmark`: a benchmark in our own form."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.files import plain_suffix, writing
from berryeval._internal.json import json_bytes, read_json_node
from berryeval.benchmarks.benchmark import ABOUT, about_of, read_about
from berryeval.benchmarks.loaders.own import TYPE
from berryeval.benchmarks.loading import JSON_LINES, Source
from berryeval.errors import BerryEvalError, DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval._internal.files import PathLike
    from berryeval._internal.json import Node
    from berryeval._internal.records import JsonRecord
    from berryeval.benchmarks.benchmark import Benchmark


_FILES: Final = (ABOUT, "documents.jsonl", "queries.jsonl", "judgments.jsonl")


def write_benchmark(benchmark: Benchmark, path: PathLike) -> None:
    """Write a folder, or one file if the path ends in .jsonl; both are read back equal.

    All or nothing: the files are written beside the path and take its place at the end. A folder
    that is there already must be empty, or hold a benchmark of ours and nothing else.
    """
    name = os.fspath(path)
    try:
        if plain_suffix(path) in JSON_LINES:
            _write_file(benchmark, path)
        else:
            _write_folder(benchmark, Path(os.path.realpath(path)))
    except OSError as error:
        msg = f"{name}: cannot be written ({error.strerror or error})"
        raise DataError(msg) from None
    except DataError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"{name}: the benchmark cannot be written as JSON ({error})"
        raise DataError(msg) from None


def _write_file(benchmark: Benchmark, path: PathLike) -> None:
    kinds = {
        "document": benchmark.documents,
        "query": benchmark.queries,
        "judgment": benchmark.judgments,
    }
    with writing(path) as stream:
        stream.write(json_bytes({TYPE: "metadata", **about_of(benchmark)}) + b"\n")
        for kind, records in kinds.items():
            for record in records:
                line = record.to_json()
                if TYPE in line:
                    msg = f"a {kind} has a field {TYPE!r} of its own; write a folder instead"
                    raise DataError(msg)
                stream.write(json_bytes({TYPE: kind, **line}) + b"\n")


def _write_folder(benchmark: Benchmark, target: Path) -> None:
    place = _beside(target)
    try:
        _check_replaceable(target)
        place.mkdir(parents=True)
        _write_files(benchmark, place)
        _replace(target, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _beside(target: Path) -> Path:
    return target.with_name(f".berryeval-{secrets.token_hex(8)}.tmp")


def _check_replaceable(target: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        msg = f"{target}: is a file, expected a folder or nothing"
        raise DataError(msg)
    strangers = sorted({path.name for path in target.iterdir()} - set(_FILES))
    if strangers:
        msg = (
            f"{target}: holds {strangers[0]!r}, which is no file of a benchmark of ours; "
            "choose another folder"
        )
        raise DataError(msg)


def _write_files(benchmark: Benchmark, folder: Path) -> None:
    with writing(folder / ABOUT) as stream:
        about = json.dumps(about_of(benchmark), indent=2, ensure_ascii=True, allow_nan=False)
        stream.write(f"{about}\n".encode())
    _write_lines(benchmark.documents, folder / "documents.jsonl")
    _write_lines(benchmark.queries, folder / "queries.jsonl")
    _write_lines(benchmark.judgments, folder / "judgments.jsonl")


def _write_lines(records: Iterable[JsonRecord], path: Path) -> None:
    with writing(path) as stream:
        for record in records:
            stream.write(json_bytes(record.to_json()) + b"\n")


def _replace(target: Path, place: Path) -> None:
    """Put the new folder where the old one is, which goes only when the new one is there."""
    if not target.exists():
        place.rename(target)
        return
    old = _beside(target)
    target.rename(old)
    try:
        place.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


# The ids of sections as chunks, the same on every machine; and a command that writes them.

JUDGMENTS: Final = "relevance-judgments.json"


def section_chunk_id(benchmark: str, document: str, section: str) -> str:
    """The id of a section: a UUID made of the three names.

    >>> section_chunk_id("technical-docs", "faq", "limits")
    '2163183b-6412-5fe9-9a9e-76f567cdec43'
    """
    name = f"berryeval:{benchmark}/{document}#{section}"
    try:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, name))
    except UnicodeEncodeError:
        msg = f"the name of a section must be valid Unicode text, found {name!r:.80}"
        raise DataError(msg) from None


def fill_chunk_ids(folder: PathLike) -> int:
    """Write the ids into the folder's judgments; tells how many judgments there are."""
    source = Source(folder)
    name = read_about(source).get("name", source.stem)
    path = source.file(JUDGMENTS)
    node = read_json_node(path)
    count = 0
    for judged in judged_queries(node):
        primary = judged.get("primary")
        entries = judged["relevant"].items()
        for entry in entries if primary is None else [*entries, primary]:
            document, section = entry["document"].id(), entry["section"].id()
            entry.value["chunk_id"] = section_chunk_id(name, document, section)
        judged.value["relevant_chunk_ids"] = relevant_chunks(entries)
        count += len(entries)
    with writing(path) as stream:
        stream.write(f"{_formatted(node.value)}\n".encode())
    return count


def judged_queries(node: Node) -> list[Node]:
    """What is judged for each query: the array `judgments`, or the file itself if it is one."""
    judged = (node["judgments"] if node.has("judgments") else node).items()
    for entry in judged:
        entry["query_id"].id()
    return judged


def relevant_chunks(entries: list[Node]) -> list[str]:
    """The ids of what is relevant to a query, the highest grade first, then as they stand."""
    relevant = [
        (entry["grade"].number(), entry["chunk_id"].text())
        for entry in entries
        if entry["grade"].number() > 0
    ]
    return [chunk for _, chunk in sorted(relevant, key=lambda pair: -pair[0])]


def _formatted(value: Any, indent: str = "") -> str:
    """JSON that people can read: what holds only plain values stands on one line."""
    inner = indent + "  "
    if isinstance(value, dict) and any(isinstance(item, dict | list) for item in value.values()):
        items = [
            f"{inner}{json.dumps(name, ensure_ascii=False)}: {_formatted(item, inner)}"
            for name, item in value.items()
        ]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        items = [inner + _formatted(item, inner) for item in value]
        return "[\n" + ",\n".join(items) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def main(arguments: list[str]) -> int:
    """The command."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m berryeval.benchmarks.chunk_ids FOLDER\n")
        return 2
    try:
        count = fill_chunk_ids(arguments[0])
    except BerryEvalError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"{count} judgments\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
