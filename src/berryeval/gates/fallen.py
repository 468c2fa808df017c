"""The queries that make a rule fail: their values, what was found and what was wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from berryeval._internal.numbers import format_metric
from berryeval._internal.text import truncate
from berryeval.gates.rules import ROUNDING
from berryeval.metrics import direction_of, range_of

if TYPE_CHECKING:
    from berryeval.data import Query
    from berryeval.runs import AnswerRecord, BenchmarkRecord, ProviderRecord


SHOWN: Final = 3  # queries of a failing rule
_HITS: Final = 3
_WANTED: Final = 10
_WIDTH: Final = 100


def describe_fallen(
    benchmark: BenchmarkRecord,
    provider: ProviderRecord,
    metric: str,
    queries: Sequence[Query],
    before: Mapping[str, float] | None = None,
    count: int = SHOWN,
) -> tuple[str, ...]:
    """Return lines about the queries that fell most below `before`, or else are worst.

    Queries with a perfect score are not among the worst. Nothing for a provider without scores or
    answers.
    """
    scores = provider.scores_with(metric)
    if scores is None or not count:
        return ()
    now, sign = scores.per_query(metric), -1 if direction_of(metric) == "down" else 1
    outcomes = dict(zip(scores.queries, scores.outcomes, strict=True))
    judged = [q for q in queries if outcomes.get(q.id) not in {None, "no relevant documents"}]
    if before is None:
        best = max(sign * end for end in range_of(metric)) - ROUNDING
        could = [query for query in judged if sign * now[query.id] < best]
        worst = sorted(could, key=lambda query: sign * now[query.id])
        title = f"the worst queries of {provider.name} on {benchmark.name}:"
    else:
        change = {q.id: sign * (now[q.id] - before[q.id]) for q in judged if q.id in before}
        fell = [query for query in judged if change.get(query.id, 0.0) < 0]
        worst = sorted(fell, key=lambda query: change[query.id])
        title = f"the queries of {provider.name} on {benchmark.name} that fell most:"
    chosen = {query.id: query for query in worst[:count]}
    answers = {one.query_id: one for one in provider.answers if one.query_id in chosen}
    lines: list[str] = []
    for name, query in chosen.items():
        was = "" if before is None else f"{format_metric(before[name])} → "
        text = truncate(query.text, _WIDTH)
        lines.append(f"  {metric} {was}{format_metric(now[name])}  {name}: {text}")
        if name in answers:
            lines += _describe_answer(benchmark, answers[name])
    return (title, *lines) if lines else ()


def _describe_answer(benchmark: BenchmarkRecord, answer: AnswerRecord) -> Iterator[str]:
    """Yield what was found, and the rank of what was wanted."""
    if answer.error:
        yield f"    {answer.outcome}: {truncate(answer.error, _WIDTH)}"
    elif not answer.hits:
        yield "    returned no hits"
    for rank, hit in enumerate(answer.hits[:_HITS], 1):
        name = truncate(hit.name_in(benchmark.passages), _WIDTH)
        yield f"    {rank}. {name} ({hit.describe_grade()})"
    wanted = answer.list_wanted(benchmark.passages)
    for one in wanted[:_WANTED]:
        name = truncate(one.target, _WIDTH)
        yield f"    wanted: {name}, {one.describe_rank()}, grade {one.grade:g}"
    if more := wanted[_WANTED:]:
        lost = sum(one.rank is None for one in more)
        yield f"    … and {len(more)} more were wanted, {lost} of them not found"
