"""`Run`: what a system returned, and the rule that orders it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from berryeval.data.load import TableValue
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval._internal.files import PathLike
    from berryeval.data.table import Kind, QueryTable


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

    def __post_init__(self) -> None:
        """Refuse a rule that nobody could follow."""
        if self.ties not in get_args(Ties):
            msg = f"ties must be one of {', '.join(get_args(Ties))}; found {self.ties!r}"
            raise ConfigurationError(msg)
        if self.depth is not None and (not isinstance(self.depth, int) or self.depth < 1):
            msg = f"depth must be an integer from 1 up, or None; found {self.depth!r}"
            raise ConfigurationError(msg)

    def order(self, documents: list[bytes], scores: list[float]) -> list[int]:
        """The places of the rows, best first; the native twin is `QueryJudge::rank`."""
        keys = scores
        if self.single_precision:
            with np.errstate(over="ignore"):  # beyond float32 there is infinity, as in C
                keys = np.array(scores, dtype=np.float64).astype(np.float32).tolist()
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
class Run(TableValue):
    """The rankings of one system: documents and scores, grouped by query. Never changes.

    The name is the tag of a TREC file's last line, what a Parquet file written here recorded, or
    "run"; `named` gives another.
    """

    name: str = "run"
    kind: ClassVar[Kind] = "run"

    @classmethod
    def _of(cls, table: QueryTable) -> Run:
        return cls(table, str(table.labels.get("tag", "")) or "run")

    @classmethod
    def from_dict(cls, rows: Mapping[str, Mapping[str, float]], name: str = "run") -> Run:
        """From `{query: {document: score}}`."""
        return super().from_dict(rows).named(name)

    @classmethod
    def from_trec(cls, path: PathLike, *, name: str = "", lenient: bool = False) -> Run:
        """From a TREC run file; the name is the tag of its last line unless given."""
        run = super().from_trec(path, lenient=lenient)
        return run.named(name) if name else run

    def named(self, name: str) -> Run:
        """The same run under another name."""
        return replace(self, name=name)

    def ranked(self, rule: RankingRule | None = None) -> Run:
        """The same run, the rows of each query in the order of their ranks."""
        rule = rule or RankingRule()
        table = self.table
        order = np.arange(len(table.values), dtype=np.int64)
        for start, end in itertools.pairwise(table.offsets.tolist()):
            scores = table.values[start:end]
            if rule.single_precision or not np.all(scores[1:] < scores[:-1]):
                ids = table.documents.to_bytes_list(start, end)
                places = replace(rule, depth=None).order(ids, scores.tolist())
                order[start:end] = start + np.array(places, dtype=np.int64)
        documents, values = table.documents.take(order), table.values[order]
        return replace(self, table=replace(table, documents=documents, values=values, labels={}))

    def _written(self) -> tuple[QueryTable, str]:
        return self.ranked().table, self.name

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {len(self)} queries, {len(self.table.values)} documents)"
