"""Golden sets on the sections of a corpus: `golden-set.json` and a folder `corpus`.

A chunk id such as "guide/web#set-up" is a document, "#" and a section id; the judgment is on the
section without its subsections, whatever the chunking. An id without "#" is a document. Pairs that
`not-relevant.json`, an array of `{"query", "chunkIds"}`, lists were judged with grade 0. Unknown
types, grades outside of 1 to 3 and entries without judgments are kept with a remark.
"""

from __future__ import annotations

from typing import Final

from berryeval._internal.json import Node, locate_errors, read_json_node
from berryeval._internal.validate import suggest
from berryeval.benchmarks.benchmark import Benchmark, BenchmarkBuilder, read_about
from berryeval.benchmarks.build import read_id, read_optional_text
from berryeval.benchmarks.documents import read_text_documents
from berryeval.benchmarks.loading import Loader, Source
from berryeval.data import Anchor, Judgment, Query
from berryeval.errors import DataError
from berryeval.metrics import QueryType

FILE: Final = "golden-set.json"
REJECTED: Final = "not-relevant.json"
_SCALE: Final = (1, 2, 3)


def load(source: Source) -> Benchmark:
    """Load the folder, or the file alone, without a corpus."""
    builder = BenchmarkBuilder(source)
    about = read_about(source)
    if source.is_folder:
        read_text_documents(builder, source.path / "corpus")
    node = read_json_node(source.file(FILE)) if source.is_folder else source.json
    for place, entry in enumerate(node.items(), start=1):
        _add_query(builder, entry, f"{place:03d}")
    if source.has(REJECTED):
        _add_rejected(builder, read_json_node(source.file(REJECTED)))
    return builder.build(**about)


def _add_rejected(builder: BenchmarkBuilder, node: Node) -> None:
    query_of = {query.text: query.id for query in builder.queries}
    for entry in node.items():
        text = entry["query"].text()
        if text not in query_of:
            raise DataError(f"{entry.where}: there is no query {text!r:.80} in {FILE}")
        for chunk in entry["chunkIds"].items():
            with locate_errors(chunk.where):
                judgment = Judgment(query_of[text], _parse_target(chunk.id()), 0)
            builder.add_judgment(judgment, chunk.where)


def _parse_target(chunk: str) -> Anchor:
    document, _, section = chunk.partition("#")
    if not section:
        return Anchor(document=document)
    return Anchor(document=document, section=(section,), subsections=False)


def _add_query(builder: BenchmarkBuilder, entry: Node, number: str) -> None:
    query = Query(
        id=read_id(entry, number),
        text=entry["query"].text(),
        category=read_optional_text(entry, "queryType"),
        extra=entry.besides("id", "query", "queryType", "judgments"),
    )
    builder.add_query(query, entry.where)
    _remark_type(builder, entry)
    judgments = entry["judgments"]
    if not judgments.items():
        builder.add_remark(f"{judgments.where}: is empty, so nothing is relevant to the query")
    for judged in judgments.items():
        _remark_grade(builder, judged["grade"])
        chunk = judged["chunkId"].id()
        with locate_errors(judged.where):
            target = _parse_target(chunk)
        judgment = Judgment(
            query_id=query.id,
            target=target,
            grade=judged["grade"].number(),
            note=read_optional_text(judged, "note"),
            extra={"chunk_id": chunk, **judged.besides("chunkId", "grade", "note")},
        )
        builder.add_judgment(judgment, judged.where)


def _remark_type(builder: BenchmarkBuilder, entry: Node) -> None:
    kinds = [kind.value for kind in QueryType]
    given = entry.get("queryType")
    if given is None:
        builder.add_remark(f"{entry.where}: has no 'queryType'; the types are {', '.join(kinds)}")
        return
    try:
        QueryType(given.text())
    except ValueError:
        known = suggest(given.text(), kinds, listed="the types are")
        builder.add_remark(f"{given.where}: unknown type {given.text()!r:.60}; {known}")


def _remark_grade(builder: BenchmarkBuilder, grade: Node) -> None:
    number = grade.number()
    if number == 0:
        builder.add_remark(
            f"{grade.where}: 0 is written out; a chunk without a judgment has grade 0, and "
            f"{REJECTED} keeps chunks that were judged not relevant"
        )
    elif number not in _SCALE:
        builder.add_remark(f"{grade.where}: {number:g} is outside of the scale 1 to 3")


LOADER = Loader(
    summary="golden set on the sections of a corpus",
    signs=f"{FILE}, or a .json array of query, queryType and judgments",
    recognises=lambda source: (
        source.has(FILE) or source.rows_have("query", "queryType", "judgments")
    ),
    load=load,
)
