"""One file of JSON lines that begins with a line about the benchmark.

The first line has `"_type": "metadata"` and what `benchmark.json` has (name, version, description,
pack, thresholds, and whatever else: it becomes metadata). Every other line says by `_type` what it
is: "document", "query" or "judgment", with the fields of these records; or "record" (or nothing), a
query with its labels: `query`, `relevant_chunk_ids`, `chunk_text`, `metadata`. Where a record names
one chunk and gives its text, the chunk becomes a document and is judged as such; otherwise the
judgments are on the ids of the chunks, and the text stays in the metadata of the query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks.about import read_about_node
from berryeval.benchmarks.gather import Gather
from berryeval.benchmarks.loaders import Loader
from berryeval.benchmarks.source import JSON_LINES
from berryeval.errors import DataError
from berryeval.io.json_node import Node
from berryeval.io.json_text import read_json_lines
from berryeval.records import Anchor, Document, Judgment, Query

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.source import Source

__all__ = ["LOADER", "load"]

TYPE: Final = "_type"
_KINDS: Final = ("document", "query", "judgment", "record")


def load(source: Source) -> Benchmark:
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


LOADER = Loader(
    summary="one file of JSON lines with a line of metadata",
    signs='a .jsonl file whose first line has "_type": "metadata"',
    recognises=lambda source: (
        source.suffix in JSON_LINES
        and source.first_line is not None
        and source.first_line.has(TYPE)
        and source.first_line.value[TYPE] == "metadata"
    ),
    load=load,
)
