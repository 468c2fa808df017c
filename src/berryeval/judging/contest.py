"""A contest of systems: how far the grades that are missing can move their differences.

The *verdict* on two systems is what a comparison would say if every pair of their rankings were
judged: the second is better, worse, or not significantly different (paired t test over the queries,
level 0.05; at least six queries must differ, as in a randomization test). Draws of the missing
grades give the probability of each verdict; the extremes of these grades give bounds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from berryeval.errors import DataError
from berryeval.judging.grade_model import SYSTEMS, Chance, GradeModel
from berryeval.judging.pool import read_rankings
from berryeval.judging.rank_sums import read_rank_sum
from berryeval.stats import paired_test, quantile

if TYPE_CHECKING:
    import numpy.typing as npt

    from berryeval.judging.grade_model import Levels
    from berryeval.judging.pool import Pool
    from berryeval.judging.rank_sums import Floats

VerdictWord: TypeAlias = Literal["better", "worse", "no significant difference"]
LEVEL: Final = 0.95
SURE: Final = 0.95  # probability of a verdict that is enough to stop
ENOUGH: Final = 30  # judged pairs before the model is trusted
_SHARE: Final = 0.05  # of the pairs, likewise
_SHARED: Final = 0.02  # of the pairs that systems with the same chunks have in common
_SAMPLES: Final = 256
_NUMBERS: Final = 2_000_000  # random numbers that are kept
_FORESEEN: Final = 64  # samples of a forecast
_TRUTHS: Final = 6  # of these that are taken for the truth
_LITTLE: Final = 0.1  # weight of a pair that only moves the ideal ranking
_FEWEST: Final = 6  # differing queries that can be significant
_WORDS: Final[dict[int, VerdictWord]] = {
    1: "better",
    -1: "worse",
    0: "no significant difference",
}


@dataclass(frozen=True)
class Outlook:
    """The verdict on two systems so far, and how far it can still change.

    Attributes:
        metric: Name of the metric.
        baseline: The first system.
        system: The second system; the verdict is about it.
        pairs: Number of pairs that can change the difference.
        judged: Number of these that are judged.
        difference: Mean difference of the metric if nothing unjudged is relevant.
        low: Lowest difference that grades of unjudged pairs can give.
        high: Highest such difference.
        verdict: The most probable verdict.
        probability: Its probability; 1 if no grade can change it.
        is_certain: Whether no grade can change it.
        is_decided: Whether more judgments are not worth their while.
    """

    metric: str
    baseline: str
    system: str
    pairs: int
    judged: int
    difference: float
    low: float
    high: float
    verdict: VerdictWord
    probability: float
    is_certain: bool
    is_decided: bool

    def to_json(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return dict(vars(self))


class Contest:
    """Two systems of a pool, compared by one metric.

    Attributes:
        metric: Name of the metric.
        baseline: The first system.
        system: The second system.
        ids: Pairs of their rankings, in the pool or not, in the order of the queries.
        queries: Ids of the queries.
    """

    def __init__(self, pool: Pool, baseline: str, system: str, metric: str) -> None:
        self._sum = read_rank_sum(metric, pool.depth)
        self.metric, self.baseline, self.system = self._sum.name, baseline, system
        rankings = [read_rankings(pool)[name] for name in (baseline, system)]
        self.queries = sorted({query for own in rankings for query in own})
        self._place_of = {query: place for place, query in enumerate(self.queries)}
        entries = [
            (self._place_of[query], entry, number, rank)
            for number, own in enumerate(rankings)
            for query, found in own.items()
            for rank, entry in enumerate(found, start=1)
        ]
        pairs = sorted({(query, entry) for query, entry, _, _ in entries if isinstance(entry, str)})
        self.ids = [name for _, name in pairs]
        self._query_of = np.array([query for query, _ in pairs], dtype=np.int64)
        self._read_grades(pool, [one for _, one, _, _ in entries if not isinstance(one, str)])
        self._read_ranks(entries)
        self._others = {pair.id: pair.query_id for pair in pool.pairs}
        for name in self.ids:
            self._others.pop(name, None)
        samples = max(64, min(_SAMPLES, _NUMBERS // max(1, len(pairs))))
        self._model = GradeModel(self._ranks, self._query_of, len(self.queries), len(self._levels))
        self._chance = Chance(pool.seed, samples, len(pairs), len(self.queries))
        self._level_of = np.full(len(pairs), -1, dtype=np.int64)
        self._also = np.zeros_like(self._known)  # grades of pairs that only other systems have
        self._drawn: Levels | None = None
        self._weighed: tuple[VerdictWord, float] | None = None

    @property
    def enough(self) -> int:
        """Number of judged pairs from which on the model is trusted.

        All of them if the systems share hardly any: then they cut documents differently, and the
        model knows nothing about passages of the two that overlap.
        """
        shared = int((self._ranks > 0).all(axis=0).sum())
        if shared < _SHARED * len(self.ids):
            return len(self.ids)
        return min(len(self.ids), max(ENOUGH, math.ceil(_SHARE * len(self.ids))))

    def _read_grades(self, pool: Pool, shown: Sequence[float]) -> None:
        """Read the possible grades and what is known of each query."""
        grades = {float(one) for own in pool.known.values() for one in own} | set(map(float, shown))
        grades |= {float(one) for one in range(1, int(pool.highest) + 1)} | {pool.highest, 0.0}
        self._levels = np.array(sorted(one for one in grades if one >= 0))
        self._gains = self._sum.gains_of(self._levels)
        self._known = np.zeros((len(self._levels), len(self.queries)))
        for query, own in pool.known.items():
            for grade in own if query in self._place_of else ():
                if grade >= 0:
                    self._known[self._find_level(grade), self._place_of[query]] += 1

    def _read_ranks(self, entries: Sequence[tuple[int, str | float, int, int]]) -> None:
        """Read the rank of each pair by system, and the sums of what is known already."""
        number_of = {name: number for number, name in enumerate(self.ids)}
        self._ranks = np.zeros((SYSTEMS, len(self.ids)), dtype=np.int64)
        sums = np.zeros((SYSTEMS, len(self.queries)))
        depth = len(self._sum.weights)
        for query, entry, system, rank in entries:
            if isinstance(entry, str):
                self._ranks[system, number_of[entry]] = rank
            elif rank <= depth:
                gain = self._gains[self._find_level(entry)]
                sums[system, query] += self._sum.weights[rank - 1] * gain
        beyond = np.zeros(max(0, int(self._ranks.max(initial=0)) - depth))
        weights = np.concatenate([[0.0], self._sum.weights, beyond])[self._ranks]
        self._weights = weights[1] - weights[0]
        self._fixed = sums[1] - sums[0]
        self._ideals = np.concatenate([[0.0], np.cumsum(self._sum.weights)])

    def _find_level(self, grade: float) -> int:
        return int(np.abs(self._levels - max(0.0, grade)).argmin())

    def judge(self, grades: Mapping[str, float]) -> None:
        """Take the grades of pairs by id; the others are not judged."""
        level_of = {grade: self._find_level(grade) for grade in set(grades.values())}
        found = np.array(
            [level_of[grades[name]] if name in grades else -1 for name in self.ids], dtype=np.int64
        )
        also = np.zeros_like(self._known)
        for name in self._others.keys() & grades.keys():
            if self._others[name] in self._place_of:
                also[level_of[grades[name]], self._place_of[self._others[name]]] += 1
        if not np.array_equal(found, self._level_of):
            self._drawn = None
        self._level_of, self._also, self._weighed = found, also, None

    @property
    def left(self) -> npt.NDArray[np.int64]:
        """Places of the pairs without a grade."""
        return np.flatnonzero(self._level_of < 0)

    @property
    def judged(self) -> int:
        """Number of pairs with a grade."""
        return int((self._level_of >= 0).sum())

    def weigh(self) -> tuple[VerdictWord, float]:
        """Return the most probable verdict and its probability.

        The probability is 1 only if no grade can change the verdict.
        """
        if self._weighed is None:
            self._weighed = self._weigh()
        return self._weighed

    def _weigh(self) -> tuple[VerdictWord, float]:
        if self._is_settled():
            return _WORDS[self._test()], 1.0
        tried = verdicts_of(self._differ(self._draw()))
        counts = {sign: int((tried == sign).sum()) for sign in _WORDS}
        sign = max(counts, key=counts.__getitem__)
        return _WORDS[sign], counts[sign] / (len(tried) + 1)

    def _is_settled(self) -> bool:
        """Return whether nothing is left to judge, or too few queries can differ."""
        if not self._matters[self.left].any():
            return True
        can_differ = self._differ_at_least() != 0
        can_differ[self._query_of[self.left[self._matters[self.left]]]] = True
        return int(can_differ.sum()) < _FEWEST

    def is_decided(self) -> bool:
        """Return whether the verdict is decided, so that further judgments can be saved."""
        if self.judged < self.enough:
            return self._is_settled()
        return self.weigh()[1] >= SURE

    def look(self) -> Outlook:
        """Return the verdict so far, and how far it can still change."""
        verdict, probability = self.weigh()
        low, high = self._bound()
        certain = self._test() if self._is_settled() else find_certain(low, high)
        if certain is not None:
            verdict, probability = _WORDS[certain], 1.0
        return Outlook(
            self.metric,
            self.baseline,
            self.system,
            int(self._matters.sum()),
            int((self._matters & (self._level_of >= 0)).sum()),
            float(self._differ_at_least().mean()),
            float(low.mean()),
            float(high.mean()),
            verdict,
            probability,
            certain is not None,
            certain is not None or self.is_decided(),
        )

    def _differ_at_least(self) -> Floats:
        """Return the differences by query if nothing that is left is relevant."""
        return self._differ(np.zeros((len(self.left), 1), dtype=np.int8))[:, 0]

    def _test(self) -> int:
        """Return the verdict of the test that `compare` runs."""
        differences = self._differ_at_least()
        if len(differences) < 2:  # noqa: PLR2004 - too few to test
            return 0
        found = paired_test("randomization", np.zeros(len(differences)), differences)
        significant = found.p is not None and found.p < 1 - LEVEL
        return (found.sign or 0) if significant else 0

    @cached_property
    def _matters(self) -> npt.NDArray[np.bool_]:
        """Which pairs can change the difference.

        For a ratio, a pair that both rank alike moves the ideal ranking, and with it the difference
        that other pairs of its query make.
        """
        differs: npt.NDArray[np.bool_] = self._weights != 0
        if not self._sum.is_ratio:
            return differs
        uneven = self._fixed != 0
        np.logical_or.at(uneven, self._query_of, differs)
        matters: npt.NDArray[np.bool_] = uneven[self._query_of]
        return matters

    def _draw(self) -> Levels:
        """Draw the levels of the pairs that are left, a column per sample."""
        if self._drawn is None:
            judged = np.flatnonzero(self._level_of >= 0)
            posterior = self._model.fit(judged, self._level_of[judged])
            self._drawn = self._model.draw(posterior, self.left, self._chance)
        return self._drawn

    def _differ(self, drawn: Levels) -> Floats:
        """Return the difference by query and sample, given levels of the pairs that are left."""
        judged, left = np.flatnonzero(self._level_of >= 0), self.left
        gains = self._weights[judged] * self._gains[self._level_of[judged]]
        fixed = self._fixed + np.bincount(self._query_of[judged], gains, len(self.queries))
        total = self._sum_queries(self._gains[drawn] * self._weights[left, None])
        total += fixed[:, None]
        if not self._sum.is_ratio:
            return total
        ideal = self._find_ideal(drawn)
        return np.divide(total, ideal, out=np.zeros_like(total), where=ideal > 0)

    def _find_ideal(self, drawn: Levels) -> Floats:
        """Return the sum of the ideal ranking by query and sample."""
        judged = np.flatnonzero(self._level_of >= 0)
        above = np.zeros((len(self.queries), drawn.shape[1]))
        ideal = np.zeros_like(above)
        top = len(self._ideals) - 1
        for level in range(len(self._levels) - 1, 0, -1):
            graded = self._query_of[judged[self._level_of[judged] == level]]
            fixed = self._known[level] + self._also[level]
            fixed += np.bincount(graded, minlength=len(self.queries))
            more = above + fixed[:, None] + self._sum_queries((drawn == level).astype(np.float64))
            reached = self._ideals[np.minimum(more, top).astype(np.int64)]
            reached -= self._ideals[np.minimum(above, top).astype(np.int64)]
            ideal += self._gains[level] * reached
            above = more
        return ideal

    def _sum_queries(self, values: Floats) -> Floats:
        """Sum values of the pairs that are left by query."""
        sums = np.zeros((len(self.queries), values.shape[1]))
        if len(values):
            found, starts = np.unique(self._query_of[self.left], return_index=True)
            sums[found] = np.add.reduceat(values, starts, axis=0)
        return sums

    def _bound(self) -> tuple[Floats, Floats]:
        """Return the lowest and highest difference of each query over the grades that are left.

        Exchanging two grades in favour of the pair with the larger weight keeps the ideal ranking
        and raises the difference, so only grades that fall with the weight can be extreme.
        """
        left, ends = self.left, []
        for sign in (-1, 1):
            helps = sign * self._weights[left]
            order = np.lexsort((-helps, self._query_of[left]))
            place = _number_in_groups(self._query_of[left][order])
            helping = helps[order] > 0
            ladders = self._list_ladders(int(place[helping].max(initial=-1)) + 1)
            levels = np.zeros((len(left), len(ladders)), dtype=np.int8)
            for column, sizes in enumerate(ladders):
                levels[order, column] = helping * sum(place < size for size in sizes)
            ends.append(sign * (sign * self._differ(levels)).max(axis=1))
        return ends[0], ends[1]

    def _list_ladders(self, most: int) -> list[tuple[int, ...]]:
        """List how many pairs, in the order of weight, reach each level."""
        top = len(self._levels) - 1
        if not self._sum.is_ratio:
            return [(most,) * top]
        ladders = list(itertools.combinations_with_replacement(range(most + 1), top))
        if len(ladders) > _LADDERS:  # only the highest grade
            return [(size,) * top for size in range(most + 1)]
        return ladders

    def foresee(self, names: Sequence[str]) -> float:
        """Return how probable the verdict will be, on average, once these pairs are judged."""
        drawn = self._draw()
        row_of = {self.ids[place]: row for row, place in enumerate(self.left.tolist())}
        rows = [row_of[name] for name in names]
        shares = []
        for truth in range(_TRUTHS):
            mixed = drawn[:, :: drawn.shape[1] // _FORESEEN].copy()
            mixed[rows] = drawn[rows, truth, None]
            found = verdicts_of(self._differ(mixed))
            shares.append(max(float((found == sign).mean()) for sign in _WORDS))
        return sum(shares) / len(shares)

    def rate(self) -> dict[str, float]:
        """Return how much each pair that is left can move the difference, by id.

        A pair that only moves the ideal ranking can change little.
        """
        rates = np.where(self._matters, np.maximum(np.abs(self._weights), _LITTLE), 0.0)
        return {self.ids[place]: float(rates[place]) for place in self.left.tolist()}


def build_contests(pool: Pool, metrics: Sequence[str] = ()) -> list[Contest]:
    """Compare every other system with the first one, by each metric."""
    first, *others = pool.rankings or [""]
    if not others:
        raise DataError(
            f"the pool has {len(pool.rankings)} system; a comparison needs two: add one with "
            "berryeval judge pool RUN"
        )
    names = metrics or pool.metrics[:1] or (f"nDCG@{pool.depth}",)
    return [Contest(pool, first, other, name) for name in names for other in others]


_LADDERS: Final = 400  # combinations of grades that are tried for a bound


def _number_in_groups(groups: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Number the members of each group from 0; groups are in order."""
    if not len(groups):
        return groups
    starts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    sizes = np.diff(np.append(starts, len(groups)))
    return np.arange(len(groups)) - np.repeat(starts, sizes)


