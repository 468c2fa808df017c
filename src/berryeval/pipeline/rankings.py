"""What a provider answered: as it is written to the journal, and as it is read for scoring."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from berryeval.harness.journal import read_journal
from berryeval.records import Hit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from berryeval.harness.ranking import Ranking
    from berryeval.records import Chunk, Query

__all__ = ["Answers", "lean", "whole"]


@dataclass(frozen=True)
class Answers:
    """The answers of a provider, in the order of the queries.

    Attributes:
        rankings: what became of each query; the hits are left out.
        hits: the hits by query, without what the chunks know of them.
    """

    rankings: list[Ranking]
    hits: dict[str, list[Hit]]

    @classmethod
    def read(cls, journal: Path, queries: Sequence[Query], chunks: Sequence[Chunk]) -> Answers:
        """Those of a journal to these queries."""
        chunks_of = {chunk.id: chunk for chunk in chunks}
        wanted = {query.id for query in queries}
        found: dict[str, Ranking] = {}
        hits: dict[str, list[Hit]] = {}
        for ranking in read_journal(journal) if journal.exists() else ():
            if ranking.query_id in wanted:
                found[ranking.query_id] = replace(ranking, hits=())
                hits[ranking.query_id] = list(whole(ranking, chunks_of).hits)
        there = [query.id for query in queries if query.id in found]
        return cls([found[name] for name in there], {name: hits[name] for name in there})


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
