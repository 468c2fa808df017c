"""What came of a run, as `run_benchmark` returns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from berryeval.benchmarks import Benchmark
    from berryeval.gates import Verdict
    from berryeval.records import Query
    from berryeval.results import BenchmarkRecord, Latency, ProviderRecord, RunRecord
    from berryeval.scores import Scores

__all__ = ["BenchmarkResult", "ProviderResult"]


@dataclass(frozen=True)
class ProviderResult:
    """What one provider did on one benchmark: its record, and where its journal and scores are."""

    record: ProviderRecord
    folder: Path

    @property
    def name(self) -> str:
        """What the plan calls the provider."""
        return self.record.name

    @property
    def scores(self) -> Scores | None:
        """Of every query that was to be asked; None if the run of the provider failed."""
        return self.record.scores

    @property
    def outcomes(self) -> Mapping[str, int]:
        """How many queries were answered, were empty, failed, or timed out."""
        return self.record.outcomes

    @property
    def latency(self) -> Latency | None:
        """Of the answered queries."""
        return self.record.latency

    @property
    def cost(self) -> Mapping[str, float]:
        """What an answered query cost on average, where the provider says so: tokens, money."""
        return self.record.cost

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was not as it should be: too many hits, repeats, queries that failed."""
        return self.record.warnings

    @property
    def failure(self) -> str:
        """Why there are no scores."""
        return self.record.failure

    def __repr__(self) -> str:
        means = self.scores.mean if self.scores is not None else {}
        shown = [f"{measure}={value:.4f}" for measure, value in means.items()] or ["no scores"]
        return f"ProviderResult({', '.join([repr(self.name), *shown])})"


@dataclass(frozen=True)
class BenchmarkResult:
    """What all providers did on one benchmark; `result["bm25"]` is what one of them did.

    `run` is the record of the whole run, for reports and stores; `verdicts` are those of the
    thresholds and rules that the run was asked to satisfy, each with a `status`.
    """

    benchmark: Benchmark
    queries: tuple[Query, ...]
    providers: tuple[ProviderResult, ...]
    record: BenchmarkRecord
    run: RunRecord | None = None
    verdicts: tuple[Verdict, ...] = ()

    def __repr__(self) -> str:
        return f"BenchmarkResult({self.record.brief})"

    def __getitem__(self, name: str) -> ProviderResult:
        for one in self.providers:
            if one.name == name:
                return one
        msg = f"no provider {name!r}; there are {', '.join(one.name for one in self.providers)}"
        raise KeyError(msg)

    @property
    def whole_run(self) -> RunRecord:
        """The record of the whole run, for who cannot do without one."""
        if self.run is None:
            msg = "this result is no part of a finished run; run_benchmark returns one that is"
            raise ConfigurationError(msg)
        return self.run
