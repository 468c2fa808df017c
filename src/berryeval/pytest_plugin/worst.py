"""The worst queries, in a few lines for the failure of a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.io.words import cut
from berryeval.pipeline.worst import worst_queries
from berryeval.reports.numbers import measure
from berryeval.results.groups import with_property

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from berryeval.gates import Verdict
    from berryeval.pipeline.worst import WorstQuery
    from berryeval.records import Query
    from berryeval.results import BenchmarkRecord, RunRecord

__all__ = ["worst_lines"]

_HITS: Final = 3
_MISSED: Final = 3
_WIDTH: Final = 100


def worst_lines(record: RunRecord, verdicts: Sequence[Verdict], count: int) -> Iterator[str]:
    """Of everyone with such a verdict the worst queries by the measure of the first of them."""
    first: dict[tuple[str, str], Verdict] = {}
    for verdict in verdicts:
        if verdict.measure:
            first.setdefault((verdict.benchmark, verdict.provider), verdict)
    for part in record.benchmarks:
        for provider in part.providers:
            found = first.get((part.name, provider.name))
            if found is None:
                continue
            chosen = _chosen(part, found.group)
            worst = worst_queries(part, provider, count, found.measure, chosen)
            if worst:
                yield ""
                yield f"the worst queries of {provider.name} on {part.name}:"
            for one in worst:
                yield from _query(one)


def _chosen(benchmark: BenchmarkRecord, group: str) -> list[Query]:
    """The queries that a group like "category=factual" means."""
    queries = list(benchmark.queries)
    for part in group.split(", "):
        name, equals, value = part.partition("=")
        queries = with_property(queries, name, value) if equals else queries
    return queries


def _query(one: WorstQuery) -> Iterator[str]:
    text = cut(one.query.text, _WIDTH)
    yield f"  {one.measure} {measure(one.value)}  {one.query.id}: {text}"
    if one.answer.error:
        yield f"    {one.answer.outcome}: {cut(one.answer.error, _WIDTH)}"
    elif not one.returned:
        yield "    nothing came back"
    for rank, returned in enumerate(one.returned[:_HITS], 1):
        yield f"    {rank}. {cut(returned.name, _WIDTH)} ({returned.grade})"
    missed = one.answer.missed
    for target in missed[:_MISSED]:
        yield f"    missed: {cut(target.name, _WIDTH)} (grade {target.grade:g})"
    if len(missed) > _MISSED:
        yield f"    … and {len(missed) - _MISSED} more were missed"
