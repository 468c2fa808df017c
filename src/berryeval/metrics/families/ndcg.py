"""Discounted cumulative gain: by itself, over the ideal, and averaged along the ranking."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from berryeval.metrics.base import metric
from berryeval.metrics.ranges import COUNT, WITHIN_ONE, of_gains

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.data import JudgedRanking
    from berryeval.metrics.base import Discounting, Gains


# What a document gains its reader: the rules that nDCG and its relatives share.

# The level of a document is its grade, or one of these; the numbers are trec_eval's.
NO_JUDGMENT: Final = -1.0
NOT_JUDGED: Final = -2.0

# The exponent from which on 2^grade grows no more, so that every gain is a finite number.
LARGEST: Final = 1000.0

GainOf: TypeAlias = Callable[[float], float]


@dataclass(frozen=True)
class GainRule:
    """The gain of a level: the grade, 2^grade - 1, or what the caller says.

    Two levels of `gains` stand for documents that were not judged, as in trec_eval: -1 for those
    without a line in the judgments, -2 for those in the pool (with whatever grade below 0). Such
    documents never belong to the ideal ranking.

    Attributes:
        gains: the gains of some levels, instead of what the rule would give them.
        dcg: 'log2' for the grade itself, 'exp-log2' for 2^grade - 1.
        rel: a judged document below this grade gains nothing.
    """

    gains: Gains | None = None
    dcg: Discounting = "log2"
    rel: float = 0.0

    def __call__(self, level: float) -> float:
        """The gain of a level."""
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
    """The ranks that gain (or cost) something, with how much, from rank 1 down."""
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
    """The positive gains of the judged documents, highest first: the ideal ranking."""
    gains = (gain_of(grade) for grade in judged.grades if grade >= 0)
    return sorted((gain for gain in gains if gain > 0), reverse=True)[:cutoff]


@metric(
    "nDCG",
    within=of_gains(WITHIN_ONE),
    text="sum of gain / log2(rank + 1), over the same of the best possible ranking",
    aliases={"ndcg": {}, "ndcg_cut": {}, "ndcg_burges": {"dcg": "exp-log2"}},
    peers={"trec_eval": "ndcg, ndcg_cut", "ir_measures": "nDCG", "ranx": "ndcg, ndcg_burges"},
    native=True,
)
def ndcg(
    judged: JudgedRanking,
    *,
    cutoff: int | None = None,
    dcg: Discounting = "log2",
    gains: Gains | None = None,
    rel: float = 0.0,
) -> float:
    """Normalised discounted cumulative gain (Järvelin and Kekäläinen, ACM TOIS 20(4), 2002).

    The gain is the grade, or with `dcg='exp-log2'` 2^grade - 1 (Burges et al., ICML 2005); `gains`
    gives some grades a gain of their own, and below `rel` nothing is gained. Of the levels below 0,
    -1 is for documents without a judgment and -2 for documents in the pool that were not judged.
    The ideal is over all judged documents with a positive gain, in the order of their gains
    (trec_eval does not sort gains that differ by less than 1), cut at k. 0.0 where nothing can be
    gained.
    """
    rule = GainRule(gains, dcg, rel)
    ideal = discounted(enumerate(best_gains(judged, rule, cutoff), start=1))
    return discounted(walk(judged, rule, cutoff)) / ideal if ideal else 0.0


@metric(
    "DCG",
    within=of_gains(COUNT),
    text="sum of gain / log2(rank + 1)",
    aliases={"dcg": {}, "dcg_burges": {"dcg": "exp-log2"}},
    peers={"trec_eval": "dcg", "ranx": "dcg, dcg_burges"},
    native=True,
)
def discounted_gain(
    judged: JudgedRanking,
    *,
    cutoff: int | None = None,
    dcg: Discounting = "log2",
    gains: Gains | None = None,
    rel: float = 0.0,
) -> float:
    """Discounted cumulative gain; the gains are those of nDCG."""
    return discounted(walk(judged, GainRule(gains, dcg, rel), cutoff))


@metric(
    "IDCG",
    within=of_gains(COUNT),
    text="DCG of the best possible ranking",
    aliases=("ideal_dcg",),
    peers={"trec_eval": "ideal_dcg"},
    native=True,
    condensable=False,
)
def ideal_gain(
    judged: JudgedRanking,
    *,
    cutoff: int | None = None,
    dcg: Discounting = "log2",
    gains: Gains | None = None,
    rel: float = 0.0,
) -> float:
    """The discounted cumulative gain that the best possible ranking has."""
    best = best_gains(judged, GainRule(gains, dcg, rel), cutoff)
    return discounted(enumerate(best, start=1))


@metric(
    "nDCGrel",
    within=of_gains(WITHIN_ONE),
    text="mean over the documents with a gain of nDCG at their rank; at the end for those missed",
    aliases=("ndcg_rel",),
    peers={"trec_eval": "ndcg_rel"},
    native=True,
)
def ndcg_at_relevant(judged: JudgedRanking, *, gains: Gains | None = None) -> float:
    """The mean of nDCG over the documents with a positive gain, as AP is one of precision.

    Each counts with nDCG at the rank where it was found; each that was not found, with nDCG at the
    end of the ranking.
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
    return total / len(best) if total > 0 else 0.0


@metric(
    "RnDCG",
    within=of_gains(WITHIN_ONE),
    text="mean of nDCG@c over the ranks c where the gain of the ideal ranking changes",
    aliases=("Rndcg",),
    peers={"trec_eval": "Rndcg"},
    native=True,
)
def ndcg_at_changes(judged: JudgedRanking, *, gains: Gains | None = None) -> float:
    """The mean of nDCG over the ranks where the ideal ranking passes to a lower gain.

    As in trec_eval, the last of these is where the ideal gain becomes 0, and a ranking that is
    longer by two documents or more counts once more, with nDCG at its end. Where `gains` lets only
    documents of grade 0 gain something, trec_eval gives 0.
    """
    rule = GainRule(gains)
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
    return total / len(points)


class IdealSum:
    """The DCG of the ideal ranking, up to ranks that are asked for in rising order."""

    def __init__(self, best: list[float]) -> None:
        self._best = best
        self._placed = 0
        self._total = 0.0

    def up_to(self, rank: int) -> float:
        """The sum over the ideal ranking's documents down to `rank`."""
        while self._placed < min(rank, len(self._best)):
            self._total += self._best[self._placed] / math.log2(self._placed + 2)
            self._placed += 1
        return self._total


def discounted(gains: Iterable[tuple[int, float]]) -> float:
    """The sum of gain / log2(rank + 1), from rank 1 down."""
    total = 0.0
    for rank, gain in gains:
        total += gain / math.log2(rank + 1)
    return total
