"""The hits of a past run, from the journals in its folder or from its record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from berryeval.data import Hit, index_records
from berryeval.errors import DataError
from berryeval.workflows.plan import ProviderSpec
from berryeval.workflows.run_folder import JOURNAL, RunFolder

if TYPE_CHECKING:
    from berryeval.data import Chunk, Query
    from berryeval.runner import Answers
    from berryeval.runs import BenchmarkRecord, ProviderRecord
    from berryeval.workflows.run_finder import FoundRun


def spec_of(provider: ProviderRecord) -> ProviderSpec:
    """Return the provider of a plan, without its options."""
    names = {"type": provider.type, "name": provider.name, "chunker": provider.chunker}
    return ProviderSpec.model_validate(names)


def recorded_chunker(path: Path | None, part: BenchmarkRecord, provider: ProviderRecord) -> str:
    """Return the chunker that a run used; empty if neither record nor folder names it."""
    if provider.chunker or path is None:
        return provider.chunker
    folder = RunFolder(path)
    try:
        suggested = folder.find_manifest().get("chunkers")
    except DataError:
        return ""
    return str(suggested.get(part.name, "")) if isinstance(suggested, dict) else ""


def find_hits(
    found: FoundRun,
    part: BenchmarkRecord,
    provider: ProviderRecord,
    queries: Sequence[Query],
    chunks: Sequence[Chunk],
) -> tuple[dict[str, list[Hit]], list[str]]:
    """Return the hits of a provider from its journal, else from its record, and notes."""
    from berryeval.providers import build_hit

    wanted = {query.id for query in queries}
    journal: dict[str, list[Hit]] = {}
    with suppress(DataError), open_journal(found, part, provider, queries, chunks) as answers:
        journal = {query: list(hits) for query, hits in answers.items()} if answers else {}
    chunk_of = index_records(chunks)
    hits: dict[str, list[Hit]] = {}
    unknown = 0
    for answer in provider.answers:
        if answer.query_id not in wanted or answer.outcome == "missing":
            continue
        written = journal.get(answer.query_id, [])
        if [hit.id for hit in written] == [hit.id for hit in answer.hits]:
            hits[answer.query_id] = written
            continue
        hits[answer.query_id] = [
            build_hit(chunk_of[hit.id], hit.score, rank)
            if hit.id in chunk_of
            else Hit(hit.id, hit.score, rank)
            for rank, hit in enumerate(answer.hits, start=1)
        ]
        unknown += sum(hit.id not in chunk_of for hit in answer.hits)
    if not unknown:
        return hits, []
    note = (
        f"{provider.name}: {unknown} hits are no chunks of the corpus, and count by their ids "
        "alone; their texts were in the folder of the run"
    )
    return hits, [note]


@contextmanager
def open_journal(
    found: FoundRun,
    part: BenchmarkRecord,
    provider: ProviderRecord,
    queries: Sequence[Query],
    chunks: Sequence[Chunk],
) -> Iterator[Answers | None]:
    """Open the journal of a provider; None if it is gone or damaged."""
    from berryeval.runner import Answers

    if found.folder is None:
        yield None
        return
    file = RunFolder(found.folder).part(part.name, spec_of(provider)) / JOURNAL
    with ExitStack() as stack:
        try:
            answers = stack.enter_context(Answers.open(file, queries, chunks))
        except DataError:
            answers = None  # the record has the ids
        yield answers
