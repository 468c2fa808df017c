"""Random pools: pairs drawn with known probabilities, and unbiased estimates from their grades.

The design is Poisson sampling, stratified by the best rank of a pair in any system: a pair at rank
r is drawn with probability min(1, c / log2(r + 1)), independently of all others, where c gives the
wanted expected size. The random number of a pair depends only on the seed and the pair, so drawing
again with more runs or a larger share adds pairs and keeps the drawn ones, and the probability of
being in any of these draws is the largest of them.

A pair with probability p counts 1/p times (Horvitz and Thompson 1952): for every query, the sum
over ranks of weight x gain / p is an unbiased estimate of P, DCG, RBP and NumRelRet, and so are the
differences of two systems. Draws of different queries are independent, so the interval of the mean
over queries covers the spread of the queries and the chance of the draw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval._internal.validate import require_fraction, require_whole
from berryeval.errors import DataError
from berryeval.judging.pool import draw_number, read_rankings
from berryeval.judging.rank_sums import Floats, read_rank_sum
from berryeval.stats import mean_interval

if TYPE_CHECKING:
    from berryeval._internal.aggregates import Interval
    from berryeval.judging.pool import Pool

DEFAULT_SHARE: Final = 0.2
_HALVINGS: Final = 60  # of the interval that holds c


def find_probabilities(
    ranks: Mapping[str, int], *, share: float | None = None, count: int | None = None
) -> dict[str, float]:
    """Return the probability of drawing each pair, given its best rank in any system.

    Args:
        ranks: Best rank by pair.
        share: Expected share of the pairs to draw.
        count: Expected number of pairs to draw, instead of a share.
    """
    if count is None:
        require_fraction("share", DEFAULT_SHARE if share is None else share)
        wanted = (DEFAULT_SHARE if share is None else share) * len(ranks)
    else:
        require_whole("count", count)
        wanted = min(count, len(ranks))
    if wanted >= len(ranks):
        return dict.fromkeys(ranks, 1.0)
    tops = np.array([1 / math.log2(rank + 1) for rank in ranks.values()])
    low, high = 0.0, math.log2(max(ranks.values(), default=1) + 1)
    for _ in range(_HALVINGS):  # the expected size grows with c
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(1, middle * tops).sum() < wanted else (low, middle)
    return dict(zip(ranks, np.minimum(1, high * tops).tolist(), strict=True))


def draw_pairs(probabilities: Mapping[str, float], seed: int) -> list[str]:
    """Draw each pair with its probability."""
    return [name for name, p in probabilities.items() if draw_number(seed, name) < p]


@dataclass(frozen=True)
class Estimate:
    """An unbiased estimate from a sample of the pairs.

    Attributes:
        metric: Name of the metric.
        system: System.
        baseline: System that is subtracted; "" for none.
        mean: Estimated mean over the queries.
        interval: 95 % confidence interval; None if too few queries vary.
        queries: Number of queries.
    """

    metric: str
    system: str
    baseline: str
    mean: float
    interval: Interval | None
    queries: int


def estimate(pool: Pool, grades: Mapping[str, float], metric: str) -> list[Estimate]:
    """Estimate a metric of every system, and the differences to the first one.

    Args:
        pool: A pool with the strategy `random`; also any other, whose probabilities are 1.
        grades: Grades by pair id; every pair of the pool needs one.
        metric: P, DCG, RBP or NumRelRet. nDCG and AP are no sums over ranks and are rejected.
    """
    missing = [pair.id for pair in pool.pairs if pair.id not in grades]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(pool.pairs)} drawn pairs have no grade yet; an estimate "
            "without them would be biased: judge them first (berryeval judge next)"
        )
    queries, values = estimate_queries(pool, grades, metric)
    name = read_rank_sum(metric, pool.depth, ratios=False).name
    if not queries:
        return []
    first, *others = values
    return [
        *(_summarize(name, one, "", values[one]) for one in values),
        *(_summarize(name, one, first, values[one] - values[first]) for one in others),
    ]


def estimate_queries(
    pool: Pool, grades: Mapping[str, float], metric: str
) -> tuple[list[str], dict[str, Floats]]:
    """Return the queries, and by system the Horvitz-Thompson estimate of each query."""
    sums = read_rank_sum(metric, pool.depth, ratios=False)
    probability = {pair.id: pair.probability for pair in pool.pairs}
    rankings = read_rankings(pool)
    queries = sorted({query for own in rankings.values() for query in own})
    levels = sorted({*grades.values(), *_known_grades(rankings)})
    gain_of = dict(zip(levels, sums.gains_of(levels).tolist(), strict=True))
    values = {}
    for system, own in rankings.items():
        column = np.zeros(len(queries))
        for place, query in enumerate(queries):
            entries = zip(sums.weights.tolist(), own.get(query, ()), strict=False)
            for weight, entry in entries:
                if not isinstance(entry, str):
                    column[place] += weight * gain_of[entry]
                elif entry in probability and entry in grades:
                    column[place] += weight * gain_of[grades[entry]] / probability[entry]
        values[system] = column
    return queries, values


def _known_grades(rankings: Mapping[str, Mapping[str, Sequence[str | float]]]) -> set[float]:
    entries = (one for own in rankings.values() for entry in own.values() for one in entry)
    return {one for one in entries if not isinstance(one, str)}


def _summarize(metric: str, system: str, baseline: str, values: Floats) -> Estimate:
    interval = mean_interval(values) if len(values) > 1 else None
    mean = math.fsum(values) / len(values) if len(values) else 0.0
    return Estimate(metric, system, baseline, mean, interval, len(values))
