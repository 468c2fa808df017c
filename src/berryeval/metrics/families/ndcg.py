"""Discounted cumulative gain: plain, normalized by the ideal, and averaged over ranks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from berryeval.metrics.base import metric
from berryeval.metrics.ranges import COUNT, WITHIN_ONE, has_negative, of_gains

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking
    from berryeval.metrics.base import Discounting, Gains

# The level of a document is its grade, or one of these numbers of trec_eval.
NO_JUDGMENT: Final = -1.0
NOT_JUDGED: Final = -2.0

# The largest exponent of 2^grade, so that every gain is finite.
LARGEST: Final = 1000.0

GainOf: TypeAlias = Callable[[float], float]


@dataclass(frozen=True)
class GainRule:
    """The gain of a level: the grade, 2^grade - 1, or a given number.

    As in trec_eval, level -1 means documents without a judgment and level -2 documents in the pool
    that were not judged (any negative grade). Neither belongs to the ideal ranking.

    Attributes:
        gains: Gains of some levels that replace the default.
        dcg: 'log2' for the grade itself, 'exp-log2' for 2^grade - 1.
        rel: Least grade that gains anything.
    """

    gains: Gains | None = None
    dcg: Discounting = "log2"
    rel: float = 0.0

    def __call__(self, level: float) -> float:
        """Return the gain of a level."""
        if 0 <= level < self.rel:
            return 0.0
        for known, gain in self.gains or ():
            if known == level:
                return gain
        if level < 0:
            return 0.0
        return 2.0 ** min(level, LARGEST) - 1.0 if self.dcg == "exp-log2" else level


def walk(
    judged: JudgedRanking, gain_of: GainOf, cutoff: int | None = None
) -> Iterator[tuple[int, float]]:
    """Yield the ranks with a gain other than 0, and the gain, from rank 1 down."""
    unknown = gain_of(NO_JUDGMENT)
    depth = judged.retrieved if cutoff is None else min(cutoff, judged.retrieved)
    rank = 0
    for hit in judged.hits:
        if hit.rank > depth:
            break
        if unknown:
            yield from ((between, unknown) for between in range(rank + 1, hit.rank))
        rank = hit.rank
        gain = gain_of(hit.grade if hit.grade >= 0 else NOT_JUDGED)
        if gain:
            yield rank, gain
    if unknown:
        yield from ((after, unknown) for after in range(rank + 1, depth + 1))


def best_gains(judged: JudgedRanking, gain_of: GainOf, cutoff: int | None = None) -> list[float]:
    """Return the positive gains of the judged documents, highest first: the ideal ranking."""
    gains = (gain_of(grade) for grade in judged.grades if grade >= 0)
    return sorted((gain for gain in gains if gain > 0), reverse=True)[:cutoff]


@metric(
    "nDCG",
    within=of_gains(WITHIN_ONE),
    text="sum of gain / log2(rank + 1), over the same of the ideal ranking",
    aliases={"ndcg": {}, "ndcg_cut": {}, "ndcg_burges": {"dcg": "exp-log2"}},
    peers={"trec_eval": "ndcg, ndcg_cut", "ir_measures": "nDCG", "ranx": "ndcg, ndcg_burges"},
)
def ndcg(
    judged: JudgedRanking,
    *,
    cutoff: int | None = None,
    dcg: Discounting = "log2",
    gains: Gains | None = None,
    rel: float = 0.0,
) -> float:
    """Normalized discounted cumulative gain (Järvelin and Kekäläinen, ACM TOIS 20(4), 2002).

    The gain is the grade, or 2^grade - 1 with `dcg='exp-log2'` (Burges et al., ICML 2005). `gains`
    replaces the gain of some grades; grades below `rel` gain nothing. Level -1 means documents
    without a judgment, level -2 documents in the pool that were not judged. The ideal ranking holds
    all judged documents with a positive gain, sorted by gain and cut at k (trec_eval does not sort
    gains that differ by less than 1). 0.0 if the ideal gains nothing.
    """
    rule = GainRule(gains, dcg, rel)
    ideal = discounted(enumerate(best_gains(judged, rule, cutoff), start=1))
    return at_most_one(discounted(walk(judged, rule, cutoff)) / ideal, gains) if ideal else 0.0


@metric(
    "DCG",
    within=of_gains(COUNT),
    text="sum of gain / log2(rank + 1)",
    aliases={"dcg": {}, "dcg_burges": {"dcg": "exp-log2"}},
    peers={"trec_eval": "dcg", "ranx": "dcg, dcg_burges"},
)
def discounted_gain(
    judged: JudgedRanking,
    *,
    cutoff: int | None = None,
    dcg: Discounting = "log2",
    gains: Gains | None = None,
    rel: float = 0.0,
) -> float:
    """Discounted cumulative gain, with the gains of nDCG."""
    return discounted(walk(judged, GainRule(gains, dcg, rel), cutoff))


@metric(
    "IDCG",
    within=of_gains(COUNT),
    text="DCG of the ideal ranking",
    aliases=("ideal_dcg",),
    peers={"trec_eval": "ideal_dcg"},
    condensable=False,
    better="neither",
)
def ideal_gain(
    judged: JudgedRanking,
    *,
    cutoff: int | None = None,
    dcg: Discounting = "log2",
    gains: Gains | None = None,
    rel: float = 0.0,
) -> float:
    """Discounted cumulative gain of the ideal ranking."""
    best = best_gains(judged, GainRule(gains, dcg, rel), cutoff)
    return discounted(enumerate(best, start=1))


@metric(
    "nDCGrel",
    within=of_gains(WITHIN_ONE),
    text="mean over the documents with a gain of nDCG at their rank, or at the end if missed",
    aliases=("ndcg_rel",),
    peers={"trec_eval": "ndcg_rel"},
)
def ndcg_at_relevant(judged: JudgedRanking, *, gains: Gains | None = None) -> float:
    """Mean of nDCG over the documents with a positive gain, as AP is a mean of precision.

    A document counts with nDCG at its rank; a missing document with nDCG at the end of the ranking.
    """
    rule = GainRule(gains)
    best = best_gains(judged, rule)
    if not best:
        return 0.0
    ideal = IdealSum(best)
    also = Counter(hit.rank for hit in judged.also if hit.grade >= 0 and rule(hit.grade) > 0)
    total = found_dcg = 0.0
    found = 0
    for rank, gain in walk(judged, rule):
        found_dcg += gain / math.log2(rank + 1)
        if gain > 0:
            total += (1 + also[rank]) * (found_dcg / ideal.up_to(rank))
            found += 1 + also[rank]
    total += (len(best) - found) * found_dcg / ideal.up_to(len(best))
    return at_most_one(total / len(best), gains) if total > 0 else 0.0


@metric(
    "RnDCG",
    within=of_gains(WITHIN_ONE),
    text="mean of nDCG@c over the ranks c where the gain of the ideal ranking changes",
    aliases=("Rndcg",),
    peers={"trec_eval": "Rndcg"},
)
def ndcg_at_changes(
    judged: JudgedRanking, *, gains: Gains | None = None, rel: float = 0.0
) -> float:
    """Mean of nDCG over the ranks where the gain of the ideal ranking drops.

    As in trec_eval, the last of these is where the ideal gain becomes 0, and a ranking that is
    longer by two or more documents adds nDCG at its end. If only documents of grade 0 gain
    anything, trec_eval returns 0. Grades below `rel` gain nothing, as in nDCG; trec_eval's `-l`
    keeps their gains and returns 0 for a query without a document of that grade.
    """
    rule = GainRule(gains, rel=rel)
    best = best_gains(judged, rule)
    if not best:
        return 0.0
    points = [c for c in range(1, len(best) + 1) if c == len(best) or best[c] != best[c - 1]]
    if judged.retrieved > len(best) + 1:
        points.append(judged.retrieved)
    ideal = IdealSum(best)
    found = list(walk(judged, rule))
    total = found_dcg = 0.0
    start = 0
    for point in points:
        while start < len(found) and found[start][0] <= point:
            found_dcg += found[start][1] / math.log2(found[start][0] + 1)
            start += 1
        total += found_dcg / ideal.up_to(point)
    return at_most_one(total / len(points), gains)


class IdealSum:
    """The DCG of the ideal ranking up to a rank; ranks must be requested in ascending order."""

    def __init__(self, best: list[float]) -> None:
        self._best = best
        self._placed = 0
        self._total = 0.0

    def up_to(self, rank: int) -> float:
        """Return the DCG of the ideal ranking down to `rank`."""
        while self._placed < min(rank, len(self._best)):
            self._total += self._best[self._placed] / math.log2(self._placed + 2)
            self._placed += 1
        return self._total


def at_most_one(ratio: float, gains: Gains | None) -> float:
    """Remove the excess over 1 that rounding adds to a sum in another order than the ideal's.

    With negative levels or gains a ranking may really beat the ideal one.
    """
    return ratio if has_negative(gains) else min(ratio, 1.0)


def discounted(gains: Iterable[tuple[int, float]]) -> float:
    """Return the sum of gain / log2(rank + 1), from rank 1 down."""
    total = 0.0
    for rank, gain in gains:
        total += gain / math.log2(rank + 1)
    return total
