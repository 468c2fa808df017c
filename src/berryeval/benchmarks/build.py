"""Builders: collect the records that a loader reads, each with its location."""

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
from berryeval.errors import DataError, RepeatedDocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval._internal.json import Node
    from berryeval.benchmarks.benchmark import RecordKind
    from berryeval.benchmarks.loading import Source
    from berryeval.data import QueryTable


Record = TypeVar("Record", "Document", "Query", "Judgment")


class Places(Sequence[str]):
    """Locations of records: a file, with a line number if there is one.

    A corpus may have millions of records, so the strings are built on access.
    """

    def __init__(self) -> None:
        self._files: list[str] = []
        self._lines = array("q")

    def add(self, file: str, line: int = 0) -> None:
        """Add a location; line 0 means no line."""
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


class BenchmarkBuilder:
    """Collects records and remarks, and builds the benchmark.

    An extra field with the name of a record's own field (such as "id" beside BEIR's "_id") is kept
    with "_" appended to its name.
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

    def add_document(self, document: Document, file: str, line: int = 0) -> None:
        """Add a document."""
        self.documents.append(_rename_clashes(document))
        self.locations["documents"].add(file, line)

    def add_document_once(self, document: Document, file: str, line: int = 0) -> None:
        """Add a document unless it is known; a known document must have the same text."""
        before = self._document_places.setdefault(document.id, len(self.documents))
        if before == len(self.documents):
            self.add_document(document, file, line)
        elif self.documents[before].text != document.text:
            where = f"{file}:{line}" if line else file
            first = self.locations["documents"][before]
            msg = f"{where}: the document {document.id!r} has a different text than in {first}"
            raise DataError(msg)

    def add_query(self, query: Query, file: str, line: int = 0) -> None:
        """Add a query."""
        self.queries.append(_rename_clashes(query))
        self.locations["queries"].add(file, line)

    def add_judgment(self, judgment: Judgment, file: str, line: int = 0) -> None:
        """Add a judgment; repeated judgments of a target must have the same grade."""
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
        self.judgments.append(_rename_clashes(judgment))
        self.locations["judgments"].add(file, line)

    def add_remark(self, text: str) -> None:
        """Record an oddity of the files that was kept."""
        self.remarks.append(text)

    def build(self, **fields: Any) -> Benchmark:
        """Build the benchmark; raise a DataError without queries."""
        if not self.queries:
            msg = f"{self.source.name}: has no queries"
            raise DataError(msg)
        return Benchmark(
            **{"name": self.source.stem, **fields},
            documents=tuple(self.documents),
            queries=tuple(self.queries),
            judgments=tuple(self.judgments),
            locations=dict(self.locations),
            remarks=tuple(self.remarks),
        )


def _rename_clashes(record: Record) -> Record:
    """Rename fields in `extra` that have the name of one of the record's own fields."""
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


_NO_GROUP: Final = frozenset({"", "0", "Q0"})


def read_optional_text(node: Node, *names: str) -> str:
    """Return the text of the first of these fields that exists; else ""."""
    found = node.get(*names)
    return "" if found is None else found.text()


def read_metadata(node: Node) -> dict[str, Any]:
    """Return the object in the field `metadata`, or an empty one."""
    found = node.get("metadata")
    return {} if found is None else found.object()


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
    given = context.get("id")
    return Document(
        id=context_id(text) if given is None else given.id(),
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
        msg = f"{texts[0].where}: found {len(texts)} contexts but {len(ids)} context ids"
        raise DataError(msg)
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


class RatingsBuilder(BenchmarkBuilder):
    """Builder for exports of ratings: one rating per query and document."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._texts: dict[str, str] = {}
        self._rated: dict[tuple[str, str], str] = {}

    def add_query_once(
        self, identity: str, text: str, file: str, line: int = 0, **fields: Any
    ) -> None:
        """Add a query unless it is known; a known query must have the same text."""
        known = self._texts.setdefault(identity, text)
        if known != text:
            where = f"{file}:{line}" if line else file
            msg = f"{where}: query {identity!r:.80} has a different text than before: {text!r:.80}"
            raise DataError(msg)
        if len(self._texts) > len(self.queries):
            self.add_query(Query(identity, text, **fields), file, line)

    def add_rating(
        self,
        query: str,
        document: str,
        grade: float,
        file: str,
        line: int = 0,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a rating; raise a RepeatedDocumentError for a second one."""
        where = f"{file}:{line}" if line else file
        before = self._rated.setdefault((query, document), where)
        if before != where:
            twice = f"document {document!r:.80} occurs twice in query {query!r:.80}"
            msg = f"{where}: {twice}; first in {before}"
            raise RepeatedDocumentError(msg)
        judgment = Judgment(query, Anchor(document=document), grade, extra=extra or {})
        self.add_judgment(judgment, file, line)


def mean(ratings: Iterable[float]) -> float:
    """Return the mean of several judges' ratings."""
    numbers = list(ratings)
    return math.fsum(numbers) / len(numbers)


def join_turns(turns: Iterable[str]) -> tuple[str, list[dict[str, int]]]:
    r"""Join turns to one text with a line each; also return where each starts and ends.

    >>> join_turns(["Ann: Tea?", "Ben: Yes."])
    ('Ann: Tea?\nBen: Yes.', [{'start': 0, 'end': 9}, {'start': 10, 'end': 19}])
    """
    lines = list(turns)
    places, start = [], 0
    for line in lines:
        places.append({"start": start, "end": start + len(line)})
        start += len(line) + 1
    return "\n".join(lines), places
