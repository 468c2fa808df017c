"""Numbers of the trained methods, from the ranks at which runs have relevant documents."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from berryeval._internal import backend as _backend
from berryeval.fusion.query_fusion import Ranking
from berryeval.fusion.table_fusion import ABSENT, find_queries, rank_query

if TYPE_CHECKING:
    from berryeval.data import QueryTable
    from berryeval.fusion.recipe import Floats

_CUTOFFS: Final = (0, 5, 10, 15, 20, 30, 100, 200, 500, 1000)  # of bayesfuse
_EDGES: Final = (0, *((10 << step) - 5 for step in range(10)))  # of segfuse: 5, 15, 35, ...
_TRACE: Final = 0.001  # stands for a probability of 0 or 1


@dataclass(frozen=True)
class RelevantRanks:
    """The ranks of relevant documents in the rankings of one run.

    Attributes:
        queries: Place of the query of each relevant document that the run ranks, ascending.
        ranks: Rank of each, from 0, ascending within a query.
        lengths: Number of documents that the run ranks for each query.
        relevant: Number of relevant documents of each query.
    """

    queries: npt.NDArray[np.int64]
    ranks: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    relevant: npt.NDArray[np.int64]

    @property
    def count(self) -> int:
        """Number of queries."""
        return len(self.lengths)

    def answered(self) -> RelevantRanks:
        """Return the queries for which the run ranks any document."""
        return self.select(self.lengths > 0)

    def select(self, chosen: npt.NDArray[np.bool_]) -> RelevantRanks:
        """Return some of the queries."""
        place_of = np.cumsum(chosen) - 1
        kept = chosen[self.queries]
        queries = place_of[self.queries[kept]]
        return RelevantRanks(queries, self.ranks[kept], self.lengths[chosen], self.relevant[chosen])


def relevant_ranks(qrels: QueryTable, run: QueryTable, rel: float = 1.0) -> RelevantRanks:
    """Find the documents with a grade of at least `rel` in the rankings of the judged queries."""
    places = find_queries(qrels.queries.to_bytes_list(), [run])[0]
    if _backend.native is None:
        found = [_find_relevant(qrels, run, *pair, rel) for pair in enumerate(places.tolist())]
        counts = np.array([len(ranks) for ranks in found], dtype=np.int64)
        ranks = np.array([*itertools.chain.from_iterable(found)], dtype=np.int64)
    else:
        repeated, counts, ranks = _backend.native.relevant_ranks(
            qrels.arrays, run.arrays, places, rel, _backend.thread_count()
        )
        if repeated is not None:
            in_run, row = repeated
            raise (run if in_run else qrels).repeated_error(row)
    lengths = np.where(places == ABSENT, 0, np.diff(run.offsets)[places] if len(run.queries) else 0)
    is_relevant = np.concatenate([[0], np.cumsum(qrels.values >= rel)])
    relevant = np.diff(is_relevant[qrels.offsets])
    queries = np.repeat(np.arange(len(places), dtype=np.int64), counts)
    return RelevantRanks(queries, ranks, lengths.astype(np.int64), relevant)


def _find_relevant(
    qrels: QueryTable, run: QueryTable, query: int, place: int, rel: float
) -> list[int]:
    start, end = int(qrels.offsets[query]), int(qrels.offsets[query + 1])
    rows = zip(qrels.documents.to_bytes_list(start, end), qrels.values[start:end], strict=True)
    relevant = {document for document, grade in rows if grade >= rel}
    ranking = rank_query(run, place) if place != ABSENT else Ranking(0, (), ())
    return [rank for rank, document in enumerate(ranking.documents) if document in relevant]


def mean_average_precision(found: RelevantRanks, _: Mapping[str, float]) -> Floats:
    """Return the mean AP of a run."""
    first = np.searchsorted(found.queries, found.queries)  # of the hits of a query
    above = np.arange(len(first)) - first + 1
    sums = np.bincount(found.queries, above / (found.ranks + 1), minlength=found.count)
    return np.array([np.mean(sums / np.maximum(found.relevant, 1))])


def probabilities(found: RelevantRanks, _: Mapping[str, float]) -> Floats:
    """Return the fraction of relevant documents at each rank, of the rankings that reach it."""
    longest = int(found.lengths.max())
    shorter = np.cumsum(np.bincount(found.lengths, minlength=longest + 1))
    return np.bincount(found.ranks, minlength=longest) / (found.count - shorter[:longest])


def segment_probabilities(found: RelevantRanks, numbers: Mapping[str, float]) -> Floats:
    """Return the mean fraction of relevant documents in each of equal segments of a ranking."""
    segments = int(numbers["segments"])
    sizes = -(-found.lengths // segments)
    size = sizes[found.queries]
    segment = found.ranks // size
    length = np.minimum(size, found.lengths[found.queries] - segment * size)
    return np.bincount(segment, 1 / length, minlength=segments) / found.count


def growing_segment_probabilities(found: RelevantRanks, _: Mapping[str, float]) -> Floats:
    """Return the mean fraction of relevant documents in segments of 5, 10, 20, 40, ... ranks."""
    return _count_between(found, _EDGES) / np.diff(_EDGES) / found.count


def spread_segments(shares: Floats) -> Floats:
    """Return the number of its segment for each rank."""
    sizes = np.diff(_EDGES)
    return np.repeat(shares[: len(sizes)], sizes[: len(shares)])


def log_odds(found: RelevantRanks, _: Mapping[str, float]) -> Floats:
    """Return the logarithm of the odds of relevance at each rank, by range of ranks."""
    sizes = np.diff(_CUTOFFS)
    shares = (_count_between(found, _CUTOFFS) / sizes / found.count).tolist()
    likely = [share or _TRACE for share in shares]
    return np.repeat([math.log(share / ((1 - share) or _TRACE)) for share in likely], sizes)


def _count_between(found: RelevantRanks, edges: tuple[int, ...]) -> Floats:
    """Count relevant documents between each pair of ranks."""
    counts, _ = np.histogram(found.ranks, bins=np.array(edges) - 0.5)
    return counts.astype(np.float64)
