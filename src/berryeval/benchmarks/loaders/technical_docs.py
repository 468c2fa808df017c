"""Queries and judgments on the sections of documents, in two JSON files beside the documents.

In `relevance-judgments.json` the array `judgments` has, for each `query_id`, the judgments under
`relevant`, the `primary` section, and `relevant_chunk_ids`, the highest grade first. Chunk ids are
derived from names and must agree if given; running this module with a FOLDER writes them.

Without `relevant`, the array `relevant_chunk_ids` has the ids of chunks of grade 1, and
`primary_relevant` is the one of grade 2. An id of a section of the documents means that section.
Names may also be written `QueryId` or `queryId`, and the file may map query ids to arrays of ids.
"""

from __future__ import annotations

import json
import sys
import uuid
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.files import replace_file
from berryeval._internal.json import Node, locate_errors, read_json_node
from berryeval.anchors import parse_sections
from berryeval.benchmarks.benchmark import Benchmark, BenchmarkBuilder, read_about
from berryeval.benchmarks.build import read_optional_text, read_texts, respell
from berryeval.benchmarks.documents import read_text_documents
from berryeval.benchmarks.loading import Loader, Source
from berryeval.data import Anchor, Judgment, Query
from berryeval.errors import BerryEvalError, DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval._internal.files import PathLike
    from berryeval.data import Document


QUERIES: Final = "test-queries.json"
JUDGMENTS: Final = "relevance-judgments.json"
_NAMES: Final = ("query_id", "relevant_chunk_ids", "primary_relevant")


def load(source: Source) -> Benchmark:
    """Load the folder."""
    about = read_about(source)
    name = about.get("name", source.stem)
    builder = BenchmarkBuilder(source)
    read_text_documents(builder, source.path / "test-documents")
    queries = read_json_node(source.file(QUERIES))
    if queries.has("queries"):
        queries = queries["queries"]
    for entry in queries.items():
        builder.add_query(_parse_query(entry), entry.where)
    sections = _index_sections(name, builder.documents)
    for judged in _read_judged(read_json_node(source.file(JUDGMENTS))):
        if not judged.has("relevant"):
            _add_listed(builder, judged, sections)
            continue
        for entry in judged["relevant"].items():
            builder.add_judgment(_parse_judgment(name, judged["query_id"].id(), entry), entry.where)
        _check_summary(name, judged)
    return builder.build(**about)


def _index_sections(benchmark: str, documents: Iterable[Document]) -> dict[str, Anchor]:
    """Return every section of the documents by its chunk id."""
    return {
        section_chunk_id(benchmark, document.id, section.id): Anchor(
            document=document.id, section=(section.id,), subsections=False
        )
        for document in documents
        for section in parse_sections(document.text)
        if section.id
    }


def _add_listed(builder: BenchmarkBuilder, judged: Node, sections: dict[str, Anchor]) -> None:
    """Add judgments that are a list of chunk ids with a primary one."""
    entries = judged["relevant_chunk_ids"].items()
    primary = judged.get("primary_relevant")
    ids = [entry.id() for entry in entries]
    if primary is not None and primary.id() not in ids:
        raise DataError(
            f"{primary.where}: expected one of the relevant chunk ids, found {primary.id()!r:.80}"
        )
    for chunk, entry in zip(ids, entries, strict=True):
        target = sections.get(chunk)
        judgment = Judgment(
            query_id=judged["query_id"].id(),
            target=target or Anchor(chunk=chunk),
            grade=2 if primary is not None and chunk == primary.id() else 1,
            extra={"chunk_id": chunk} if target else {},
        )
        builder.add_judgment(judgment, entry.where)


def _parse_query(entry: Node) -> Query:
    names = ("category", "difficulty", "description")
    entry = respell(entry, "id", "query", *names)
    return Query(
        id=entry["id"].id(),
        text=entry["query"].text(),
        **read_texts(entry, *names),  # type: ignore[arg-type]
        extra=entry.besides("id", "query", *names),
    )


def _parse_judgment(benchmark: str, query: str, entry: Node) -> Judgment:
    with locate_errors(entry.where):
        target = Anchor(
            document=entry["document"].id(), section=(entry["section"].id(),), subsections=False
        )
    rest = entry.besides("document", "section", "grade", "note", "chunk_id")
    return Judgment(
        query_id=query,
        target=target,
        grade=entry["grade"].number(),
        note=read_optional_text(entry, "note"),
        extra={"chunk_id": _chunk(benchmark, entry), **rest},
    )


