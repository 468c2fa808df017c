"""Corrected estimates: many queries judged by a model, rectified by a few judged by humans.

Prediction-powered inference (Angelopoulos et al. 2023; PPI++, Angelopoulos, Duchi and Zrnic 2023):

    estimate = mean of human values - weight * (mean of model values of the same queries
                                                - mean of model values of the other queries)

Whatever the model's bias, it is subtracted again. The weight is that of least variance, between 0
(the model is ignored) and 1. It is fitted for every query without that query (cross-fitting), so
that the estimate is unbiased, and shrunk by its own uncertainty. Where the interval would not be
narrower than that of the human values alone, the weight is 0.

The interval is Student's, with Welch's degrees of freedom, and wider for skewed values: coverage
falls with the square of the skewness (Hall 1992). A few queries on which the model happens to agree
with people do not show how far it can be wrong, so two unseen queries are counted in, as variable
as the human values; for a difference at least half as variable as the values of one system, which
the model may favour. docs/judging.md shows how often it covers.

A sample in which nearly all values are equal does not show how far the others go: two unseen
queries at the far end of the range are counted in, so that an interval is never a point. Of a
difference, that end is the largest difference seen by anyone.

The queries that humans judged must be a random sample of all queries.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from berryeval._internal.aggregates import Interval
from berryeval.errors import DataError
from berryeval.stats import Floats, check_column, check_level, student_interval, student_p

FEWEST_HUMAN: Final = 10  # queries; fewer do not show how a model errs
_SKEWED: Final = 2.5  # widening by the square of the skewness of the mean; 1.1 for known skewness
_UNSEEN: Final = 2.0  # queries on which the model may be as wrong as human values vary
_SPARSE: Final = 5  # fewer values that are unlike the others do not show how values vary
_DIGITS: Final = 9  # closer values are equal
_SHRINK: Final = 2.0  # how much the uncertainty of the weight shrinks it
_NO_SAMPLE: Final = "the human-judged queries do not look like a random sample"
_TINY: Final = 1e-12
_UNLIKELY: Final = 0.01  # p-value of a test whether human-judged queries are a random sample


@dataclass(frozen=True)
class Corrected:
    """A mean, or a mean difference, from values of human and model judgments.

    Attributes:
        value: Corrected mean.
        interval: Its confidence interval.
        p: p-value of the hypothesis that the mean is 0.
        weight: Weight of the model's values, from 0 to 1.
        human_queries: Number of queries judged by humans, and by the model.
        model_queries: Number of queries judged by the model, including these.
        human_value: Mean over the human-judged queries alone.
        human_interval: Its confidence interval.
        model_value: Mean of the model's values over all queries, not corrected.
        level: Confidence level.
        notes: Remarks, one line each.
    """

    value: float
    interval: Interval
    p: float
    weight: float
    human_queries: int
    model_queries: int
    human_value: float
    human_interval: Interval
    model_value: float
    level: float = 0.95
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Number of human- and model-judged queries, and the weight, in words."""
        return (
            f"corrected: {self.human_queries:,} human-judged and {self.model_queries:,} "
            f"model-judged queries, weight {self.weight:.2f}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        own = {**vars(self), "notes": list(self.notes), "label": self.label}
        return own | {name: list(own[name]) for name in ("interval", "human_interval")}


def correct_mean(
    human: Mapping[str, float],
    model: Mapping[str, float],
    *,
    level: float = 0.95,
    groups: Mapping[str, str] | None = None,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> Corrected:
    """Estimate the mean that humans would find over all queries.

        >>> model = {f"q{place}": (place % 7) / 6 for place in range(200)}
        >>> human = {query: 0.9 * model[query] for query in list(model)[:20]}
        >>> found = correct_mean(human, model)
        >>> found.label
        'corrected: 20 human-judged and 200 model-judged queries, weight 0.81'

    Args:
        human: Values by query under human judgments.
        model: Values by query under the model's judgments, also of the human-judged queries.
        level: Confidence level.
        groups: Group of each query, such as its category; a note warns if the shares of the groups
            show that the human-judged queries are no random sample.
        within: Range of the values, which intervals do not leave.
    """
    reach = _find_reach(list(human.values()), list(model.values()), within)
    return _correct(human, model, level, groups or {}, _Limits(*within, 0.0, reach))


class _Limits(NamedTuple):
    """Range of a mean; least variance of an unseen query, and how far its value may be off."""

    low: float
    high: float
    least: float
    reach: float

    def clip(self, value: float) -> float:
        return min(max(value, self.low), self.high)


def _find_reach(
    human: Sequence[float], model: Sequence[float], within: tuple[float, float]
) -> float:
    """Return how far the mean is from the far end of the range, or of the values seen, if none."""
    low, high = (
        end if math.isfinite(end) else usual for end, usual in zip(within, (0.0, 1.0), strict=True)
    )
    mean = sum(human) / max(len(human), 1)
    return max(max(high, *human, *model) - mean, mean - min(low, *human, *model))


def _correct(
    human: Mapping[str, float],
    model: Mapping[str, float],
    level: float,
    groups: Mapping[str, str],
    limits: _Limits,
) -> Corrected:
    check_level(level)
    missing = [query for query in human if query not in model]
    if missing:
        raise DataError(
            f"the model did not judge the query {missing[0]!r:.80}, which humans judged "
            f"({len(missing)} of {len(human)}); let it judge them, too"
        )
    if len(human) < FEWEST_HUMAN:
        raise DataError(
            f"a correction needs at least {FEWEST_HUMAN} human-judged queries, found {len(human)}; "
            "judge more queries of a random sample"
        )
    others = [query for query in model if query not in human]
    known = check_column("human", list(human.values()))
    same = check_column("model", [model[query] for query in human])
    more = check_column("model", [model[query] for query in others])
    found = rectify(known[None, :], same[None, :], more[None, :], limits.least, limits.reach)
    value, error, freedom, weight = (float(one[0]) for one in found)
    plain = rectify(known[None, :], same[None, :], more[None, :0], reach=limits.reach)
    alone, spread, _, _ = (float(one[0]) for one in plain)
    interval = student_interval(value, error, freedom, level)
    own_interval = student_interval(alone, spread, len(known) - 1, level)
    return Corrected(
        limits.clip(value),
        Interval(*map(limits.clip, interval)),
        student_p(value, error, freedom),
        weight,
        len(human),
        len(model),
        alone,
        Interval(*map(limits.clip, own_interval)),
        float(np.concatenate([same, more]).mean()),
        level,
        tuple(_check_sample(human, others, model, groups)),
    )


def correct_difference(
    human: tuple[Mapping[str, float], Mapping[str, float]],
    model: tuple[Mapping[str, float], Mapping[str, float]],
    *,
    level: float = 0.95,
    groups: Mapping[str, str] | None = None,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> Corrected:
    """Estimate the difference of two systems, the second minus the first, paired by query.

    Args:
        human: Values of both systems by query under human judgments.
        model: Values of both under the model's judgments, also of the human-judged queries.
        level: Confidence level.
        groups: Group of each query; see `correct_mean`.
        within: Range of the values of one system; see `correct_mean`.
    """
    values = [list(one.values()) for one in human]
    least = sum(float(np.var(one, ddof=1)) for one in values if len(one) > 1) / 4
    known, guessed = _subtract(*human), _subtract(*model)
    reach = max((abs(one) for one in (*known.values(), *guessed.values())), default=0.0)
    width = within[1] - within[0]
    limits = _Limits(-width, width, least, reach or (width if math.isfinite(width) else 1.0))
    return _correct(known, guessed, level, groups or {}, limits)


def _subtract(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    return {query: second[query] - value for query, value in first.items() if query in second}


def rectify(
    human: Floats, model: Floats, others: Floats, least: float = 0.0, reach: float = 0.0
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return each row's corrected mean, its error, its degrees of freedom, and the weight.

    The error is the standard error, widened for skewness.

    Args:
        human: Human values of the human-judged queries, a row per estimate.
        model: Model values of the same queries.
        others: Model values of the other queries.
        least: Least variance of an unseen query.
        reach: How far an unseen query may be off if nearly all human values are equal.
    """
    count, more = human.shape[1], others.shape[1]
    none = np.zeros(len(human))
    sparse = (np.round(human - np.median(human, axis=1, keepdims=True), _DIGITS) != 0).sum(
        axis=1
    ) < _SPARSE
    floor = np.where(sparse, reach**2 * _UNSEEN / (count - 1 + _UNSEEN), 0.0)
    spread = np.maximum(human.var(axis=1, ddof=1), floor)
    plain = _estimate(human, spread, none, np.ones(len(human)))
    if more < 2:  # noqa: PLR2004 - one query has no variance
        return (*plain, none)
    weights = _fit_weights(human, model) / (1 + count / more)
    weight = weights.mean(axis=1)
    values = human - weights * (model - others.mean(axis=1, keepdims=True))
    rest = np.square(weight) * others.var(axis=1, ddof=1) / more
    unseen = _UNSEEN * np.maximum(spread, least) + (count - 1) * values.var(axis=1, ddof=1)
    fitted = _estimate(
        values, unseen / (count - 1 + _UNSEEN), rest, np.full(len(human), more - 1.0)
    )
    better = (fitted[1] < plain[1]) & ~sparse
    value, error, freedom = (
        np.where(better, one, other) for one, other in zip(fitted, plain, strict=True)
    )
    return value, error, freedom, np.where(better, weight, none)


def _estimate(
    values: Floats, variance: Floats, rest: Floats, rest_freedom: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return mean, widened error and degrees of freedom.

    `variance` is that of a value, `rest` a further one of the mean.
    """
    count = values.shape[1]
    mean = values.mean(axis=1)
    own = variance / count
    total = own + rest
    safe = np.where(total > 0, total, 1.0)
    strays = values - mean[:, None]
    third = (strays**3).sum(axis=1) / ((count - 1) * (count - 2) * count)  # moment of the mean
    skewness = third / safe**1.5
    parts = np.square(own) / (count - 1) + np.square(rest) / rest_freedom
    freedom = np.where(parts > 0, np.square(total) / np.where(parts > 0, parts, 1), count - 1.0)
    return mean, np.sqrt(total) * (1 + _SKEWED * np.square(skewness)), freedom


def _fit_weights(human: Floats, model: Floats) -> Floats:
    """Return the slope of human on model values without each query, shrunk and within [0, 1]."""
    count = human.shape[1]
    h, m = (one - one.mean(axis=1, keepdims=True) for one in (human, model))

    def leave_out(products: Floats) -> Floats:
        rest: Floats = products.sum(axis=1, keepdims=True) - products * (count / (count - 1))
        return rest

    both, own, others = leave_out(h * m), leave_out(m * m), leave_out(h * h)
    ok = (own > _TINY) & (others > _TINY) & (both > 0)
    own, others, both = (np.where(ok, one, 1.0) for one in (own, others, both))
    square = np.minimum(both * both / (own * others), 1.0)  # of the correlation
    shrink = np.clip(1 - _SHRINK * (1 - square) / ((count - 3) * square), 0.0, 1.0)
    weights: Floats = np.where(ok, np.clip(shrink * both / own, 0.0, 1.0), 0.0)
    return weights


def _check_sample(
    human: Mapping[str, float],
    others: Sequence[str],
    model: Mapping[str, float],
    groups: Mapping[str, str],
) -> Iterator[str]:
    """Yield warnings if the human-judged queries are not a random sample of all."""
    inside = np.array([model[query] for query in human])
    outside = np.array([model[query] for query in others])
    if len(outside) > 1:
        error = math.sqrt(inside.var(ddof=1) / len(inside) + outside.var(ddof=1) / len(outside))
        gap = float(inside.mean() - outside.mean())
        if student_p(gap, error, len(inside) - 1) < _UNLIKELY:
            yield f"{_NO_SAMPLE}: under the model they differ from the others by {gap:+.3f}"
    shares = Counter(groups[query] for query in human if query in groups)
    rest = Counter(groups[query] for query in others if query in groups)
    counted, total = shares.total(), shares.total() + rest.total()
    if not counted or not rest:
        return
    labels = sorted(shares | rest)
    for label in labels:
        size = shares[label] + rest[label]
        if _find_chance(shares[label], counted, size, total) * len(labels) < _UNLIKELY:
            yield (
                f"{_NO_SAMPLE}: {100 * shares[label] / counted:.0f} % of them are {label}, of all "
                f"queries {100 * size / total:.0f} %"
            )


def _find_chance(found: int, drawn: int, size: int, total: int) -> float:
    """Return the two-sided hypergeometric p-value of a group's count in a random sample."""

    def count(all_: int, chosen: int) -> float:  # logarithm of the number of choices
        return math.lgamma(all_ + 1) - math.lgamma(chosen + 1) - math.lgamma(all_ - chosen + 1)

    def sum_up(places: range) -> float:
        return math.fsum(
            math.exp(count(size, one) + count(total - size, drawn - one) - count(total, drawn))
            for one in places
        )

    least, most = max(0, drawn + size - total), min(drawn, size)
    tails = sum_up(range(least, found + 1)), sum_up(range(found, most + 1))
    return min(1.0, 2 * min(tails))
