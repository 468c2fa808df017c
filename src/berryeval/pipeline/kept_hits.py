"""The hits of a run that was made: from the journals in its folder, or from its record alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.errors import DataError
from berryeval.pipeline.folder import RunFolder
from berryeval.pipeline.plan import ProviderSpec
from berryeval.pipeline.rankings import Answers
from berryeval.providers.base import hit_of
from berryeval.records import Hit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.pipeline.find_run import FoundRun
    from berryeval.records import Chunk, Query
    from berryeval.results import AnswerRecord, BenchmarkRecord, ProviderRecord

__all__ = ["hits_of", "recorded_chunker", "spec_of"]


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
        hit_of(chunk_of[hit.id], hit.score, rank)
        if hit.id in chunk_of
        else Hit(hit.id, hit.score, rank)
        for rank, hit in enumerate(answer.hits, start=1)
    ]
