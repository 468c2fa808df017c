"""What a provider answered: as it is written to the journal, and as it is read for scoring."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from berryeval.harness.journal import JournalReader
from berryeval.records import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from berryeval.harness.ranking import Ranking
    from berryeval.records import Chunk, Query

__all__ = ["Answers", "lean", "whole"]


class Answers(Mapping[str, tuple[Hit, ...]]):
    """The hits of a provider by query, in the order of the queries, read when they are looked at.

    They stay in the journal, and none of them is held; it is open as long as this is.
    """

    def __init__(
        self, journal: JournalReader, queries: Sequence[Query], chunks: Sequence[Chunk]
    ) -> None:
        self._journal = journal
        there = (query.id for query in queries if query.id in journal.outcomes)
        self._queries = dict.fromkeys(there)
        self._chunk_of = {chunk.id: chunk for chunk in chunks}
        self._last: Ranking | None = None

    @classmethod
    @contextmanager
    def opened(
        cls, journal: Path, queries: Sequence[Query], chunks: Sequence[Chunk]
    ) -> Iterator[Answers]:
        """Those of a journal to these queries; none where there is no journal."""
        with JournalReader(journal if journal.exists() else os.devnull) as reader:
            yield cls(reader, queries, chunks)

    @property
    def outcomes(self) -> dict[str, int]:
        """How many queries were answered, were empty, failed, or timed out."""
        return dict(Counter(self._journal.outcomes[query] for query in self._queries))

    def ranking(self, query_id: str) -> Ranking:
        """What became of a query, its hits with all that the chunks know of them."""
        if self._last is None or self._last.query_id != query_id:
            self._last = whole(self._journal.ranking(query_id), self._chunk_of)
        return self._last

    def __getitem__(self, query_id: str) -> tuple[Hit, ...]:
        return self.ranking(query_id).hits

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._queries

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)


def lean(ranking: Ranking, chunks: Mapping[str, Chunk]) -> Ranking:
    """The ranking without the texts and metadata that the corpus holds anyway."""
    return replace(ranking, hits=tuple(_lean(hit, chunks.get(hit.id)) for hit in ranking.hits))


def _lean(hit: Hit, chunk: Chunk | None) -> Hit:
    if chunk is None or hit.text != chunk.text:
        return hit
    metadata = {} if hit.metadata == chunk.metadata else hit.metadata
    return Hit(
        hit.id, hit.score, hit.rank, "", hit.doc_id, hit.section, hit.start, hit.end, metadata,
        hit.extra,
    )  # fmt: skip


def whole(ranking: Ranking, chunks: Mapping[str, Chunk]) -> Ranking:
    """The ranking with these texts and metadata again; they are those of the chunks, not copies."""
    return replace(ranking, hits=tuple(_whole(hit, chunks.get(hit.id)) for hit in ranking.hits))


def _whole(hit: Hit, chunk: Chunk | None) -> Hit:
    if chunk is None or hit.text:
        return hit
    doc_id = chunk.doc_id if hit.doc_id == chunk.doc_id else hit.doc_id
    section = chunk.section if hit.section == chunk.section else hit.section
    return Hit(
        chunk.id, hit.score, hit.rank, chunk.text, doc_id, section, hit.start, hit.end,
        hit.metadata or chunk.metadata, hit.extra,
    )  # fmt: skip
