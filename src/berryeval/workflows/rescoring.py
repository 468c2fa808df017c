"""New metrics, or new judgments, for a run that was made: nothing is searched again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.metrics import parse_metrics
from berryeval.runs import depth_note
from berryeval.scoring import as_qrels, evaluate, judge_and_score
from berryeval.workflows.config import check_model
from berryeval.workflows.history import opened_store
from berryeval.workflows.plan import BenchmarkSpec
from berryeval.workflows.run_answers import hits_of, recorded_chunker, spec_of
from berryeval.workflows.run_folder import RunFolder, write_json_file
from berryeval.workflows.selection import cut, load_one, relevance_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from berryeval.benchmarks import Benchmark
    from berryeval.data import Query
    from berryeval.runs import BenchmarkRecord, ProviderRecord, RunRecord
    from berryeval.scoring import Scores
    from berryeval.workflows.run_finder import FoundRun


@dataclass(frozen=True)
class Rescored:
    """New scores of what providers did on a benchmark.

    Attributes:
        part: what they did.
        scores: by provider.
        notes: what people should know about them.
        same_judgments: whether what is relevant is what it was in the run.
        content_hash: of the benchmark that they are judged by; empty if by other judgments.
        differing: the providers whose own metrics come out otherwise than in the run.
    """

    part: BenchmarkRecord
    scores: dict[str, Scores]
    notes: tuple[str, ...] = ()
    same_judgments: bool = True
    content_hash: str = ""
    differing: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many queries the scores are of."""
        return max((scores.count for scores in self.scores.values()), default=0)


def rescored_by_benchmark(
    found: FoundRun, metrics: Sequence[str], benchmark: str | None = None
) -> list[Rescored]:
    """The scores of a run by other metrics, its hits judged again.

    Args:
        found: the run; hits are taken from the journals in its folder, or from its record.
        metrics: what to compute.
        benchmark: where the benchmark is now, or another state of it, whose judgments count.
            Without, the benchmarks of the plan are loaded, and must be as they were.
    """
    parse_metrics(metrics)
    if benchmark is None:
        loaded = [
            (part, _as_it_was(found.record, place, part))
            for place, part in enumerate(found.record.benchmarks)
        ]
    else:
        one = load_one(benchmark)
        loaded = [(_part_for(found.record, one), one)]
    return [_rescored(found, part, one, metrics) for part, one in loaded]


def _as_it_was(record: RunRecord, place: int, part: BenchmarkRecord) -> Benchmark:
    advice = "; say where it is with --benchmark PATH, or score by ids with --qrels FILE"
    sources = record.plan.get("benchmarks")
    if not isinstance(sources, list) or len(sources) != len(record.benchmarks):
        msg = f"run {record.id} does not say where the benchmark {part.name} is{advice}"
        raise DataError(msg)
    source: Any = sources[place]
    try:
        spec = source if isinstance(source, str) else check_model(BenchmarkSpec, source, None)
        benchmark = load_one(spec)
    except BerryEvalError as error:
        msg = f"the benchmark {part.name} of run {record.id} cannot be loaded ({error}){advice}"
        raise DataError(msg) from None
    if benchmark.content_hash != part.content_hash:
        msg = (
            f"the benchmark {part.name} is not what it was when run {record.id} was made "
            f"({benchmark.content_hash[:15]}..., then {part.content_hash[:15]}...); to score by "
            f"what it says now: --benchmark {source if isinstance(source, str) else part.name}"
        )
        raise DataError(msg)
    return benchmark


def _part_for(record: RunRecord, benchmark: Benchmark) -> BenchmarkRecord:
    named = [part for part in record.benchmarks if part.name == benchmark.name]
    if len(named) == 1 or len(record.benchmarks) == 1:
        return (named or record.benchmarks)[0]
    there = ", ".join(part.name for part in record.benchmarks) or "none"
    msg = f"run {record.id} has no benchmark {benchmark.name!r}; there are {there}"
    raise ConfigurationError(msg)


def _rescored(
    found: FoundRun, part: BenchmarkRecord, benchmark: Benchmark, metrics: Sequence[str]
) -> Rescored:
    same = benchmark.content_hash == part.content_hash
    query_of = {query.id: query for query in benchmark.queries}
    queries = [query_of[query.id] for query in part.queries if query.id in query_of]
    notes = [note for note in (depth_note(part.k, metrics),) if note]
    if not same:
        notes.append("the benchmark is not what it was: these scores and the run's do not compare")
    if len(queries) < len(part.queries):
        gone = len(part.queries) - len(queries)
        notes.append(f"{gone} of {len(part.queries)} queries are not in the benchmark any more")
    if not queries:
        msg = f"{benchmark.name}: none of the queries of run {found.record.id} is in it"
        raise DataError(msg)
    scores, differing = {}, []
    for provider in part.providers:
        if provider.scores is None:
            notes.append(f"{provider.name} has no scores: it failed ({provider.failure})")
            continue
        wanted = [*metrics, *(provider.scores.metrics if same else ())]
        everything, more = _judged_again(found, part, provider, benchmark, queries, wanted)
        notes += more
        apart = _apart(provider.scores, everything) if same else []
        if apart:
            differing.append(provider.name)
            notes.append(
                f"{provider.name}: judged again, the run's own {', '.join(apart)} come out "
                "otherwise than they were"
            )
        scores[provider.name] = everything.only(metrics)
    return Rescored(
        part, scores, tuple(notes), same, benchmark.content_hash, differing=tuple(differing)
    )


