"""Every two systems that can be compared, where not all of them can."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.scores import Scores
    from berryeval.stats import PairedDifference

__all__ = ["compared_pairs"]

_CORRECTION: Final = "holm"


def compared_pairs(tables: Mapping[str, Scores], measure: str) -> tuple[PairedDifference, ...]:
    """A row per pair that shares queries and the measure, corrected for all these pairs."""
    from berryeval.stats import compare, corrected

    rows: list[PairedDifference] = []
    for (one, first), (other, second) in combinations(tables.items(), 2):
        if _comparable(first, second, measure):
            pair = {one: first, other: second}
            rows += compare(pair, measures=[measure], correction=_CORRECTION).rows
    count = sum(row.p is not None for row in rows)
    found = corrected([row.p for row in rows], _CORRECTION)
    return tuple(
        replace(row, p_corrected=p, comparisons=count) for row, p in zip(rows, found, strict=True)
    )


def _comparable(first: Scores, second: Scores, measure: str) -> bool:
    """Whether both have the measure, put it together alike, and share a query."""
    if measure not in first.measures or measure not in second.measures:
        return False
    hows = {scores.aggregates[scores.row_of(measure)] for scores in (first, second)}
    return len(hows) == 1 and not set(first.queries).isdisjoint(second.queries)
