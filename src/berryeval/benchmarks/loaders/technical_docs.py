"""Queries and judgments on the sections of documents, in two JSON files beside the documents.

`test-queries.json` is an array of `{"id", "query", "category", "difficulty", "description"}`,
`relevance-judgments.json` has for each query id its `judgments`, as `{"document", "section",
"grade", "note", "chunk_id"}`, with `primary_chunk_id` and `relevant_chunk_ids` (the highest grade
first). `test-documents` holds the documents. A judgment is on its section, whatever the chunking;
the chunk ids are derived (`berryeval.benchmarks.chunk_ids`) and must agree where they are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks.about import read_about
from berryeval.benchmarks.chunk_ids import JUDGMENTS, judged_queries, section_chunk_id
from berryeval.benchmarks.gather import Gather
from berryeval.benchmarks.loaders import Loader
from berryeval.benchmarks.texts import read_text_documents
from berryeval.errors import DataError
from berryeval.io.json_node import Node, at
from berryeval.io.json_text import read_json_node
from berryeval.records import Anchor, Judgment, Query

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.source import Source

__all__ = ["LOADER", "load"]

QUERIES: Final = "test-queries.json"


def load(source: Source) -> Benchmark:
    """Read the folder."""
    about = read_about(source)
    gather = Gather(about.get("name", source.stem))
    for document, path in read_text_documents(source.path / "test-documents"):
        gather.document(document, path)
    queries = read_json_node(source.file(QUERIES))
    if queries.has("queries"):
        queries = queries["queries"]
    for entry in queries.items():
        gather.query(_query(entry), entry.where)
    for query, judged in judged_queries(read_json_node(source.file(JUDGMENTS))):
        for entry in judged["judgments"].items():
            gather.judgment(_judgment(gather.name, query, entry), entry.where)
        _check_summary(judged)
    return gather.benchmark(**about)


def _query(entry: Node) -> Query:
    fields: dict[str, Any] = {
        name: found.text()
        for name in ("category", "difficulty", "description")
        if (found := entry.get(name)) is not None
    }
    return Query(
        id=entry["id"].id(),
        text=entry["query"].text(),
        **fields,
        extra=entry.besides("id", "query", "category", "difficulty", "description"),
    )


def _judgment(benchmark: str, query: str, entry: Node) -> Judgment:
    document, section = entry["document"].id(), entry["section"].id()
    chunk = section_chunk_id(benchmark, document, section)
    given, note = entry.get("chunk_id"), entry.get("note")
    if given is not None and given.text() != chunk:
        msg = (
            f"{given.where}: expected {chunk}, the id of {document}#{section}, found "
            f"{given.text()!r:.80}; python -m berryeval.benchmarks.chunk_ids writes them anew"
        )
        raise DataError(msg)
    with at(entry.where):
        target = Anchor(document=document, section=(section,))
    return Judgment(
        query_id=query,
        target=target,
        grade=entry["grade"].number(),
        note="" if note is None else note.text(),
        extra={
            "chunk_id": chunk,
            **entry.besides("document", "section", "grade", "note", "chunk_id"),
        },
    )


def _check_summary(judged: Node) -> None:
    """Refuse a primary chunk or an order of chunks that the judgments do not give."""
    entries = judged["judgments"].items()
    grade_of = {
        found.text(): entry["grade"].number()
        for entry in entries
        if (found := entry.get("chunk_id")) is not None
    }
    listed = judged.get("relevant_chunk_ids")
    primary = judged.get("primary_chunk_id", "primary")
    if listed is not None:
        chunks = listed.texts()
        relevant = {chunk for chunk, grade in grade_of.items() if grade > 0}
        grades = [grade_of.get(chunk, 0) for chunk in chunks]
        if set(chunks) != relevant or grades != sorted(grades, reverse=True):
            msg = f"{listed.where}: expected the chunks of positive grade, the highest first"
            raise DataError(msg)
    if primary is not None and grade_of.get(primary.text(), 0) < max(grade_of.values(), default=0):
        msg = (
            f"{primary.where}: expected a chunk of the highest grade, found {primary.text()!r:.80}"
        )
        raise DataError(msg)


LOADER = Loader(
    summary="queries and judgments on sections of documents",
    signs=f"{QUERIES} and {JUDGMENTS}",
    recognises=lambda source: source.has(QUERIES, JUDGMENTS),
    load=load,
)