def _judged_again(
    found: FoundRun,
    part: BenchmarkRecord,
    provider: ProviderRecord,
    benchmark: Benchmark,
    queries: Sequence[Query],
    metrics: Sequence[str],
) -> tuple[Scores, list[str]]:
    """The scores of a provider, and what is doubtful of them."""
    chunks = cut(benchmark, recorded_chunker(found, part, provider))
    hits, notes = hits_of(found, part, provider, queries, chunks)
    scores = judge_and_score(relevance_of(benchmark, queries, chunks), hits, metrics)
    return replace(scores, run_name=provider.name), notes


def _apart(before: Scores, now: Scores) -> list[str]:
    """The metrics of a run that do not come out again."""
    return [name for name in before.metrics if now.per_query(name) != before.per_query(name)]


def rescored_by_qrels(found: FoundRun, metrics: Sequence[str], qrels: str) -> list[Rescored]:
    """The scores of a run by judgments of ids, whatever its benchmark says.

    Hits count by their ids, in the order in which they were returned. Queries count that were asked
    and are judged; notes say how many were not.
    """
    judgments = as_qrels(qrels, lenient=False)
    judged = set(judgments.table.queries)
    parts = []
    for part in found.record.benchmarks:
        both = [query.id for query in part.queries if query.id in judged]
        if not both:
            continue
        scores = {}
        for provider in part.providers:
            if provider.answers:
                ranked = {
                    answer.query_id: {
                        hit.id: float(len(answer.hits) - place)
                        for place, hit in enumerate(answer.hits)
                    }
                    for answer in provider.answers
                    if answer.outcome != "missing"
                }
                scores[provider.name] = evaluate(judgments, ranked, metrics).select(both)
        deep = depth_note(part.k, metrics)
        left_out = _left_out(part, judged, len(both))
        notes = (f"judged by {qrels}", *([deep] if deep else []), *left_out)
        parts.append(Rescored(part, scores, notes, same_judgments=False))
    if not parts:
        msg = f"{qrels}: judges none of the queries that were asked in run {found.record.id}"
        raise DataError(msg)
    return parts


def _left_out(part: BenchmarkRecord, judged: set[str], both: int) -> Iterator[str]:
    """Which queries do not count: never asked, they would be zeros that nobody earned."""
    if len(judged) > both:
        yield f"{len(judged) - both} of {len(judged)} judged queries were not asked: left out"
    if len(part.queries) > both:
        asked = len(part.queries)
        yield f"{asked - both} of {asked} queries that were asked are not judged: left out"


# New metrics of a run, written to where the run is: its folder, and the store.


def save_rescored(found: FoundRun, parts: Sequence[Rescored], place: str | None) -> list[str]:
    """Add the new metrics to the run; what was there stays. Where it was saved.

    Scores by other judgments than the run's are refused: in one table they would seem comparable.
    So are those of a run whose own metrics do not come out again: nobody knows which are right.
    """
    if not all(part.same_judgments for part in parts):
        msg = "--save keeps scores by the run's own judgments only; leave out --qrels, --benchmark"
        raise ConfigurationError(msg)
    differing = sorted({name for part in parts for name in part.differing})
    if differing:
        msg = (
            f"--save keeps new metrics beside those that come out again; those of "
            f"{', '.join(differing)} do not: nothing was saved. Leave out --save to see them, or "
            "make a new run (berryeval eval)"
        )
        raise DataError(msg)
    if found.folder is None and place is None:
        msg = "--save has no place to write to: the run has no folder here, and there is no store"
        raise ConfigurationError(msg)
    record = _with_scores(found.record, parts)
    saved = []
    if found.folder is not None:
        _write_folder(found.folder, record)
        saved.append(str(found.folder))
    if place is not None:
        with opened_store(place, make=True) as store:
            store.add(record, replace_content=True)
            saved.append(f"the store {store.shown}")
    return saved


def _with_scores(record: RunRecord, parts: Sequence[Rescored]) -> RunRecord:
    new = {part.part.name: part.scores for part in parts}
    return replace(
        record,
        benchmarks=tuple(
            _part_with(benchmark, new.get(benchmark.name, {})) for benchmark in record.benchmarks
        ),
    )


def _part_with(part: BenchmarkRecord, new: dict[str, Scores]) -> BenchmarkRecord:
    def changed(provider: ProviderRecord) -> ProviderRecord:
        if provider.scores is None or provider.name not in new:
            return provider
        return replace(provider, scores=_joined(provider.scores, new[provider.name]))

    return replace(part, providers=tuple(map(changed, part.providers)))


def _joined(old: Scores, new: Scores) -> Scores:
    """The old table, and the metrics that it did not have."""
    if old.queries != new.queries:
        msg = "the queries of the run and of the new scores differ; nothing was saved"
        raise DataError(msg)
    return old.with_metrics_of(new)


def _write_folder(path: Path, record: RunRecord) -> None:
    folder = RunFolder(path)
    with folder.locked():
        for part in record.benchmarks:
            for provider in part.providers:
                if provider.scores is not None:
                    file = folder.part(part.name, spec_of(provider)) / "scores.json"
                    write_json_file(file, provider.scores.to_dict())
        folder.write_record(record)
