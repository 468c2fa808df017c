"""Which queries of a benchmark are asked, and what can be said about a query by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.errors import ConfigurationError
from berryeval.registry import nearest
from berryeval.results.groups import FIELDS, property_of, with_property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.benchmarks import Benchmark
    from berryeval.pipeline.plan import Plan
    from berryeval.records import Query

__all__ = ["check_property", "chosen_queries"]


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
