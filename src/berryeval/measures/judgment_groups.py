"""Judgment groups: several sets of judgments of one query, each scored alone, then averaged.

The groups are the second column of a qrels file: assessors, aspects, or whatever made them. These
measures exist in Python only; `berryeval trec-eval -R qrels_jg` computes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from berryeval.tables import QueryTable, StringColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.measures.base import JudgedRanking, Measure

__all__ = ["average_over_groups", "split_groups"]


def average_over_groups(measure: Measure, rankings: Sequence[JudgedRanking]) -> float:
    """The mean of a measure over one ranking joined with each group's judgments; 0.0 of none."""
    total = 0.0
    for judged in rankings:
        total += measure(judged)
    return total / len(rankings) if rankings else 0.0


def split_groups(qrels: QueryTable) -> tuple[QueryTable, list[list[int]]]:
    """The same judgments as a table with one "query" per query and group.

    Also which of its places belong to each query of `qrels`, in the order of the groups' bytes.
    """
    groups = qrels.labels["group"]
    if not isinstance(groups, StringColumn):
        msg = "the column of groups must hold strings"
        raise TypeError(msg)
    names = groups.to_bytes_list()
    order: list[int] = []
    offsets = [0]
    queries: list[bytes] = []
    places: list[list[int]] = []
    for query, name in enumerate(qrels.queries.to_bytes_list()):
        rows: dict[bytes, list[int]] = {}
        for row in range(int(qrels.offsets[query]), int(qrels.offsets[query + 1])):
            rows.setdefault(names[row], []).append(row)
        places.append(list(range(len(queries), len(queries) + len(rows))))
        for group in sorted(rows):
            queries.append(name)
            order.extend(rows[group])
            offsets.append(len(order))
    table = QueryTable(
        queries=StringColumn.from_bytes(queries),
        offsets=np.array(offsets, dtype=np.int64),
        documents=qrels.documents.take(order),
        values=qrels.values[order],
        labels={"line": np.asarray(qrels.labels["line"])[order]} if "line" in qrels.labels else {},
        source=qrels.source,
    )
    return table, places
