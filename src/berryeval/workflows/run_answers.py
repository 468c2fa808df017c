"""What a provider answered: as it is written to the journal, and as it is read for scoring."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from berryeval.data import Hit
from berryeval.errors import DataError
from berryeval.providers import build_hit
from berryeval.runner import JournalReader
from berryeval.workflows.plan import ProviderSpec
from berryeval.workflows.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from berryeval.data import Chunk, Query
    from berryeval.runner import Ranking
    from berryeval.runs import AnswerRecord, BenchmarkRecord, ProviderRecord
    from berryeval.workflows.run_finder import FoundRun


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


# The hits of a run that was made: from the journals in its folder, or from its record alone.


def spec_of(provider: ProviderRecord) -> ProviderSpec:
    """The provider as a plan names it, without its options."""
    names = {"type": provider.type, "name": provider.name, "chunker": provider.chunker}
    return ProviderSpec.model_validate(names)


def recorded_chunker(found: FoundRun, part: BenchmarkRecord, provider: ProviderRecord) -> str:
    """The chunker that the run used; empty if neither its record nor its folder says."""
    if provider.chunker or found.folder is None:
        return provider.chunker
    folder = RunFolder(found.folder)
    try:
        suggested = folder.read_manifest().get("chunkers") if folder.manifest_file.exists() else {}
    except DataError:
        return ""
    return str(suggested.get(part.name, "")) if isinstance(suggested, dict) else ""


def hits_of(
    found: FoundRun,
    part: BenchmarkRecord,
    provider: ProviderRecord,
    queries: Sequence[Query],
    chunks: Sequence[Chunk],
) -> tuple[dict[str, list[Hit]], list[str]]:
    """What a provider answered to these queries, and what is doubtful about it.

    The journal knows what a provider says of its hits; of those that are chunks of the corpus, the
    corpus knows it too.
    """
    wanted = {query.id for query in queries}
    journal = _journal(found, part, provider, queries, chunks)
    chunk_of = {chunk.id: chunk for chunk in chunks}
    hits: dict[str, list[Hit]] = {}
    strange = 0
    for answer in provider.answers:
        if answer.query_id not in wanted or answer.outcome == "missing":
            continue
        written = journal.get(answer.query_id, [])
        if [hit.id for hit in written] == [hit.id for hit in answer.hits]:
            hits[answer.query_id] = written
            continue
        hits[answer.query_id] = _rebuilt(answer, chunk_of)
        strange += sum(hit.id not in chunk_of for hit in answer.hits)
    if not strange:
        return hits, []
    note = (
        f"{provider.name}: {strange} hits are no chunks of the corpus, and count by their ids "
        "alone; what the provider said of them was in the folder of the run"
    )
    return hits, [note]


def _journal(
    found: FoundRun,
    part: BenchmarkRecord,
    provider: ProviderRecord,
    queries: Sequence[Query],
    chunks: Sequence[Chunk],
) -> Mapping[str, list[Hit]]:
    if found.folder is None:
        return {}
    file = RunFolder(found.folder).part(part.name, spec_of(provider)) / "results.jsonl"
    try:
        with Answers.opened(file, queries, chunks) as answers:
            return {query: list(hits) for query, hits in answers.items()}
    except DataError:
        return {}  # the record holds what counts


def _rebuilt(answer: AnswerRecord, chunk_of: Mapping[str, Chunk]) -> list[Hit]:
    return [
        build_hit(chunk_of[hit.id], hit.score, rank)
        if hit.id in chunk_of
        else Hit(hit.id, hit.score, rank)
        for rank, hit in enumerate(answer.hits, start=1)
    ]
