"""From runs to reports, from reports to files, and the page of measured baselines."""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from berryeval._internal import numbers
from berryeval._internal.files import replace_file
from berryeval.data import Query
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.metrics import parse_metrics
from berryeval.reports import EXPORTERS, Report, find_format, write_in_format
from berryeval.runs import STANDARD, BenchmarkRecord, ProviderRecord, RunRecord
from berryeval.scoring import Scores
from berryeval.workflows.run_finder import find_report
from berryeval.workflows.run_result import BenchmarkResult

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.data import Chunk
    from berryeval.workflows.plan import Plan
    from berryeval.workflows.run_result import ProviderResult


log = logging.getLogger("berryeval")
Reported: TypeAlias = Report | RunRecord | BenchmarkResult | Scores | str | Path


def join_reports(reports: Sequence[Report], title: str = "") -> Report:
    """Join several reports into one, each run once; a single report keeps its title."""
    runs: list[RunRecord] = []
    for report in reports:
        runs += [run for run in report.runs if run not in runs]
    verdicts = [verdict for report in reports for verdict in report.verdicts]
    own = reports[0].title if len(reports) == 1 else ""
    compared = [one for report in reports for one in report.compared]
    strict = any(report.strict for report in reports)
    joined = Report.of(
        runs, title=title or own, verdicts=verdicts, compared=compared, strict=strict
    )
    systems: dict[str, dict[str, ProviderRecord]] = {}
    for report in reports:
        for benchmark, records in report.systems.items():
            systems.setdefault(benchmark, {}).update(records)
    return replace(joined, systems=systems)


def judge_report(report: Report) -> Report:
    """Add the verdicts of the rules that the only run of a report was made with.

    A report of several runs has no verdicts; rules whose baseline is gone are not judged.
    """
    if report.verdicts or len(report.runs) != 1:
        return report
    from berryeval.gates import Gate
    from berryeval.workflows.verdicts import add_limits, judge_record, read_rules

    (run,) = report.runs
    try:
        gate, least = read_rules(run)
        verdicts = judge_record(add_limits(Gate(), least, {}), run) if least else []
        verdicts += judge_record(gate, run) if gate.rules or gate.baseline else []
    except BerryEvalError as error:
        log.warning("the rules of the run %s are not judged again: %s", run.id, error)
        return report
    return replace(report, verdicts=tuple(verdicts), strict=gate.on_inconclusive == "fail")


def build_report(names: Sequence[str], title: str = "") -> tuple[Report, Path]:
    """Build the report of named runs, and return it with its folder.

    The folder is that of a single run, else the current one.
    """
    found = [find_report(name) for name in names]
    folder = found[0][1] if len(found) == 1 else None
    return judge_report(join_reports([report for report, _ in found], title)), folder or Path()


def write_report(
    runs: Reported | Sequence[Reported],
    path: PathLike,
    format: str | None = None,  # noqa: A002 - its name
    *,
    title: str = "",
    label: str = "",
) -> list[Path]:
    """Write one or several runs as a report, and return the paths of its files.

        >>> import tempfile, berryeval as be
        >>> result = be.run_benchmark("rag-template", ["bm25"], ["nDCG@5"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path] = be.write_report(result, f"{folder}/quality.md")
        ...     path.read_text(encoding="utf-8").splitlines()[0]
        '## Retrieval quality: rag-template'

    Args:
        runs: Result of `run_benchmark`, record, report, scores of `evaluate`, name or folder of a
            run, or a list of them.
        path: File or folder. Formats with several files (csv) append a suffix to the file name. For
            a tracker, its address (mlflow) or project (wandb), or "" for its own settings; no path
            is returned.
        format: Name from `berryeval list exporters`; by default the suffix of `path` decides.
        title: Title of the report.
        label: Label in file names, in place of the usual one.
    """
    given: list[Any] = list(runs) if isinstance(runs, list | tuple) else [runs]
    if not given:
        raise ConfigurationError(
            "no run to report on; expected a result of run_benchmark, or the name of a run"
        )
    report = judge_report(join_reports([_as_report(one) for one in given], title))
    name = format or find_format(path)
    track = EXPORTERS.get(name).track
    if track is not None:
        log.info("%s", track(report, os.fspath(path), label))
        return []
    return write_in_format(report, name, path, label=label)


def _as_report(source: Any) -> Report:
    if isinstance(source, Report):
        return source
    if isinstance(source, RunRecord):
        return Report.of([source])
    if isinstance(source, BenchmarkResult):
        return Report.of([source.whole_run])
    if isinstance(source, Scores):
        return Report.of([_record_scores(source)])
    if isinstance(source, str | Path):
        return find_report(str(source))[0]
    raise ConfigurationError(
        f"expected a result, a record, a report, scores, or a name, found {type(source).__name__}"
    )


