"""New metrics, or new judgments, for a past run, without searching again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from berryeval._internal.text import format_resume_command
from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.metrics import parse_metrics
from berryeval.runs import describe_depth
from berryeval.workflows.config import check_model
from berryeval.workflows.history import choose_store, open_place
from berryeval.workflows.judged_data import (
    describe_votes,
    hash_without_votes,
    judge_benchmark,
    load_judged,
)
from berryeval.workflows.past_hits import find_hits, open_journal, recorded_chunker, spec_of
from berryeval.workflows.plan import AUTO, NO_VOTES, BenchmarkSpec, RelevanceSpec
from berryeval.workflows.run_finder import find_run
from berryeval.workflows.run_folder import SCORES, RunFolder, write_json_file

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.benchmarks import Benchmark
    from berryeval.data import Chunk, Query
    from berryeval.relevance import Relevance
    from berryeval.runs import BenchmarkRecord, ProviderRecord, RunRecord, StageRecord
    from berryeval.scoring import Scores
    from berryeval.workflows.run_finder import FoundRun


@dataclass(frozen=True)
class Rescored:
    """New scores by provider on a benchmark, and the providers whose own metrics differ now.

    `stages` are those of the providers that search in several, by the old and the new metrics.
    """

    part: BenchmarkRecord
    scores: dict[str, Scores]
    notes: tuple[str, ...] = ()
    same_judgments: bool = True
    content_hash: str = ""
    differing: tuple[str, ...] = ()
    stages: Mapping[str, tuple[StageRecord, ...]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of scored queries."""
        return max((scores.count for scores in self.scores.values()), default=0)


@dataclass(frozen=True)
class Rescoring:
    """A rescored run: the run, its new scores, and the places where they were saved.

    `own_rules` are the rules that `report` judges a saved run by, as reports name them.
    """

    run: FoundRun
    parts: list[Rescored]
    saved: list[str]
    own_rules: frozenset[str] = frozenset()


def rescore(
    run: str,
    metrics: Sequence[str] = (),
    *,
    qrels: str | None = None,
    benchmark: str | None = None,
    judged: str | None = None,
    save: bool = False,
    store: PathLike | None = None,
) -> Rescoring:
    """Score a past run by other metrics or judgments; nothing is searched.

    `qrels` is a file of judgments of ids. `benchmark` is the place of the benchmark, whose
    judgments count even if they have changed; by default the benchmarks of the plan must be
    unchanged. The votes of judges count as in `load_judged`, by default those of the ledger that
    the run used, and without metrics those of the run are computed by them. `save` adds the metrics
    to the run, in its folder and in the store; unless `judged` says otherwise, by the judgments of
    the run.
    """
    found = find_run(run, store)
    if qrels is not None:
        parts = rescore_by_qrels(found, metrics, qrels)
    else:
        had_votes = any("judged" in part.extra for part in found.record.benchmarks)
        usual = str(found.record.plan.get("judged") or AUTO)
        votes = judged or (NO_VOTES if save and not had_votes else usual)
        parts = rescore_by_benchmark(found, metrics, benchmark, votes)
    if not any(part.scores for part in parts):
        raise DataError(f"run {found.record.id}: no provider has answers to score")
    saved = save_rescored(found, parts, choose_store(store)) if save else []
    return Rescoring(found, parts, saved, _find_rules(found.record) if saved else frozenset())


def _find_rules(record: RunRecord) -> frozenset[str]:
    """Return the rules that a report of the run is judged by, alone and with their groups."""
    from berryeval.reports import Report
    from berryeval.workflows.reporting import judge_report

    verdicts = judge_report(Report.of([record])).verdicts
    return frozenset(name for one in verdicts for name in (one.rule, f"{one.rule} ({one.group})"))


def rescore_by_benchmark(
    found: FoundRun,
    metrics: Sequence[str],
    benchmark: str | None = None,
    judged: str = NO_VOTES,
) -> list[Rescored]:
    """Judge the hits of a run again; they come from the journals in its folder, or its record."""
    parse_metrics(metrics)
    if benchmark is None:
        loaded = [
            (part, load_unchanged(found.record, place, part, judged))
            for place, part in enumerate(found.record.benchmarks)
        ]
    else:
        one = load_judged(benchmark, judged).benchmark
        loaded = [(find_part(found.record, one), one)]
    if not metrics and all(one.content_hash == part.content_hash for part, one in loaded):
        raise ConfigurationError("name at least one metric, as in -m nDCG@10 AP")
    return [_rescore_part(found, part, one, metrics) for part, one in loaded]


