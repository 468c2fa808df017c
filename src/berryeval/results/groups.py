"""Groups of queries: by a field, or by a part of their metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.records import Query

__all__ = ["FIELDS", "group_of", "property_of", "with_property"]

FIELDS: Final = ("id", "category", "difficulty")


def property_of(query: Query, name: str) -> str:
    """What a query says about itself under this name: a field, or a part of its metadata.

    A field that says nothing leaves it to the metadata, where some formats have its like.
    """
    for value in (getattr(query, name, None) if name in FIELDS else None, query.metadata.get(name)):
        if value is not None and value != "":
            return str(value)
    return ""


def with_property(queries: Iterable[Query], name: str, wanted: str) -> list[Query]:
    """The queries that say this under this name, in whatever case."""
    return [query for query in queries if property_of(query, name).lower() == wanted.lower()]


def group_of(queries: Iterable[Query], name: str) -> dict[str, str]:
    """The group of every query that says something under this name."""
    values = {query.id: property_of(query, name) for query in queries}
    return {query: value for query, value in values.items() if value}
