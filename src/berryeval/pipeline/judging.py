"""Who decides what is relevant to the queries that were asked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from berryeval.relevance import Relevance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.benchmarks import Benchmark
    from berryeval.records import Chunk, Query

__all__ = ["relevance_of"]


def relevance_of(
    benchmark: Benchmark, queries: Sequence[Query], chunks: Sequence[Chunk]
) -> Relevance:
    """Who decides about these queries alone."""
    wanted = {query.id for query in queries}
    judgments = tuple(one for one in benchmark.judgments if one.query_id in wanted)
    asked = replace(benchmark, queries=tuple(queries), judgments=judgments)
    return Relevance.of(asked, chunks=chunks)
