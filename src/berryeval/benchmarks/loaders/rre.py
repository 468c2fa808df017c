"""Rated Ranking Evaluator: `ratings.json`.

`topics` contain `query_groups`, which contain `queries`; either of the outer two may be missing. A
group has its `relevant_documents`: an object of `{"gain"}` by document, an object of documents by
gain, or an array of `{"document_id", "gain"}`; a query may have its own. The text of a query is its
placeholder `$query` (or the one named by `query_placeholder`, or the only one). Topic, group,
template and placeholders stay in the metadata. The text is also the id, numbered if it recurs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from berryeval._internal.json import Node
from berryeval.benchmarks.benchmark import Benchmark, BenchmarkBuilder
from berryeval.benchmarks.build import read_optional_text
from berryeval.benchmarks.documents import read_corpus
from berryeval.benchmarks.loading import Loader, Source
from berryeval.data import Anchor, Judgment, Query
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike


def load(source: Source, *, corpus: PathLike | None = None) -> Benchmark:
    """Load the file; `corpus` is a file or folder with the documents."""
    builder = BenchmarkBuilder(source)
    read_corpus(builder, corpus)
    node = source.json
    name = read_optional_text(node, "query_placeholder", default="$query")
    for group, about in _read_groups(node):
        for query in group["queries"].items():
            _add_query(builder, query, group, name, about)
    about = node.besides("topics", "query_groups", "queries", "relevant_documents")
    return builder.build(metadata=about)


def _read_groups(node: Node) -> Iterator[tuple[Node, dict[str, str]]]:
    """Yield the groups of queries, each with the names of its outer levels."""
    topics = node.get("topics")
    for topic in [node] if topics is None else topics.items():
        described = topic.get("description") if topics is not None else None
        about = {} if described is None else {"topic": described.text()}
        groups = topic.get("query_groups")
        for group in [topic] if groups is None else groups.items():
            called = group.get("name") if groups is not None else None
            yield group, about if called is None else {**about, "group": called.text()}


def _add_query(
    builder: BenchmarkBuilder, query: Node, group: Node, name: str, about: dict[str, str]
) -> None:
    text = _read_text(query, name)
    taken = {known.id for known in builder.queries}
    number, identity = 2, text
    while identity in taken:
        identity, number = f"{text} ({number})", number + 1
    metadata: dict[str, Any] = {**about, **query.besides("relevant_documents")}
    builder.add_query(Query(identity, text, metadata=metadata), query.where)
    relevant = query.get("relevant_documents") or group.get("relevant_documents")
    if relevant is not None:
        for document, gain, where in _read_relevant(relevant):
            builder.add_judgment(Judgment(identity, Anchor(document=document), gain), where)


def _read_text(query: Node, name: str) -> str:
    if isinstance(query.value, str):
        return query.id()
    found = query["placeholders"]
    values = found.object()
    key = name if name in values else next(iter(values), "")
    if name not in values and len(values) != 1:
        there = ", ".join(map(repr, values)) or "none"
        raise DataError(
            f"{found.where}: expected a placeholder {name!r} with the query; found {there}"
        )
    return found[key].plain() or found[key].id()


def _read_relevant(node: Node) -> Iterator[tuple[str, float, str]]:
    """Yield the document, gain and location of each rating, in any of the three forms."""
    if isinstance(node.value, list):
        for item in node.items():
            yield item.one_of("document_id", "id").id(), _parse_gain(item["gain"]), item.where
        return
    for name, value in node.fields():
        if isinstance(value.value, list):
            gain = _parse_gain(Node(name, value.source, value.path))
            for document in value.items():
                yield document.id(), gain, document.where
        else:
            gain = _parse_gain(value["gain"] if isinstance(value.value, dict) else value)
            yield Node(name, value.source, value.path).id(), gain, value.where


def _parse_gain(node: Node) -> float:
    """Parse a number, or a string with a number."""
    if isinstance(node.value, str):
        try:
            return Node(float(node.value), node.source, node.path).number()
        except ValueError:
            raise DataError(
                f"{node.where}: expected a number as the gain, found {node.value!r:.80}"
            ) from None
    return node.number()


def _recognises(source: Source) -> bool:
    if source.json_has("query_groups"):
        return True
    for outer, inner in (("topics", "query_groups"), ("queries", "placeholders")):
        if source.json_has(outer) and isinstance(source.json.value[outer], list):
            return any(item.has(inner) for item in source.json[outer].items())
    return False


LOADER = Loader(
    summary="Rated Ranking Evaluator ratings",
    signs="a .json file with topics and query_groups",
    recognises=_recognises,
    load=load,
)
