"""BerryEval's own formats: a folder with a file per kind of record, or one file of JSON lines."""

from __future__ import annotations

import os
from typing import Any, Final

from berryeval._internal.json import Node, read_json_lines
from berryeval.benchmarks.benchmark import (
    ABOUT,
    Benchmark,
    BenchmarkBuilder,
    read_about,
    read_about_node,
)
from berryeval.benchmarks.build import read_id, read_metadata, read_optional_text, respell
from berryeval.benchmarks.documents import read_text_documents
from berryeval.benchmarks.loading import JSON_LINES, Loader, Source
from berryeval.data import Anchor, Document, Judgment, Query
from berryeval.errors import DataError


def load(source: Source) -> Benchmark:
    """Load the folder."""
    about = read_about(source)
    builder = BenchmarkBuilder(source)
    read_documents(source, builder)
    path = source.file("queries.jsonl")
    for line, node in read_json_lines(path):
        builder.add_query(node.record(Query), os.fspath(path), line)
    path = source.file("judgments.jsonl")
    for line, node in read_json_lines(path) if source.has(path.name) else ():
        builder.add_judgment(node.record(Judgment), os.fspath(path), line)
    return builder.build(**about)


def read_documents(source: Source, builder: BenchmarkBuilder) -> None:
    """Add the corpus: a file of records or a folder of texts, but not both."""
    records, texts = source.has("documents.jsonl"), source.has_folder("documents")
    if records and texts:
        raise DataError(
            f"{source.name}: has both documents.jsonl and a folder documents; keep one of them"
        )
    if texts:
        read_text_documents(builder, source.path / "documents")
        return
    file = source.file("documents.jsonl")
    for line, node in read_json_lines(file):
        builder.add_document(node.record(Document), os.fspath(file), line)


LOADER = Loader(
    summary="BerryEval folder of records",
    signs=f"{ABOUT} and queries.jsonl",
    recognises=lambda source: source.has(ABOUT, "queries.jsonl"),
    load=load,
)


TYPE: Final = "_type"


def load_jsonl(source: Source) -> Benchmark:
    """Load the file."""
    builder = BenchmarkBuilder(source)
    about: dict[str, Any] | None = None
    for line, node in read_json_lines(source.path):
        content = Node(node.besides(TYPE), node.source, node.path)
        if about is not None:
            kind = read_optional_text(node, TYPE, default="record")
            _add_line(builder, content, kind, (source.name, line))
        elif node.object().get(TYPE) == "metadata":
            about = read_about_node(content)
        else:
            raise DataError(f'{node.where}: expected "{TYPE}": "metadata" in the first line')
    return builder.build(**(about or {}))


def _add_line(builder: BenchmarkBuilder, node: Node, kind: str, place: tuple[str, int]) -> None:
    if kind == "document":
        builder.add_document(node.record(Document), *place)
    elif kind == "query":
        builder.add_query(node.record(Query), *place)
    elif kind == "judgment":
        builder.add_judgment(node.record(Judgment), *place)
    elif kind == "record":
        _add_record(builder, node, place)
    else:
        kinds = "document, query, judgment, record"
        raise DataError(f"{node.where}: {TYPE}: expected {kinds}, found {kind!r:.80}")


def _add_record(builder: BenchmarkBuilder, node: Node, place: tuple[str, int]) -> None:
    node = respell(node, "relevant_chunk_ids", "chunk_text")
    text = node.get("chunk_text")
    identity = read_id(node, str(len(builder.queries) + 1))
    chunks = [chunk.id() for chunk in node["relevant_chunk_ids"].items()]
    kept = read_metadata(node)
    one = text is not None and len(chunks) == 1
    if text is not None and one:
        builder.add_document_once(Document(chunks[0], text.text()), *place)
    elif text is not None:
        kept = {**kept, "chunk_text": text.text()}
    extra = node.besides("id", "query", "relevant_chunk_ids", "chunk_text", "metadata")
    builder.add_query(Query(identity, node["query"].text(), metadata=kept, extra=extra), *place)
    for chunk in dict.fromkeys(chunks):
        target = Anchor(document=chunk) if one else Anchor(chunk=chunk)
        builder.add_judgment(Judgment(identity, target, 1), *place)


JSONL = Loader(
    summary="BerryEval file of JSON lines",
    signs='a .jsonl file whose first line has "_type": "metadata"',
    recognises=lambda source: (
        source.suffix in JSON_LINES
        and source.first_line is not None
        and source.first_line.has(TYPE)
        and source.first_line.value[TYPE] == "metadata"
    ),
    load=load_jsonl,
)
