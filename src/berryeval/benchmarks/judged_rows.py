"""The rows of qrels as judgments of whole documents."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from berryeval.records import Anchor, Judgment
from berryeval.tables import StringColumn

if TYPE_CHECKING:
    from berryeval.benchmarks.gather import Gather
    from berryeval.tables import QueryTable

__all__ = ["add_judgments"]


def add_judgments(gather: Gather, table: QueryTable) -> None:
    """Add a judgment per row. A group other than "0" is kept as `subtopic`."""
    lines = table.labels.get("line")
    numbers = lines.tolist() if isinstance(lines, np.ndarray) else [0] * len(table.values)
    groups = table.labels.get("group")
    subtopics = list(groups) if isinstance(groups, StringColumn) else [""] * len(table.values)
    documents, grades = list(table.documents), table.values.tolist()
    bounds = itertools.pairwise(table.offsets.tolist())
    for query, (start, end) in zip(table.queries, bounds, strict=True):
        for row in range(start, end):
            plain = subtopics[row] in {"", "0", "Q0"}
            judgment = Judgment(
                query_id=query,
                target=Anchor(document=documents[row]),
                grade=grades[row],
                extra={} if plain else {"subtopic": subtopics[row]},
            )
            gather.judgment(judgment, table.source, numbers[row])
