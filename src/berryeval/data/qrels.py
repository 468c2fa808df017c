"""`Qrels`: the judgments of a benchmark."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from berryeval._internal.text import pluralize
from berryeval.data.load import TableValue
from berryeval.data.table import QueryTable, StringColumn

if TYPE_CHECKING:
    from berryeval.data.table import Kind


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Qrels(TableValue):
    """Immutable graded judgments: documents and grades, grouped by query.

    A grade is any finite number. As in trec_eval, a negative grade means that the document was in
    the pool but not judged.

    A judgment may belong to a group, the second column of a TREC file. Diversity metrics treat
    groups as subtopics, and a document may have one judgment in each. All other metrics, and dicts,
    frames, JSON and Parquet files, use the highest grade of a document; only TREC files keep the
    groups.
    """

    kind: ClassVar[Kind] = "qrels"

    @classmethod
    def from_records(cls, records: Iterable[tuple[str, str, float, str]]) -> Qrels:
        """Build judgments from `(query, document, grade, group)`; a group is a subtopic.

        >>> Qrels.from_records([("q1", "d1", 1, "history"), ("q1", "d1", 2, "prices")]).to_dict()
        {'q1': {'d1': 2.0}}
        """
        return cls(QueryTable.from_records(records, kind="qrels"))

    @cached_property
    def flat(self) -> QueryTable:
        """The table with one row per document, with its highest grade over all groups."""
        groups = self.table.labels.get("group")
        if not isinstance(groups, StringColumn) or groups.is_constant:
            return self.table
        kept, best = _highest_rows(self.table, groups)
        if len(kept) == len(self.table.values):
            return self.table
        return _select_rows(self.table, kept, best)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return `{query: {document: grade}}`."""
        return self.flat.to_dict()

    def _flat_output(self) -> tuple[QueryTable, str]:
        return self.flat, ""

    def __repr__(self) -> str:
        queries = pluralize(len(self), "query")
        return f"Qrels({queries}, {pluralize(len(self.table.values), 'judgment')})"

    def _repr_html_(self) -> str:
        from berryeval.data.table_preview import preview_qrels

        return preview_qrels(self)


def _highest_rows(table: QueryTable, groups: StringColumn) -> tuple[list[int], list[float]]:
    """Return the first row of each document of each query, and the document's highest grade."""
    documents = table.documents.to_bytes_list()
    names = groups.to_bytes_list()
    grades = table.values.tolist()
    kept: list[int] = []
    best: list[float] = []
    bounds = table.offsets.tolist()
    for start, end in itertools.pairwise(bounds):
        place_of: dict[bytes, int] = {}
        seen: set[tuple[bytes, bytes]] = set()
        for row in range(start, end):
            if (documents[row], names[row]) in seen:
                raise table.repeated_error(row)
            seen.add((documents[row], names[row]))
            place = place_of.setdefault(documents[row], len(kept))
            grade = grades[row]
            if place == len(kept):
                kept.append(row)
                best.append(grade)
            else:
                best[place] = max(best[place], grade)
    return kept, best


def _select_rows(table: QueryTable, kept: list[int], values: list[float]) -> QueryTable:
    """Return the table with only these rows and with other values."""
    lines = table.labels.get("line")
    return QueryTable(
        queries=table.queries,
        offsets=np.searchsorted(kept, table.offsets).astype(np.int64),
        documents=table.documents.take(np.array(kept, dtype=np.int64)),
        values=np.array(values, dtype=np.float64),
        labels={"line": lines[kept]} if isinstance(lines, np.ndarray) else {},
        source=table.source,
        dropped=table.dropped,
        distinct=True,
    )
