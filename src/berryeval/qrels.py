"""`Qrels`: the judgments of a benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from berryeval.io import trec
from berryeval.tables import QueryTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.io.files import PathLike

__all__ = ["Qrels"]


@dataclass(frozen=True, eq=False, repr=False)
class Qrels:
    """Graded judgments: documents and grades, grouped by query. Never changes.

    A grade may be any finite number. One below zero means, as in trec_eval, that the document was
    in the pool but not judged.
    """

    table: QueryTable

    @classmethod
    def from_dict(cls, rows: Mapping[str, Mapping[str, float]]) -> Qrels:
        """From `{query: {document: grade}}`."""
        return cls(QueryTable.from_dict(rows, what="grade"))

    @classmethod
    def from_trec(cls, path: PathLike, *, lenient: bool = False) -> Qrels:
        """From a TREC qrels file."""
        return cls(trec.read_table(path, "qrels", lenient=lenient))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """As `{query: {document: grade}}`."""
        return self.table.to_dict()

    def __len__(self) -> int:
        return len(self.table.queries)

    def __repr__(self) -> str:
        return f"Qrels({len(self)} queries, {len(self.table.values)} judgments)"
