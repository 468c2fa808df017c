"""What there is to show of a run, for people and for machines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from berryeval.cli.output import print_json
from berryeval.pipeline.differences import NO_RULE, no_drop_rules
from berryeval.pipeline.folder import config_hash
from berryeval.pipeline.gating import passed
from berryeval.pipeline.redaction import masked
from berryeval.pipeline.remember import Remembered
from berryeval.pipeline.worst import WorstQuery, worst_queries
from berryeval.results.groups import group_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.gates import Verdict
    from berryeval.pipeline.folder import RunFolder
    from berryeval.pipeline.plan import Plan
    from berryeval.pipeline.reporting import Exported
    from berryeval.pipeline.run_result import BenchmarkResult, ProviderResult
    from berryeval.scores import Scores

__all__ = ["View", "worst_of"]

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
