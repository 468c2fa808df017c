"""Our own form: a folder with a file for each kind of record.

`benchmark.json` names the benchmark (name, version, description, pack, thresholds, metadata);
`queries.jsonl` and `judgments.jsonl` hold a record per line; the corpus is `documents.jsonl` or a
folder `documents` of Markdown and text files. Records keep the fields we do not know.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.json import Node, read_json_lines
from berryeval.benchmarks.benchmark import ABOUT, read_about, read_about_node
from berryeval.benchmarks.build import Gather
from berryeval.benchmarks.documents import read_text_documents
from berryeval.benchmarks.loaders.catalogue import Loader
from berryeval.benchmarks.loading import JSON_LINES
from berryeval.data import Anchor, Document, Judgment, Query
from berryeval.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.loading import Source


def load(source: Source) -> Benchmark:
    """Read the folder."""
    about = read_about(source)
    gather = Gather(source)
    read_documents(source, gather)
    path = source.file("queries.jsonl")
    for line, node in read_json_lines(path):
        gather.query(node.record(Query), os.fspath(path), line)
    if source.has("judgments.jsonl"):
        path = source.file("judgments.jsonl")
        for line, node in read_json_lines(path):
            gather.judgment(node.record(Judgment), os.fspath(path), line)
    return gather.benchmark(**about)


def read_documents(source: Source, gather: Gather) -> None:
    """The corpus: a file of records, or a folder of texts, not both."""
    records, texts = source.has("documents.jsonl"), source.has_folder("documents")
    if records and texts:
        msg = f"{source.name}: has documents.jsonl and a folder documents; keep one of them"
        raise DataError(msg)
    if texts:
        for document, path in read_text_documents(source.path / "documents"):
            gather.document(document, path)
        return
    _read_records(source.file("documents.jsonl"), gather)


def _read_records(path: Path, gather: Gather) -> None:
    file = os.fspath(path)
    for line, node in read_json_lines(path):
        gather.document(node.record(Document), file, line)


LOADER = Loader(
    summary="our own folder of records",
    signs=f"{ABOUT} and queries.jsonl",
    recognises=lambda source: source.has(ABOUT, "queries.jsonl"),
    load=load,
)


# One file of JSON lines that begins with a line about the benchmark.

TYPE: Final = "_type"
_KINDS: Final = ("document", "query", "judgment", "record")


def jsonl_load(source: Source) -> Benchmark:
    """Read the file."""
    gather = Gather(source)
    about: dict[str, Any] | None = None
    for line, node in read_json_lines(source.path):
        if about is None:
            about = _about(node)
        else:
            _add(gather, _bare(node), _kind(node), (source.name, line))
    return gather.benchmark(**(about or {}))


def _about(node: Node) -> dict[str, Any]:
    if node.object().get(TYPE) != "metadata":
        msg = f'{node.where}: expected "{TYPE}": "metadata" in the first line'
        raise DataError(msg)
    return read_about_node(_bare(node))


def _kind(node: Node) -> str:
    found = node.get(TYPE)
    kind = "record" if found is None else found.text()
    if kind not in _KINDS:
        msg = f"{node.where}: {TYPE}: expected {', '.join(_KINDS)}, found {kind!r:.80}"
        raise DataError(msg)
    return kind


def _bare(node: Node) -> Node:
    return Node(node.besides(TYPE), node.source, node.path)


def _add(gather: Gather, node: Node, kind: str, place: tuple[str, int]) -> None:
    if kind == "document":
        gather.document(node.record(Document), *place)
    elif kind == "query":
        gather.query(node.record(Query), *place)
    elif kind == "judgment":
        gather.judgment(node.record(Judgment), *place)
    else:
        _add_record(gather, node, place)


def _add_record(gather: Gather, node: Node, place: tuple[str, int]) -> None:
    given, text, metadata = node.get("id"), node.get("chunk_text"), node.get("metadata")
    identity = str(len(gather.queries) + 1) if given is None else given.id()
    chunks = [chunk.id() for chunk in node["relevant_chunk_ids"].items()]
    kept = {} if metadata is None else metadata.object()
    one = text is not None and len(chunks) == 1
    if text is not None:
        if one:
            gather.document_once(Document(chunks[0], text.text()), *place)
        else:
            kept = {**kept, "chunk_text": text.text()}
    extra = node.besides("id", "query", "relevant_chunk_ids", "chunk_text", "metadata")
    gather.query(Query(identity, node["query"].text(), metadata=kept, extra=extra), *place)
    for chunk in dict.fromkeys(chunks):
        target = Anchor(document=chunk) if one else Anchor(chunk=chunk)
        gather.judgment(Judgment(identity, target, 1), *place)


JSONL = Loader(
    summary="one file of JSON lines with a line of metadata",
    signs='a .jsonl file whose first line has "_type": "metadata"',
    recognises=lambda source: (
        source.suffix in JSON_LINES
        and source.first_line is not None
        and source.first_line.has(TYPE)
        and source.first_line.value[TYPE] == "metadata"
    ),
    load=jsonl_load,
)
