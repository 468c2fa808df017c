"""A corpus that lies beside the judgments: JSON lines, a TREC collection, or a folder of texts."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from berryeval.benchmarks.texts import TEXT_SUFFIXES, files_below, read_text_documents
from berryeval.benchmarks.trec_documents import is_trec, read_trec_documents
from berryeval.errors import DataError
from berryeval.io.beginnings import is_regular
from berryeval.io.files import plain_suffix
from berryeval.io.json_text import read_json_lines
from berryeval.io.words import counted
from berryeval.records import Document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.benchmarks.gather import Gather
    from berryeval.io.files import PathLike
    from berryeval.io.json_node import Node

__all__ = ["read_corpus"]

_ID = ("id", "_id", "docid", "doc_id", "docno", "document_id", "chunk_id")
_TEXT = ("text", "contents", "content", "body")
_JSON_LINES = (".jsonl", ".ndjson")
_SHOWN = 3  # files in a message


def read_corpus(gather: Gather, path: PathLike | None, *, encoding: str = "utf-8") -> None:
    """Add the documents of a file or folder; None is no corpus.

    A file has one JSON object per line (an id under `id`, `_id`, `docid` or `docno`, a text under
    `text`, `contents`, `content` or `body`) or is a TREC collection of `<DOC>` elements. A folder
    holds such files, or Markdown and text files, which are a document each; files that are neither
    are left out, and a remark says so.
    """
    if path is None:
        return
    place = Path(path)
    if not place.is_dir():
        _read_file(gather, place, encoding)
        return
    files = _files_of(place)
    if files.others:
        left_out = counted(len(files.others), "file is", "files are")
        gather.remark(f"{place}: {left_out} no text and left out: {_named(files.others, place)}")
    for file in files.collections:
        _read_file(gather, file, encoding)
    for document, name in read_text_documents(place) if files.texts else ():
        gather.document(document, name)


def _files_of(place: Path) -> _Files:
    """The files of a folder, if they can be a corpus: of collections or of texts, not of both."""
    files = _Files.below(place)
    if files.collections and files.texts:
        msg = (
            f"{place}: holds collections ({_named(files.collections, place)}) and texts that are a "
            f"document each ({_named(files.texts, place)}); move one kind elsewhere"
        )
        raise DataError(msg)
    if not files.collections and not files.texts:
        there = f"; there is {_named(files.others, place)}" if files.others else ""
        msg = (
            f"{place}: holds no documents, expected files that end in one of "
            f"{', '.join((*TEXT_SUFFIXES, *_JSON_LINES))}, or a TREC collection{there}"
        )
        raise DataError(msg)
    return files


@dataclass
class _Files:
    """The files of a folder, by what they are."""

    collections: list[Path] = field(default_factory=list)
    texts: list[Path] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)

    @classmethod
    def below(cls, folder: Path) -> _Files:
        """Look at each of them; what cannot be read and need not be is one of the others."""
        found = cls()
        for file in files_below(folder, lambda _: True):
            if not is_regular(file):
                found.others.append(file)
            elif plain_suffix(file) in _JSON_LINES:
                found.collections.append(file)
            elif file.suffix.lower() in TEXT_SUFFIXES:
                (found.collections if is_trec(file) else found.texts).append(file)
            else:
                (found.collections if _is_readable_trec(file) else found.others).append(file)
        return found


def _is_readable_trec(file: Path) -> bool:
    try:
        return is_trec(file)
    except DataError:  # a stray file, as one that is packed and damaged
        return False


def _named(files: Sequence[Path], folder: Path) -> str:
    """Some of the files, and how many more there are."""
    names = ", ".join(file.relative_to(folder).as_posix() for file in files[:_SHOWN])
    more = len(files) - _SHOWN
    return f"{names} and {more} more" if more > 0 else names


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
