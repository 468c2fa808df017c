"""The retrieval metrics of torchmetrics, computed for all queries at once.

Each class is a subclass of its namesake, so it works wherever that one does: Lightning, metric
collections, several processes. Only `compute` differs: it sorts once on the device instead of
looping over the queries in Python. Conventions are those of torchmetrics: scores of 0 or less do
not retrieve (precision, recall, AP, RR), the ideal ranking of nDCG knows only the documents that
were passed in, and nDCG averages over the orders of equal scores. The order of other metrics among
equal scores, arbitrary there, is the given order here.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Final

import torch
import torchmetrics.retrieval as peer
from torch import Tensor
from torchmetrics.utilities.data import dim_zero_cat

_INDEXES: Final = 1 << 30  # which leave room for a float32 in 64 bits
_FRACTION: Final = 30  # bits, more than a float32 has

# Those of torchmetrics.
RetrievalPrecisionRecallCurve = peer.RetrievalPrecisionRecallCurve
RetrievalRecallAtFixedPrecision = peer.RetrievalRecallAtFixedPrecision


class RankedTargets:
    """All scored documents, query by query and best first.

    Attributes:
        target: Target of each document.
        scores: Score of each document.
        rank: Rank of each document in its query, from 1.
        query: Number of the query of each document.
        sizes: Number of documents of each query.
    """

    def __init__(self, indexes: Tensor, scores: Tensor, target: Tensor) -> None:
        """Sort by query and score; equal scores keep their order."""
        self._given = indexes, target
        order = _sort_within(indexes, scores)
        self.target, self.scores = target[order], scores[order]
        self.query, self.sizes, self.rank = _number_groups(_find_starts(indexes[order]))

    def add(self, values: Tensor) -> Tensor:
        """Return the sum of the values of each query, in float64."""
        return _add_groups(values, self.sizes, exact=self.is_whole)

    @property
    def is_whole(self) -> bool:
        """Whether the targets are whole numbers."""
        return not self.target.is_floating_point()

    def within(self, k: int | None) -> Tensor:
        """Return which documents are in the top k."""
        return torch.ones_like(self.rank, dtype=torch.bool) if k is None else self.rank <= k

    @cached_property
    def relevant(self) -> Tensor:
        """Sum of the targets of each query."""
        return self.add(self.target)

    @cached_property
    def retrieved(self) -> Tensor:
        """Target of each document, 0 if its score does not retrieve it."""
        return torch.where(self.scores > 0, self.target, torch.zeros_like(self.target))

    @cached_property
    def ties(self) -> tuple[Tensor, Tensor]:
        """Number of the group of equal scores of each document, and the sizes of the groups."""
        starts = _find_starts(self.query) | _find_starts(self.scores)
        group, sizes, _ = _number_groups(starts)
        return group, sizes

    def sort_by_target(self) -> Tensor:
        """Return the targets, query by query and highest first."""
        indexes, target = self._given
        return target[_sort_within(indexes, target)]


def _sort_within(indexes: Tensor, numbers: Tensor) -> Tensor:
    """Return the order by index, then by number, highest first; equal ones keep their order."""
    floats = numbers.float()
    low, high = torch.aminmax(indexes)
    if low < 0 or high >= _INDEXES or not torch.equal(floats.to(numbers.dtype), numbers):
        order = torch.argsort(numbers, descending=True, stable=True)
        return order[torch.argsort(indexes[order], stable=True)]
    bits = (floats + 0.0).view(torch.int32)  # without a negative zero
    rising = bits ^ ((bits >> 31) & 0x7FFFFFFF)  # whole numbers in the order of the floats
    return torch.argsort((indexes << 32) - rising, stable=True)  # one sort instead of two


def _find_starts(values: Tensor) -> Tensor:
    starts = torch.ones_like(values, dtype=torch.bool)
    starts[1:] = values[1:] != values[:-1]
    return starts


def _number_groups(starts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the number of each group, the sizes, and the place of each row in its group."""
    group = torch.cumsum(starts, 0) - 1
    first = torch.nonzero(starts).flatten()
    places = torch.arange(len(starts), device=starts.device)
    ends = torch.cat([first[1:], torch.full_like(first[:1], len(starts))])
    return group, ends - first, places - first[group] + 1


