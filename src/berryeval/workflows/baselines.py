"""How a run differs from a baseline, metric by metric."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final, TypeAlias

from berryeval._internal import numbers
from berryeval._internal.files import writing
from berryeval.data import JudgedHit, JudgedRanking
from berryeval.errors import ConfigurationError
from berryeval.gates import (
    Gate,
    Rule,
    Verdict,
    judge,
    missing_sentence,
    missing_verdict,
    new_sentence,
)
from berryeval.metrics import direction_of, parse_metrics
from berryeval.providers import build_hit
from berryeval.runs import standard_of
from berryeval.scoring import evaluate_hits, value_of
from berryeval.workflows.selection import chunked, relevance_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from berryeval._internal.files import PathLike
    from berryeval.benchmarks import Benchmark
    from berryeval.data import Chunk, Hit
    from berryeval.gates import Baseline, BaselinePart, Status
    from berryeval.runs import ProviderRecord, RunRecord
    from berryeval.workflows.plan import Plan
    from berryeval.workflows.run_result import BenchmarkResult, ProviderResult


NO_RULE: Final = "no rule about drops: any significant fall fails"
_NO_WORSE: Final = "no worse than the baseline"
# By benchmark and provider; None where the provider failed, and every metric of it is lost.
Metrics: TypeAlias = "Mapping[tuple[str, str], Collection[str] | None]"


def no_drop_rules(gate: Gate) -> bool:
    """Whether there is a baseline and no rule about it: then nothing may fall."""
    return bool(gate.baseline) and all(rule.max_drop is None for rule in gate.rules)


def differences(run: RunRecord, kept: Baseline) -> list[Verdict]:
    """How every metric of the baseline that can get worse changed; no drop is allowed.

    What only one of the two has is inconclusive; a provider that failed fails.
    """
    there = metrics_of_run(run)
    rules = drop_rules(there, kept, run.id)
    gate = Gate(baseline=kept.run).model_copy(update={"rules": rules})
    return [
        *judge(gate, run, kept, wanted=False),
        *unshared(run, kept),
    ]


def metrics_of_run(run: RunRecord) -> Metrics:
    """The metrics that a run has."""
    return {
        (part.name, one.name): _metrics(one) for part in run.benchmarks for one in part.providers
    }


def metrics_of_plan(plan: Plan, benchmarks: Sequence[Benchmark]) -> Metrics:
    """The metrics that a run will have."""
    names = {str(one) for one in parse_metrics([*plan.scored, *standard_of(plan.depth)])}
    return {(one.name, label): names for one in benchmarks for label in plan.labels}


def _metrics(provider: ProviderRecord) -> Collection[str] | None:
    if provider.scores is None:
        return None
    tables = (provider.scores, provider.standard)
    return {name for table in tables if table is not None for name in table.metrics}


def drop_rules(there: Metrics, kept: Baseline, run: str = "the run") -> list[Rule]:
    """That nothing falls: a rule for every metric of a provider that run and baseline share."""
    found = [
        rule
        for old in kept.parts
        if (old.benchmark, old.provider) in there
        for rule in _rules(old)
        if (names := there[old.benchmark, old.provider]) is None or rule.metric in names
    ]
    if not found:
        msg = f"{run} and the baseline {kept.run} share no provider, benchmark and metric"
        raise ConfigurationError(msg)
    return found


def unshared(run: RunRecord, kept: Baseline) -> list[Verdict]:
    """A verdict on each metric that only the baseline has, and each provider that only one has."""
    there = metrics_of_run(run)
    gone = [_gone(old) for old in kept.parts if (old.benchmark, old.provider) not in there]
    return [*_missing_metrics(there, kept), *gone, *_new(run, kept)]


def _gone(old: BaselinePart) -> Verdict:
    """That the run lacks a provider on a benchmark: said once, for all of its metrics."""
    words = missing_sentence(f"{old.provider} on {old.benchmark}")
    return Verdict("inconclusive", _NO_WORSE, words, benchmark=old.benchmark, provider=old.provider)


def _missing_metrics(there: Metrics, kept: Baseline) -> list[Verdict]:
    """A verdict on each metric of the baseline that a provider of the run has not."""
    return [
        missing_verdict(rule, old, f"{rule.metric} of {old.provider} on {old.benchmark}")
        for old in kept.parts
        if (names := there.get((old.benchmark, old.provider))) is not None
        for rule in _rules(old)
        if rule.metric not in names
    ]


def _rules(part: BaselinePart) -> list[Rule]:
    """That no metric falls; what is neither better nor worse can change, and cannot fall."""
    return [_rule(name, part) for name in part.values if direction_of(name) != "neither"]


def _rule(metric: str, part: BaselinePart) -> Rule:
    """That nothing is lost. Not checked: the metric may be known only where the run was made."""
    return Rule.model_construct(
        metric=metric, max_drop=0.0, benchmarks=[part.benchmark], providers=[part.provider]
    )


def _new(run: RunRecord, kept: Baseline) -> list[Verdict]:
    """Who is in the run alone; one that failed fails, as in a gate."""
    return [
        _alone(part.name, one)
        for part in run.benchmarks
        for one in part.providers
        if not kept.holds(part.name, one.name)
    ]


def _alone(benchmark: str, one: ProviderRecord) -> Verdict:
    status: Status = "inconclusive"
    words = new_sentence(one.name, benchmark)
    if one.scores is None:
        status, words = "fail", f"{one.name} on {benchmark} has no scores: {one.failure}"
    return Verdict(status, _NO_WORSE, words, benchmark=benchmark, provider=one.name)


# What rankings could reach and what chance reaches, and how often the best target is missed.

TOP: Final = 5
_DRAWS: Final = 20  # random rankings of each query


def ideal_level(plan: Plan, result: BenchmarkResult, chunks: list[Chunk]) -> dict[str, float]:
    """The most that the judgments allow: their targets by grade, one a hit."""
    relevance = relevance_of(result.benchmark, result.queries, chunks)
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


def random_level(plan: Plan, result: BenchmarkResult, chunks: list[Chunk]) -> dict[str, float]:
    """What chance alone reaches: the mean over rankings of sections that were drawn."""
    drawn = random.Random(plan.seed)  # noqa: S311 - nothing is secret here
    relevance = relevance_of(result.benchmark, result.queries, chunks)
    totals: dict[str, float] = {}
    for _ in range(_DRAWS):
        hits = {query.id: _drawn_hits(drawn, chunks, plan.depth) for query in result.queries}
        scores = evaluate_hits(relevance, hits, plan.scored)
        for metric, value in scores.mean.items():
            totals[metric] = totals.get(metric, 0.0) + value / _DRAWS
    return totals


def _drawn_hits(drawn: random.Random, chunks: list[Chunk], depth: int) -> list[Hit]:
    chosen = drawn.sample(chunks, min(depth, len(chunks)))
    return [build_hit(chunk, 1.0 / rank, rank) for rank, chunk in enumerate(chosen, start=1)]


def missed_primaries(one: ProviderResult) -> tuple[int, int]:
    """How many queries lack a target of their highest grade in the top, of how many."""
    missed = total = 0
    for answer in one.record.answers:
        top = [hit.grade or 0 for hit in answer.hits[:TOP]]
        grades = [hit.grade or 0 for hit in answer.hits] + [want.grade for want in answer.missed]
        best = max(grades, default=0)
        if best > 0:
            total += 1
            missed += max(top, default=0) < best
    return missed, total


# The baseline as a document: what providers reach, against thresholds and against chance.

_INTRODUCTION: Final = """\
# Baseline

