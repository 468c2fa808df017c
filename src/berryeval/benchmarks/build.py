"""Parts that several loaders share."""

from __future__ import annotations

import hashlib
import itertools
import statistics
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from berryeval._internal.json import Node
from berryeval._internal.text import squeeze
from berryeval.data import Anchor, Document, Judgment, StringColumn
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import BenchmarkBuilder
    from berryeval.data import QueryTable


_NO_GROUP: Final = frozenset({"", "0", "Q0"})


def read_optional_text(node: Node, *names: str, default: str = "") -> str:
    """Return the text of the first of these fields that exists; else the default."""
    found = node.get(*names)
    return default if found is None else found.text()


def read_texts(node: Node, *names: str) -> dict[str, str]:
    """Return the texts of those of these fields that exist."""
    return {name: found.text() for name in names if (found := node.get(name)) is not None}


def read_items(node: Node, *names: str) -> list[Node]:
    """Return the elements of the first of these fields that exists; else none."""
    found = node.get(*names)
    return [] if found is None else found.items()


def read_id(node: Node, default: str) -> str:
    """Return the id in the field `id`, or the default."""
    found = node.get("id")
    return default if found is None else found.id()


def read_metadata(node: Node) -> dict[str, Any]:
    """Return the object in the field `metadata`, or an empty one."""
    found = node.get("metadata")
    return {} if found is None else found.object()


def respell(node: Node, *names: str) -> Node:
    """Rename fields to these names: `QueryId` and `queryId` to `query_id`."""
    fields = node.object()
    known = {squeeze(name): name for name in names if name not in fields}
    renamed = {known.get(squeeze(key), key): value for key, value in fields.items()}
    return node if renamed == fields else Node(renamed, node.source, node.path)


def add_judgments(builder: BenchmarkBuilder, table: QueryTable) -> None:
    """Add the rows of qrels as judgments of whole documents.

    A document judged for several subtopics gets its highest grade; `subtopics` keeps all of them.
    """
    lines = table.labels.get("line")
    numbers = lines.tolist() if isinstance(lines, np.ndarray) else [0] * len(table.values)
    groups = table.labels.get("group")
    subtopics = list(groups) if isinstance(groups, StringColumn) else [""] * len(table.values)
    documents, grades = list(table.documents), table.values.tolist()
    bounds = itertools.pairwise(table.offsets.tolist())
    for query, (start, end) in zip(table.queries, bounds, strict=True):
        rows_of: dict[str, list[int]] = {}
        for row in range(start, end):
            rows_of.setdefault(documents[row], []).append(row)
        for document, rows in rows_of.items():
            given = {subtopics[row]: grades[row] for row in rows}
            judgment = Judgment(
                query_id=query,
                target=Anchor(document=document),
                grade=max(given.values()),
                extra={} if given.keys() <= _NO_GROUP else {"subtopics": given},
            )
            builder.add_judgment(judgment, table.source, numbers[rows[0]])


def context_id(text: str) -> str:
    """Return an id made from the text of a context."""
    return "context-" + hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def read_context(context: Node) -> Document:
    """Read a context: a text, or an object with `text` or `content`, `id` and `title`."""
    if isinstance(context.value, str):
        return Document(context_id(context.value), context.value)
    text = context.one_of("text", "content").text()
    return Document(
        id=read_id(context, context_id(text)),
        text=text,
        title=read_optional_text(context, "title"),
        extra=context.besides("id", "text", "content", "title"),
    )


def add_contexts(
    builder: BenchmarkBuilder,
    query: str,
    texts: list[Node],
    ids: list[Node] | None,
    *,
    has_corpus: bool,
) -> None:
    """Judge the contexts of a query relevant, with grade 1.

    With a corpus, contexts are quotes in it. Without one, each context is a document under its id
    or one made from its text. Ids without texts are chunk ids.
    """
    if ids is not None and not texts:
        for chunk in dict.fromkeys(node.id() for node in ids):
            builder.add_judgment(Judgment(query, Anchor(chunk=chunk), 1), ids[0].where)
        return
    if ids is not None and len(ids) != len(texts):
        raise DataError(f"{texts[0].where}: found {len(texts)} contexts but {len(ids)} context ids")
    seen: set[str] = set()
    for place, node in enumerate(texts):
        text = node.text()
        identity = context_id(text) if ids is None else ids[place].id()
        if not text.strip():
            builder.add_remark(f"{node.where}: empty context, skipped")
        elif identity not in seen:
            seen.add(identity)
            if not has_corpus:
                builder.add_document_once(Document(identity, text), node.where)
            target = Anchor(quote=text) if has_corpus else Anchor(document=identity)
            builder.add_judgment(Judgment(query, target, 1), node.where)


def mean(ratings: Iterable[float]) -> float:
    """Return the mean of several judges' ratings."""
    return statistics.fmean(ratings)


def join_turns(turns: Iterable[str]) -> tuple[str, list[dict[str, int]]]:
    r"""Join turns to one text with a line each; also return where each starts and ends.

    >>> join_turns(["Ann: Tea?", "Ben: Yes."])
    ('Ann: Tea?\nBen: Yes.', [{'start': 0, 'end': 9}, {'start': 10, 'end': 19}])
    """
    lines = list(turns)
    ends = itertools.accumulate((len(line) + 1 for line in lines), initial=0)
    places = [{"start": start, "end": end - 1} for start, end in itertools.pairwise(ends)]
    return "\n".join(lines), places
