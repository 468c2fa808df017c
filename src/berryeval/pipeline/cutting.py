"""How the corpus of a benchmark is cut for a provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.chunkers import parse_chunker

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark
    from berryeval.pipeline.plan import ProviderSpec
    from berryeval.records import Chunk

__all__ = ["chunked", "chunker_for", "cut", "suggested_chunker"]

DEFAULT_CHUNKER: Final = "section"


def chunker_for(benchmark: Benchmark, spec: ProviderSpec) -> str:
    """The chunker that is really used: that of the plan, or the one the benchmark suggests.

    It is empty where there is nothing to be cut.
    """
    return spec.chunker or (suggested_chunker(benchmark) if benchmark.documents else "")


def suggested_chunker(benchmark: Benchmark) -> str:
    """How the corpus is cut where the plan does not say."""
    return str(benchmark.metadata.get("chunker", DEFAULT_CHUNKER))


def chunked(benchmark: Benchmark, spec: ProviderSpec) -> list[Chunk]:
    """The corpus as the provider gets it: cut as the plan says, or as the benchmark suggests."""
    return cut(benchmark, chunker_for(benchmark, spec))


def cut(benchmark: Benchmark, chunker: str) -> list[Chunk]:
    """The corpus, cut by this chunker; by the suggested one if none is named."""
    used = parse_chunker(chunker or suggested_chunker(benchmark))
    return [chunk for document in benchmark.documents for chunk in used.chunk(document)]