What the bundled providers reach on the bundled benchmarks, as measured. Written by `make baseline`,
which runs `berryeval eval --baseline-doc FILE`; do not edit. Intervals are 95 % bootstrap intervals
over the queries; the mean of RR is known as MRR. Beside the providers stand the most that the
judgments allow with so many relevant sections, and what a random ranking reaches (the mean of 20
draws).
"""


def write_baseline(path: PathLike, plan: Plan, results: Sequence[BenchmarkResult]) -> None:
    """Write the page."""
    with writing(path) as stream:
        stream.write(baseline_page(plan, results).encode())


def baseline_page(plan: Plan, results: Sequence[BenchmarkResult]) -> str:
    """The page: for the same data and providers the same text."""
    return "\n".join([_INTRODUCTION, *(_section(plan, result) for result in results)])


def _section(plan: Plan, result: BenchmarkResult) -> str:
    benchmark = result.benchmark
    chunks = chunked(benchmark, plan.providers[0])
    facts = [
        f"{len(result.queries)} queries",
        f"{len(benchmark.documents)} documents",
        f"{len(chunks)} sections",
        f"{plan.depth} hits asked for",
        f"content hash `{benchmark.content_hash[:19]}…`",
    ]
    lines = [
        f"## {benchmark.name}",
        "",
        ", ".join(facts) + ".",
        "",
        *_table(plan, result, chunks),
        "",
        *_verdicts(plan, result),
        *_misses(result),
    ]
    return "\n".join(lines)


def _table(plan: Plan, result: BenchmarkResult, chunks: list[Chunk]) -> list[str]:
    metrics = [str(metric) for metric in parse_metrics(plan.scored)]
    lines = [
        f"| provider | {' | '.join(metrics)} |",
        f"| --- |{' --- |' * len(metrics)}",
    ]
    for one in result.providers:
        cells = [_value(one, metric) for metric in metrics]
        lines.append(f"| {one.name} | {' | '.join(cells)} |")
    for name, level in (
        ("the best possible ranking", ideal_level(plan, result, chunks)),
        ("a random ranking", random_level(plan, result, chunks)),
    ):
        cells = [numbers.metric(level[metric]) if metric in level else "" for metric in metrics]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _value(one: ProviderResult, metric: str) -> str:
    if one.scores is None:
        return "failed"
    low, high = map(numbers.metric, one.scores.ci(metric))
    return f"{numbers.metric(one.scores.mean[metric])} ({low} to {high})"


def _verdicts(plan: Plan, result: BenchmarkResult) -> list[str]:
    """Every provider against the thresholds of the plan, or else of the benchmark."""
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
        cells = [_verdict(one, metric, least) for one in result.providers]
        lines.append(f"| {metric} ≥ {least:.2f} | {' | '.join(cells)} |")
    return [*lines, ""]


def _verdict(one: ProviderResult, metric: str, least: float) -> str:
    if one.scores is None:
        return "failed"
    value = one.scores.mean[metric]
    return "met" if value >= least else f"missed by {numbers.metric(least - value)}"


def _misses(result: BenchmarkResult) -> list[str]:
    """How often the section that answers best is not among the first."""
    parts = []
    for one in result.providers:
        missed, total = missed_primaries(one)
        if total:
            parts.append(f"{one.name} {missed} of {total} ({missed / total:.0%})")
    if not parts:
        return []
    lines = f"Queries whose highest graded sections are all missing in the first {TOP} hits: "
    return [lines + "; ".join(parts) + ".", ""]
