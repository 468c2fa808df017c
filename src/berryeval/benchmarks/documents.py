"""Corpora: JSON lines, TREC collections, and folders of text files."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.files import (
    display_name,
    is_regular,
    plain_suffix,
    read_beginning,
    read_bytes,
)
from berryeval._internal.json import read_json_lines, read_text
from berryeval._internal.limits import check_yaml
from berryeval._internal.text import pluralize
from berryeval.anchors import parse_sections
from berryeval.benchmarks.build import read_metadata, read_optional_text
from berryeval.data import Document
from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval._internal.json import Node
    from berryeval.benchmarks.benchmark import BenchmarkBuilder


_MARKDOWN: Final = (".md", ".markdown")
TEXT_SUFFIXES: Final = (*_MARKDOWN, ".txt", ".rst")


def read_text_documents(builder: BenchmarkBuilder, folder: Path) -> None:
    """Add the Markdown and text files of a folder.

    The id is the path below the folder without the suffix, such as "guides/set-up"; the title of a
    Markdown file is its first heading, its metadata the fields of its front matter.
    """
    found = False
    files = find_files_below(builder, folder, lambda name: name.lower().endswith(TEXT_SUFFIXES))
    for path in files:
        if not is_regular(path):
            continue
        found = True
        text = read_text(path)
        is_markdown = path.suffix.lower() in _MARKDOWN
        sections = parse_sections(text) if is_markdown else ()
        metadata = read_front_matter(text) if is_markdown else {}
        title = next((section.path[-1] for section in sections if section.path), "")
        relative = path.relative_to(folder)
        identity = relative.with_suffix("").as_posix()
        source = relative.as_posix()
        document = Document(identity, text, title, source, metadata=metadata)
        builder.add_document(document, os.fspath(path))
    if not found:
        endings = ", ".join(TEXT_SUFFIXES)
        raise DataError(f"{folder}: has no documents; expected files that end in one of {endings}")


_FRONT: Final = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)


def read_front_matter(text: str) -> dict[str, Any]:
    r"""Return the fields between two lines of `---` at the beginning: texts and lists of texts.

    Values are kept as written. Front matter that is not valid YAML has no fields.

    >>> read_front_matter("---\nlanguage: de\nversion: 1.10\n---\n# Tee")
    {'language': 'de', 'version': '1.10'}
    """
    import yaml

    found = _FRONT.match(text)
    try:
        node = yaml.compose(found[1], Loader=yaml.BaseLoader) if found else None
        check_yaml(node)
        fields = (
            None if node is None else yaml.constructor.BaseConstructor().construct_document(node)
        )
    except (yaml.YAMLError, ValueError, RecursionError):  # an error of ours is a ValueError too
        return {}
    listed = fields.items() if isinstance(fields, dict) else ()
    return {
        name: value
        for name, value in listed
        if isinstance(name, str) and value and (isinstance(value, str) or _is_texts(value))
    }


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def find_files_below(
    builder: BenchmarkBuilder, folder: Path, wanted: Callable[[str], bool]
) -> Iterator[Path]:
    """Yield the files below a folder in the order of their paths, without hidden ones.

    Links that lead out of the folder are skipped, with a remark: a corpus of somebody else could
    link to any file of this machine. No link to a folder is followed.
    """
    if not folder.is_dir():
        problem = "expected a folder, found a file" if folder.exists() else "no such folder"
        raise DataError(f"{folder}: {problem}")
    home, out = os.path.realpath(folder), []
    paths: list[str] = []  # a Path takes four times the memory
    for place, folders, names in os.walk(folder, onerror=_reject):
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = Path(place).relative_to(folder)
        shown = [name for name in names if not name.startswith(".") and wanted(name)]
        links = [name for name in (*folders, *shown) if _leads_out(Path(place, name), home)]
        out += [Path(place, name) for name in links]
        paths += [(below / name).as_posix() for name in shown if name not in links]
    if out:
        many = pluralize(len(out), "link is", "links are")
        listed = _list_files(sorted(out), folder)
        remark = f"{folder}: {many} skipped, leading out of the folder: {listed}"
        if remark not in builder.remarks:
            builder.add_remark(remark)
    yield from map(folder.joinpath, sorted(paths))


def _leads_out(path: Path, home: str) -> bool:
    """Whether a path is a link to something that exists outside of a folder."""
    return path.is_symlink() and path.exists() and not path.resolve().is_relative_to(home)


def _reject(error: OSError) -> None:
    raise DataError(f"{error.filename}: cannot be read ({error.strerror or error})") from None


# A TREC collection: `<DOC><DOCNO> id </DOCNO> … <TEXT> … </TEXT></DOC>`, repeated.

_DOCUMENT: Final = re.compile(r"<DOC>(.*?)(</DOC>|(?=<DOC>)|\Z)", re.IGNORECASE | re.DOTALL)
_TITLE: Final = re.compile(
    r"<(TITLE|HEADLINE|HL|TI)>(.*?)(?:</\1>|(?=<))", re.IGNORECASE | re.DOTALL
)
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>")
_LONG_REFERENCE: Final = re.compile(r"&#[0-9]{4000,};?")  # Python refuses such numbers
_FIRST: Final = re.compile(rb"(?:<[A-Za-z][^<>]*>\s*)?(<DOC>)", re.IGNORECASE)
_FIRST_BYTES: Final = 16_384


def is_trec(path: Path) -> bool:
    """Whether the file starts like a TREC collection; only its beginning is read.

    A collection starts with `<DOC>`, after white space, XML or SGML declarations and an enclosing
    element. Other XML may contain `<doc>`: in lower case it counts only if a `<docno>` follows.
    """
    start = read_beginning(path, _FIRST_BYTES)
    first = _FIRST.match(_strip_head(start))
    return first is not None and (first[1] == b"<DOC>" or b"<docno>" in start.lower())


def _strip_head(text: bytes) -> bytes:
    """Strip declarations and comments before the first element."""
    text = text.lstrip()
    while text.startswith((b"<?", b"<!")):
        text = text.partition(b"-->" if text.startswith(b"<!--") else b">")[2]
        text = text.lstrip(b"]> \t\r\n")  # also the end of an internal DTD subset
    return text


def read_trec_documents(path: Path, encoding: str = "utf-8") -> Iterator[tuple[Document, int]]:
    """Read the documents of a TREC collection, each with its first line.

    The text is that of all `<TEXT>` elements, or of the whole document without any, stripped
    of tags and with character references resolved. Old collections need `encoding="latin-1"`.
    """
    source = display_name(path)
    text = _decode(path, encoding)
    line, counted, found = 1, 0, False
    for match in _DOCUMENT.finditer(text):
        line += text.count("\n", counted, match.start())
        counted, found = match.start(), True
        if not match[2]:
            raise DataError(f"{source}:{line}: <DOC> has no </DOC>")
        yield _parse_trec_document(match[1], f"{source}:{line}"), line
    if not found:
        raise DataError(
            f"{source}: has no <DOC>; a corpus is JSON lines (.jsonl) or a TREC collection"
        )


def _decode(path: Path, encoding: str) -> str:
    data = read_bytes(path).tobytes()
    try:
        return data.decode(encoding)
    except LookupError:
        raise ConfigurationError(
            f"encoding must be a Python encoding, found {encoding!r:.80}"
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{display_name(path)}:{line}: not {encoding} text; save it as UTF-8, or "
            "choose another encoding with encoding="
        ) from None


def _parse_trec_document(body: str, where: str) -> Document:
    number, end = next(_find_elements(body, "DOCNO"), ("", 0))
    if not number.strip():
        raise DataError(f"{where}: <DOC> has no <DOCNO> with an id")
    title = _TITLE.search(body)
    texts = [text for text, _ in _find_elements(body, "TEXT")] or [body[end:]]
    return Document(
        id=number.strip(),
        text="\n".join(_strip_tags(text) for text in texts),
        title=" ".join(_strip_tags(title[2]).split()) if title else "",
    )


def _find_elements(body: str, name: str) -> Iterator[tuple[str, int]]:
    """Yield the content of each element and the place behind it."""
    start = re.compile(f"<{name}>", re.IGNORECASE)
    end = re.compile(f"</{name}>", re.IGNORECASE)
    place = 0
    while (first := start.search(body, place)) and (last := end.search(body, first.end())):
        place = last.end()
        yield body[first.end() : last.start()], place


def _strip_tags(text: str) -> str:
    return resolve_references(_TAG.sub("", text)).strip()


def resolve_references(text: str) -> str:
    """Replace references such as `&amp;` and `&#38;` by their characters."""
    return html.unescape(_LONG_REFERENCE.sub("\ufffd", text))


_ID = ("id", "_id", "docid", "doc_id", "docno", "document_id", "chunk_id")
_TEXT = ("text", "contents", "content", "body")
_JSON_LINES = (".jsonl", ".ndjson")
_SHOWN = 3  # files in a message


def read_corpus(
    builder: BenchmarkBuilder, path: PathLike | None, *, encoding: str = "utf-8"
) -> None:
    """Add the documents of a file or folder; None adds nothing.

    A file has JSON lines or is a TREC collection. A folder has such files, or Markdown and text
    files with one document each; other files are skipped, with a remark.
    """
    if path is None:
        return
    place = Path(path)
    if not place.is_dir():
        _read_file(builder, place, encoding)
        return
    files: dict[str, list[Path]] = {"collection": [], "text": [], "other": []}
    for file in find_files_below(builder, place, lambda _: True):
        files[_kind_of(file)].append(file)
    collections, texts, others = files.values()
    if collections and texts:
        raise DataError(
            f"{place}: has collections ({_list_files(collections, place)}) and single texts "
            f"({_list_files(texts, place)}); move one kind elsewhere"
        )
    if not collections and not texts:
        there = f"; found {_list_files(others, place)}" if others else ""
        raise DataError(
            f"{place}: has no documents; expected files that end in one of "
            f"{', '.join((*TEXT_SUFFIXES, *_JSON_LINES))}, or a TREC collection{there}"
        )
    if others:
        skipped = pluralize(len(others), "file is", "files are")
        builder.add_remark(f"{place}: {skipped} not text and skipped: {_list_files(others, place)}")
    for file in collections:
        _read_file(builder, file, encoding)
    if texts:
        read_text_documents(builder, place)


def _kind_of(file: Path) -> str:
    if not is_regular(file):
        return "other"
    if plain_suffix(file) in _JSON_LINES:
        return "collection"
    is_text = file.suffix.lower() in TEXT_SUFFIXES
    try:
        return "collection" if is_trec(file) else "text" if is_text else "other"
    except DataError:  # such as a damaged archive
        if is_text:
            raise
        return "other"


def _list_files(files: Sequence[Path], folder: Path) -> str:
    """List the first files, and count the rest."""
    names = ", ".join(file.relative_to(folder).as_posix() for file in files[:_SHOWN])
    more = len(files) - _SHOWN
    return f"{names} and {more} more" if more > 0 else names


def _read_file(builder: BenchmarkBuilder, path: Path, encoding: str) -> None:
    if plain_suffix(path) in _JSON_LINES:
        for line, node in read_json_lines(path):
            builder.add_document(_parse_document(node), os.fspath(path), line)
        return
    for document, line in read_trec_documents(path, encoding):
        builder.add_document(document, os.fspath(path), line)


def _parse_document(node: Node) -> Document:
    identity, text = node.one_of(*_ID), node.one_of(*_TEXT)
    return Document(
        identity.id(),
        text.text(),
        title=read_optional_text(node, "title"),
        metadata=read_metadata(node),
        extra=node.besides(identity.path, text.path, "title", "metadata"),
    )
