"""Notebook views of judgments and runs: sizes, grades, and the first rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval._internal.notebook import Card, Cell
from berryeval._internal.numbers import format_grade
from berryeval._internal.text import pluralize
from berryeval.data.run import DEFAULT_RULE

if TYPE_CHECKING:
    from berryeval.data.qrels import Qrels
    from berryeval.data.run import Run
    from berryeval.data.table import QueryTable

_QUERIES: Final = 3
_DOCUMENTS: Final = 3  # of each query
_GRADES: Final = 8
_NOUN: Final = ("query", "queries")


def preview_qrels(qrels: Qrels) -> str:
    """Render the numbers of judgments by grade, and the highest grades of the first queries."""
    table = qrels.table
    card = Card(
        "Judgments",
        pluralize(len(qrels), *_NOUN),
        pluralize(len(table.values), "judgment"),
        _describe_sizes(table),
        _describe_barren(table),
    )
    grades, counts = np.unique(table.values, return_counts=True)
    shown = [
        (format_grade(grade), int(count))
        for grade, count in zip(grades[::-1].tolist(), counts[::-1], strict=True)
    ]
    card.add_table(
        ["grade", "judgments"],
        shown[:_GRADES],
        total=len(shown),
        noun=("grade", "grades"),
    )
    rows = [
        (query if place == 0 else "", document, Cell(format_grade(grade)))
        for query, found in _first_queries(table)
        for place, (document, grade) in enumerate(found)
    ]
    card.add_table(["query", "document", "grade"], rows, caption="First queries, best documents")
    card.add_notes(_count_rest(len(qrels)))
    return card.render()


def preview_run(run: Run) -> str:
    """Render the size of a run and the first ranks of its first queries."""
    table = run.table
    card = Card(
        f"Run {run.name}",
        pluralize(len(run), *_NOUN),
        pluralize(len(table.values), "document"),
        _describe_sizes(table),
    )
    rows = [
        (query if place == 0 else "", place + 1, document, Cell(f"{score:.6g}"))
        for query, found in _first_queries(table)
        for place, (document, score) in enumerate(found)
    ]
    card.add_table(["query", "rank", "document", "score"], rows)
    card.add_notes(_count_rest(len(run)))
    return card.render()


def _first_queries(table: QueryTable) -> list[tuple[str, list[tuple[str, float]]]]:
    """Return the best documents of the first queries, with their numbers."""
    found = []
    for place in range(min(_QUERIES, len(table.queries))):
        start, end = int(table.offsets[place]), int(table.offsets[place + 1])
        documents = table.documents.to_bytes_list(start, end)
        values = table.values[start:end].tolist()
        order = DEFAULT_RULE.order(documents, values)[:_DOCUMENTS]
        best = [(documents[row].decode(errors="replace"), values[row]) for row in order]
        found.append((table.queries[place], best))
    return found


def _count_rest(queries: int) -> list[str]:
    rest = queries - _QUERIES
    return [f"{pluralize(rest, 'more query')}: to_frame() has all"] * (rest > 0)


def _describe_sizes(table: QueryTable) -> str:
    """Describe how many rows queries have: "1-9 per query, median 4"."""
    sizes = np.diff(table.offsets)
    if not len(sizes):
        return ""
    low, high = int(sizes.min()), int(sizes.max())
    if low == high:
        return f"{low:,} per query"
    return f"{low:,}-{high:,} per query, median {np.median(sizes):,.4g}"


def _describe_barren(table: QueryTable) -> str:
    """Count the queries without a document of grade 1 or more."""
    relevant = np.concatenate([[0], np.cumsum(table.values >= 1)])
    barren = int((np.diff(relevant[table.offsets]) == 0).sum())
    return f"{pluralize(barren, *_NOUN)} without a relevant document" if barren else ""
