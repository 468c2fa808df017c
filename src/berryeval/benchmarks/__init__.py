"""Benchmarks: corpus, queries and judgments in one value; loaders, packs and checks for them."""

from berryeval.benchmarks.benchmark import Benchmark

__all__ = ["Benchmark"]
