"""`compare_runs`: whether the systems of runs differ, where, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from berryeval._internal.text import format_rescore_command, pluralize
from berryeval._internal.validate import nearest, require, suggest
from berryeval.errors import ConfigurationError, DataError, MetricError, NotScoredError
from berryeval.metrics import parse_metric
from berryeval.reports import ComparedBenchmark, Report
from berryeval.runs import RunRecord, group_queries
from berryeval.stats import compare, describe_unanswered
from berryeval.workflows.compared_data import select_comparable
from berryeval.workflows.query_moves import Side, moved_queries
from berryeval.workflows.run_finder import is_ranking_file
from berryeval.workflows.run_result import BenchmarkResult
from berryeval.workflows.selection import check_property
from berryeval.workflows.systems import Source, build_tables, check_comparable, read_sources

if TYPE_CHECKING:
    from berryeval.runs import ProviderRecord
    from berryeval.scoring import Scores
    from berryeval.stats import Comparison, IntervalMethod
    from berryeval.workflows.systems import Candidate, Table


Compared: TypeAlias = str | Path | RunRecord | BenchmarkResult
MOVED: Final = 3
ALL_PAIRS: Final = "all"  # in place of a baseline


@dataclass(frozen=True)
class Options:
    """Options of a comparison.

    Attributes:
        baseline: System that all others are compared with: a run as it was given, or the name of a
            system; the first by default. "all" compares every pair.
        metrics: Metrics; by default all that every system has.
        test: Significance test; see `berryeval.compare` for this and the next five.
        correction: Correction of p-values.
        interval: Confidence interval of differences.
        level: Confidence level.
        seed: Random seed.
        samples: Number of samples that tests draw.
        by: Property of queries to group by: "category", "difficulty", or a key of their metadata.
        moved: Number of most changed queries to explain, for each pair.
        benchmark: Benchmark to compare, if not all.
        anyway: Compare changed queries of runs on different data of a benchmark, too.
        strict_data: Refuse to compare runs on different data.
        judged_by: Model judge whose votes, corrected by those of people, judge the hits again.
        ledger: Folder or store with these votes; by default beside the benchmark.
    """

    baseline: str | None = None
    metrics: Sequence[str] | None = None
    test: str = "randomization"
    correction: str = "holm"
    interval: IntervalMethod = "t"
    level: float = 0.95
    seed: int = 0
    samples: int = 100_000
    by: str | None = None
    moved: int = MOVED
    benchmark: str | None = None
    anyway: bool = False
    strict_data: bool = False
    judged_by: str = ""
    ledger: str | None = None


def compare_runs(
    runs: Sequence[Compared] | Compared,
    title: str = "",
    *,
    qrels: str | None = None,
    **options: Any,
) -> Report:
    """Compare the systems of one or several runs, and explain which queries moved.

        >>> import berryeval as be
        >>> result = be.run_benchmark("rag-template", ["bm25", "bm25:fixed-400"], ["nDCG@5"])
        >>> report = be.compare_runs(result, baseline="bm25")
        >>> report.compared[0].comparison.row("nDCG@5").significant
        False

    One run compares its providers; several runs compare what they have in common, old and new.

    Args:
        runs: Folders, files or names of runs, `RUN#PROVIDER`, records, or results of
            `run_benchmark`.
        title: Title of the report.
        qrels: Judgments; the runs are then ranking files.
        options: Fields of `berryeval.workflows.run_comparison.Options`: baseline, metrics, test,
            correction, interval, level, seed, samples, by, moved, benchmark, anyway,
            strict_data, judged_by, ledger.
    """
    given = [runs] if isinstance(runs, str | Path | RunRecord | BenchmarkResult) else list(runs)
    if not given:
        raise ConfigurationError("no run to compare; give two runs, or one with several providers")
    chosen = Options(**options)
    if qrels is not None and chosen.judged_by:
        raise ConfigurationError("choose one of --qrels and --judged-by")
    if qrels is not None:
        sources = read_sources([str(one) for one in given], qrels, chosen.metrics)
    else:
        sources = [_find_source(one) for one in given]
    return _compare_sources(sources, chosen, title)


def _find_source(one: Compared) -> Source:
    if isinstance(one, RunRecord):
        return Source(one.id, one)
    if isinstance(one, BenchmarkResult):
        return Source(one.whole_run.id, one.whole_run)
    try:
        return Source.find(str(one))
    except DataError as error:
        if is_ranking_file(str(one)):
            hint = "to compare files of rankings, name their judgments: --qrels FILE"
            raise type(error)(f"{error}; {hint}") from None
        raise


def _compare_sources(sources: Sequence[Source], options: Options, title: str) -> Report:
    require(0 < options.level < 1, "level", "a number between 0 and 1, as 0.95", options.level)
    require(options.seed >= 0, "seed", "0 or more", options.seed)
    require(options.samples >= 1, "samples", "1 or more", options.samples)
    require(options.moved >= 0, "moved", "0 or more", options.moved)
    tables = build_tables(sources, options.benchmark)
    found = [_compare_table(table, options) for table in tables]
    records: list[RunRecord] = []
    for one in sources:
        records += [] if one.run in records else [one.run]
    names = ", ".join(dict.fromkeys(one.benchmark for one in found))
    report = Report.of(records, title=title or f"Comparison on {names}", compared=found)
    systems: dict[str, dict[str, ProviderRecord]] = {}
    for table in tables:
        labels = {one.label: one.record for one in table.candidates}
        systems.setdefault(table.benchmark, {}).update(labels)
    return replace(report, systems=systems)


def _compare_table(table: Table, options: Options) -> ComparedBenchmark:
    if options.judged_by:
        from berryeval.workflows.corrected_comparison import compare_corrected

        return compare_corrected(table, options, _find_baseline(table.candidates, options.baseline))
    data = select_comparable(
        table.candidates,
        options.metrics[0] if options.metrics else "",
        baseline=_find_baseline(table.candidates, options.baseline),
        anyway=options.anyway,
        strict=options.strict_data,
    )
    table = replace(table, candidates=data.candidates)
    warnings = [*data.warnings, *check_comparable(table.candidates)]
    sides = {one.label: Side.of(one, all_scores(one.record)) for one in table.candidates}
    metrics, partial = options.metrics, []
    if metrics is None:
        tables = (one.record.scores for one in table.candidates)
        asked = [scores.metrics for scores in tables if scores is not None]
        names = dict.fromkeys(name for known in asked for name in known)
        partial = [name for name in names if not all(name in known for known in asked)]
        metrics = [name for name in names if name not in partial] or None
    _check_scored(table.candidates, sides, options.metrics or ())
    groups = _group_queries(table, options.by)
    found = compare(
        {label: side.scores for label, side in sides.items()},
        baseline=_find_baseline(table.candidates, options.baseline),
        metrics=metrics,
        test=options.test,
        correction=options.correction,
        interval=options.interval,
        level=options.level,
        seed=options.seed,
        samples=options.samples,
        groups=groups,
    )
    if partial:
        warnings.append(f"not asked for in every run, and left out: {', '.join(partial)}")
    known = {describe_unanswered(label, side.scores) for label, side in sides.items()}
    # These are in the warnings already.
    found = replace(found, notes=tuple(note for note in found.notes if note not in known))
    found = _note_failures(found, table.candidates, groups)
    pairs = list(dict.fromkeys((row.baseline, row.system) for row in found.rows))
    moved = [
        query
        for first, second in pairs
        for query in moved_queries(sides[first], sides[second], found.metrics[0], options.moved)
    ]
    return ComparedBenchmark(
        table.benchmark,
        tuple(dict.fromkeys(one.part.content_hash for one in table.candidates)),
        found,
        options.by or "",
        tuple(moved),
        (*table.warnings, *warnings),
        data.changes,
    )


def _check_scored(
    candidates: Sequence[Candidate], sides: Mapping[str, Side], metrics: Sequence[str]
) -> None:
    first: NotScoredError | None = None
    missing: dict[str, list[str]] = {}  # by run
    for metric in metrics:
        lacks = [(one.source.named_run, _find_lack(sides[one.label], metric)) for one in candidates]
        error = next((error for _, error in lacks if error is not None), None)
        if error is None:
            continue
        try:
            parse_metric(metric)
        except MetricError:  # a misspelled name; the error suggests others
            raise error from None
        first = first or error
        for run in dict.fromkeys(run for run, error in lacks if error is not None):
            missing.setdefault(run, []).append(metric)
    if first is not None:
        lines = "; ".join(format_rescore_command(run, *names) for run, names in missing.items())
        end = "" if str(first).endswith("?") else "."
        several = len({name for names in missing.values() for name in names}) > 1
        raise NotScoredError(f"{first}{end} To compute {'them' if several else 'it'}: {lines}")


def _find_lack(side: Side, metric: str) -> NotScoredError | None:
    """Return why a system has no such metric; None if it has."""
    try:
        side.scores.row_of(metric)
    except NotScoredError as error:
        return error
    return None


def all_scores(record: ProviderRecord) -> Scores:
    """Return the requested metrics and those that every run has, in one table."""
    scores, standard = record.scores, record.standard
    if scores is None:
        raise ConfigurationError(f"{record.name} has no scores: {record.failure}")
    if standard is None or standard.queries != scores.queries:
        return scores
    return scores.with_metrics_of(standard)


def _group_queries(table: Table, by: str | None) -> dict[str, str] | None:
    if by is None:
        return None
    queries = [query for one in table.candidates for query in one.part.queries]
    check_property(table.benchmark, queries, by)
    return group_queries(queries, by)


def _find_baseline(candidates: Sequence[Candidate], wanted: str | None) -> str | None:
    if wanted is None:
        return candidates[0].label
    labels = [one.label for one in candidates]
    if wanted in labels:
        return wanted
    if wanted == ALL_PAIRS:
        return None
    known = {one.label: (one.source.text, one.source.run.id, one.record.name) for one in candidates}
    typed = [one.label for one in candidates if one.source.text == wanted]  # wins over the others
    found = typed or [label for label, names in known.items() if wanted in names]
    if len(found) == 1:
        return found[0]
    if found:
        raise ConfigurationError(
            f"{wanted!r} may be {' or '.join(found)}; name one of them as the baseline"
        )
    near = nearest(wanted, [*labels, *(name for names in known.values() for name in names)], 1)
    hint = suggest(wanted, near or labels)
    raise ConfigurationError(f"the baseline {wanted!r} is no system of this comparison; {hint}")


# Findings that rest on failed queries.


def _note_failures(
    found: Comparison, candidates: Sequence[Candidate], groups: Mapping[str, str] | None
) -> Comparison:
    """Add a note to every finding that rests on queries without an answer."""
    from berryeval.runner import NO_ANSWER

    failed = {
        one.label: {a.query_id for a in one.record.answers if a.outcome in NO_ANSWER}
        for one in candidates
    }
    if not any(failed.values()):
        return found
    scored = {
        one.label: set() if one.record.scores is None else set(one.record.scores.queries)
        for one in candidates
    }
    parts = {}
    for label, group in found.groups.items():
        members = {query for query, name in (groups or {}).items() if name == label}
        inside = {name: one & members for name, one in scored.items()}
        parts[label] = _note_rows(group, failed, inside)
    return replace(_note_rows(found, failed, scored), groups=parts)


def _note_rows(
    found: Comparison, failed: Mapping[str, set[str]], scored: Mapping[str, set[str]]
) -> Comparison:
    rows = []
    for row in found.rows:
        lower = row.system if row.difference < 0 else row.baseline
        count = len(failed[lower] & scored[row.system] & scored[row.baseline])
        notes = list(row.notes)
        if count and row.shown:
            queries = pluralize(row.n, "query")
            notes.append(
                f"{lower} has no answer to {count:,} of {queries}, which count as 0: {row.system} "
                f"is {row.finding} as answered, not as ranked"
            )
        rows.append(replace(row, notes=tuple(notes)))
    return replace(found, rows=tuple(rows))
