"""The baseline as a document: what providers reach, against thresholds and against chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.io.files import writing
from berryeval.measures import parse_measures
from berryeval.pipeline.cutting import chunked
from berryeval.pipeline.levels import TOP, ideal_level, missed_primaries, random_level
from berryeval.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.io.files import PathLike
    from berryeval.pipeline.plan import Plan
    from berryeval.pipeline.run_result import BenchmarkResult, ProviderResult
    from berryeval.records import Chunk

__all__ = ["baseline_page", "write_baseline"]

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
    measures = [str(measure) for measure in parse_measures(plan.scored)]
    lines = [
        f"| provider | {' | '.join(measures)} |",
        f"| --- |{' --- |' * len(measures)}",
    ]
    for one in result.providers:
        cells = [_value(one, measure) for measure in measures]
        lines.append(f"| {one.name} | {' | '.join(cells)} |")
    for name, level in (
        ("the best possible ranking", ideal_level(plan, result, chunks)),
        ("a random ranking", random_level(plan, result, chunks)),
    ):
        cells = [
            numbers.measure(level[measure]) if measure in level else "" for measure in measures
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _value(one: ProviderResult, measure: str) -> str:
    if one.scores is None:
        return "failed"
    low, high = map(numbers.measure, one.scores.ci(measure))
    return f"{numbers.measure(one.scores.mean[measure])} ({low} to {high})"


def _verdicts(plan: Plan, result: BenchmarkResult) -> list[str]:
    """Every provider against the thresholds of the plan, or else of the benchmark."""
    thresholds = plan.thresholds or result.benchmark.thresholds
    known = set(map(str, parse_measures(plan.scored)))
    wanted = {
        str(measure): least
        for measure, least in zip(
            parse_measures(list(thresholds)), thresholds.values(), strict=True
        )
        if str(measure) in known
    }
    if not wanted:
        return []
    lines = [
        f"| threshold | {' | '.join(one.name for one in result.providers)} |",
        f"| --- |{' --- |' * len(result.providers)}",
    ]
    for measure, least in wanted.items():
        cells = [_verdict(one, measure, least) for one in result.providers]
        lines.append(f"| {measure} ≥ {least:.2f} | {' | '.join(cells)} |")
    return [*lines, ""]


def _verdict(one: ProviderResult, measure: str, least: float) -> str:
    if one.scores is None:
        return "failed"
    value = one.scores.mean[measure]
    return "met" if value >= least else f"missed by {numbers.measure(least - value)}"


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
