"""Strategies and helpers for tests of readers and writers."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from berryeval.data.table import QueryTable

# Ids that a TREC file can hold.
words = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\t\n\v\f\r #\ufeff"), min_size=1, max_size=6
)
# Any id.
ids = st.text(st.characters(codec="utf-8"), max_size=6)
scores = st.floats(allow_nan=False)
grades = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-2, 3).map(float)


def rows(
    names: st.SearchStrategy[str], numbers: st.SearchStrategy[float], least: int = 1
) -> st.SearchStrategy[dict[str, dict[str, float]]]:
    """Generate `{query: {document: number}}` with at least `least` documents per query."""
    group = st.dictionaries(names, numbers, min_size=least, max_size=6)
    return st.dictionaries(names, group, min_size=1, max_size=4)


def bits(table: dict[str, dict[str, float]]) -> dict[str, dict[str, bytes]]:
    """Return the numbers as bytes, so that 0.0 and -0.0 differ."""
    return {
        query: {document: struct.pack("<d", value) for document, value in row.items()}
        for query, row in table.items()
    }


def same_tables(one: QueryTable, other: QueryTable) -> bool:
    """Whether two tables have the same columns, byte for byte."""
    return (
        one.queries.to_bytes_list() == other.queries.to_bytes_list()
        and one.offsets.tolist() == other.offsets.tolist()
        and one.documents.to_bytes_list() == other.documents.to_bytes_list()
        and one.values.tobytes() == other.values.tobytes()
        and one.dropped == other.dropped
    )
