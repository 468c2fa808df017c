"""The results of `berryeval eval` for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from berryeval.cli.output import print_json
from berryeval.runs import group_queries, mask_secrets
from berryeval.workflows import worst_queries

if TYPE_CHECKING:
    from berryeval.runs import BenchmarkRecord, ProviderRecord
    from berryeval.workflows import BenchmarkResult, Evaluation, Plan, WorstQuery


_LATENCY: Final = ("p50", "p95", "p99", "max")
_REMARKS: Final = 3  # remarks of a loader that are shown


@dataclass(frozen=True)
class View:
    """An evaluation and the options of its display."""

    done: Evaluation
    by: tuple[str, ...] = ()
    worst: int = 0

    def group(self, part: BenchmarkRecord) -> dict[str, dict[str, str]]:
        """Return the group of every query, by each property."""
        return {name: group_queries(part.queries, name) for name in self.by}

    def find_worst(self, part: BenchmarkRecord, provider: ProviderRecord) -> list[WorstQuery]:
        """Return the worst queries of a provider."""
        return worst_queries(part, provider, self.worst) if self.worst else []

    def print_json(self) -> None:
        """Print one envelope with everything."""
        done = self.done
        data: dict[str, Any] = {
            "folder": str(done.folder.path),
            "config_hash": done.config_hash,
            "plan": mask_secrets(done.first_plan.model_dump()),
            "passed": done.passed,
            "note": done.note,
            "verdicts": [one.to_dict() for one in done.verdicts],
            "files": [file for one in done.exported for file in one.to_json()],
            "store": done.remembered._asdict(),
            "benchmarks": [self._describe_benchmark(result) for result in done.results],
        }
        print_json("eval", data)

    def _describe_benchmark(self, result: BenchmarkResult) -> dict[str, Any]:
        part = result.record
        groups = self.group(part)
        return {
            "benchmark": part.name,
            "content_hash": part.content_hash,
            "queries": len(part.queries),
            "k": part.k,
            "remarks": list(result.benchmark.remarks),
            "providers": [
                {"provider": one.name, "folder": str(one.folder)}
                | self._describe_provider(part, one.record, groups)
                for one in result.providers
            ],
        }

    def _describe_provider(
        self, part: BenchmarkRecord, one: ProviderRecord, groups: dict[str, dict[str, str]]
    ) -> dict[str, Any]:
        data: dict[str, Any] = {
            "failure": one.failure,
            "outcomes": one.outcomes,
            **describe_speed(one),
            "stages": describe_stages(one),
            "out_of_scope": one.out_of_scope,
            "warnings": list(one.warnings),
            "unknown_ids": dict(one.unknown_ids) or None,
            "scores": one.scores.summary() if one.scores else None,
            "details": one.scores
            and {metric: one.scores.details(metric).to_dict() for metric in one.scores.metrics},
        }
        if self.by:
            data["groups"] = one.scores and {
                name: {group: part.summary() for group, part in one.scores.by(labels).items()}
                for name, labels in groups.items()
            }
        if self.worst:
            data["where_it_fails"] = [query.to_dict() for query in self.find_worst(part, one)]
        return data


def describe_speed(one: ProviderRecord) -> dict[str, Any]:
    """Return the times and costs of a provider for JSON."""
    return {
        "latency_seconds": {name: getattr(one.latency, name, None) for name in _LATENCY},
        "batch": one.latency.batch if one.latency else 1,
        "cost_per_query": dict(one.cost),
    }


def describe_stages(one: ProviderRecord) -> list[dict[str, Any]]:
    """Return the stages of a provider for JSON; empty if it searches in one."""
    return [
        {
            "stage": stage.name,
            "reranked": stage.reranked,
            "recall": stage.recall,
            "failed": stage.failed,
            "latency_seconds": {name: getattr(stage.latency, name, None) for name in _LATENCY},
            "cost_per_query": dict(stage.cost),
            "scores": dict(stage.scores.mean) if stage.scores else None,
            "ideal": dict(stage.ideal.mean) if stage.ideal else None,
        }
        for stage in one.stages
    ]


def explain_times(plan: Plan, result: BenchmarkResult) -> Iterator[str]:
    """Explain latencies that are not those of one query alone."""
    timed = [(one, one.latency.batch) for one in result.providers if one.latency is not None]
    local = [one.name for one, _ in timed if one.in_process]
    at_once = min(plan.run.concurrency or 1, len(result.queries))
    if local and at_once > 1:
        yield (
            f"times of {', '.join(local)}: with --concurrency {at_once}, queries in this process "
            "wait for each other; without it each is timed alone"
        )
    batched = {one.name: batch for one, batch in timed if batch > 1}
    if batched:
        size, names = max(batched.values()), ", ".join(batched)
        yield f"times of {names}: of batches of up to {size} queries, divided by their size"
    single = [one.name for one, batch in timed if batch == 1]
    if single and plan.run.batch > 1:
        yield f"asked one query per call, because they take no batches: {', '.join(single)}"


def limit_remarks(remarks: Sequence[str], most: int = _REMARKS) -> Iterator[str]:
    """Yield the first remarks of a loader, and the number of the others."""
    yield from remarks[:most]
    if len(remarks) > most:
        yield f"… and {len(remarks) - most} more; berryeval validate shows all"