def load_unchanged(
    record: RunRecord, place: int, part: BenchmarkRecord, judged: str = NO_VOTES
) -> Benchmark:
    """Load the benchmark that a run names at this place of its plan.

    It must be as it was, except for the votes of judges.
    """
    from berryeval.workflows.selection import load_source

    advice = "; give its place with --benchmark PATH, or score by ids with --qrels FILE"
    sources = record.plan.get("benchmarks")
    if not isinstance(sources, list) or len(sources) != len(record.benchmarks):
        raise DataError(f"run {record.id} does not say where the benchmark {part.name} is{advice}")
    source: Any = sources[place]
    try:
        spec = source if isinstance(source, str) else check_model(BenchmarkSpec, source, None)
        benchmark = load_source(spec)
    except BerryEvalError as error:
        raise DataError(
            f"the benchmark {part.name} of run {record.id} cannot be loaded ({error}){advice}"
        ) from None
    now, then = benchmark.content_hash, part.hash_without_votes
    if now != then:
        raise DataError(
            f"the benchmark {part.name} has changed since run {record.id} "
            f"({now[:15]}..., then {then[:15]}...); to score by "
            f"its present judgments: --benchmark {source if isinstance(source, str) else part.name}"
        )
    return judge_benchmark(benchmark, spec, judged).benchmark


def find_part(record: RunRecord, benchmark: Benchmark) -> BenchmarkRecord:
    """Return the part of a run that is about a benchmark."""
    named = [part for part in record.benchmarks if part.name == benchmark.name]
    if len(named) == 1 or len(record.benchmarks) == 1:
        return (named or record.benchmarks)[0]
    names = ", ".join(part.name for part in record.benchmarks) or "none"
    raise ConfigurationError(
        f"run {record.id} has no benchmark {benchmark.name!r}; there are {names}"
    )


def _rescore_part(
    found: FoundRun, part: BenchmarkRecord, benchmark: Benchmark, metrics: Sequence[str]
) -> Rescored:
    from berryeval.scoring import find_level_note

    same = benchmark.content_hash == part.content_hash
    query_of = {query.id: query for query in benchmark.queries}
    queries = [query_of[query.id] for query in part.queries if query.id in query_of]
    metrics = metrics or next((one.scores.metrics for one in part.providers if one.scores), ())
    notes = [note for note in (describe_depth(part.k, metrics),) if note]
    notes += _describe_change(found, part, benchmark)
    if len(queries) < len(part.queries):
        gone = len(part.queries) - len(queries)
        notes.append(f"{gone} of {len(part.queries)} queries are no longer in the benchmark")
    if not queries:
        raise DataError(f"{benchmark.name}: has none of the queries of run {found.record.id}")
    scores, stages, differing = {}, {}, []
    for provider in part.providers:
        if provider.scores is None:
            notes.append(f"{provider.name} has no scores: it failed ({provider.failure})")
            continue
        wanted = [*metrics, *(provider.scores.metrics if same else ())]
        everything, more = judge_again(found, part, provider, benchmark, queries, wanted)
        notes += more
        own = {name: provider.scores.per_query(name) for name in provider.scores.metrics}
        changed = [name for name in own if same and everything.per_query(name) != own[name]]
        if changed:
            differing.append(provider.name)
            notes.append(
                f"{provider.name}: judged again, the run's own {', '.join(changed)} differ from "
                "the recorded values"
            )
        scores[provider.name] = everything.only(metrics)
        if same and provider.stages:
            again, more = _score_stages(found, part, provider, benchmark, queries, metrics)
            stages[provider.name] = again
            notes += more
        doubts = (find_level_note(everything, name) for name in scores[provider.name].metrics)
        notes += dict.fromkeys(one for one in doubts if one and one not in notes)
    return Rescored(
        part, scores, tuple(notes), same, benchmark.content_hash,
        differing=tuple(differing), stages=stages,
    )  # fmt: skip


def _score_stages(
    found: FoundRun,
    part: BenchmarkRecord,
    provider: ProviderRecord,
    benchmark: Benchmark,
    queries: Sequence[Query],
    metrics: Sequence[str],
) -> tuple[tuple[StageRecord, ...], list[str]]:
    """Score the stages of a provider by further metrics, from its journal, and return notes."""
    from berryeval.workflows.stage_scores import record_stages

    tables = [one.scores for one in provider.stages if one.scores is not None]
    known = tables[0].metrics if tables else ()
    if set(map(str, parse_metrics(metrics))) <= {*known}:
        return provider.stages, []
    chunks, relevance = _prepare(found, part, provider, benchmark, queries)
    with open_journal(found, part, provider, queries, chunks) as answers:
        if answers is not None and len(answers) == len(queries):
            wanted = list(dict.fromkeys((*known, *metrics)))
            return record_stages(relevance, answers, wanted, part.k, provider.name)[0], []
    note = f"{provider.name}: the table of its stages lacks the new metrics, which need the "
    return provider.stages, [f"{note}journal in the folder of the run"]


def _describe_change(found: FoundRun, part: BenchmarkRecord, benchmark: Benchmark) -> list[str]:
    """Say how the data differ from those of the run, and how to keep scores by new votes."""
    if benchmark.content_hash == part.content_hash:
        return []
    if hash_without_votes(benchmark) != part.hash_without_votes:
        return ["the benchmark has changed: these scores do not compare with the run's"]
    votes = list(describe_votes(benchmark)) and [*benchmark.remarks[:1]]
    notes = votes or ["without the votes of judges that the run was scored by"]
    if found.folder is not None:
        notes.append(
            f"to keep these scores in the run: {format_resume_command(found.folder)}"
            f"{'' if votes else ' --judged none'}"
        )
    return notes


