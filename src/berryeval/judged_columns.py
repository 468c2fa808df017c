"""Judged rankings as columns: what is computed of each query stays, the query itself does not."""

from __future__ import annotations

from array import array
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from berryeval import _backend
from berryeval.engine import score_tables, value_of
from berryeval.measures import SubtopicHit, SubtopicRanking
from berryeval.qrels import Qrels
from berryeval.run import RankingRule, Run
from berryeval.tables import QueryTable, StringColumn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from berryeval.measures import JudgedRanking, Measure
    from berryeval.relevance import Judged, Relevance

__all__ = ["JudgedColumns"]


class JudgedColumns:
    """Takes judged queries one by one, in their order, and gives the values of measures.

    Native code computes at the end what ids and grades say all about; the rest is computed when a
    query is added.

    Attributes:
        queries: their ids.
    """

    def __init__(
        self, judge: Relevance, queries: Sequence[str], measures: Sequence[Measure]
    ) -> None:
        self.queries = StringColumn.from_strings(queries)
        self._judge = judge
        self._measures = measures
        self._native = [
            row
            for row, measure in enumerate(measures)
            if _backend.native is not None and measure.definition.native
        ]
        self._others = [row for row in range(len(measures)) if row not in set(self._native)]
        self._values = np.zeros((len(measures), len(queries)), dtype=np.float64)
        self._judgments, self._rankings = _Rows(), _Rows()
        self._told: list[bool] = []
        self._counts = array("q")

    def add(self, query: str, judged: Judged, *, in_run: bool) -> None:
        """The next query."""
        place = len(self._told)
        ranking = judged.ranking
        self._told.append(self._tell(ranking))
        known = sum(hit.grade >= 0 for hit in ranking.hits)
        self._counts.extend((ranking.retrieved, known, ranking.relevant_total(1), in_run))
        views = _Views(self._judge, judged)
        for row in self._others if self._told[-1] else range(len(self._measures)):
            measure = self._measures[row]
            self._values[row, place] = value_of(measure, views[measure.definition.kind], query)

    def _tell(self, ranking: JudgedRanking) -> bool:
        """Note judgments and a run whose join gives this ranking; whether it does.

        It cannot where one hit covers several targets, or one that was found before.
        """
        free: dict[float, list[bytes]] = defaultdict(list)
        judgments = [(b"%d" % place, grade) for place, grade in enumerate(ranking.grades)]
        for identity, grade in judgments:
            free[grade].append(identity)
        ids = {hit.rank: free[hit.grade].pop() for hit in ranking.hits if free[hit.grade]}
        ranks = range(1, ranking.retrieved + 1)
        self._judgments.add(judgments)
        self._rankings.add((ids.get(rank, b"rank %d" % rank), -float(rank)) for rank in ranks)
        return not ranking.also and len(ids) == len(ranking.hits)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Of each query: retrieved, judged of these, relevant, in the run."""
        return np.array(self._counts, dtype=np.int64).reshape(-1, 4)

    def table(self) -> QueryTable:
        """The judgments."""
        return self._judgments.table(self.queries)

    def values(self) -> npt.NDArray[np.float64]:
        """The values, a row per measure."""
        if self._native:
            chosen = [self._measures[row] for row in self._native]
            run = Run(self._rankings.table(self.queries))
            found = score_tables(Qrels(self.table()), run, chosen, RankingRule()).values
            told = np.array(self._told, dtype=np.bool_)
            self._values[self._native] = np.where(told, found, self._values[self._native])
        return self._values


class _Rows:
    """Rows of a document and a number, grouped by query, as they come."""

    def __init__(self) -> None:
        self._documents = bytearray()
        self._ends = array("q", [0])
        self._values = array("d")
        self._offsets = array("q", [0])

    def add(self, rows: Iterable[tuple[bytes, float]]) -> None:
        """The rows of the next query."""
        for identity, value in rows:
            self._documents += identity
            self._ends.append(len(self._documents))
            self._values.append(value)
        self._offsets.append(len(self._values))

    def table(self, queries: StringColumn) -> QueryTable:
        """The table of these queries."""
        documents = np.frombuffer(bytes(self._documents), dtype=np.uint8)
        return QueryTable(
            queries=queries,
            offsets=np.array(self._offsets, dtype=np.int64),
            documents=StringColumn(documents, np.array(self._ends, dtype=np.int64)),
            values=np.array(self._values, dtype=np.float64),
            distinct=True,
        )


class _Views(dict[str, Any]):
    """A judged ranking as each kind of measure sees it, made when it is asked for."""

    def __init__(self, judge: Relevance, judged: Judged) -> None:
        super().__init__(ranking=judged.ranking)
        self._judge = judge
        self._judged = judged

    def __missing__(self, kind: str) -> Any:
        view = self[kind] = (
            self._judge.as_spans(self._judged)
            if kind == "spans"
            else _one_subtopic(self._judged.ranking)
        )
        return view


def _one_subtopic(judged: JudgedRanking) -> SubtopicRanking:
    """The ranking for measures of diversity: without subtopics, all is of one."""
    return SubtopicRanking(
        [SubtopicHit(hit.rank, {"0": hit.grade}) for hit in judged.hits],
        judged.retrieved,
        [{"0": grade} for grade in judged.grades],
        ["0"],
    )