def _add_groups(values: Tensor, sizes: Tensor, *, exact: bool) -> Tensor:
    """Return the sum of each group, always with the same bits.

    With `exact` the values are whole numbers, or not small beside the largest: they are added as
    whole numbers of 64 bits, which is fast and does not depend on the order. If that leaves too few
    bits for a fraction, because the largest is very large, they are added as floats.
    """
    scale = 0
    if exact and values.is_floating_point():
        largest = max(1.0, float(values.abs().max())) * len(values)
        scale = 62 - math.ceil(math.log2(largest))
        exact = scale >= _FRACTION
    if not exact:
        return torch.segment_reduce(values.double(), "sum", lengths=sizes, unsafe=True)
    if scale:
        values = torch.round(values.double() * 2.0**scale)
    totals = torch.cumsum(values.long(), 0)[torch.cumsum(sizes, 0) - 1]
    return torch.diff(totals, prepend=totals.new_zeros(1)).double() / 2.0**scale


def _divide(part: Tensor, whole: Tensor) -> Tensor:
    none = whole == 0
    return torch.where(none, torch.zeros_like(part), part / torch.where(none, 1.0, whole))


class _AllAtOnce:
    """`compute` for all queries at once; a subclass scores the queries of `RankedTargets`."""

    wanted = "positive"  # targets that a query must have

    def compute(self: Any) -> Tensor:
        """Compute the metric of all documents since the last reset."""
        states = map(dim_zero_cat, (self.indexes, self.preds, self.target))
        ranked = RankedTargets(*states)
        values = self.score(ranked).float()
        empty = self.find_empty(ranked)
        if self.empty_target_action == "error" and bool(empty.any()):
            raise ValueError(
                f"`compute` method was provided with a query with no {self.wanted} target."
            )
        if self.empty_target_action == "skip":
            values = values[~empty]
        else:
            fill = 1.0 if self.empty_target_action == "pos" else 0.0
            values = torch.where(empty, torch.full_like(values, fill), values)
        if not len(values):
            return torch.zeros_like(values.sum())
        how = self.aggregation
        if how in {"mean", "median", "min", "max"}:
            how = getattr(torch, how)
            found: Tensor = how(values)
        else:
            found = how(values, dim=None)
        return found

    def score(self, ranked: RankedTargets) -> Tensor:
        """Return the value of each query."""
        raise NotImplementedError

    def find_empty(self, ranked: RankedTargets) -> Tensor:
        """Return which queries have nothing to be found."""
        return ranked.relevant == 0


class RetrievalPrecision(_AllAtOnce, peer.RetrievalPrecision):
    """Precision of the top k."""

    def score(self, ranked: RankedTargets) -> Tensor:
        """Return the value of each query."""
        k = ranked.sizes if self.top_k is None else torch.full_like(ranked.sizes, self.top_k)
        if self.adaptive_k:
            k = torch.minimum(k, ranked.sizes)
        return ranked.add(ranked.retrieved * ranked.within(self.top_k)) / k


class RetrievalRecall(_AllAtOnce, peer.RetrievalRecall):
    """Recall of the top k."""

    def score(self, ranked: RankedTargets) -> Tensor:
        """Return the value of each query."""
        found = ranked.add(ranked.retrieved * ranked.within(self.top_k))
        return _divide(found, ranked.relevant)


class RetrievalHitRate(_AllAtOnce, peer.RetrievalHitRate):
    """Whether the top k holds anything relevant."""

    def score(self, ranked: RankedTargets) -> Tensor:
        """Return the value of each query."""
        return ranked.add(ranked.target * ranked.within(self.top_k)) > 0


