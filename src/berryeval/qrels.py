"""`Qrels`: the judgments of a benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from berryeval.io.table_value import TableValue

if TYPE_CHECKING:
    from berryeval.tables import Kind

__all__ = ["Qrels"]


@dataclass(frozen=True, eq=False, repr=False)
class Qrels(TableValue):
    """Graded judgments: documents and grades, grouped by query. Never changes.

    A grade may be any finite number. One below zero means, as in trec_eval, that the document was
    in the pool but not judged.
    """

    kind: ClassVar[Kind] = "qrels"

    def __repr__(self) -> str:
        return f"Qrels({len(self)} queries, {len(self.table.values)} judgments)"
