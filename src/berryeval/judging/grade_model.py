"""A model of the grades of unjudged pairs, fitted to the judged ones.

Whether a pair is relevant follows a logistic regression on its ranks in two systems. Every query
has random effects of its own: how much is relevant to it, and how well each system does on it;
without the latter, systems would seem to differ alike on all queries, and too many differences
would look significant. The grade of a relevant pair follows its frequency at the top and further
down. Both systems start alike, so that the model favours none. Draws include the uncertainty of the
parameters (normal approximation of their posterior).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from berryeval.judging.rank_sums import Floats

    Whole = npt.NDArray[np.int64]
    Levels = npt.NDArray[np.int8]

SYSTEMS: Final = 2
_TOP: Final = 3  # ranks whose grades are counted apart
# Prior means and standard deviations of the effects: of all pairs, of the rank (discounted, and as
# it is), of being found by both systems, and for each system of its ranks and of being found by it.
_MEANS: Final = np.array([-1.0, 1.0, 0.0, 0.5, *[0.0] * 3 * SYSTEMS])
_DEVIATIONS: Final = np.array([2.0, 2.0, 2.0, 1.0, *[2.0] * 3 * SYSTEMS])
_EFFECTS: Final = len(_MEANS)
_OWN: Final = 1 + SYSTEMS  # effects of each query
_VARIANCES: Final = np.array([1.0, 1.0, 1.0])  # of the effects of the queries, to begin with
_FIRM: Final = 5.0  # queries that this beginning counts for
_STEPS: Final = 12  # of Newton's method
_ROUNDS: Final = 3  # of the estimation of these variances
_CLOSE: Final = 1e-4
_MOST: Final = 30.0  # largest log odds


@dataclass(frozen=True, eq=False)
class Posterior:
    """The distribution of the parameters after some pairs were judged.

    Attributes:
        effects: Means of the effects of the features.
        root: Matrix that turns standard normal numbers into deviations of the effects.
        queries: Means of the effects of each query.
        roots: The same matrix for the effects of each query, given the other effects.
        slopes: How the effects of each query follow from the other effects.
        counts: Number of relevant pairs by place (top, below) and level.
    """

    effects: Floats
    root: Floats
    queries: Floats
    roots: Floats
    slopes: Floats
    counts: Floats


class GradeModel:
    """The model of one pool; `fit` learns from judged pairs, `draw` draws the other grades.

    Grades are numbered as levels: 0 for not relevant, then the positive grades in order. Ranks are
    given by system, 0 where it lacks a pair; pairs are in the order of their queries.
    """

    def __init__(self, ranks: Whole, query_of: Whole, queries: int, levels: int) -> None:
        found = (ranks > 0).astype(np.float64)
        discount = np.where(ranks > 0, 1 / np.log2(np.maximum(ranks, 1) + 1.0), 0.0)
        ones = np.ones(ranks.shape[1])
        depth = ranks / max(1, int(ranks.max(initial=1)))
        shared = [ones, discount.sum(axis=0), depth.sum(axis=0), found.sum(axis=0) - 1]
        self._features = np.vstack([*shared, discount, depth, found]).T
        self._own = np.vstack([ones, found]).T
        best = np.where(ranks > 0, ranks, np.iinfo(np.int64).max).min(axis=0)
        self._is_below = (best > _TOP).astype(np.int64)
        self._query_of, self._queries, self._levels = query_of, queries, levels

    def fit(self, judged: Whole, levels: Whole) -> Posterior:
        """Learn from the pairs at these places, which have these levels."""
        data = _Data(
            self._features[judged],
            self._own[judged],
            self._query_of[judged],
            (levels > 0).astype(np.float64),
            self._queries,
        )
        effects, own = _MEANS.copy(), np.zeros((self._queries, _OWN))
        variances = _VARIANCES
        step, root = data.step(effects, own, variances), np.eye(_EFFECTS)
        for _ in range(_ROUNDS):
            for _ in range(_STEPS):
                step = data.step(effects, own, variances)
                effects, own = effects + step.effects, own + step.queries
                if max(np.abs(step.effects).max(), np.abs(step.queries).max()) < _CLOSE:
                    break
            root = np.linalg.inv(np.linalg.cholesky(step.schur)).T
            spread = np.einsum("qbb->qb", step.inverse) + ((step.slopes @ root) ** 2).sum(axis=2)
            seen = np.bincount(data.query_of, minlength=self._queries) > 0
            total = (own**2 + spread)[seen].sum(axis=0)
            variances = (total + _FIRM * _VARIANCES) / (int(seen.sum()) + _FIRM)
        counts = np.ones((2, self._levels - 1))
        hit = levels > 0
        np.add.at(counts, (self._is_below[judged[hit]], levels[hit] - 1), 1)
        roots = np.linalg.cholesky(step.inverse)
        return Posterior(effects, root, own, roots, step.slopes, counts)

    def draw(self, posterior: Posterior, places: Whole, chance: Chance) -> Levels:
        """Draw the levels of the pairs at these places, a column per sample."""
        moved = posterior.root @ chance.effects
        own = posterior.queries[:, :, None] - posterior.slopes @ moved
        own += posterior.roots @ chance.queries
        small = own.astype(np.float32)
        effects = (posterior.effects[:, None] + moved).astype(np.float32)
        odds = self._features[places].astype(np.float32) @ effects
        query_of = self._query_of[places]
        for effect in range(_OWN):
            factor = self._own[places, effect, None].astype(np.float32)
            odds += small[query_of, effect] * factor
        relevant = chance.odds[places] < odds
        drawn = relevant.astype(np.int8)
        reach = chance.draw_levels(posterior.counts)
        for level in range(1, self._levels - 1):
            limits = reach[:, level, :][self._is_below[places]]
            drawn += relevant & (chance.grades[places] < limits)
        return drawn


class _Step(NamedTuple):
    """A step of Newton's method: of the effects, of those of queries, and the curvature there."""

    effects: Any
    queries: Any
    inverse: Any
    slopes: Any
    schur: Any


