"""A corpus that lies beside the judgments: JSON lines, a TREC collection, or a folder of texts."""

from __future__ import annotations

import html
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.files import beginning_of, is_regular, name_of, plain_suffix, read_bytes
from berryeval._internal.json import read_json_lines, read_text
from berryeval._internal.text import counted
from berryeval.anchors import parse_sections
from berryeval.data import Document
from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from berryeval._internal.files import PathLike
    from berryeval._internal.json import Node
    from berryeval.benchmarks.build import Gather


# Documents that are files: a folder of Markdown and text, or of source code.

_MARKDOWN: Final = (".md", ".markdown")
TEXT_SUFFIXES: Final = (*_MARKDOWN, ".txt", ".rst")


def read_text_documents(folder: Path) -> Iterator[tuple[Document, str]]:
    """The Markdown and text files of a folder, each with its path.

    They are known by their endings, in letters of any case. The id is the path below the folder
    without its ending, "guides/set-up" for "guides/set-up.md"; the title of a Markdown file is its
    first heading.
    """
    found = False
    for path in files_below(folder, lambda name: name.lower().endswith(TEXT_SUFFIXES)):
        if not is_regular(path):
            continue
        found = True
        text = read_text(path)
        title = _title(text) if path.suffix.lower() in _MARKDOWN else ""
        relative = path.relative_to(folder)
        identity = relative.with_suffix("").as_posix()
        yield Document(identity, text, title=title, source=relative.as_posix()), os.fspath(path)
    if not found:
        endings = ", ".join(TEXT_SUFFIXES)
        msg = f"{folder}: holds no documents, expected files that end in one of {endings}"
        raise DataError(msg)


def _title(text: str) -> str:
    return next((section.path[-1] for section in parse_sections(text) if section.path), "")


def files_below(folder: Path, wanted: Callable[[str], bool]) -> Iterator[Path]:
    """The files below a folder in the order of their paths, hidden ones left out."""
    if not folder.is_dir():
        problem = "expected a folder, found a file" if folder.exists() else "no such folder"
        msg = f"{folder}: {problem}"
        raise DataError(msg)
    paths = []
    for place, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [Path(place) / name for name in names if not name.startswith(".") and wanted(name)]
    yield from sorted(paths, key=lambda path: path.relative_to(folder).as_posix())


def _refuse(error: OSError) -> None:
    msg = f"{error.filename}: cannot be read ({error.strerror or error})"
    raise DataError(msg) from None


# TREC collections: `<DOC><DOCNO> id </DOCNO> … <TEXT> … </TEXT></DOC>`, one after the other.

_DOCUMENT: Final = re.compile(r"<DOC>(.*?)(</DOC>|(?=<DOC>)|\Z)", re.IGNORECASE | re.DOTALL)
_NUMBER: Final = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>", re.IGNORECASE | re.DOTALL)
_TITLE: Final = re.compile(
    r"<(TITLE|HEADLINE|HL|TI)>(.*?)(?:</\1>|(?=<))", re.IGNORECASE | re.DOTALL
)
_TREC_DOCUMENTS_TEXT: Final = re.compile(r"<TEXT>(.*?)</TEXT>", re.IGNORECASE | re.DOTALL)
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>")
_FIRST: Final = re.compile(rb"(?:<[A-Za-z][^<>]*>\s*)?(<DOC>)", re.IGNORECASE)
_FIRST_BYTES: Final = 16_384


def is_trec(path: Path) -> bool:
    """Whether the file begins like a TREC collection; no more than its beginning is read.

    That is with `<DOC>`, after white space, what stands at the head of XML and SGML, and an element
    around all. Other XML has a `<doc>`, too: in small letters it counts where a `<docno>` follows.
    """
    start = beginning_of(path, _FIRST_BYTES)
    first = _FIRST.match(_without_head(start))
    return first is not None and (first[1] == b"<DOC>" or b"<docno>" in start.lower())


def _without_head(text: bytes) -> bytes:
    """The text without declarations and comments before its first element."""
    text = text.lstrip()
    while text.startswith((b"<?", b"<!")):
        text = text.partition(b"-->" if text.startswith(b"<!--") else b">")[2]
        text = text.lstrip(b"]> \t\r\n")  # the end of a list of declarations, too
    return text


def read_trec_documents(path: Path, encoding: str = "utf-8") -> Iterator[tuple[Document, int]]:
    """The documents of a file, each with the line in which it begins.

    The text is that of all `<TEXT>` elements, or of the whole document where there is none, without
    tags and with character references resolved. Old collections need `encoding="latin-1"`.
    """
    source = name_of(path)
    text = _decoded(path, encoding)
    line, counted, found = 1, 0, False
    for match in _DOCUMENT.finditer(text):
        line += text.count("\n", counted, match.start())
        counted, found = match.start(), True
        if not match[2]:
            msg = f"{source}:{line}: <DOC> has no </DOC>"
            raise DataError(msg)
        yield _trec_documents_document(match[1], f"{source}:{line}"), line
    if not found:
        msg = f"{source}: holds no <DOC>; a corpus is JSON lines (.jsonl) or a TREC collection"
        raise DataError(msg)


def _decoded(path: Path, encoding: str) -> str:
    data = read_bytes(path).tobytes()
    try:
        return data.decode(encoding)
    except LookupError:
        msg = f"encoding must be one that Python knows, found {encoding!r:.80}"
        raise ConfigurationError(msg) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        msg = f"{name_of(path)}:{line}: not {encoding} text; say which with encoding="
        raise DataError(msg) from None


def _trec_documents_document(body: str, where: str) -> Document:
    number = _NUMBER.search(body)
    if not number or not number[1]:
        msg = f"{where}: <DOC> has no <DOCNO> with an id"
        raise DataError(msg)
    title = _TITLE.search(body)
    texts = [match[1] for match in _TREC_DOCUMENTS_TEXT.finditer(body)] or [body[number.end() :]]
    return Document(
        id=number[1],
        text="\n".join(_plain(text) for text in texts),
        title=" ".join(_plain(title[2]).split()) if title else "",
    )


def _plain(text: str) -> str:
    return html.unescape(_TAG.sub("", text)).strip()


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
