"""The hits of systems, from runs and from files of rankings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval._internal.text import pluralize
from berryeval._internal.validate import suggest
from berryeval.benchmarks import bundled_benchmarks, find_named
from berryeval.data import Chunk, Hit, index_records
from berryeval.errors import ConfigurationError, DataError
from berryeval.workflows.judged_data import find_benchmark
from berryeval.workflows.past_hits import find_hits, recorded_chunker
from berryeval.workflows.rescoring import find_part, load_unchanged
from berryeval.workflows.run_finder import FoundRun, is_ranking_file
from berryeval.workflows.selection import chunk_documents, load_source
from berryeval.workflows.systems import Candidate, Source, label_candidates

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.benchmarks import Benchmark

_FORMAT: Final = re.compile(  # advice for commands that have the option
    r"with --format\b.{0,60}? in Python|such as --format \w{1,40} --options \S{1,200}"
)


@dataclass(frozen=True)
class PooledSystem:
    """The hits of a system, the answers that it wrote, and what judges them."""

    label: str
    run: str
    hits: Mapping[str, Sequence[Hit]]
    chunker: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)


class PooledSystems(NamedTuple):
    """The systems of runs, with the benchmark that they were asked, and its place."""

    place: str
    benchmark: Benchmark
    chunkings: Chunkings
    systems: list[PooledSystem]
    notes: list[str]


def read_systems(
    runs: Sequence[str], benchmark: str | None = None, store: PathLike | None = None
) -> PooledSystems:
    """Read the hits and answers of every system of the runs.

    Args:
        runs: Runs, providers of runs as RUN#PROVIDER, and files of rankings.
        benchmark: Benchmark; by default that of the runs.
        store: Store of past runs, if not the default.
    """
    files = [text for text in runs if is_ranking_file(text)]
    sources = [Source.find(text, store) for text in runs if text not in files]
    place, loaded = _load(benchmark, sources)
    notes: list[str] = []
    chunkings = Chunkings(loaded)
    systems = [
        *_read_runs(sources, loaded, chunkings, notes),
        *(_read_file(text, loaded, chunkings, notes) for text in files),
    ]
    if not systems:
        raise DataError(f"there are no hits to pool: {'; '.join(notes)}")
    return PooledSystems(place, loaded, chunkings, systems, notes)


def _load(wanted: str | None, sources: Sequence[Source]) -> tuple[str, Benchmark]:
    """Load the benchmark, and return the text that names its place."""
    known = wanted in bundled_benchmarks() or find_named(wanted)
    if wanted is not None and (known or Path(wanted).exists()):
        return wanted, _load_source(wanted)
    if not sources:
        if wanted is not None:
            return wanted, _load_source(wanted)
        raise ConfigurationError("files of rankings need their benchmark: add --benchmark SOURCE")
    names = {one.text: [part.name for part in one.run.benchmarks] for one in sources}
    every = list(dict.fromkeys(name for own in names.values() for name in own))
    if wanted is not None and wanted not in every:
        raise ConfigurationError(f"no run has the benchmark {wanted!r}; {suggest(wanted, every)}")
    if wanted is None and len(every) != 1:
        shown = "; ".join(f"{text}: {', '.join(own) or 'none'}" for text, own in names.items())
        raise ConfigurationError(
            f"the runs are about several benchmarks ({shown}); choose one with --benchmark"
        )
    name = wanted or every[0]
    source = next(one for one in sources if name in names[one.text])
    at = names[source.text].index(name)
    benchmark = load_unchanged(source.run, at, source.run.benchmarks[at])
    given: Any = source.run.plan["benchmarks"][at]
    return given if isinstance(given, str) else str(given["source"]), benchmark


def _load_source(name: str) -> Benchmark:
    """Load a benchmark with its options in the configuration file."""
    try:
        return load_source(find_benchmark(name))
    except DataError as error:
        cure = "as `format` of this benchmark in berryeval.yaml"
        raise DataError(_FORMAT.sub(cure, str(error))) from None


class Chunkings:
    """The chunks of a benchmark by chunker."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._known: dict[str, Sequence[Chunk]] = {}

    def get(self, chunker: str) -> Sequence[Chunk]:
        """Return the chunks of a chunker; "" for the suggested one."""
        if chunker not in self._known:
            self._known[chunker] = chunk_documents(self._benchmark, chunker)
        return self._known[chunker]


def _read_runs(
    sources: Sequence[Source], benchmark: Benchmark, chunkings: Chunkings, notes: list[str]
) -> list[PooledSystem]:
    found = []
    for source in sources:
        part = find_part(source.run, benchmark)
        if part.hash_without_votes != benchmark.content_hash:
            notes.append(f"{benchmark.name} has changed since the run {source.run.id}")
        found += [
            Candidate(one.name, source, part, one)
            for one in part.providers
            if source.provider in {"", one.name}
        ]
    systems = []
    for one in label_candidates(found):
        chunker = recorded_chunker(one.source.folder, one.part, one.record)
        known = [benchmark.query_of[q.id] for q in one.part.queries if q.id in benchmark.query_of]
        run = FoundRun(one.source.run, one.source.folder)
        hits, more = find_hits(run, one.part, one.record, known, chunkings.get(chunker))
        notes += more
        if not any(hits.values()):
            why = f" ({one.record.failure})" if one.record.failure else ""
            problem = f"{one.label} of {one.source.text} has no hits{why}"
            if one.source.provider:
                raise DataError(f"{problem}, so there is nothing to pool")
            notes.append(f"{problem}; it is left out")
            continue
        options = one.source.run.plan.get("relevance") or {}
        identity = f"{one.source.run.id}#{one.record.name}"
        written = {answer.query_id: answer.answer for answer in one.record.answers}
        systems.append(PooledSystem(one.label, identity, hits, chunker, options, written))
    return systems


def _read_file(
    path: str, benchmark: Benchmark, chunkings: Chunkings, notes: list[str]
) -> PooledSystem:
    """Read a file of rankings, whose ids are chunks or documents of the benchmark."""
    from berryeval.providers import build_hit
    from berryeval.scoring import as_run

    ranked = as_run(path).ranked().to_dict()
    known = {query: found for query, found in ranked.items() if query in benchmark.query_of}
    if not known:
        examples = f"{next(iter(ranked), '')!r:.60} and {next(iter(benchmark.query_of), '')!r:.60}"
        raise DataError(
            f"{path}: no query of the run is in {benchmark.name} (they look like {examples})"
        )
    if len(known) < len(ranked):
        lost = len(ranked) - len(known)
        verb = "is" if lost == 1 else "are"
        notes.append(f"{path}: {pluralize(lost, 'query')} {verb} not in {benchmark.name}")
    chunk_of = index_records(chunkings.get(""))
    hits = {
        query: [
            build_hit(chunk_of[name], score, rank)
            if name in chunk_of and name not in benchmark.document_of
            else Hit(name, score, rank)
            for rank, (name, score) in enumerate(found.items(), start=1)
        ]
        for query, found in known.items()
    }
    if not any(hits.values()):
        raise DataError(f"{path}: has no hits, so there is nothing to pool")
    return PooledSystem(Path(path).name, str(Path(path)), hits)