@dataclass(frozen=True, eq=False)
class _Data:
    """The judged pairs: their features, their effects by query, and which are relevant."""

    features: Floats
    own: Floats
    query_of: Whole
    relevant: Floats
    queries: int

    def step(self, effects: Floats, own: Floats, variances: Floats) -> _Step:
        """Return a step of Newton's method, and the curvature by blocks.

        The block of each query is inverted alone, which keeps the whole linear in the queries.
        """
        odds = self.features @ effects + (self.own * own[self.query_of]).sum(axis=1)
        p = 1 / (1 + np.exp(-np.clip(odds, -_MOST, _MOST)))
        weights, rest = p * (1 - p), self.relevant - p
        slope = self.features.T @ rest - (effects - _MEANS) / _DEVIATIONS**2
        slope_own = self._sum(self.own * rest[:, None]) - own / variances
        weighted = self.own * weights[:, None]
        inner = self._sum(weighted[:, :, None] * self.own[:, None, :]) + np.diag(1 / variances)
        cross = self._sum(weighted[:, :, None] * self.features[:, None, :])
        outer = (self.features * weights[:, None]).T @ self.features + np.diag(_DEVIATIONS**-2.0)
        inverse = np.linalg.inv(inner)
        slopes = inverse @ cross
        schur = outer - np.einsum("qbf,qbg->fg", cross, slopes)
        first = np.linalg.solve(schur, slope - np.einsum("qbf,qb->f", slopes, slope_own))
        second = np.einsum("qbc,qc->qb", inverse, slope_own) - slopes @ first
        return _Step(first, second, inverse, slopes, schur)

    def _sum(self, values: Floats) -> Floats:
        """Sum values by query."""
        sums = np.zeros((self.queries, *values.shape[1:]))
        if len(values):
            found, starts = np.unique(self.query_of, return_index=True)
            sums[found] = np.add.reduceat(values, starts, axis=0)
        return sums


class Chance:
    """The random numbers of all draws: the same for a seed, however much was judged."""

    def __init__(self, seed: int, samples: int, pairs: int, queries: int) -> None:
        chance = np.random.default_rng(seed)
        self.effects = chance.standard_normal((_EFFECTS, samples))
        self.queries = chance.standard_normal((queries, _OWN, samples))
        self.odds = chance.logistic(size=(pairs, samples)).astype(np.float32)
        self.grades = chance.random((pairs, samples), dtype=np.float32)
        self._seed, self._samples = seed, samples

    def draw_levels(self, counts: Floats) -> npt.NDArray[np.float32]:
        """Draw, by place and sample, the probability that a relevant pair reaches each level."""
        chance = np.random.default_rng([self._seed, 1])
        shares = chance.standard_gamma(counts[..., None], size=(*counts.shape, self._samples))
        upwards = np.cumsum(shares[:, ::-1], axis=1)[:, ::-1]
        return (upwards / upwards[:, :1]).astype(np.float32)
