"""`Gather`: the records of a benchmark while a loader reads them, each with its place."""

from __future__ import annotations

import hashlib
import itertools
import math
from array import array
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

import numpy as np

from berryeval.benchmarks.benchmark import Benchmark
from berryeval.data import Anchor, Document, Judgment, Query, StringColumn
from berryeval.errors import ConfigurationError, DataError, RepeatedDocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval._internal.json import Node
    from berryeval.benchmarks.benchmark import RecordKind
    from berryeval.benchmarks.loading import Source
    from berryeval.data import QueryTable


Record = TypeVar("Record", "Document", "Query", "Judgment")


class Places(Sequence[str]):
    """Where records stand: files, with the number of a line where there is one.

    A corpus has millions of them, so the strings are made when somebody asks.
    """

    def __init__(self) -> None:
        self._files: list[str] = []
        self._lines = array("q")

    def add(self, file: str, line: int = 0) -> None:
        """One more; line 0 is none."""
        self._files.append(file)
        self._lines.append(line)

    def __len__(self) -> int:
        return len(self._files)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        file, line = self._files[index], self._lines[index]
        return f"{file}:{line}" if line else file


class Gather:
    """Collects records and remarks, and makes the benchmark of them.

    A field that came with a record and has the name of one of ours ("id", say, beside BEIR's
    "_id") is kept under this name with "_" behind it.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.documents: list[Document] = []
        self.queries: list[Query] = []
        self.judgments: list[Judgment] = []
        self.remarks: list[str] = []
        self.locations: dict[RecordKind, Places] = {
            "documents": Places(), "queries": Places(), "judgments": Places()
        }  # fmt: skip
        self._document_places: dict[str, int] = {}
        self._judged: dict[tuple[str, Anchor, str], int] = {}

    def document(self, document: Document, file: str, line: int = 0) -> None:
        """Add a document that stands there."""
        self.documents.append(_without_clash(document))
        self.locations["documents"].add(file, line)

    def document_once(self, document: Document, file: str, line: int = 0) -> None:
        """Add a document that may have been added before, then with the same text."""
        before = self._document_places.setdefault(document.id, len(self.documents))
        if before == len(self.documents):
            self.document(document, file, line)
        elif self.documents[before].text != document.text:
            where = f"{file}:{line}" if line else file
            first = self.locations["documents"][before]
            msg = f"{where}: the document {document.id!r} has another text than in {first}"
            raise DataError(msg)

    def query(self, query: Query, file: str, line: int = 0) -> None:
        """Add a query that stands there."""
        self.queries.append(_without_clash(query))
        self.locations["queries"].add(file, line)

    def judgment(self, judgment: Judgment, file: str, line: int = 0) -> None:
        """Add a judgment that stands there; two of one target must agree."""
        key = judgment.query_id, judgment.target, judgment.group
        before = self._judged.setdefault(key, len(self.judgments))
        if before < len(self.judgments) and self.judgments[before].grade != judgment.grade:
            where = f"{file}:{line}" if line else file
            first = self.locations["judgments"][before]
            msg = (
                f"{where}: the same target is judged twice for query {judgment.query_id!r:.80}, "
                f"with grade {judgment.grade} here and {self.judgments[before].grade} in {first}"
            )
            raise DataError(msg)
        self.judgments.append(_without_clash(judgment))
        self.locations["judgments"].add(file, line)

    def remark(self, text: str) -> None:
        """Note what is odd and kept."""
        self.remarks.append(text)

    def benchmark(self, **fields: Any) -> Benchmark:
        """The benchmark of all that was added; one without queries is none."""
        if not self.queries:
            msg = f"{self.source.name}: holds no queries"
            raise DataError(msg)
        return Benchmark(
            **{"name": self.source.stem, **fields},
            documents=tuple(self.documents),
            queries=tuple(self.queries),
            judgments=tuple(self.judgments),
            locations=dict(self.locations),
            remarks=tuple(self.remarks),
        )


def _without_clash(record: Record) -> Record:
    """The record with names in `extra` that are none of its own fields."""
    if not record.extra:
        return record
    own = {field.name for field in fields(record)}
    if own.isdisjoint(record.extra):
        return record
    extra: dict[str, Any] = {}
    for given, value in record.extra.items():
        name = given
        while name in own or name in extra or (name != given and name in record.extra):
            name += "_"
        extra[name] = value
    return replace(record, extra=extra)


# The rows of qrels as judgments of whole documents.

_NO_GROUP: Final = frozenset({"", "0", "Q0"})


def add_judgments(gather: Gather, table: QueryTable) -> None:
    """Add a judgment per document of a query.

    A document that is judged for several groups, which are subtopics, has the highest of its
    grades, as everywhere; the others are kept in `subtopics`.
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
            gather.judgment(judgment, table.source, numbers[rows[0]])


# Contexts: texts that came with a question, as documents or as quotes of a corpus.


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


# `Ratings`: judgments of documents, one per document and query, as most tools export them.


class Ratings(Gather):
    """Collects queries as they come up, and what is rated for each."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._texts: dict[str, str] = {}
        self._rated: dict[tuple[str, str], str] = {}

    def ask(self, identity: str, text: str, file: str, line: int = 0, **fields: Any) -> None:
        """Add a query unless it is there, then with the same text."""
        known = self._texts.setdefault(identity, text)
        if known != text:
            where = f"{file}:{line}" if line else file
            msg = f"{where}: query {identity!r:.80} has another text than before: {text!r:.80}"
            raise DataError(msg)
        if len(self._texts) > len(self.queries):
            self.query(Query(identity, text, **fields), file, line)

    def rate(
        self,
        query: str,
        document: str,
        grade: float,
        file: str,
        line: int = 0,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a rating; a document can be rated once for a query."""
        where = f"{file}:{line}" if line else file
        before = self._rated.setdefault((query, document), where)
        if before != where:
            twice = f"document {document!r:.80} stands twice in query {query!r:.80}"
            msg = f"{where}: {twice}; first in {before}"
            raise RepeatedDocumentError(msg)
        judgment = Judgment(query, Anchor(document=document), grade, extra=extra or {})
        self.judgment(judgment, file, line)


def mean(ratings: Iterable[float]) -> float:
    """The mean of what several judges said."""
    numbers = list(ratings)
    return math.fsum(numbers) / len(numbers)


# Turns of a conversation as one text, with the place of each.


def joined(turns: Iterable[str]) -> tuple[str, list[dict[str, int]]]:
    r"""The turns as lines of one text, and where each starts and ends in it.

    >>> joined(["Ann: Tea?", "Ben: Yes."])
    ('Ann: Tea?\nBen: Yes.', [{'start': 0, 'end': 9}, {'start': 10, 'end': 19}])
    """
    lines = list(turns)
    places, start = [], 0
    for line in lines:
        places.append({"start": start, "end": start + len(line)})
        start += len(line) + 1
    return "\n".join(lines), places


# Options that take one of a few words.


def one_choice(option: str, value: object, words: Sequence[str]) -> None:
    """Refuse a value that is none of these words."""
    if value not in words:
        msg = f"{option} must be {' or '.join(map(repr, words))}, found {value!r:.80}"
        raise ConfigurationError(msg)
