"""The benchmarks that a plan names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.benchmarks import load_benchmark
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark
    from berryeval.pipeline.plan import BenchmarkSpec, Plan

__all__ = ["load_benchmarks", "load_one"]


def load_benchmarks(plan: Plan) -> list[Benchmark]:
    """All of them, each with a name of its own."""
    benchmarks = [load_one(source) for source in plan.benchmarks]
    names = [benchmark.name for benchmark in benchmarks]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        msg = f"two benchmarks are called {twice!r}; run them one by one, or rename one"
        raise ConfigurationError(msg)
    return benchmarks


def load_one(source: str | BenchmarkSpec) -> Benchmark:
    """A bundled benchmark, or one in files."""
    if isinstance(source, str):
        return load_benchmark(source)
    return load_benchmark(source.source, format=source.format or None, **source.options)
