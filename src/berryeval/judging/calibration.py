"""Calibration: whether a model may judge in place of humans, and its biases.

The rule of the verdict, with its thresholds in `TRUST`:

    do not use it           fewer pairs in common than `pairs`, or of fewer queries than `fewest`;
                            or the interval of the quadratically weighted kappa reaches below `fair`
    use it                  `queries` in common, and pairs whose human grade is `unlike` the most
                            common one; the interval of kappa stays above `good`, that of the bias
                            within the share `bias` of the scale; two or more systems were scored by
                            both, none is favoured significantly over another, and the intervals of
                            that stay within the share `favour` of the metric's range
    use it with correction  otherwise: `compare --judged-by MODEL` subtracts its errors
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from berryeval._internal.aggregates import Interval, is_spread_known
from berryeval._internal.numbers import (
    format_interval,
    format_metric,
    format_p_equation,
    format_precise_delta,
)
from berryeval._internal.text import pluralize
from berryeval._internal.validate import suggest
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging.decisions import DecisionRule, decide
from berryeval.judging.ledger import HUMAN, PairKey, Vote, current_votes
from berryeval.judging.reliability import FEWEST_CLUSTERS, Agreement, agreement
from berryeval.metrics import range_of
from berryeval.stats import correct_p_values, student_interval, student_p

SIGNIFICANCE: Final = 0.05
Advice: TypeAlias = Literal["use it", "use it with correction", "do not use it"]
TwoScores: TypeAlias = tuple[Mapping[str, float], Mapping[str, float]]  # by query: human, model


class Thresholds(NamedTuple):
    """Thresholds of the verdict; see the module."""

    pairs: int = 50
    fewest: int = FEWEST_CLUSTERS
    queries: int = 20
    unlike: int = 20
    fair: float = 0.2
    good: float = 0.6
    bias: float = 0.05
    favour: float = 0.05


TRUST: Final = Thresholds()


@dataclass(frozen=True)
class Bias:
    """How far the model is above the humans, on average.

    Attributes:
        name: What the mean is over: a grade that humans gave, a category, a system, or "all".
        count: Number of pairs; of queries if it is about a system.
        value: Mean of model minus human.
        interval: Its confidence interval, which counts pairs of one query as dependent; None for
            one query.
        p: p-value that there is no bias, corrected for the number of names (Holm); None for one
            query, and for fewer than ten that differ alike.
    """

    name: str
    count: int
    value: float
    interval: Interval | None
    p: float | None

    @property
    def significant(self) -> bool:
        """Whether the bias is significant."""
        return self.p is not None and self.p <= SIGNIFICANCE

    @property
    def largest(self) -> float:
        """The largest bias in either direction that the interval allows; infinite if unknown."""
        if self.interval is not None:
            return max(map(abs, self.interval))
        return math.inf if self.p is None else abs(self.value)

    def to_json(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        interval = None if self.interval is None else list(self.interval)
        return {**vars(self), "interval": interval, "significant": self.significant}


@dataclass(frozen=True)
class Calibration:
    """A model's judgments beside those of humans.

    Attributes:
        model: Name of the model judge.
        against: Judge that it is compared with; "human" for what the humans decided.
        agreement: Agreement; rows of the confusion table are the grades of humans.
        overall: Bias of all pairs, in grades.
        grades: Bias by the grade that humans gave. Judges who are not perfect regress to the mean:
            the lowest grade can only be exceeded.
        categories: Bias by category of the query.
        systems: Bias of each system's score.
        favours: For each two systems, the bias of the second minus that of the first; significant
            if the model favours one of them.
        metric: Metric of the scores.
        advice: The verdict.
        reasons: Its reasons.
    """

    model: str
    against: str
    agreement: Agreement
    overall: Bias
    grades: tuple[Bias, ...]
    categories: tuple[Bias, ...]
    systems: tuple[Bias, ...]
    favours: tuple[Bias, ...]
    metric: str
    advice: Advice
    reasons: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        return f"{self.advice}: {', '.join(self.reasons)}"

    def to_json(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        parts = ("grades", "categories", "systems", "favours")
        return {
            "model": self.model,
            "against": self.against,
            "advice": self.advice,
            "sentence": self.sentence,
            "metric": self.metric,
            "agreement": self.agreement.to_json(),
            "overall": self.overall.to_json(),
            **{name: [one.to_json() for one in getattr(self, name)] for name in parts},
        }


def calibrate(
    votes: Iterable[Vote],
    model: str,
    *,
    against: str = HUMAN,
    categories: Mapping[str, str] | None = None,
    scores: Mapping[str, TwoScores] | None = None,
    metric: str = "",
    scale: Sequence[float] | None = None,
    seed: int = 0,
) -> Calibration:
    """Compare the judgments of a model with those of humans, and say whether to use it.

    Args:
        votes: Votes of all judges.
        model: Name of the model judge.
        against: "human" for what the humans decided, or the name of one judge.
        categories: Category of each query.
        scores: For each system its scores by query under human and under model judgments.
        metric: Name of the metric of these scores.
        scale: All grades that a judge may give.
        seed: Random seed of the bootstrap.
    """
    human, graded = read_both(votes, model, against)
    found = agreement(
        {against: human, model: graded}, scale=scale, seed=seed, cluster=lambda key: key[0]
    )
    shared = {key: (human[key], graded[key]) for key in human if key in graded}
    gaps = {key: own - given for key, (given, own) in shared.items()}
    overall = _measure_bias({"all": gaps})[0]
    by_grade: dict[str, dict[PairKey, float]] = {}
    by_category: dict[str, dict[PairKey, float]] = {}
    for key, (given, _) in sorted(shared.items(), key=lambda one: one[1][0]):
        by_grade.setdefault(f"{given:g}", {})[key] = gaps[key]
        if category := (categories or {}).get(key[0]):
            by_category.setdefault(category, {})[key] = gaps[key]
    systems, favours = _compare_systems(scores or {})
    queries = len({key[0] for key in shared})
    advice, reasons = _give_advice(found, queries, overall, favours, metric)
    return Calibration(
        model,
        against,
        found,
        overall,
        tuple(_measure_bias(by_grade)),
        tuple(_measure_bias(dict(sorted(by_category.items())))),
        systems,
        favours,
        metric,
        advice,
        reasons,
    )


def read_both(
    votes: Iterable[Vote], model: str, against: str = HUMAN
) -> tuple[dict[PairKey, float], dict[PairKey, float]]:
    """Return the grades by humans (or by the judge `against`) and by the model."""
    current = [one for one in current_votes(votes) if one.question == "relevance"]
    kinds = {one.judge: one.kind for one in current}
    for name in (model,) if against == HUMAN else (model, against):
        if name not in kinds:
            raise ConfigurationError(f"no votes of the judge {name!r}; {suggest(name, kinds)}")
    if model == against:
        raise ConfigurationError(f"{model!r} cannot be compared with itself")
    others = [one for one in current if one.judge != model]
    if against != HUMAN:
        rule = DecisionRule(judges=(against,))
    elif any(one.kind == "human" for one in others):
        rule = DecisionRule(kinds=("human",))
    else:
        raise DataError(
            f"no human has judged a pair, so {model!r} cannot be compared with humans; judge some "
            "with berryeval judge next, or name another judge with --against"
        )
    given = {key: one.grade for key, one in decide(others, rule).items()}
    own = [one for one in current if one.judge == model]
    graded = {key: one.grade for key, one in decide(own).items()}
    return (
        {key: grade for key, grade in given.items() if grade is not None},
        {key: grade for key, grade in graded.items() if grade is not None},
    )


def _measure_bias(parts: Mapping[str, Mapping[PairKey, float]]) -> list[Bias]:
    """Return the mean of each part; pairs of one query are dependent."""
    rows = []
    for gaps in parts.values():
        sums: dict[str, list[float]] = {}
        for key, gap in gaps.items():
            sums.setdefault(key[0], []).append(gap)
        mean = math.fsum(gaps.values()) / len(gaps)
        strays = [sum(own) - mean * len(own) for own in sums.values()]
        rows.append((len(gaps), mean, _standard_error(strays, len(gaps)), len(sums) - 1))
    return _build_biases(list(parts), rows)


def _standard_error(strays: Sequence[float], total: float) -> float:
    """Return the error of a mean whose queries stray from it by these sums."""
    count = len(strays)
    if count < 2:  # noqa: PLR2004 - one query does not vary
        return math.nan
    return math.sqrt(count / (count - 1) * math.fsum(one * one for one in strays)) / total


def _build_biases(
    names: Sequence[str], rows: Sequence[tuple[int, float, float, int]]
) -> list[Bias]:
    known = [
        student_p(mean, error, freedom) if is_spread_known(freedom + 1, error) else None
        for _, mean, error, freedom in rows
    ]
    corrected = correct_p_values(known, "holm")
    return [
        Bias(
            name,
            count,
            mean,
            student_interval(mean, error, freedom, 0.95) if error > 0 else None,
            p,
        )
        for name, (count, mean, error, freedom), p in zip(names, rows, corrected, strict=True)
    ]


def _compare_systems(scores: Mapping[str, TwoScores]) -> tuple[tuple[Bias, ...], tuple[Bias, ...]]:
    """Return the bias of each system, and that of the second minus the first of every two."""
    gaps = {
        name: {query: model[query] - value for query, value in human.items() if query in model}
        for name, (human, model) in scores.items()
    }
    gaps = {name: own for name, own in gaps.items() if own}
    pairs = {
        f"{second} over {first}": {
            query: gaps[second][query] - gap
            for query, gap in gaps[first].items()
            if query in gaps[second]
        }
        for first, second in combinations(gaps, 2)
    }

    def measure(parts: Mapping[str, Mapping[str, float]]) -> tuple[Bias, ...]:
        rows = []
        for own in parts.values():
            values = np.array(list(own.values()))
            error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
            rows.append((len(values), float(values.mean()), float(error), len(values) - 1))
        return tuple(_build_biases(list(parts), rows))

    return measure(gaps), measure({name: own for name, own in pairs.items() if own})


def _give_advice(
    found: Agreement, queries: int, overall: Bias, favours: Sequence[Bias], metric: str
) -> tuple[Advice, tuple[str, ...]]:
    """Apply the rule of the module."""
    kappa = found.measures["kappa quadratic"]
    if found.items < TRUST.pairs:
        few = f"only {pluralize(found.items, 'pair')} judged by both, and {TRUST.pairs} are needed"
        return "do not use it", (few,)
    if kappa.value is None or kappa.interval is None:
        return "do not use it", (f"kappa {'is' if kappa.value is None else 'has'} {kappa.cannot}",)
    shown = (
        f"quadratically weighted kappa {format_metric(kappa.value)}, "
        f"95 % CI {format_interval(*kappa.interval)}"
    )
    if kappa.interval.low < TRUST.fair:
        return "do not use it", (f"{shown}, which may be below {TRUST.fair:g}",)
    faults = [
        *([f"which may be below {TRUST.good:g}"] if kappa.interval.low < TRUST.good else []),
        *_find_gaps(found, queries),
        *_find_biases(found, overall),
        *_find_favours(found, favours, metric),
    ]
    if faults:
        return "use it with correction", (shown, *faults)
    return "use it", (shown, "no significant bias, and no system is favoured")


def _find_gaps(found: Agreement, queries: int) -> Iterator[str]:
    """Yield the reasons why the evidence is too small."""
    unlike = found.items - max(sum(row) for row in found.confusion)
    if queries < TRUST.queries:
        yield f"only {queries} queries judged by both, and {TRUST.queries} are needed"
    if unlike < TRUST.unlike:
        yield (
            f"only {pluralize(unlike, 'pair')} with another grade than the most common one, and "
            f"{TRUST.unlike} are needed"
        )


def _find_biases(found: Agreement, overall: Bias) -> Iterator[str]:
    most = TRUST.bias * (found.scale[-1] - found.scale[0])
    if overall.significant and abs(overall.value) > most:
        yield f"its grades are {format_precise_delta(overall.value)} off on average"
    elif overall.largest > most:
        yield f"its grades may be more than {100 * TRUST.bias:g} % of the scale off on average"


def _find_favours(found: Agreement, favours: Sequence[Bias], metric: str) -> Iterator[str]:
    low, high = range_of(metric)
    if not math.isfinite(high - low):
        low, high = found.scale[0], found.scale[-1]
    most = TRUST.favour * (high - low)
    for one in favours:
        if one.significant:
            shown = f"{format_precise_delta(abs(one.value))} ({format_p_equation(one.p)})"
            yield f"it favours {_name_favoured(one)} by {metric} {shown}"
        elif one.largest > most or one.count < TRUST.queries:
            yield f"it may favour {_name_favoured(one)} by {metric} more than {most:g}"
    if not favours:
        yield "whether it favours a system is not known (name runs with two systems)"


def _name_favoured(one: Bias) -> str:
    """Return the pair of systems with the favoured one first."""
    second, _, first = one.name.partition(" over ")
    return one.name if one.value > 0 else f"{first} over {second}"
