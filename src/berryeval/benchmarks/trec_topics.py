"""TREC topics in their three classic forms.

- SGML: `<top> <num> Number: 301 <title> … <desc> Description: … <narr> Narrative: … </top>`, with
  or without end tags inside;
- XML: `<topics><topic number="1"><query>…</query> … </topic></topics>`;
- one topic per line: the id, a tab, the text.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Topic", "read_topics"]

_TOP: Final = re.compile(r"<top>(.*?)(</top>|(?=<top>)|\Z)", re.IGNORECASE | re.DOTALL)
_TOPIC: Final = re.compile(r"<topic\b([^>]*)>(.*?)(</topic>|\Z)", re.IGNORECASE | re.DOTALL)
_FIELD: Final = re.compile(
    r"<([a-z]\w*)[^<>]*>(.*?)(?=<[a-z]\w*[^<>]*>|\Z)", re.IGNORECASE | re.DOTALL
)
_END_TAG: Final = re.compile(r"</[a-z]\w*\s*>", re.IGNORECASE)
_NUMBER: Final = re.compile(r"""\b(?:number|id|uid)\s*=\s*["']([^"']+)["']""", re.IGNORECASE)
# What stands before the text of a field in the oldest files.
_LABELS: Final = {
    "num": "Number:", "title": "Topic:", "desc": "Description:", "narr": "Narrative:",
    "dom": "Domain:", "smry": "Summary:", "con": "Concept(s):", "fac": "Factor(s):",
    "def": "Definition(s):",
}  # fmt: skip
_LONG: Final = {"desc": "description", "narr": "narrative", "num": "number"}


@dataclass(frozen=True)
class Topic:
    """One topic: its id, its fields by their long names, and the line in which it begins.

    A field has as many texts as elements of its name: a topic may have several subtopics.
    """

    id: str
    fields: dict[str, list[str]]
    line: int


def read_topics(text: str, source: str) -> Iterator[Topic]:
    """The topics of a file, whichever form it has."""
    if re.search(r"<top>", text, re.IGNORECASE):
        return _elements(text, source, _TOP)
    if re.search(r"<topic\b", text, re.IGNORECASE):
        return _elements(text, source, _TOPIC)
    return _lines(text, source)


def _elements(text: str, source: str, pattern: re.Pattern[str]) -> Iterator[Topic]:
    line, counted = 1, 0
    for match in pattern.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        body, end = match.groups()[-2:]
        if not end:
            msg = f"{source}:{line}: a topic that does not end"
            raise DataError(msg)
        fields: dict[str, list[str]] = {}
        for name, words in _fields(body):
            fields.setdefault(name, []).append(words)
        attribute = _NUMBER.search(match[1]) if pattern is _TOPIC else None
        identity = attribute[1].strip() if attribute else " ".join(fields.pop("number", []))
        if not identity:
            msg = f"{source}:{line}: a topic without a number"
            raise DataError(msg)
        yield Topic(identity, fields, line)


def _fields(body: str) -> Iterator[tuple[str, str]]:
    for match in _FIELD.finditer(body):
        name = match[1].lower()
        text = html.unescape(_END_TAG.sub(" ", match[2]))
        text = " ".join(text.split())
        text = text.removeprefix(_LABELS.get(name, "\0")).strip()
        if text:
            yield _LONG.get(name, name), text


def _lines(text: str, source: str) -> Iterator[Topic]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        identity, tab, words = line.rstrip("\r").partition("\t")
        if not tab or not identity.strip():
            msg = (
                f"{source}:{number}: expected <top> or <topic> elements, or lines with an id, a "
                f"tab and a text; found {line[:60]!r}"
            )
            raise DataError(msg)
        yield Topic(identity.strip(), {"title": [words.strip()]}, number)