def _chunk(benchmark: str, entry: Node) -> str:
    """Return the chunk id of a section; reject a different one in the file."""
    document, section = entry["document"].id(), entry["section"].id()
    with locate_errors(entry.where):
        chunk = section_chunk_id(benchmark, document, section)
    given = entry.get("chunk_id")
    if given is not None and given.text() != chunk:
        raise DataError(
            f"{given.where}: expected {chunk}, the id of {document}#{section}, found "
            f"{given.text()!r:.80}; python -m berryeval.benchmarks.loaders.technical_docs rewrites "
            "the ids"
        )
    return chunk


def _check_summary(benchmark: str, judged: Node) -> None:
    """Check that the primary section and the order of chunks agree with the grades."""
    grade_of = {
        _chunk(benchmark, entry): entry["grade"].number() for entry in judged["relevant"].items()
    }
    primary, listed = judged.get("primary"), judged.get("relevant_chunk_ids")
    if primary is not None:
        grade = grade_of.get(_chunk(benchmark, primary), 0)
        if grade < max(grade_of.values(), default=0):
            raise DataError(
                f"{primary.where}: expected a section of the highest grade, found grade {grade}"
            )
    if listed is not None:
        chunks = listed.texts()
        grades = [grade_of.get(chunk, 0) for chunk in chunks]
        relevant = {chunk for chunk, grade in grade_of.items() if grade > 0}
        if set(chunks) != relevant or grades != sorted(grades, reverse=True):
            raise DataError(
                f"{listed.where}: expected the chunks with a positive grade, highest first"
            )


def section_chunk_id(benchmark: str, document: str, section: str) -> str:
    """Return the id of a section: a UUID made from the three names.

    >>> section_chunk_id("technical-docs", "faq", "limits")
    '2163183b-6412-5fe9-9a9e-76f567cdec43'
    """
    name = f"berryeval:{benchmark}/{document}#{section}"
    try:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, name))
    except UnicodeEncodeError:
        raise DataError(f"section names must be valid Unicode text, found {name!r:.80}") from None


def fill_chunk_ids(folder: PathLike) -> int:
    """Write the chunk ids into the folder's judgments; return the number of judgments."""
    source = Source(folder)
    name = read_about(source).get("name", source.stem)
    path = source.file(JUDGMENTS)
    node = read_json_node(path)
    count = 0
    for judged in _read_judged(node):
        primary = judged.get("primary")
        entries = judged["relevant"].items()
        for entry in entries if primary is None else [*entries, primary]:
            document, section = entry["document"].id(), entry["section"].id()
            entry.value["chunk_id"] = section_chunk_id(name, document, section)
        ranked = sorted(entries, key=lambda entry: -entry["grade"].number())
        judged.value["relevant_chunk_ids"] = [
            entry["chunk_id"].text() for entry in ranked if entry["grade"].number() > 0
        ]
        count += len(entries)
    with replace_file(path) as stream:
        stream.write(f"{_format_json(node.value)}\n".encode())
    return count


def _read_judged(node: Node) -> list[Node]:
    """Return the entries of the array `judgments`, of the array, or of the object by query id."""
    node = node["judgments"] if node.has("judgments") else node
    if isinstance(node.value, dict):
        judged = [_name_query(name, entry) for name, entry in node.fields()]
    else:
        judged = [respell(entry, *_NAMES) for entry in node.items()]
    for entry in judged:
        entry["query_id"].id()
    return judged


def _name_query(query: str, entry: Node) -> Node:
    ids = {"relevant_chunk_ids": entry.value} if isinstance(entry.value, list) else entry.object()
    return respell(Node({**ids, "query_id": query}, entry.source, entry.path), *_NAMES)


def _format_json(value: Any, indent: str = "") -> str:
    """Format JSON for reading: objects with only plain values on one line."""
    inner = indent + "  "
    if isinstance(value, dict) and any(isinstance(item, dict | list) for item in value.values()):
        items = [
            f"{inner}{json.dumps(name, ensure_ascii=False)}: {_format_json(item, inner)}"
            for name, item in value.items()
        ]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        items = [inner + _format_json(item, inner) for item in value]
        return "[\n" + ",\n".join(items) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


LOADER = Loader(
    summary="queries and judgments on the sections of documents",
    signs=f"{QUERIES} and {JUDGMENTS}",
    recognises=lambda source: source.has(QUERIES, JUDGMENTS),
    load=load,
)


def main(arguments: list[str]) -> int:
    """Write the chunk ids of a folder."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m berryeval.benchmarks.loaders.technical_docs FOLDER\n")
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
