"""One row of a comparison: one measure of two systems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval.intervals import aggregate, bootstrap_interval
from berryeval.stats.change import change_beyond_rounding, interval_of_change
from berryeval.stats.comparison import PairedDifference
from berryeval.stats.effect_size import effect_sizes
from berryeval.stats.interval import IntervalMethod, enough_for
from berryeval.stats.paired import Pair, sign_of
from berryeval.stats.power import minimum_detectable_difference
from berryeval.stats.result import TestResult
from berryeval.stats.spread import FEWEST_RESAMPLED, spread_known, spread_of
from berryeval.stats.tests import paired_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.intervals import Interval
    from berryeval.stats.alignment import Alignment
    from berryeval.stats.paired import Floats

__all__ = ["Options", "row_of", "testable", "tested"]

_CHANGES: Final = 5  # queries with the largest changes


@dataclass(frozen=True)
class Options:
    """How to compare; `compare` says what each means."""

    test: str
    correction: str
    interval: IntervalMethod
    level: float
    seed: int
    samples: int


def row_of(alignment: Alignment, measure: str, options: Options) -> PairedDifference:
    """The row, with its p not corrected yet."""
    a, b = alignment.values(measure)
    how = alignment.scores[0].aggregates[alignment.scores[0].row_of(measure)]
    values = aggregate(how, a), aggregate(how, b)
    pair = _pair(a, b, how)
    result = _tested(pair, len(a), options)
    plain = Pair.of(a, b) if len(a) else None
    wins, ties, losses = plain.wins_ties_losses if plain else (0, 0, 0)
    changes = plain.differences if plain else a
    return PairedDifference(
        measure=measure,
        baseline=alignment.baseline,
        system=alignment.system,
        n=len(a),
        baseline_value=values[0],
        system_value=values[1],
        difference=change_beyond_rounding(*values),
        interval=_interval(pair, how, options) if pair else None,
        baseline_interval=_of_one(how, a, options.level),
        system_interval=_of_one(how, b, options.level),
        p=result.p,
        p_corrected=None,
        test=result.method,
        exact=result.exact,
        statistic=result.statistic,
        effect=effect_sizes(pair.a, pair.b) if pair else None,
        wins=wins,
        ties=ties,
        losses=losses,
        raised=_changes(alignment.queries, changes, -1),
        lowered=_changes(alignment.queries, changes, 1),
        detectable=_detectable(pair, how, options.level) if pair else None,
        aggregate=how,
        level=options.level,
        correction=options.correction,
        comparisons=1,
        cannot=result.cannot,
        notes=_notes(alignment, result, how, _too_few(pair, options)),
        test_sign=sign_of(pair.mean) if pair and result.sign is None else result.sign,
    )


def tested(values: Floats, how: str) -> Floats:
    """The values on the scale on which they are averaged, and so tested."""
    return np.log(values) if how == "geometric mean" else values


def testable(values: Floats, how: str) -> bool:
    """Whether there are values on that scale."""
    return len(values) > 0 and not (how == "geometric mean" and float(values.min()) <= 0)


def _pair(a: Floats, b: Floats, how: str) -> Pair | None:
    if testable(a, how) and testable(b, how):
        return Pair.of(tested(a, how), tested(b, how))
    return None


def _tested(pair: Pair | None, count: int, options: Options) -> TestResult:
    if pair is not None:
        return paired_test(options.test, pair.a, pair.b, seed=options.seed, samples=options.samples)
    if count:
        cannot = "a geometric mean with a value of 0 has no logarithms to be tested by"
    else:
        cannot = "they share no query here"
    return TestResult(None, None, options.test, cannot=cannot)


def _of_one(how: str, values: Floats, level: float) -> Interval | None:
    """The interval of one system, as `Scores.ci` has it, where so many values tell."""
    if not testable(values, how) or not spread_known(len(values), spread_of(values)):
        return None
    return _resampled(how, values.tobytes(), level)


@lru_cache(maxsize=512)
def _resampled(how: str, values: bytes, level: float) -> Interval:
    """Asked for again with every other system."""
    return bootstrap_interval(how, np.frombuffer(values), level)


def _interval(pair: Pair, how: str, options: Options) -> Interval | None:
    """Of the difference of the two values, whatever they are put together by."""
    return interval_of_change(pair, how, options.level, options.interval, options.seed)


def _too_few(pair: Pair | None, options: Options) -> str:
    """Why there is no interval of so few queries."""
    if pair is None or enough_for(options.interval, pair.size, pair.deviation):
        return ""
    return (
        f"no interval: of fewer than {FEWEST_RESAMPLED} queries those of the bootstrap are too "
        "narrow; ask for the interval t"
    )


def _detectable(pair: Pair, how: str, level: float) -> float | None:
    if how == "geometric mean":
        return None
    found = minimum_detectable_difference(pair.differences, level=level)
    return None if found is None else found * (pair.size if how == "sum" else 1)


def _changes(
    queries: Sequence[str], differences: Floats, sign: int
) -> tuple[tuple[str, float], ...]:
    """The queries that changed most in one direction, the largest change first."""
    order = np.argsort(sign * differences, kind="stable")[:_CHANGES]
    return tuple(
        (queries[place], float(differences[place]))
        for place in order.tolist()
        if sign * differences[place] < 0
    )


def _notes(alignment: Alignment, result: TestResult, how: str, too_few: str) -> tuple[str, ...]:
    notes = [*alignment.notes]
    if result.note:
        notes.append(result.note)
    if how == "geometric mean":
        notes.append("tested by the logarithms, as a geometric mean is averaged")
    if too_few:
        notes.append(too_few)
    return tuple(notes)
