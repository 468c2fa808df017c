"""`Run`: what a system returned, and the rule that orders it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from berryeval.io import trec
from berryeval.tables import QueryTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.io.files import PathLike

__all__ = ["RankingRule", "Run", "Ties"]

Ties: TypeAlias = Literal["document descending", "document ascending", "given order"]


@dataclass(frozen=True)
class RankingRule:
    """How the rows of a query become a ranking: by score, highest first, and then?

    Attributes:
        ties: how documents of one score are ordered; trec_eval puts the higher id (bytes) first.
        single_precision: compare scores as float32, as trec_eval 9 does.
        depth: how many documents to keep, all if None.
    """

    ties: Ties = "document descending"
    single_precision: bool = False
    depth: int | None = None

    def order(self, documents: list[bytes], scores: list[float]) -> list[int]:
        """The places of the rows, best first; the native twin is `QueryJudge::rank`."""
        keys = np.array(scores, dtype=np.float32).tolist() if self.single_precision else scores
        places = list(range(len(keys)))
        if self.ties == "document descending":
            places.sort(key=lambda place: documents[place], reverse=True)
        elif self.ties == "document ascending":
            places.sort(key=lambda place: documents[place])
        places.sort(key=lambda place: -keys[place])
        return places[: self.depth]

    def ranked(self, run: QueryTable, query: int) -> list[bytes]:
        """The documents of one query of a run, best first."""
        start, end = int(run.offsets[query]), int(run.offsets[query + 1])
        documents = run.documents.to_bytes_list(start, end)
        if len(set(documents)) < len(documents):
            seen: set[bytes] = set()
            for row, document in enumerate(documents, start=start):
                if document in seen:
                    raise run.repeated(row)
                seen.add(document)
        return [documents[place] for place in self.order(documents, run.values[start:end].tolist())]


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """The rankings of one system: documents and scores, grouped by query. Never changes."""

    table: QueryTable
    name: str = "run"

    @classmethod
    def from_dict(cls, rows: Mapping[str, Mapping[str, float]], name: str = "run") -> Run:
        """From `{query: {document: score}}`."""
        return cls(QueryTable.from_dict(rows, what="score"), name)

    @classmethod
    def from_trec(cls, path: PathLike, *, name: str = "", lenient: bool = False) -> Run:
        """From a TREC run file; the name is the tag of its last line unless given."""
        table = trec.read_table(path, "run", lenient=lenient)
        return cls(table, name or str(table.labels["tag"]) or "run")

    def to_dict(self) -> dict[str, dict[str, float]]:
        """As `{query: {document: score}}`."""
        return self.table.to_dict()

    def __len__(self) -> int:
        return len(self.table.queries)

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {len(self)} queries, {len(self.table.values)} documents)"
