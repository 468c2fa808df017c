"""`Benchmark`, the data that systems are evaluated on, and builders that collect its records."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, overload

from berryeval._internal.json import Node, read_json_node
from berryeval._internal.text import pluralize
from berryeval.benchmarks.build import read_metadata, read_texts
from berryeval.data import (
    HELD,
    Anchor,
    Document,
    Judgment,
    Query,
    RecordFile,
    find_repeated,
    index_records,
    read_field,
    scope_fields,
    unknown_field,
)
from berryeval.errors import DataError, RepeatedDocumentError

if TYPE_CHECKING:
    from berryeval._internal.serial import JsonRecord
    from berryeval.benchmarks.loading import Source


RecordKind: TypeAlias = Literal["documents", "queries", "judgments"]


@dataclass(frozen=True, repr=False)
class Benchmark:
    """A corpus with queries and relevance judgments; immutable.

    Attributes:
        documents: The documents; those of named datasets are read when they are first needed.
        queries: The queries, in the order in which they are asked.
        judgments: Relevance judgments; empty if expected answers decide relevance.
        pack: Name of the relevance pack, if one decides relevance from the dataset's labels.
        thresholds: Smallest acceptable value by metric.
        metadata: Further fields of the files.
        locations: Locations of the records by kind ("documents", "queries", "judgments"), such as
            "queries.jsonl:3"; empty if unknown. Ignored in comparisons.
        remarks: Oddities that the loader kept, each with its location. Ignored in comparisons.
    """

    name: str
    documents: Sequence[Document]
    queries: tuple[Query, ...]
    judgments: tuple[Judgment, ...] = ()
    pack: str = ""
    thresholds: Mapping[str, float] = field(default_factory=dict)
    version: str = ""
    description: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    locations: Mapping[RecordKind, Sequence[str]] = field(default_factory=dict, compare=False)
    remarks: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Reject empty and repeated ids, and scopes by a field that no document has."""
        if isinstance(self.documents, RecordFile):
            self._check_file(self.documents)
        elif isinstance(self.documents, tuple):  # others check themselves when they are read
            self._check_ids("document", "documents", self.documents)
        self._check_ids("query", "queries", self.queries)
        for name in scope_fields(self.queries) if self.documents else ():
            if not any(read_field(document, name) for document in self.documents):
                place = next(n for n, query in enumerate(self.queries) if name in query.scope)
                where = self.where("queries", place) or f"{self.name}: queries[{place}]"
                raise unknown_field(name, self.documents, "document", f"{where}: ")

    def _check_ids(self, what: str, kind: RecordKind, records: Sequence[Document | Query]) -> None:
        first: dict[str, int] = {}
        for place, record in enumerate(records):
            if not record.id:
                where = self.where(kind, place) or f"{self.name}: {kind}[{place}]"
                raise DataError(f"{where}: expected a {what} with an id, found an empty one")
            before = first.setdefault(record.id, place)
            if before != place:
                raise self._reject_repeated(what, kind, record.id, (before, place))

    def _check_file(self, documents: RecordFile[Document]) -> None:
        """Check the ids of a large corpus without all of them in memory."""
        for place, _ in documents.index_by().find(""):
            where = self.where("documents", place) or f"{self.name}: documents[{place}]"
            raise DataError(f"{where}: expected a document with an id, found an empty one")
        if places := find_repeated(documents):
            name = documents[places[1]].id
            raise self._reject_repeated("document", "documents", name, places)

    def _reject_repeated(
        self, what: str, kind: RecordKind, name: str, places: tuple[int, int]
    ) -> DataError:
        there = self.where(kind, places[0])
        also = f"; first in {there}" if there else ""
        where = self.where(kind, places[1]) or self.name
        return DataError(f"{where}: the {what} id {name!r} occurs twice{also}")

    def where(self, kind: RecordKind, place: int) -> str:
        """Return the location of the record at this position; "" if unknown.

        Locations are unknown once records were added or removed after loading.
        """
        places = self.locations.get(kind, ())
        return places[place] if len(places) == len(getattr(self, kind)) else ""

    def __repr__(self) -> str:
        lazy = getattr(self.documents, "is_loaded", True) is False
        documents = "documents not read" if lazy else pluralize(len(self.documents), "document")
        return (
            f"Benchmark({self.name!r}, {documents}, "
            f"{pluralize(len(self.queries), 'query')}, "
            f"{pluralize(len(self.judgments), 'judgment')})"
        )

    @cached_property
    def document_of(self) -> Mapping[str, Document]:
        """Documents by id."""
        return index_records(self.documents)

    @cached_property
    def query_of(self) -> dict[str, Query]:
        """Queries by id."""
        return {query.id: query for query in self.queries}

    @cached_property
    def content_hash(self) -> str:
        """Hash of the documents, queries, judgments and pack.

        The `metadata`, including a suggested chunker, is not part of it: the record of a run names
        the chunker that was used.
        """
        digest = hashlib.sha256(self.pack.encode())
        kinds: tuple[RecordKind, ...] = ("documents", "queries", "judgments")
        for kind in kinds:
            for place, record in enumerate(getattr(self, kind)):
                digest.update(_format_line(record, self.where(kind, place) or f"{kind}[{place}]"))
            digest.update(b"\n")
        return f"sha256:{digest.hexdigest()}"


