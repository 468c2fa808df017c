"""`Benchmark`: what a system is measured on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from berryeval._internal.json import read_json_node
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval._internal.json import Node
    from berryeval._internal.records import JsonRecord
    from berryeval.benchmarks.loading import Source
    from berryeval.data import Document, Judgment, Query


RecordKind: TypeAlias = Literal["documents", "queries", "judgments"]


@dataclass(frozen=True, repr=False)
class Benchmark:
    """A corpus, queries, and judgments of what is relevant to them. Never changes.

    Attributes:
        name: what people call it.
        documents: the corpus.
        queries: the questions, in the order in which they are asked.
        judgments: what is relevant; none, where only the expected answers decide.
        pack: the name of the pack that owns the rules of relevance, if one does; the judgments are
            then what the labels of the dataset say.
        thresholds: metrics with the least value each should reach.
        version: of the data.
        description: a sentence or two.
        metadata: whatever else the files said.
        locations: where the records of each kind ("documents", "queries", "judgments") stand, in
            their order, as "queries.jsonl:3"; empty for what no file said. Not part of what two
            benchmarks are compared by.
        remarks: what a loader found odd and kept, each with its place. Not compared either.
    """

    name: str
    documents: tuple[Document, ...]
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
        """Refuse ids that are empty or stand twice: judgments could not say which they mean."""
        self._check_ids("document", "documents", self.documents)
        self._check_ids("query", "queries", self.queries)

    def _check_ids(self, what: str, kind: RecordKind, records: Sequence[Document | Query]) -> None:
        first: dict[str, int] = {}
        for place, record in enumerate(records):
            if not record.id:
                where = self.where(kind, place) or f"{self.name}: {kind}[{place}]"
                msg = f"{where}: expected a {what} with an id, found an empty one"
                raise DataError(msg)
            before = first.setdefault(record.id, place)
            if before != place:
                there = self.where(kind, before)
                also = f"; first in {there}" if there else ""
                where = self.where(kind, place) or self.name
                msg = f"{where}: the {what} id {record.id!r} stands twice{also}"
                raise DataError(msg)

    def where(self, kind: RecordKind, place: int) -> str:
        """Where the record at this place of its tuple comes from, or "" if nobody knows.

        A benchmark with other records than those that were loaded does not know.
        """
        places = self.locations.get(kind, ())
        return places[place] if len(places) == len(getattr(self, kind)) else ""

    def __repr__(self) -> str:
        return (
            f"Benchmark({self.name!r}, {len(self.documents)} documents, "
            f"{len(self.queries)} queries, {len(self.judgments)} judgments)"
        )

    @cached_property
    def document_of(self) -> dict[str, Document]:
        """The documents by id."""
        return {document.id: document for document in self.documents}

    @cached_property
    def query_of(self) -> dict[str, Query]:
        """The queries by id."""
        return {query.id: query for query in self.queries}

    @cached_property
    def content_hash(self) -> str:
        """The hash of what is asked and judged: texts, queries, judgments, pack.

        The chunker that a benchmark suggests is no part of it, nor is anything else that its
        `metadata` says: the record of a run names the chunker that was used.
        """
        digest = hashlib.sha256(self.pack.encode())
        kinds: tuple[RecordKind, ...] = ("documents", "queries", "judgments")
        for kind in kinds:
            for place, record in enumerate(getattr(self, kind)):
                digest.update(_line(record, self.where(kind, place) or f"{kind}[{place}]"))
            digest.update(b"\n")
        return f"sha256:{digest.hexdigest()}"


def _line(record: JsonRecord, where: str) -> bytes:
    """A record as a line of JSON, the same for all records that are equal."""
    try:
        text = json.dumps(_plain(record.to_json()), sort_keys=True, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"{where}: holds what JSON cannot: {error}"
        raise DataError(msg) from error
    return f"{text}\n".encode()


def _plain(value: Any) -> Any:
    """The value with 1 for 1.0, at any depth."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


# `benchmark.json`: what a benchmark is called, and all there is to say about it as a whole.

ABOUT: Final = "benchmark.json"
_TEXTS: Final = ("name", "version", "description", "pack")


def read_about(source: Source) -> dict[str, Any]:
    """The fields of the folder's `benchmark.json`; none if there is no such file."""
    if not source.has(ABOUT):
        return {}
    return read_about_node(read_json_node(source.file(ABOUT)))


def read_about_node(node: Node) -> dict[str, Any]:
    """The fields of a `Benchmark` that an object gives; names it does not know become metadata."""
    fields: dict[str, Any] = {}
    for name in _TEXTS:
        found = node.get(name)
        if found is not None:
            fields[name] = found.text()
    thresholds = node.get("thresholds")
    if thresholds is not None:
        fields["thresholds"] = {name: value.number() for name, value in thresholds.fields()}
    metadata = node.get("metadata")
    known = {} if metadata is None else metadata.object()
    unknown = node.besides(*_TEXTS, "thresholds", "metadata")
    both = sorted(known.keys() & unknown.keys())
    if both:
        msg = f"{node.where}: {both[0]!r} stands at the top and in metadata; keep one of them"
        raise DataError(msg)
    if unknown or known:
        fields["metadata"] = {**unknown, **known}
    return fields


def about_of(benchmark: Benchmark) -> dict[str, Any]:
    """The object from which `read_about_node` makes the same fields."""
    about: dict[str, Any] = {name: getattr(benchmark, name) for name in _TEXTS}
    about["thresholds"] = dict(benchmark.thresholds)
    about["metadata"] = dict(benchmark.metadata)
    return {name: value for name, value in about.items() if value or name == "name"}
