"""Queries and judgments on the sections of documents, in two JSON files beside the documents.

`test-queries.json` is an array of `{"id", "query", "category", "difficulty", "description"}`. In
`relevance-judgments.json` the array `judgments` has for each `query_id` what is judged under
`relevant`, as `{"document", "section", "grade", "note", "chunk_id"}`, the `primary` section, and
`relevant_chunk_ids`, the highest grade first. `test-documents` holds the documents. A judgment is
on its section, whatever the chunking; the chunk ids are derived (`berryeval.benchmarks.writing`)
and must agree where they are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.json import Node, at, read_json_node
from berryeval.benchmarks.benchmark import read_about
from berryeval.benchmarks.build import Gather
from berryeval.benchmarks.documents import read_text_documents
from berryeval.benchmarks.loaders.catalogue import Loader
from berryeval.benchmarks.writing import JUDGMENTS, judged_queries, section_chunk_id
from berryeval.data import Anchor, Judgment, Query
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.loading import Source


QUERIES: Final = "test-queries.json"


def load(source: Source) -> Benchmark:
    """Read the folder."""
    about = read_about(source)
    name = about.get("name", source.stem)
    gather = Gather(source)
    for document, path in read_text_documents(source.path / "test-documents"):
        gather.document(document, path)
    queries = read_json_node(source.file(QUERIES))
    if queries.has("queries"):
        queries = queries["queries"]
    for entry in queries.items():
        gather.query(_query(entry), entry.where)
    for judged in judged_queries(read_json_node(source.file(JUDGMENTS))):
        for entry in judged["relevant"].items():
            gather.judgment(_judgment(name, judged["query_id"].id(), entry), entry.where)
        _check_summary(name, judged)
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
    note = entry.get("note")
    with at(entry.where):
        target = Anchor(
            document=entry["document"].id(), section=(entry["section"].id(),), subsections=False
        )
    rest = entry.besides("document", "section", "grade", "note", "chunk_id")
    return Judgment(
        query_id=query,
        target=target,
        grade=entry["grade"].number(),
        note="" if note is None else note.text(),
        extra={"chunk_id": _chunk(benchmark, entry), **rest},
    )


def _chunk(benchmark: str, entry: Node) -> str:
    """The id of a section; one that is given must be this."""
    document, section = entry["document"].id(), entry["section"].id()
    with at(entry.where):
        chunk = section_chunk_id(benchmark, document, section)
    given = entry.get("chunk_id")
    if given is not None and given.text() != chunk:
        msg = (
            f"{given.where}: expected {chunk}, the id of {document}#{section}, found "
            f"{given.text()!r:.80}; python -m berryeval.benchmarks.chunk_ids writes them anew"
        )
        raise DataError(msg)
    return chunk


def _check_summary(benchmark: str, judged: Node) -> None:
    """Refuse a primary section, or an order of chunks, that the grades do not give."""
    grade_of = {
        _chunk(benchmark, entry): entry["grade"].number() for entry in judged["relevant"].items()
    }
    primary, listed = judged.get("primary"), judged.get("relevant_chunk_ids")
    if primary is not None:
        grade = grade_of.get(_chunk(benchmark, primary), 0)
        if grade < max(grade_of.values(), default=0):
            msg = f"{primary.where}: expected a section of the highest grade, found grade {grade}"
            raise DataError(msg)
    if listed is not None:
        chunks = listed.texts()
        grades = [grade_of.get(chunk, 0) for chunk in chunks]
        relevant = {chunk for chunk, grade in grade_of.items() if grade > 0}
        if set(chunks) != relevant or grades != sorted(grades, reverse=True):
            msg = f"{listed.where}: expected the chunks of positive grade, the highest first"
            raise DataError(msg)


LOADER = Loader(
    summary="queries and judgments on sections of documents",
    signs=f"{QUERIES} and {JUDGMENTS}",
    recognises=lambda source: source.has(QUERIES, JUDGMENTS),
    load=load,
)
