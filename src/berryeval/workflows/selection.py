"""The benchmarks that a plan names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from berryeval._internal.validate import nearest
from berryeval.benchmarks import load_benchmark
from berryeval.chunkers import parse_chunker
from berryeval.errors import ConfigurationError
from berryeval.relevance import Relevance
from berryeval.runs import FIELDS, property_of, with_property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.benchmarks import Benchmark
    from berryeval.data import Chunk, Query
    from berryeval.workflows.plan import BenchmarkSpec, Plan, ProviderSpec


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


# Which queries of a benchmark are asked, and what can be said about a query by name.


def chosen_queries(benchmark: Benchmark, plan: Plan) -> tuple[Query, ...]:
    """The queries the plan asks for: those that pass the filter, up to the limit."""
    queries = benchmark.queries
    for name, wanted in plan.filter.items():
        check_property(benchmark.name, queries, name)
        known = {property_of(query, name) for query in queries}
        kept = tuple(with_property(queries, name, wanted))
        if not kept:
            there = ", ".join(sorted(value for value in known if value))
            msg = f"no query of {benchmark.name} has {name}={wanted}; there are {there}"
            raise ConfigurationError(msg)
        queries = kept
    return queries[: plan.limit]


def check_property(benchmark: str, queries: Sequence[Query], name: str) -> None:
    """Refuse a name under which no query says anything; the nearest that one does is said."""
    if any(property_of(query, name) for query in queries):
        return
    names = dict.fromkeys((*FIELDS, *(key for query in queries for key in query.metadata)))
    known = [one for one in names if any(property_of(query, one) for query in queries)]
    near = nearest(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    msg = f"no query of {benchmark} has a {name!r}; {hint}"
    raise ConfigurationError(msg)


# How the corpus of a benchmark is cut for a provider.

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


# Who decides what is relevant to the queries that were asked.


def relevance_of(
    benchmark: Benchmark, queries: Sequence[Query], chunks: Sequence[Chunk]
) -> Relevance:
    """Who decides about these queries alone."""
    wanted = {query.id for query in queries}
    judgments = tuple(one for one in benchmark.judgments if one.query_id in wanted)
    asked = replace(benchmark, queries=tuple(queries), judgments=judgments)
    return Relevance.of(asked, chunks=chunks)