def _format_line(record: JsonRecord, where: str) -> bytes:
    """Return a record as a line of JSON; equal records have equal lines."""
    try:
        text = json.dumps(_normalize_numbers(record.to_json()), sort_keys=True, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{where}: cannot be written as JSON: {error}") from error
    return f"{text}\n".encode()


def _normalize_numbers(value: Any) -> Any:
    """Replace whole floats by integers, at any depth."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {name: _normalize_numbers(one) for name, one in value.items()}
    return [_normalize_numbers(one) for one in value] if isinstance(value, list | tuple) else value


_Record = TypeVar("_Record", Document, Query, Judgment)


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
        self.documents: list[Document] | RecordFile[Document] = []  # a file if they are large
        self._size = 0  # characters of the documents
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
        self._size += len(document.text)
        if self._size > HELD and isinstance(self.documents, list):
            self.documents = RecordFile(self.documents)
        self.locations["documents"].add(file, line)

    def add_document_once(self, document: Document, file: str, line: int = 0) -> None:
        """Add a document unless it is known; a known document must have the same text."""
        before = self._document_places.setdefault(document.id, len(self.documents))
        if before == len(self.documents):
            self.add_document(document, file, line)
        elif self.documents[before].text != document.text:
            where = f"{file}:{line}" if line else file
            first = self.locations["documents"][before]
            raise DataError(
                f"{where}: the document {document.id!r} has a different text than in {first}"
            )

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
            raise DataError(
                f"{where}: the same target is judged twice for query {judgment.query_id!r:.80}, "
                f"with grade {judgment.grade} here and {self.judgments[before].grade} in {first}"
            )
        self.judgments.append(_rename_clashes(judgment))
        self.locations["judgments"].add(file, line)

    def add_remark(self, text: str) -> None:
        """Record an oddity of the files that was kept."""
        self.remarks.append(text)

    def build(self, **fields: Any) -> Benchmark:
        """Build the benchmark; raise a DataError without queries."""
        if not self.queries:
            raise DataError(f"{self.source.name}: has no queries")
        origin = describe_origin(fields.get("metadata", {}))
        remarks = [f"{self.source.name}: {origin}"] if origin else []
        documents = self.documents
        return Benchmark(
            **{"name": self.source.stem, **fields},
            documents=tuple(documents) if isinstance(documents, list) else documents,
            queries=tuple(self.queries),
            judgments=tuple(self.judgments),
            locations=dict(self.locations),
            remarks=(*remarks, *self.remarks),
        )


def _rename_clashes(record: _Record) -> _Record:
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
            raise DataError(
                f"{where}: query {identity!r:.80} has a different text than before: {text!r:.80}"
            )
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
            raise RepeatedDocumentError(
                f"{where}: document {document!r:.80} occurs twice in query {query!r:.80}; first in "
                f"{before}"
            )
        judgment = Judgment(query, Anchor(document=document), grade, extra=extra or {})
        self.add_judgment(judgment, file, line)


GENERATED: Final = "generated"  # metadata of benchmarks and queries that were not written by people


def describe_origin(metadata: Mapping[str, Any]) -> str:
    """Return a remark if the benchmark was generated and has not been reviewed.

    >>> describe_origin({"generated": {"kind": "known-item", "reviewed": False}})
    'generated (known-item), not reviewed'
    """
    how = metadata.get(GENERATED)
    if not isinstance(how, Mapping) or how.get("reviewed") is not False:
        return ""
    return f"{GENERATED} ({how.get('kind', 'in an unknown way')!s:.40}), not reviewed"


ABOUT: Final = "benchmark.json"
_TEXTS: Final = ("name", "version", "description", "pack")


def read_about(source: Source) -> dict[str, Any]:
    """Read the fields of `benchmark.json`; empty if there is no such file."""
    return read_about_node(read_json_node(source.file(ABOUT))) if source.has(ABOUT) else {}


def read_about_node(node: Node) -> dict[str, Any]:
    """Read the fields of a `Benchmark` from an object; unknown names become metadata."""
    found: dict[str, Any] = dict(read_texts(node, *_TEXTS))
    if (thresholds := node.get("thresholds")) is not None:
        found["thresholds"] = {name: value.number() for name, value in thresholds.fields()}
    known = read_metadata(node)
    unknown = node.besides(*_TEXTS, "thresholds", "metadata")
    if both := sorted(known.keys() & unknown.keys()):
        raise DataError(
            f"{node.where}: {both[0]!r} occurs both at the top and in metadata; keep one of them"
        )
    if unknown or known:
        found["metadata"] = {**unknown, **known}
    return found


def about_of(benchmark: Benchmark) -> dict[str, Any]:
    """Return the object that `read_about_node` reads back."""
    maps = {"thresholds": dict(benchmark.thresholds), "metadata": dict(benchmark.metadata)}
    about = {name: getattr(benchmark, name) for name in _TEXTS} | maps
    return {name: value for name, value in about.items() if value or name == "name"}
