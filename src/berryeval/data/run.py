"""`Run`: the rankings of a system, and the rule that orders them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias, get_args

import numpy as np

from berryeval._internal.text import pluralize, truncate
from berryeval._internal.validate import is_whole
from berryeval.data.load import TableValue
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.data.table import Kind, QueryTable


Ties: TypeAlias = Literal["document descending", "document ascending", "given order"]


@dataclass(frozen=True)
class RankingRule:
    """The rule that orders the rows of a query: highest score first, then by `ties`.

    Attributes:
        ties: Order of documents with equal scores; trec_eval puts the higher id (bytes) first.
        single_precision: Whether to compare scores as float32, as trec_eval 9 does.
        depth: Number of documents to keep; None keeps all.
    """

    ties: Ties = "document descending"
    single_precision: bool = False
    depth: int | None = None

    def __post_init__(self) -> None:
        if self.ties not in get_args(Ties):
            raise ConfigurationError(
                f"ties must be one of {', '.join(get_args(Ties))}; found {self.ties!r}"
            )
        if self.depth is not None and (not is_whole(self.depth) or self.depth < 1):
            raise ConfigurationError(
                f"depth must be an integer from 1 up, or None; found {self.depth!r}"
            )

    def order(self, documents: list[bytes], scores: list[float]) -> list[int]:
        """Return row numbers, best first; the native counterpart is `QueryJudge::rank`."""
        keys = scores
        if self.single_precision:
            with np.errstate(over="ignore"):  # overflow gives infinity, as in C
                keys = np.array(scores, dtype=np.float64).astype(np.float32).tolist()
        places = list(range(len(keys)))
        if self.ties == "document descending":
            places.sort(key=lambda place: documents[place], reverse=True)
        elif self.ties == "document ascending":
            places.sort(key=lambda place: documents[place])
        places.sort(key=lambda place: -keys[place])
        return places[: self.depth]

    def ranked(self, run: QueryTable, query: int) -> list[bytes]:
        """Return the documents of one query of a run, best first."""
        start, end = int(run.offsets[query]), int(run.offsets[query + 1])
        documents = run.documents.to_bytes_list(start, end)
        if len(set(documents)) < len(documents):
            seen: set[bytes] = set()
            for row, document in enumerate(documents, start=start):
                if document in seen:
                    raise run.repeated_error(row)
                seen.add(document)
        return [documents[place] for place in self.order(documents, run.values[start:end].tolist())]


DEFAULT_RULE: Final[RankingRule] = RankingRule()


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Run(TableValue):
    """The immutable rankings of one system: documents and scores, grouped by query.

    The name comes from the tag in the last line of a TREC file or from the metadata of a Parquet
    file; the default is "run". `named` changes it.
    """

    name: str = "run"
    kind: ClassVar[Kind] = "run"

    def __init__(
        self, table: QueryTable | Mapping[str, Mapping[str, float]], name: str = "run"
    ) -> None:
        """Take a table or `{query: {document: score}}`, and a name."""
        super().__init__(table)
        object.__setattr__(self, "name", name)

    @classmethod
    def _of(cls, table: QueryTable) -> Run:
        return cls(table, str(table.labels.get("tag", "")) or "run")

    @classmethod
    def from_dict(cls, rows: Mapping[str, Mapping[str, float]], name: str = "run") -> Run:
        """Build a run from `{query: {document: score}}`."""
        return super().from_dict(rows).named(name)

    @classmethod
    def from_trec(cls, path: PathLike, *, name: str = "", lenient: bool = False) -> Run:
        """Read a TREC run file; the default name is the tag of its last line."""
        run = super().from_trec(path, lenient=lenient)
        return run.named(name) if name else run

    def named(self, name: str) -> Run:
        """Return the run with another name."""
        return replace(self, name=name)

    def ranked(self, rule: RankingRule | None = None) -> Run:
        """Return the run with the rows of each query in rank order."""
        rule = rule or DEFAULT_RULE
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

    def _output(self) -> tuple[QueryTable, str]:
        return self.ranked().table, self.name

    def __repr__(self) -> str:
        queries = pluralize(len(self), "query")
        documents = pluralize(len(self.table.values), "document")
        return f"Run({truncate(self.name)!r}, {queries}, {documents})"

    def _repr_html_(self) -> str:
        from berryeval.data.table_preview import preview_run

        return preview_run(self)