def verdicts_of(differences: Floats) -> npt.NDArray[np.int64]:
    """Return the verdict of each column of differences: 1 better, -1 worse, 0 not significant."""
    count, samples = differences.shape
    if count < _FEWEST:
        return np.zeros(samples, dtype=np.int64)
    mean, spread = differences.mean(axis=0), differences.std(axis=0, ddof=1)
    far = np.abs(mean) * math.sqrt(count) > quantile(LEVEL, count - 1) * spread
    enough = (differences != 0).sum(axis=0) >= _FEWEST
    return np.where(far & enough, np.sign(mean), 0).astype(np.int64)


def find_certain(low: Floats, high: Floats) -> int | None:
    """Return the verdict that all differences between these bounds have; None if unknown.

    The t statistic is beyond c exactly if n m^2 (1 + c^2 / (n - 1)) > c^2 / (n - 1) sum d^2, whose
    sides are bounded one by one. The result is never wrong, but may be None for a certain verdict.
    """
    count = len(low)
    if count < _FEWEST:
        return 0
    ratio = quantile(LEVEL, count - 1) ** 2 / (count - 1)
    ends = float(low.mean()), float(high.mean())
    squares = np.maximum(low**2, high**2).sum()
    if ends[0] * ends[1] > 0 and ((low > 0) | (high < 0)).sum() >= _FEWEST:
        least = min(map(abs, ends))
        if count * least**2 * (1 + ratio) > ratio * squares:
            return 1 if ends[0] > 0 else -1
    inside = (low <= 0) & (high >= 0)
    squares = np.where(inside, 0.0, np.minimum(low**2, high**2)).sum()
    most = max(map(abs, ends))
    return 0 if count * most**2 * (1 + ratio) < ratio * squares else None
