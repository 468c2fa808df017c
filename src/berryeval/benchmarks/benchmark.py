"""`Benchmark`: what a system is measured on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval.json_record import JsonRecord
    from berryeval.records import Document, Judgment, Query

__all__ = ["Benchmark"]


@dataclass(frozen=True)
class Benchmark:
    """A corpus, queries, and judgments of what is relevant to them. Never changes.

    Attributes:
        name: what people call it.
        documents: the corpus.
        queries: the questions, in the order in which they are asked.
        judgments: what is relevant; none, where the pack or the expected answers decide.
        pack: the name of the pack that owns the rules of relevance, if one does.
        thresholds: measures with the least value each should reach.
        version: of the data.
        description: a sentence or two.
        metadata: whatever else the files said.
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

    def __post_init__(self) -> None:
        """Refuse ids that stand twice: judgments could not say which they mean."""
        for what, records in (("document", self.documents), ("query", self.queries)):
            seen: set[str] = set()
            for record in records:
                if record.id in seen:
                    msg = f"{self.name}: the {what} id {record.id!r} stands twice"
                    raise DataError(msg)
                seen.add(record.id)

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
        """The hash of everything that can change a score: texts, queries, judgments, pack."""
        digest = hashlib.sha256(self.pack.encode())
        for records in (self.documents, self.queries, self.judgments):
            for line in _lines(records):
                digest.update(line)
            digest.update(b"\n")
        return f"sha256:{digest.hexdigest()}"


def _lines(records: Iterable[JsonRecord]) -> Iterable[bytes]:
    """The records as lines of JSON that do not depend on the order of their fields."""
    for record in records:
        text = json.dumps(record.to_json(), sort_keys=True, ensure_ascii=True)
        yield f"{text}\n".encode()