def judge_again(
    found: FoundRun,
    part: BenchmarkRecord,
    provider: ProviderRecord,
    benchmark: Benchmark,
    queries: Sequence[Query],
    metrics: Sequence[str],
) -> tuple[Scores, list[str]]:
    """Score the hits of a provider by the judgments of a benchmark, and return notes."""
    from berryeval.scoring import judge_and_score, note_lost

    chunks, relevance = _prepare(found, part, provider, benchmark, queries)
    hits, notes = find_hits(found, part, provider, queries, chunks)
    scores = note_lost(judge_and_score(relevance, hits, metrics), relevance)
    return replace(scores, run_name=provider.name), notes


def _prepare(
    found: FoundRun,
    part: BenchmarkRecord,
    provider: ProviderRecord,
    benchmark: Benchmark,
    queries: Sequence[Query],
) -> tuple[Sequence[Chunk], Relevance]:
    """Return the chunks that a provider searched, and the rules that judge its hits."""
    from berryeval.workflows.selection import build_relevance, chunk_documents

    chunks = chunk_documents(benchmark, recorded_chunker(found.folder, part, provider))
    options = check_model(RelevanceSpec, found.record.plan.get("relevance") or {}, None).options
    return chunks, build_relevance(benchmark, queries, chunks, options)


def rescore_by_qrels(found: FoundRun, metrics: Sequence[str], qrels: str) -> list[Rescored]:
    """Score a run by judgments of ids.

    Hits count by their ids, in the order in which they were returned. Only queries that were asked
    and are judged count; notes give the number of the others.
    """
    from berryeval.scoring import as_qrels, evaluate

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
        deep, asked = describe_depth(part.k, metrics), len(part.queries)
        notes = [f"judged by {qrels}", *([deep] if deep else [])]
        if more := len(judged) - len(both):  # they would score 0
            notes.append(f"{more} of {len(judged)} judged queries were not asked: left out")
        if more := asked - len(both):
            notes.append(f"{more} of {asked} queries that were asked are not judged: left out")
        parts.append(Rescored(part, scores, tuple(notes), same_judgments=False))
    if not parts:
        raise DataError(f"{qrels}: judges none of the queries of run {found.record.id}")
    return parts


# Saving new metrics.


def save_rescored(found: FoundRun, parts: Sequence[Rescored], place: str | None) -> list[str]:
    """Add new metrics to a run and return the places where it was saved.

    Scores by other judgments are rejected, because one table would make them look comparable. So
    are those of a run whose own metrics differ when judged again.
    """
    if not all(part.same_judgments for part in parts):
        raise ConfigurationError(
            "--save keeps scores by the run's own judgments only; leave out --qrels, --benchmark "
            "and --judged, or score the whole run by the votes of judges: berryeval eval --resume"
        )
    differing = sorted({name for part in parts for name in part.differing})
    if differing:
        raise DataError(
            f"--save needs the run's own metrics to be reproduced; those of {', '.join(differing)} "
            "differ: nothing was saved. Leave out --save to see them, or start a new run "
            "(berryeval eval)"
        )
    if found.folder is None and place is None:
        raise ConfigurationError(
            "--save has nowhere to write: the run has no folder here, and there is no store"
        )
    record = _add_scores(found.record, parts)
    saved = []
    if found.folder is not None:
        _write_folder(found.folder, record)
        saved.append(str(found.folder))
    if place is not None:
        with open_place(place, make=True) as store:
            store.add(record, replace_content=True)
            saved.append(f"the store {store.shown}")
    return saved


def _add_scores(record: RunRecord, parts: Sequence[Rescored]) -> RunRecord:
    new = {part.part.name: part for part in parts}

    def add(part: BenchmarkRecord, provider: ProviderRecord) -> ProviderRecord:
        found = new.get(part.name)
        scores = found.scores.get(provider.name) if found else None
        if provider.scores is None or found is None or scores is None:
            return provider
        if provider.scores.queries != scores.queries:
            raise DataError(
                "the queries of the run and of the new scores differ; nothing was saved"
            )
        old = provider.scores.metrics
        added = (*provider.added, *(one for one in scores.metrics if one not in old))
        stages = found.stages.get(provider.name, provider.stages)
        merged = provider.scores.with_metrics_of(scores)
        return replace(provider, scores=merged, added=added, stages=stages)

    return replace(
        record,
        benchmarks=tuple(
            replace(part, providers=tuple(add(part, provider) for provider in part.providers))
            for part in record.benchmarks
        ),
    )


def _write_folder(path: Path, record: RunRecord) -> None:
    folder = RunFolder(path)
    with folder.locked():
        for part in record.benchmarks:
            for provider in part.providers:
                if provider.scores is not None:
                    file = folder.part(part.name, spec_of(provider)) / SCORES
                    write_json_file(file, provider.scores.to_dict())
        folder.write_record(record)
