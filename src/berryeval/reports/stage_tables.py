"""Tables of the stages of a provider: scores, changes, times, costs and attainable scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval._internal import numbers
from berryeval.errors import BerryEvalError
from berryeval.reports.legends import describe_interval, describe_test
from berryeval.reports.tables import (
    Cell,
    Column,
    Table,
    build_differences_table,
    cost_title,
    number_cell,
    value_of,
)

if TYPE_CHECKING:
    from berryeval.runs import ProviderRecord, StageRecord
    from berryeval.scoring import Scores
    from berryeval.stats import Comparison

_IDEAL: Final = Column("ideal", "best order", numeric=True)
_ABOUT: Final = (
    "best order: what a perfect reranker of the same hits would score; recall: share of the "
    "relevant documents among the hits that the next stage orders, more than which no order finds"
)


class StageTables(NamedTuple):
    """The tables of one provider.

    Attributes:
        provider: Name of the provider.
        quality: A row per metric and step from one stage to the next; without rows if no metric is
            known for both.
        speed: A row per stage: depth, failed queries if there are any, recall of what it passes
            on, latency and cost.
        note: How to read them.
    """

    provider: str
    quality: Table
    speed: Table
    note: str


def list_stage_tables(providers: Mapping[str, ProviderRecord]) -> Iterator[StageTables]:
    """Yield the tables of each provider with several stages, by its name in the report."""
    for name, record in providers.items():
        if len(record.stages) > 1 and record.scores is not None:
            yield _build_tables(name, record)


def _build_tables(name: str, record: ProviderRecord) -> StageTables:
    labels = _label(record.stages)
    tables = [one.scores for one in record.stages[:-1]] + [record.scores]
    steps = [
        _compare_step((labels[at], labels[at + 1]), before, after)
        for at, (before, after) in enumerate(pairwise(tables))
    ]
    known = [one for one in steps if one is not None]
    how = (
        f"; CI: {describe_interval(known[0])}; p: "
        f"{describe_test([row for one in known for row in one.rows])}"
        if known
        else ""
    )
    return StageTables(
        name, _build_quality(steps, record.stages, labels), _build_speed(record, labels),
        f"{_ABOUT}{how}",
    )  # fmt: skip


def _label(stages: Sequence[StageRecord]) -> list[str]:
    """Return the names of the stages, numbered where two are equal."""
    times = Counter(one.name for one in stages)
    return [
        f"{one.name} ({number})" if times[one.name] > 1 else one.name
        for number, one in enumerate(stages, start=1)
    ]


def _compare_step(
    names: tuple[str, str], before: Scores | None, after: Scores | None
) -> Comparison | None:
    from berryeval.stats import compare

    if before is None or after is None:
        return None
    shared = [name for name in after.metrics if name in before.metrics]
    try:
        return compare(
            {names[0]: before, names[1]: after.select(before.queries)},
            baseline=names[0],
            metrics=shared,
        )
    except BerryEvalError:  # no shared query or metric
        return None


def _build_quality(
    steps: Sequence[Comparison | None], stages: Sequence[StageRecord], labels: Sequence[str]
) -> Table:
    keys = ["metric", "baseline_value", "system_value", "difference", "interval", "p", "finding"]
    titles = {"baseline_value": labels[0], "system_value": labels[-1], "baseline": "before"}
    if len(steps) > 1:
        keys[1:1] = ["baseline", "system"]
        titles = {"baseline": "stage before", "system": "stage", "baseline_value": "before"}
        titles["system_value"] = "after"
    rows: list[tuple[Cell, ...]] = []
    columns: tuple[Column, ...] = ()
    for step, before in zip(steps, stages, strict=False):
        found = step.rows if step is not None else ()
        level = step.level if step is not None else 0.95
        table = build_differences_table([("", row) for row in found], level=level)
        table = table.select(keys, titles)
        columns = table.columns
        rows += [
            (*cells, number_cell(value_of(before.ideal, row.metric)))
            for cells, row in zip(table.rows, found, strict=True)
        ]
    return Table((*columns, _IDEAL), tuple(rows))


def _build_speed(record: ProviderRecord, labels: Sequence[str]) -> Table:
    costs = list(dict.fromkeys(name for one in record.stages for name in one.cost))
    failed = sum(one.failed for one in record.stages)
    more = ["failed"] if failed else []
    titles = ["reranks", *more, "recall", "p50 ms", "p95 ms", *map(cost_title, costs)]
    columns = [Column("stage", "stage"), *(Column(one, one, numeric=True) for one in titles)]
    rows = []
    whole = replace(
        record.stages[-1], name="all", latency=record.latency, cost=record.cost, failed=failed
    )
    for label, one in zip([*labels, "all"], [*record.stages, whole], strict=True):
        depth = one.reranked if label != "all" else 0
        times = (None, None) if one.latency is None else (one.latency.p50, one.latency.p95)
        rows.append(
            (
                Cell(label, label),
                _count_cell(depth),
                *(_count_cell(one.failed) for _ in more),
                number_cell(one.recall),
                *(number_cell(seconds, numbers.format_milliseconds) for seconds in times),
                *(number_cell(one.cost.get(cost), numbers.format_amount) for cost in costs),
            )
        )
    return Table(tuple(columns), tuple(rows))


def _count_cell(count: int) -> Cell:
    return Cell(f"{count:,}" if count else "", count or None)
