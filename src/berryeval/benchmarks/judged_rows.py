"""The rows of qrels as judgments of whole documents."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval.records import Anchor, Judgment
from berryeval.tables import StringColumn

if TYPE_CHECKING:
    from berryeval.benchmarks.gather import Gather
    from berryeval.tables import QueryTable

__all__ = ["add_judgments"]

_NO_GROUP: Final = frozenset({"", "0", "Q0"})


def add_judgments(gather: Gather, table: QueryTable) -> None:
    """Add a judgment per document of a query.

    A document that is judged for several groups, which are subtopics, has the highest of its
    grades, as everywhere; the others are kept in `subtopics`.
    """
    lines = table.labels.get("line")
    numbers = lines.tolist() if isinstance(lines, np.ndarray) else [0] * len(table.values)
    groups = table.labels.get("group")
    subtopics = list(groups) if isinstance(groups, StringColumn) else [""] * len(table.values)
    documents, grades = list(table.documents), table.values.tolist()
    bounds = itertools.pairwise(table.offsets.tolist())
    for query, (start, end) in zip(table.queries, bounds, strict=True):
        rows_of: dict[str, list[int]] = {}
        for row in range(start, end):
            rows_of.setdefault(documents[row], []).append(row)
        for document, rows in rows_of.items():
            given = {subtopics[row]: grades[row] for row in rows}
            judgment = Judgment(
                query_id=query,
                target=Anchor(document=document),
                grade=max(given.values()),
                extra={} if given.keys() <= _NO_GROUP else {"subtopics": given},
            )
            gather.judgment(judgment, table.source, numbers[rows[0]])
