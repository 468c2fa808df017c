"""TREC: topics (`<top>` elements, XML, or tab-separated lines), qrels and perhaps a collection.

The text of a query is the `title` (or `query`) of its topic, or the fields named by `field`, such
as "title+description". Numbers such as 051 match 51 if the qrels use it.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from berryeval._internal.json import read_text
from berryeval.benchmarks.benchmark import Benchmark, BenchmarkBuilder
from berryeval.benchmarks.build import add_judgments
from berryeval.benchmarks.documents import read_corpus, resolve_references
from berryeval.benchmarks.loading import Loader, Source
from berryeval.data import QUERY, QUESTION, Query, find_column, read_table
from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike


_TOPIC: Final = re.compile(
    r"<(top|topic)\b([^<>]*)>(.*?)(</\1\s*>|(?=<\1\b[^<>]*>)|\Z)", re.IGNORECASE | re.DOTALL
)
_DOCTYPE: Final = re.compile(r"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.IGNORECASE | re.DOTALL)
_TAG: Final = re.compile(r"<[^<>]*>")
_START_TAG: Final = re.compile(r"<([a-z][\w.:-]*)(?:\s[^<>]*)?(/?)>", re.IGNORECASE)
_SAME_TAG: Final = re.compile(r"<(/?)([a-z][\w.:-]*)(?:(?![\w.:-])[^<>]*)?>", re.IGNORECASE)
_FIRST_TAG: Final = re.compile(rf"\s*{_START_TAG.pattern}", re.IGNORECASE)
_MARKUP: Final = re.compile(r"<([a-z]\w*)(?:\s[^<>]*)?>|</([a-z]\w*)\s*>", re.IGNORECASE)
_BREAK: Final = re.compile(r"</?(?:p|li|div)>|<[a-z]\w*\s*/>", re.IGNORECASE)
_END_TAG: Final = re.compile(r"</[a-z][\w.:-]*\s*>", re.IGNORECASE)
_NUMBER: Final = re.compile(r"""\b(?:number|id|uid)\s*=\s*["']([^"']+)["']""", re.IGNORECASE)
# Labels before the text of a field in the oldest files.
_LABELS: Final = {
    "num": "Number:", "title": "Topic:", "desc": "Description:", "narr": "Narrative:",
    "dom": "Domain:", "smry": "Summary:", "con": "Concept(s):", "fac": "Factor(s):",
    "def": "Definition(s):",
}  # fmt: skip
_LONG: Final = {
    "desc": "description", "narr": "narrative", "num": "number", "identifier": "number",
}  # fmt: skip
_TEXT: Final = ("title", "query", "question", "summary", "description")
_KNOWN: Final = frozenset((*_LABELS, *_LONG, *_LONG.values(), *_TEXT))


@dataclass(frozen=True)
class Topic:
    """A topic: its id, its fields by their long names, and its first line.

    A field has a text per element of its name, since a topic may have several subtopics.
    """

    id: str
    fields: dict[str, list[str]]
    line: int


def read_topics(text: str, source: str) -> Iterator[Topic]:
    """Read the topics of a file: elements if it begins with a tag, otherwise lines."""
    if text.lstrip().startswith("<"):
        return _read_elements(text, source)
    return _read_lines(text, source)


def _read_elements(text: str, source: str) -> Iterator[Topic]:
    text = _drop_head(text)
    line, counted, ended = 1, 0, 0
    for match in _TOPIC.finditer(text):
        _reject_other_text(text, ended, match.start(), source)
        line += text.count("\n", counted, match.start())
        counted, ended = match.start(), match.end()
        if not match[4] and ended == len(text):
            raise DataError(f"{source}:{line}: topic without an end tag")
        yield _read_topic(match[2], match[3], f"{source}:{line}", line)
    _reject_other_text(text, ended, len(text), source)
    if not ended:
        raise DataError(f"{source}:1: {_EXPECTED}; found {text.strip()[:60]!r}")


def _drop_head(text: str) -> str:
    """Drop comments and the document type, but not their line ends."""
    kept, place = [], 0
    while (start := text.find("<!--", place)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept += [text[place:start], "\n" * text.count("\n", start, end)]
        place = end + len("-->")
    text = "".join(kept) + text[place:]
    first = re.search("<!DOCTYPE", text, re.IGNORECASE)
    found = _DOCTYPE.match(text, first.start()) if first else None
    return text[: found.start()] + _keep_lines(found) + text[found.end() :] if found else text


def _keep_lines(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _read_topic(attributes: str, body: str, where: str, line: int) -> Topic:
    fields: dict[str, list[str]] = {}
    for name, words in _read_fields(body):
        fields.setdefault(name, []).append(words)
    attribute = _NUMBER.search(attributes)
    numbers = [attribute[1].strip()] if attribute else fields.pop("number", [])
    if not numbers or not numbers[0]:
        raise DataError(f"{where}: topic without a number")
    if len(numbers) > 1:
        raise DataError(
            f"{where}: topic with two numbers, {numbers[0]} and {numbers[1]}; end each topic with "
            "its end tag"
        )
    return Topic(numbers[0], fields, line)


def _reject_other_text(text: str, start: int, end: int, source: str) -> None:
    """Reject words between the topics, which may be queries in another form."""
    between = _TAG.sub(_keep_lines, text[start:end])
    if words := between.strip():
        line = 1 + text.count("\n", 0, start) + between[: between.index(words)].count("\n")
        raise DataError(
            f"{source}:{line}: text outside of a topic: {words[:60]!r}; put it into a <top> or "
            "<topic> element, or remove it"
        )


def _read_fields(body: str) -> Iterator[tuple[str, str]]:
    """Read the fields, with or without end tags; tags inside of a text do not end it."""
    place = 0
    same: dict[str, list[re.Match[str]]] = {}
    for tag in _SAME_TAG.finditer(body):
        same.setdefault(tag[2].lower(), []).append(tag)
    while start := _START_TAG.search(body, place):
        name, place = start[1].lower(), start.end()
        if start[2]:  # an empty element
            continue
        inner, place = _read_content(body, place, name, same.get(name, []))
        text = " ".join(resolve_references(inner).split())
        if text := text.removeprefix(_LABELS.get(name, "\0")).strip():
            yield _LONG.get(name, name), text


def _read_content(body: str, start: int, name: str, tags: list[re.Match[str]]) -> tuple[str, int]:
    """Return the text of a field without its markup, and the place behind it.

    `tags` are all those of this name in the body.
    """
    place = bisect_left(tags, start, key=lambda tag: tag.start())
    same = tags[place] if place < len(tags) else None
    ended = same.end() if same and same[1] else start if _LONG.get(name) == "number" else None
    if name not in _KNOWN and ended and _FIRST_TAG.match(body, start, ended):
        return "", start  # an element around fields
    behind = _START_TAG.search(body, ended) if ended else _find_field(body, start)
    end = behind.start() if behind else len(body)
    return _END_TAG.sub(" ", _drop_markup(body[start:end])), end


def _find_field(body: str, start: int) -> re.Match[str] | None:
    """Find the tag that ends a field without an end tag: a known one, or one on a line's start."""
    before = start
    for tag in _START_TAG.finditer(body, start):
        _, broken, line = body[before : tag.start()].rpartition("\n")
        if tag[1].lower() in _KNOWN or ((broken or before == start) and not line.strip()):
            return tag
        before = tag.end()
    return None


