"""`Benchmark`: the corpus, queries and judgments that systems are evaluated on."""

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
    from berryeval._internal.serial import JsonRecord
    from berryeval.benchmarks.loading import Source
    from berryeval.data import Document, Judgment, Query


RecordKind: TypeAlias = Literal["documents", "queries", "judgments"]


@dataclass(frozen=True, repr=False)
class Benchmark:
    """A corpus with queries and relevance judgments; immutable.

    Attributes:
        name: Name of the benchmark.
        documents: The corpus.
        queries: The queries, in the order in which they are asked.
        judgments: Relevance judgments; empty if expected answers decide relevance.
        pack: Name of the relevance pack, if one decides relevance from the dataset's labels.
        thresholds: Smallest acceptable value by metric.
        version: Version of the data.
        description: A sentence or two.
        metadata: Further fields of the files.
        locations: Locations of the records by kind ("documents", "queries", "judgments"), such as
            "queries.jsonl:3"; empty if unknown. Ignored in comparisons.
        remarks: Oddities that the loader kept, each with its location. Ignored in comparisons.
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
        """Reject empty and repeated ids."""
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
                msg = f"{where}: the {what} id {record.id!r} occurs twice{also}"
                raise DataError(msg)

    def where(self, kind: RecordKind, place: int) -> str:
        """Return the location of the record at this position; "" if unknown.

        Locations are unknown once records were added or removed after loading.
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
        """Documents by id."""
        return {document.id: document for document in self.documents}

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
        msg = f"{where}: cannot be written as JSON: {error}"
        raise DataError(msg) from error
    return f"{text}\n".encode()


def _normalize_numbers(value: Any) -> Any:
    """Replace whole floats by integers, at any depth."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {name: _normalize_numbers(one) for name, one in value.items()}
    return [_normalize_numbers(one) for one in value] if isinstance(value, list | tuple) else value


ABOUT: Final = "benchmark.json"
_TEXTS: Final = ("name", "version", "description", "pack")


def read_about(source: Source) -> dict[str, Any]:
    """Read the fields of `benchmark.json`; empty if there is no such file."""
    if not source.has(ABOUT):
        return {}
    return read_about_node(read_json_node(source.file(ABOUT)))


def read_about_node(node: Node) -> dict[str, Any]:
    """Read the fields of a `Benchmark` from an object; unknown names become metadata."""
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
        msg = f"{node.where}: {both[0]!r} occurs both at the top and in metadata; keep one of them"
        raise DataError(msg)
    if unknown or known:
        fields["metadata"] = {**unknown, **known}
    return fields


def about_of(benchmark: Benchmark) -> dict[str, Any]:
    """Return the object that `read_about_node` reads back."""
    about: dict[str, Any] = {name: getattr(benchmark, name) for name in _TEXTS}
    about["thresholds"] = dict(benchmark.thresholds)
    about["metadata"] = dict(benchmark.metadata)
    return {name: value for name, value in about.items() if value or name == "name"}
