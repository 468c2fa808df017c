"""Contexts: texts that came with a question, as documents or as quotes of a corpus."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from berryeval.errors import DataError
from berryeval.records import Anchor, Document, Judgment

if TYPE_CHECKING:
    from berryeval.benchmarks.gather import Gather
    from berryeval.io.json_node import Node

__all__ = ["add_contexts", "context_document", "context_id"]


def context_id(text: str) -> str:
    """The id of a text that has none: the same text, the same id."""
    return "context-" + hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def context_document(context: Node) -> Document:
    """A text, or an object with `text` or `content` and perhaps `id` and `title`."""
    if isinstance(context.value, str):
        return Document(context_id(context.value), context.value)
    text = context.one_of("text", "content").text()
    given, title = context.get("id"), context.get("title")
    return Document(
        id=context_id(text) if given is None else given.id(),
        text=text,
        title="" if title is None else title.text(),
        extra=context.besides("id", "text", "content", "title"),
    )


def add_contexts(
    gather: Gather,
    query: str,
    texts: list[Node],
    ids: list[Node] | None,
    *,
    has_corpus: bool,
) -> None:
    """Judge the contexts of a query relevant, with grade 1.

    With a corpus of their own they are quotes in it. Without, each is a document, under its id or
    one made of its text. Ids without texts are ids of chunks.
    """
    if ids is not None and not texts:
        for chunk in dict.fromkeys(node.id() for node in ids):
            gather.judgment(Judgment(query, Anchor(chunk=chunk), 1), ids[0].where)
        return
    if ids is not None and len(ids) != len(texts):
        msg = f"{texts[0].where}: found {len(texts)} contexts and {len(ids)} ids of contexts"
        raise DataError(msg)
    seen: set[str] = set()
    for place, node in enumerate(texts):
        text = node.text()
        identity = context_id(text) if ids is None else ids[place].id()
        if not text.strip():
            gather.remark(f"{node.where}: an empty context, left out")
        elif identity not in seen:
            seen.add(identity)
            if not has_corpus:
                gather.document_once(Document(identity, text), node.where)
            target = Anchor(quote=text) if has_corpus else Anchor(document=identity)
            gather.judgment(Judgment(query, target, 1), node.where)
