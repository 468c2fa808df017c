"""Which columns of a table of judgments are about the query, and which about the judgment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.records import Judgment, Query

__all__ = ["QueryColumns"]

_FIELDS: Final = ("category", "difficulty", "description")


class QueryColumns:
    """A column is the queries' where all rows of a query agree; else it is one of judgments."""

    def __init__(self) -> None:
        self._cells: dict[str, dict[str, str]] = {}
        self._differ: set[str] = set()

    def add(self, query: str, cells: Mapping[str, str]) -> None:
        """Look at the further cells of a row; an empty one says nothing."""
        known = self._cells.setdefault(query, {})
        for name, cell in cells.items():
            if cell and known.setdefault(name, cell) != cell:
                self._differ.add(name)

    def query(self, query: Query) -> Query:
        """The query with its columns."""
        fields: dict[str, Any] = {}
        metadata: dict[str, str] = {}
        for name, cell in self._cells.get(query.id, {}).items():
            if name in self._differ:
                continue
            if name.lower() in _FIELDS:
                fields[name.lower()] = cell
            else:
                metadata[name] = cell
        return replace(query, **fields, metadata=metadata)

    def judgment(self, judgment: Judgment) -> Judgment:
        """The judgment with the columns that are not of its query."""
        extra = {name: cell for name, cell in judgment.extra.items() if name in self._differ}
        return replace(judgment, extra=extra)