def _record_scores(scores: Scores) -> RunRecord:
    """Return the record of a run of which only the scores are known."""
    cutoffs = [one.params.get("cutoff") or 1 for one in parse_metrics(scores.metrics)]
    known = {str(one) for one in parse_metrics(scores.metrics)}
    standard = {str(one) for one in parse_metrics(STANDARD)} <= known
    provider = ProviderRecord(
        scores.run_name,
        "run-file",
        scores=scores,
        standard=scores if standard else None,
        outcomes={name: count for name, count in scores.outcome_counts.items() if count},
    )
    benchmark = BenchmarkRecord(
        "scores",
        content_hash="",
        k=max([*cutoffs, int(scores.counts[:, 0].max(initial=1))]),
        queries=tuple(Query(query, query) for query in scores.queries),
        providers=(provider,),
    )
    created = datetime.now().astimezone().isoformat(timespec="seconds")
    return RunRecord(scores.run_name, created, (benchmark,))


@dataclass(frozen=True)
class Exported:
    """A report in one format: files, a text to print, a place in a tracker, or the problem."""

    format: str
    paths: tuple[Path, ...] = ()
    text: str = ""
    problem: str = ""
    place: str = ""

    def to_json(self) -> list[dict[str, str | None]]:
        """Return its files, or its problem, for JSON."""
        if self.problem:
            return [{"format": self.format, "path": None, "problem": self.problem}]
        if self.place:
            return [{"format": self.format, "path": None, "place": self.place}]
        return [{"format": self.format, "path": str(path)} for path in self.paths]


def export_report(
    report: Report,
    formats: Iterable[str],
    folder: Path,
    *,
    label: str = "",
    eval_dir: str | None = None,
) -> list[Exported]:
    """Write a report in several formats: into the folder, or where a format has its own place.

    A format that cannot be written is returned with its problem: the run itself is saved.
    """
    done = []
    for name in formats:
        exporter = EXPORTERS.get(name)
        try:
            if exporter.track is not None:
                done.append(Exported(name, place=exporter.track(report, "", label)))
                continue
            text = exporter.publish(report) if exporter.publish is not None else None
            paths: Sequence[Path] = ()
            if text is None:
                own = label if name == "csv" else ""
                paths = write_in_format(report, name, label=own, beside=folder, eval_dir=eval_dir)
        except BerryEvalError as error:
            done.append(Exported(name, problem=str(error)))
        else:
            done.append(Exported(name, tuple(paths), text or ""))
    return done


# The page of measured baselines.

TOP: Final = 5
_DRAWS: Final = 20  # random rankings of each query
_INTRODUCTION: Final = """\
# Baseline

Measured scores of the bundled providers on the bundled benchmarks. Written by `make baseline`,
which runs `berryeval eval --baseline-doc FILE`; do not edit. Intervals are 95 % bootstrap intervals
over the queries; the mean of RR is known as MRR. The last rows give the best possible ranking under
the judgments, and the mean of 20 random rankings.
"""


def write_baseline_page(path: PathLike, plan: Plan, results: Sequence[BenchmarkResult]) -> None:
    """Write a Markdown page of the scores, compared with thresholds and random rankings."""
    page = "\n".join([_INTRODUCTION, *(_write_section(plan, result) for result in results)])
    with replace_file(path) as stream:
        stream.write(page.encode())


def _write_section(plan: Plan, result: BenchmarkResult) -> str:
    from berryeval.workflows.selection import chunk_documents, chunker_for

    benchmark = result.benchmark
    chunks = chunk_documents(benchmark, chunker_for(benchmark, plan.providers[0]))
    facts = [
        f"{len(result.queries)} queries",
        f"{len(benchmark.documents)} documents",
        f"{len(chunks)} sections",
        f"{plan.depth} hits per query",
        f"content hash `{benchmark.content_hash[:19]}…`",
    ]
    lines = [
        f"## {benchmark.name}",
        "",
        ", ".join(facts) + ".",
        "",
        *_write_scores(plan, result, chunks),
        "",
        *_write_thresholds(plan, result),
        *_write_misses(result),
    ]
    return "\n".join(lines)


