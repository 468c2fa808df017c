"""Judgments that a query brings along: ids in its metadata."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from berryeval.json_record import refused

if TYPE_CHECKING:
    from berryeval.records import Query

__all__ = ["ID_FIELDS", "explicit_ids"]

# Where a query's metadata may hold ids; the first that is there counts.
ID_FIELDS: Final = ("relevant_ids", "relevant_chunk_ids", "ground_truth_ids", "qrels")


def explicit_ids(query: Query) -> dict[str, float] | None:
    """The ids that a query's metadata calls relevant, with grades; None if it names none.

    A field that is null says nothing. An empty list or object says that nothing is relevant.
    """
    for field in ID_FIELDS:
        value = query.metadata.get(field)
        if value is not None:
            return _grades(value, f"metadata.{field} of query {query.id!r}")
    return None


def _grades(value: Any, where: str) -> dict[str, float]:
    if isinstance(value, Mapping):
        return {_id(key, where): _grade(grade, f"{where}, {key!r}") for key, grade in value.items()}
    if not isinstance(value, list | tuple):
        raise refused(where, "an array of ids or an object of ids and grades", value)
    return {_id(item, f"{where}, place {place}"): 1.0 for place, item in enumerate(value)}


def _id(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise refused(where, "an id, which is a string", value)
    return value


def _grade(value: Any, where: str) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value):
        raise refused(where, "a grade, which is a number", value)
    return float(value)
