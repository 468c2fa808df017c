"""Scoring by preferences instead of grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.errors import DataError
from berryeval.measures.preference_groups import Preference, judge_preferences
from berryeval.measures.preferences import PREFERENCE_MEASURES
from berryeval.run import RankingRule
from berryeval.tables import QueryTable, StringColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from berryeval.run import Run
    from berryeval.trec_eval.columns import Column
    from berryeval.trec_eval.report import Values
    from berryeval.trec_eval.scoring import Settings, Topic

__all__ = ["by_preferences"]


def by_preferences(
    columns: Sequence[Column],
    judgments: QueryTable,
    run: Run,
    settings: Settings,
    topics: Sequence[Topic],
) -> list[Values]:
    """The values of the columns, a list of a value per topic for each."""
    # trec_eval breaks ties the other way round here.
    rule = RankingRule(ties="document ascending", depth=settings.depth)
    values: list[list[float]] = [[] for _ in columns]
    for topic in topics:
        ranking = [] if topic.ranked is None else rule.ranked(run.table, topic.ranked)
        try:
            judged = judge_preferences(_preferences(judgments, topic.judged), ranking)
        except DataError as error:
            msg = f"{judgments.source}: query {topic.name!r}: {error}"
            raise DataError(msg) from None
        for place, column in enumerate(columns):
            formula = PREFERENCE_MEASURES.get(column.row.name)
            values[place].append(formula(judged) if formula else 1.0)
    return list(values)


def _preferences(judgments: QueryTable, query: int) -> Iterator[Preference]:
    start, end = int(judgments.offsets[query]), int(judgments.offsets[query + 1])
    groups = _label(judgments, "group", start, end)
    subgroups = _label(judgments, "subgroup", start, end)
    documents = judgments.documents.to_bytes_list(start, end)
    levels = judgments.values[start:end].tolist()
    return map(Preference, groups, subgroups, documents, levels)


def _label(table: QueryTable, name: str, start: int, end: int) -> list[bytes]:
    """A column of the judgments; one that is not there says the same everywhere."""
    column = table.labels.get(name)
    return (
        column.to_bytes_list(start, end)
        if isinstance(column, StringColumn)
        else [b"0"] * (end - start)
    )
