"""TREC collections: `<DOC><DOCNO> id </DOCNO> … <TEXT> … </TEXT></DOC>`, one after the other."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

from berryeval.errors import ConfigurationError, DataError
from berryeval.io.beginnings import beginning_of
from berryeval.io.files import name_of, read_bytes
from berryeval.records import Document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["is_trec", "read_trec_documents"]

_DOCUMENT: Final = re.compile(r"<DOC>(.*?)(</DOC>|(?=<DOC>)|\Z)", re.IGNORECASE | re.DOTALL)
_NUMBER: Final = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>", re.IGNORECASE | re.DOTALL)
_TITLE: Final = re.compile(
    r"<(TITLE|HEADLINE|HL|TI)>(.*?)(?:</\1>|(?=<))", re.IGNORECASE | re.DOTALL
)
_TEXT: Final = re.compile(r"<TEXT>(.*?)</TEXT>", re.IGNORECASE | re.DOTALL)
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
        yield _document(match[1], f"{source}:{line}"), line
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


def _document(body: str, where: str) -> Document:
    number = _NUMBER.search(body)
    if not number or not number[1]:
        msg = f"{where}: <DOC> has no <DOCNO> with an id"
        raise DataError(msg)
    title = _TITLE.search(body)
    texts = [match[1] for match in _TEXT.finditer(body)] or [body[number.end() :]]
    return Document(
        id=number[1],
        text="\n".join(_plain(text) for text in texts),
        title=" ".join(_plain(title[2]).split()) if title else "",
    )


def _plain(text: str) -> str:
    return html.unescape(_TAG.sub("", text)).strip()
