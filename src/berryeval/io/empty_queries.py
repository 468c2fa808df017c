"""Queries without rows: they count in every mean, so that no writer may lose them silently."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from berryeval.tables import StringColumn

if TYPE_CHECKING:
    from berryeval.tables import QueryTable

__all__ = ["empty_queries", "record_of_empty", "with_queries"]


def empty_queries(table: QueryTable) -> list[str]:
    """The queries that have no rows."""
    return [table.queries[place] for place in _places(table)]


def record_of_empty(table: QueryTable) -> bytes | None:
    """What a file of rows can carry beside them: the empty queries by place; None without any.

    The number of rows goes with it: where another tool changed the rows and kept the record, the
    record tells of a table that is gone.
    """
    places = _places(table)
    if not places:
        return None
    queries = {place: table.queries[place] for place in places}
    return json.dumps({"rows": len(table.values), "queries": queries}).encode()


def with_queries(table: QueryTable, record: bytes, rows: int) -> QueryTable:
    """The table with the empty queries of a record, if that was made of a table of `rows` rows."""
    try:
        found = json.loads(record)
        told, queries = (
            found["rows"],
            {int(place): name for place, name in found["queries"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return table
    if told != rows or not all(_is_id(name) for name in queries.values()):
        return table
    names = list(table.queries)
    sizes = np.diff(table.offsets).tolist()
    known = set(names)
    for place, name in sorted(queries.items()):
        if name not in known:
            names.insert(place, name)
            sizes.insert(place, 0)
    return replace(
        table,
        queries=StringColumn.from_strings(names),
        offsets=np.cumsum([0, *sizes], dtype=np.int64),
    )


def _is_id(name: object) -> bool:
    return isinstance(name, str) and not any("\ud800" <= letter <= "\udfff" for letter in name)


def _places(table: QueryTable) -> list[int]:
    return np.flatnonzero(np.diff(table.offsets) == 0).tolist()