def _write_scores(plan: Plan, result: BenchmarkResult, chunks: Sequence[Chunk]) -> list[str]:
    metrics = [str(metric) for metric in parse_metrics(plan.scored)]
    lines = [f"| provider | {' | '.join(metrics)} |", f"| --- |{' --- |' * len(metrics)}"]
    for one in result.providers:
        cells = [_format_value(one, metric) for metric in metrics]
        lines.append(f"| {one.name} | {' | '.join(cells)} |")
    for name, level in (
        ("the best possible ranking", score_ideal(plan, result, chunks)),
        ("a random ranking", score_random(plan, result, chunks)),
    ):
        cells = [
            numbers.format_metric(level[metric]) if metric in level else "" for metric in metrics
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _format_value(one: ProviderResult, metric: str) -> str:
    if one.scores is None:
        return "failed"
    low, high = map(numbers.format_metric, one.scores.ci(metric))
    return f"{numbers.format_metric(one.scores.mean[metric])} ({low} to {high})"


def _write_thresholds(plan: Plan, result: BenchmarkResult) -> list[str]:
    """Compare every provider with the thresholds of the plan, else of the benchmark."""
    thresholds = plan.thresholds or result.benchmark.thresholds
    known = set(map(str, parse_metrics(plan.scored)))
    wanted = {
        str(metric): least
        for metric, least in zip(parse_metrics(list(thresholds)), thresholds.values(), strict=True)
        if str(metric) in known
    }
    if not wanted:
        return []
    lines = [
        f"| threshold | {' | '.join(one.name for one in result.providers)} |",
        f"| --- |{' --- |' * len(result.providers)}",
    ]
    for metric, least in wanted.items():
        cells = [_format_threshold(one, metric, least) for one in result.providers]
        lines.append(f"| {metric} ≥ {least:.2f} | {' | '.join(cells)} |")
    note = "" if plan.thresholds else str(result.benchmark.metadata.get("threshold_note", ""))
    return [*lines, "", *([f"{note}.", ""] if note else [])]


def _format_threshold(one: ProviderResult, metric: str, least: float) -> str:
    if one.scores is None:
        return "failed"
    value = one.scores.mean[metric]
    return "met" if value >= least else f"missed by {numbers.format_metric(least - value)}"


def _write_misses(result: BenchmarkResult) -> list[str]:
    parts = []
    for one in result.providers:
        missed, total = count_missed_best(one)
        if total:
            parts.append(f"{one.name} {missed} of {total} ({missed / total:.0%})")
    if not parts:
        return []
    title = f"Queries without a section of their highest grade in the first {TOP} hits: "
    return [title + "; ".join(parts) + ".", ""]


def count_missed_best(one: ProviderResult) -> tuple[int, int]:
    """Count the queries without a target of their highest grade at the top, and all queries."""
    missed = total = 0
    for answer in one.record.answers:
        top = [hit.grade or 0 for hit in answer.hits[:TOP]]
        grades = [hit.grade or 0 for hit in answer.hits] + [want.grade for want in answer.missed]
        best = max(grades, default=0)
        if best > 0:
            total += 1
            missed += max(top, default=0) < best
    return missed, total


def score_ideal(plan: Plan, result: BenchmarkResult, chunks: Sequence[Chunk]) -> dict[str, float]:
    """Score the ideal ranking: one hit per target, by grade."""
    from berryeval.data import JudgedHit, JudgedRanking
    from berryeval.scoring import value_of
    from berryeval.workflows.selection import build_relevance

    relevance = build_relevance(result.benchmark, result.queries, chunks, plan.relevance.options)
    rankings = {}
    for query in result.queries:
        grades = relevance.judge(query.id, ()).ranking.grades
        hits = [JudgedHit(rank, grade) for rank, grade in enumerate(grades[: plan.depth], start=1)]
        rankings[query.id] = JudgedRanking(hits, len(hits), grades)
    return {
        str(metric): sum(value_of(metric, one, query) for query, one in rankings.items())
        / len(rankings)
        for metric in parse_metrics(plan.scored)
        if metric.definition.kind == "ranking" and metric.definition.aggregate == "mean"
    }


def score_random(plan: Plan, result: BenchmarkResult, chunks: Sequence[Chunk]) -> dict[str, float]:
    """Score random rankings of the chunks in the scope of each query; return the means."""
    from berryeval.data import ScopeIndex
    from berryeval.providers import build_hit
    from berryeval.scoring import evaluate_hits
    from berryeval.workflows.selection import build_relevance

    draws = random.Random(plan.seed)  # noqa: S311 - not for security
    relevance = build_relevance(result.benchmark, result.queries, chunks, plan.relevance.options)
    totals: dict[str, float] = {}
    index = ScopeIndex(chunks)
    for _ in range(_DRAWS):
        hits = {}
        for query in result.queries:
            inside = index.find(query.scope)
            known = chunks if inside is None else [chunks[n] for n in inside.nonzero()[0].tolist()]
            chosen = draws.sample(known, min(plan.depth, len(known)))
            hits[query.id] = [
                build_hit(one, 1.0 / rank, rank) for rank, one in enumerate(chosen, 1)
            ]
        scores = evaluate_hits(relevance, hits, plan.scored)
        for metric, value in scores.mean.items():
            totals[metric] = totals.get(metric, 0.0) + value / _DRAWS
    return totals
