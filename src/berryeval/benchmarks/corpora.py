"""A corpus that lies beside the judgments: JSON lines, a TREC collection, or a folder of texts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from berryeval.benchmarks.texts import TEXT_SUFFIXES, files_below, read_text_documents
from berryeval.benchmarks.trec_documents import is_trec, read_trec_documents
from berryeval.errors import DataError
from berryeval.io.files import plain_suffix
from berryeval.io.json_text import read_json_lines
from berryeval.records import Document

if TYPE_CHECKING:
    from berryeval.benchmarks.gather import Gather
    from berryeval.io.files import PathLike
    from berryeval.io.json_node import Node

__all__ = ["read_corpus"]

_ID = ("id", "_id", "docid", "doc_id", "docno", "document_id", "chunk_id")
_TEXT = ("text", "contents", "content", "body")
_JSON_LINES = (".jsonl", ".ndjson")


def read_corpus(gather: Gather, path: PathLike | None, *, encoding: str = "utf-8") -> None:
    """Add the documents of a file or folder; None is no corpus.

    A file has one JSON object per line (an id under `id`, `_id`, `docid` or `docno`, a text under
    `text`, `contents`, `content` or `body`) or is a TREC collection of `<DOC>` elements. A folder
    holds such files, or Markdown and text files, which are a document each.
    """
    if path is None:
        return
    place = Path(path)
    if not place.is_dir():
        _read_file(gather, place, encoding)
        return
    files = list(files_below(place, lambda _: True))
    if files and all(file.suffix in TEXT_SUFFIXES and not is_trec(file) for file in files):
        for document, name in read_text_documents(place):
            gather.document(document, name)
        return
    if not files:
        msg = f"{place}: holds no documents"
        raise DataError(msg)
    for file in files:
        _read_file(gather, file, encoding)


def _read_file(gather: Gather, path: Path, encoding: str) -> None:
    if plain_suffix(path) in _JSON_LINES:
        for line, node in read_json_lines(path):
            gather.document(_document(node), os.fspath(path), line)
        return
    for document, line in read_trec_documents(path, encoding):
        gather.document(document, os.fspath(path), line)


def _document(node: Node) -> Document:
    title, metadata = node.get("title"), node.get("metadata")
    fields: dict[str, Any] = {"title": "" if title is None else title.text()}
    if metadata is not None:
        fields["metadata"] = metadata.object()
    identity, text = node.one_of(*_ID), node.one_of(*_TEXT)
    taken = (identity.path, text.path, "title", "metadata")
    return Document(identity.id(), text.text(), **fields, extra=node.besides(*taken))
