"""Benchmarks: corpus, queries and judgments in one value; loaders, packs and checks for them."""

from berryeval.benchmarks.benchmark import Benchmark
from berryeval.benchmarks.bundled import bundled_benchmarks
from berryeval.benchmarks.load import load_benchmark
from berryeval.benchmarks.write import write_benchmark

__all__ = ["Benchmark", "bundled_benchmarks", "load_benchmark", "write_benchmark"]
