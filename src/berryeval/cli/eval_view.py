"""What there is to show of a run, for people and for machines."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.text import counted, to_go_on
from berryeval.cli.output import print_json
from berryeval.runs import group_of, masked
from berryeval.workflows import (
    NO_RULE,
    Remembered,
    WorstQuery,
    config_hash,
    failed_queries,
    failed_runs,
    no_drop_rules,
    passed,
    worst_queries,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from berryeval.gates import Verdict
    from berryeval.scoring import Scores
    from berryeval.workflows import (
        BenchmarkResult,
        Exported,
        Plan,
        ProviderResult,
        ProviderSpec,
        RunFolder,
    )


_LATENCY: Final = ("p50", "p95", "p99", "max")
Worst = dict[tuple[str, str], list[WorstQuery]]  # by benchmark and provider


def worst_of(results: Sequence[BenchmarkResult], count: int) -> Worst:
    """The worst queries of every provider on every benchmark."""
    return {
        (result.benchmark.name, one.name): worst_queries(result.record, one.record, count)
        for result in results
        for one in result.providers
    }


@dataclass(frozen=True)
class View:
    """Everything that is shown."""

    plan: Plan
    folder: RunFolder
    results: Sequence[BenchmarkResult]
    verdicts: Sequence[Verdict] = ()
    by: str | None = None
    worst: Worst = field(default_factory=dict)
    exported: Sequence[Exported] = ()
    strict: bool = False
    kept: Remembered = field(default_factory=Remembered)

    @property
    def note(self) -> str:
        """What is to be known of all verdicts."""
        return NO_RULE if no_drop_rules(self.plan.gate) else ""

    def groups(self, result: BenchmarkResult) -> dict[str, str]:
        """The group of every query."""
        if self.by is None:
            return {}
        return group_of(result.queries, self.by)

    def print_json(self) -> None:
        """One envelope with everything."""
        asked = self.folder.as_asked(self.plan)
        data: dict[str, Any] = {
            "folder": str(self.folder.path),
            "config_hash": config_hash(asked),
            "plan": masked(asked.model_dump()),
            "passed": passed(self.verdicts, strict=self.strict),
            "note": self.note,
            "verdicts": [one.to_dict() for one in self.verdicts],
            "files": [file for one in self.exported for file in _files(one)],
            "store": self.kept._asdict(),
            "benchmarks": [self._benchmark(result) for result in self.results],
        }
        print_json("eval", data)

    def _benchmark(self, result: BenchmarkResult) -> dict[str, Any]:
        groups = self.groups(result)
        return {
            "benchmark": result.benchmark.name,
            "content_hash": result.benchmark.content_hash,
            "queries": len(result.queries),
            "k": self.plan.depth,
            "remarks": list(result.benchmark.remarks),
            "providers": [self._provider(result, one, groups) for one in result.providers],
        }

    def _provider(
        self, result: BenchmarkResult, one: ProviderResult, groups: dict[str, str]
    ) -> dict[str, Any]:
        data: dict[str, Any] = {
            "provider": one.name,
            "folder": str(one.folder),
            "failure": one.failure,
            "outcomes": one.outcomes,
            "latency_seconds": {name: getattr(one.latency, name, None) for name in _LATENCY},
            "batch": one.latency.batch if one.latency else 1,
            "cost_per_query": dict(one.cost),
            "warnings": list(one.warnings),
            "scores": one.scores.summary() if one.scores else None,
        }
        if self.by is not None:
            data["groups"] = grouped_summaries(one.scores, groups)
        worst = self.worst.get((result.benchmark.name, one.name))
        if worst is not None:
            data["where_it_fails"] = [query.to_dict() for query in worst]
        return data


def _files(one: Exported) -> list[dict[str, str | None]]:
    """The files of a format; where there is none, what went wrong."""
    if one.problem:
        return [{"format": one.format, "path": None, "problem": one.problem}]
    return [{"format": one.format, "path": str(path)} for path in one.paths]


def grouped_summaries(scores: Scores | None, groups: dict[str, str]) -> dict[str, Any] | None:
    """The summary of each group of queries."""
    if scores is None:
        return None
    return {name: part.summary() for name, part in scores.by(groups).items()}


# What to do after `berryeval eval` where it did not get an answer to everything.

log = logging.getLogger("berryeval")


def say_how_to_go_on(
    folder: RunFolder,
    results: Sequence[BenchmarkResult],
    allowed: Collection[tuple[str, str]] = (),
) -> None:
    """Log the commands that ask what was not asked, and ask again what failed.

    Args:
        folder: of the run.
        results: of the run.
        allowed: the benchmark and provider whose failed queries were to be expected.
    """
    if failed_runs(results):
        # Errors before are part of the budget: without asking them again it may be used up.
        options = ["--retry-errors"] if failed_queries(results) else []
        log.warning("the run is not complete; to go on: %s", to_go_on(folder.path, *options))
    failed = failed_queries(results, allowed)
    if failed:
        log.warning(
            "%s failed and --resume alone keeps that as 0; to ask again: %s",
            counted(failed, "query", "queries"), to_go_on(folder.path, "--retry-errors"),
        )  # fmt: skip


# What the tables of `berryeval eval` do not say by themselves: about times, and about the data.

_REMARKS: Final = 3  # of a loader


def notes_about_times(plan: Plan, result: BenchmarkResult) -> Iterator[str]:
    """How the times came about, where that is not a query alone."""
    timed = [
        (one.name, spec, one.latency.batch)
        for one, spec in zip(result.providers, plan.providers, strict=True)
        if one.latency is not None
    ]
    here = [name for name, spec, _ in timed if _is_in_process(spec)]
    at_once = min(plan.run.concurrency, len(result.queries))
    if here and at_once > 1:
        yield (
            f"times: {at_once} queries at once wait for each other in this process "
            f"({', '.join(here)}); try --concurrency 1"
        )
    batched = {name: batch for name, _, batch in timed if batch > 1}
    if batched:
        size, names = max(batched.values()), ", ".join(batched)
        yield f"times of {names}: of batches of up to {size} queries, divided by their size"
    single = [name for name, _, batch in timed if batch == 1]
    if single and plan.run.batch > 1:
        yield f"asked one by one, as no batches were taken: {', '.join(single)}"


def _is_in_process(spec: ProviderSpec) -> bool:
    from berryeval.providers import PROVIDERS

    elsewhere = spec.options.get("url") or spec.options.get("embedder") == "openai"
    return bool(getattr(PROVIDERS.get(spec.type), "in_process", False)) and not elsewhere


def shown_remarks(remarks: Sequence[str], most: int = _REMARKS) -> Iterator[str]:
    """What the loader of a benchmark noticed; of many, the first few."""
    yield from remarks[:most]
    if len(remarks) > most:
        yield f"… and {len(remarks) - most} more; berryeval validate shows all"