def _drop_markup(text: str) -> str:
    """Drop pairs of tags; a tag on its own belongs to the words."""
    text = _BREAK.sub(" ", text)
    opened: dict[str, list[tuple[int, int]]] = {}
    pairs: list[tuple[int, int]] = []
    for tag in _MARKUP.finditer(text):
        if tag[1]:
            opened.setdefault(tag[1].lower(), []).append(tag.span())
        elif starts := opened.get(tag[2].lower()):
            pairs += (starts.pop(), tag.span())
    kept, place = [], 0
    for start, end in sorted(pairs):
        kept.append(text[place:start])
        place = end
    return "".join(kept) + text[place:]


_EXPECTED: Final = "expected <top> or <topic> elements, or lines with an id, a tab and a text"


def _read_lines(text: str, source: str) -> Iterator[Topic]:
    """Read a topic per line, after an optional line of column names such as qid and query."""
    may_be_header = True
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        identity, tab, words = line.rstrip("\r").partition("\t")
        if not tab or not identity.strip():
            raise DataError(f"{source}:{number}: {_EXPECTED}; found {line[:60]!r}")
        is_header = may_be_header and _is_header(identity.strip(), words.strip())
        may_be_header = False
        if not is_header:
            yield Topic(identity.strip(), {"title": [words.strip()]}, number)