class RetrievalFallOut(_AllAtOnce, peer.RetrievalFallOut):
    """Share of the irrelevant documents that are in the top k."""

    wanted = "negative"

    def score(self, ranked: RankedTargets) -> Tensor:
        """Return the value of each query."""
        irrelevant = 1 - ranked.target
        return _divide(ranked.add(irrelevant * ranked.within(self.top_k)), ranked.add(irrelevant))

    def find_empty(self, ranked: RankedTargets) -> Tensor:
        """Return which queries have only relevant documents."""
        return ranked.add(1 - ranked.target) == 0


class RetrievalRPrecision(_AllAtOnce, peer.RetrievalRPrecision):
    """Precision of as many documents as are relevant."""

    def score(self, ranked: RankedTargets) -> Tensor:
        """Return the value of each query."""
        within = ranked.rank <= ranked.relevant[ranked.query]
        return _divide(ranked.add(ranked.target * within), ranked.relevant)


class RetrievalMRR(_AllAtOnce, peer.RetrievalMRR):
    """Reciprocal rank of the first relevant document."""

    def score(self, ranked: RankedTargets) -> Tensor:
        """Return the value of each query."""
        hits = (ranked.retrieved != 0) & ranked.within(self.top_k or None)
        nowhere = torch.full_like(ranked.rank, torch.iinfo(torch.int64).max)
        ranks = torch.full_like(ranked.sizes, torch.iinfo(torch.int64).max)
        ranks.scatter_reduce_(0, ranked.query, torch.where(hits, ranked.rank, nowhere), "amin")
        none = ranks == nowhere[0]
        return torch.where(none, torch.zeros_like(ranks).double(), 1 / ranks.double())


class RetrievalMAP(_AllAtOnce, peer.RetrievalMAP):
    """Mean of the precision at the ranks of the relevant documents in the top k."""

    def score(self, ranked: RankedTargets) -> Tensor:
        """Return the value of each query."""
        hits = (ranked.retrieved > 0) & ranked.within(self.k or None)
        so_far = torch.cumsum(hits, 0)
        found = ranked.add(hits)
        before = torch.cumsum(found, 0) - found
        precision = (so_far - before[ranked.query]) / ranked.rank.double()
        return _divide(ranked.add(precision * hits), found)


class RetrievalNormalizedDCG(_AllAtOnce, peer.RetrievalNormalizedDCG):
    """Normalized discounted cumulative gain; equal scores share their gains."""

    def score(self, ranked: RankedTargets) -> Tensor:
        """Return the value of each query."""
        weight = ranked.within(self.top_k) / torch.log2(ranked.rank.double() + 1)
        group, sizes = ranked.ties
        shared = _add_groups(ranked.target, sizes, exact=ranked.is_whole) / sizes
        best = ranked.add(ranked.sort_by_target() * weight)
        return _divide(ranked.add(shared[group] * weight), best)


class RetrievalAUROC(_AllAtOnce, peer.RetrievalAUROC):
    """Share of the pairs of a relevant and an irrelevant document that are in the right order."""

    def compute(self) -> Tensor:
        """Compute the metric; a part of the curve (`max_fpr`) is left to torchmetrics."""
        if self.max_fpr is not None:
            return peer.RetrievalAUROC.compute(self)
        return super().compute()

    def score(self, ranked: RankedTargets) -> Tensor:
        """Return the value of each query."""
        within = ranked.within(self.top_k)
        group, sizes = ranked.ties
        ranks = ranked.rank * within
        total, count = (_add_groups(one, sizes, exact=True) for one in (ranks, within))
        shared = _divide(total, count)[group]
        relevant = ranked.target.double() * within
        positive = ranked.add(relevant)
        pairs = positive * ranked.add((1 - ranked.target) * within)
        wrong = ranked.add(shared * relevant) - positive * (positive + 1) / 2
        return torch.where(pairs > 0, 1 - wrong / pairs.clamp(min=1), torch.zeros_like(pairs))