def _is_header(first: str, second: str) -> bool:
    ids, texts = (*QUERY, "id", "number", "num"), (*QUESTION, *_TEXT, "text", "topic")
    return bool(find_column([first], ids) and find_column([second], texts))


_CORPUS: Final = ("corpus.jsonl", "documents.jsonl", "corpus", "documents", "docs")


def load(
    source: Source,
    *,
    topics: PathLike | None = None,
    qrels: PathLike | None = None,
    corpus: PathLike | None = None,
    field: str | None = None,
    encoding: str = "utf-8",
) -> Benchmark:
    """Load a folder, or a file of topics with the files named by the options.

    Args:
        source: Folder with topics* and qrels*, or a file of topics.
        topics: File of topics in the folder.
        qrels: File of judgments.
        corpus: The collection, a file or folder; default corpus, documents or docs in the folder.
        field: Topic fields that form the text of the query.
        encoding: Text encoding of the collection.
    """
    topic_file = _find_file(source, "topics", topics)
    table = read_table(_find_file(source, "qrels", qrels), "qrels")
    builder = BenchmarkBuilder(source)
    judged = set(table.queries)
    file = os.fspath(topic_file)
    for topic in read_topics(read_text(topic_file), file):
        query = _build_query(topic, judged, field, f"{file}:{topic.line}")
        builder.add_query(query, file, topic.line)
    add_judgments(builder, table)
    read_corpus(builder, _find_corpus(source, corpus), encoding=encoding)
    return builder.build()


def _build_query(topic: Topic, judged: set[str], field: str | None, where: str) -> Query:
    names = field.split("+") if field else [next((n for n in _TEXT if n in topic.fields), "title")]
    for name in names:
        if name not in topic.fields:
            there = ", ".join(topic.fields) or "none"
            raise DataError(f"{where}: topic {topic.id} has no {name!r}; its fields: {there}")
        texts = topic.fields[name]
        if name == "title" and len(texts) > 1:
            raise DataError(
                f"{where}: topic {topic.id} has {len(texts)} titles, {texts[0]!r:.60} and "
                f"{texts[1]!r:.60}; keep one, or end each topic with its end tag"
            )
    short = topic.id.lstrip("0")
    return Query(
        id=short if topic.id not in judged and short in judged else topic.id,
        text=" ".join(text for name in names for text in topic.fields[name]),
        description=" ".join(topic.fields.get("description", [])),
        metadata={
            name: texts if len(texts) > 1 else texts[0]
            for name, texts in topic.fields.items()
            if name not in names and name != "description"
        },
    )


def _find_file(source: Source, kind: str, given: PathLike | None) -> Path:
    """Return the given file of this kind, or the only one in the folder."""
    if given is not None:
        return source.path / given if source.is_folder else Path(given)
    if not source.is_folder:
        if kind == "topics":
            return source.path
        raise ConfigurationError(
            f"{source.name}: is a file of topics; name the judgments with qrels="
        )
    names = _list_files(source, kind)
    if len(names) == 1:
        return source.path / names[0]
    there = ", ".join(names) or "none"
    raise DataError(
        f"{source.name}: expected one file {kind}*, found {there}; choose one with {kind}="
    )


def _list_files(source: Source, kind: str) -> list[str]:
    return sorted(
        name
        for name in source.names
        if name.lower().startswith(kind) and (source.path / name).is_file()
    )


def _find_corpus(source: Source, given: PathLike | None) -> PathLike | None:
    if given is not None:
        return source.path / given if source.is_folder else given
    if not source.is_folder:
        return None
    there = [source.file(name) for name in _CORPUS if source.has(name)]
    if len(there) > 1:
        names = ", ".join(path.name for path in there)
        raise DataError(f"{source.name}: found {names}; choose the collection with corpus=")
    return there[0] if there else None


LOADER = Loader(
    summary="TREC topics and qrels",
    signs="files topics* and qrels* in one folder",
    recognises=lambda source: (
        source.is_folder and all(_list_files(source, kind) for kind in ("topics", "qrels"))
    ),
    load=load,
)
