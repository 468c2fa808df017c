"""Agreement of judges: coefficients with intervals, confusion tables, and pairs to adjudicate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval._internal.aggregates import Interval
from berryeval._internal.validate import is_number, require_fraction, suggest
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging.coefficients import TWO, Ratings, Statistic, list_statistics
from berryeval.judging.ledger import Vote, current_votes, find_disputed, key_of
from berryeval.stats import FEWEST_RESAMPLED, Floats, correct_ends

Table: TypeAlias = Mapping[str, Mapping[Any, float | None]]  # grades by judge and item

RESAMPLES: Final = 2_000
FEWEST_CLUSTERS: Final = 10  # such as queries; fewer have no interval
_CELLS_AT_ONCE: Final = 1 << 20  # of a table of resamples
_MOST_UNDEFINED: Final = 0.05  # share of resamples without a value; above it no interval
# More patterns of grades than this, as with many judges, get fewer resamples, and no correction of
# their skewness, which is small then.
_MANY: Final = 1_000
_RESAMPLES_OF_MANY: Final = 500
_ROOM: Final = 4  # cells per weight in the tables of a statistic, about


@dataclass(frozen=True)
class Coefficient:
    """A measure of agreement.

    Attributes:
        value: Value; None if it is not defined.
        interval: Bootstrap interval; None for fewer than 20 pairs, and without a value.
        cannot: Reason why there is no value, or no interval.
    """

    value: float | None
    interval: Interval | None = None
    cannot: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {**vars(self), "interval": None if self.interval is None else list(self.interval)}


@dataclass(frozen=True)
class Dispute:
    """A pair on which judges disagree.

    Attributes:
        item: The pair, as the table names it.
        grades: Grade of each judge.
        distance: Highest minus lowest grade.
    """

    item: Any
    grades: Mapping[str, float]
    distance: float


@dataclass(frozen=True)
class Agreement:
    """How far two or more judges agree.

    Attributes:
        judges: Names of the judges.
        scale: The grades, lowest first.
        items: Number of pairs with grades of at least two of the judges.
        measures: Coefficients by the names of `MEASURES`; with more than two judges, those of Cohen
            are means over the pairs of judges.
        confusion: For two judges, how often the first gave the grade of the row and the second that
            of the column.
        pairs: Agreement of every two judges with a pair in common, if there are more than two.
        disputes: Pairs to adjudicate, the largest disagreement first.
        level: Confidence level.
        notes: Remarks, one line each.
    """

    judges: tuple[str, ...]
    scale: tuple[float, ...]
    items: int
    measures: Mapping[str, Coefficient]
    confusion: tuple[tuple[int, ...], ...] = ()
    pairs: tuple[Agreement, ...] = ()
    disputes: tuple[Dispute, ...] = field(default=(), repr=False)
    level: float = 0.95
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the numbers for JSON, without the disputes."""
        return {
            "judges": list(self.judges),
            "scale": list(self.scale),
            "items": self.items,
            "level": self.level,
            "measures": {name: one.to_json() for name, one in self.measures.items()},
            "confusion": [list(row) for row in self.confusion],
            "pairs": [one.to_json() for one in self.pairs],
            "notes": list(self.notes),
        }


def agreement(
    votes: Iterable[Vote] | Table,
    *,
    judges: Sequence[str] = (),
    scale: Sequence[float] | None = None,
    relevant: float = 1.0,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
    cluster: Callable[[Any], Any] | None = None,
) -> Agreement:
    """Measure how far judges agree.

        >>> ann = {"q1 d1": 0, "q1 d2": 2, "q2 d1": 1, "q2 d3": 0}
        >>> bob = {"q1 d1": 0, "q1 d2": 2, "q2 d1": 2, "q2 d3": 0}
        >>> found = agreement({"ann": ann, "bob": bob})
        >>> found.measures["agreement"].value, round(found.measures["kappa"].value, 3)
        (0.75, 0.6)

    Args:
        votes: Votes on relevance, of which the last of each judge on a pair counts; or grades by
            judge and item, where None is missing.
        judges: Only these judges; by default all.
        scale: All grades that a judge may give; by default those that occur. AC1 and AC2 depend
            on it.
        relevant: Lowest grade that counts as relevant.
        level: Confidence level.
        seed: Random seed of the resamples.
        resamples: Number of resamples; 0 for no intervals.
        cluster: For two judges, what items have in common that are dependent, such as their query:
            whole clusters are resampled.
    """
    require_fraction("level", level)
    given = votes if isinstance(votes, Mapping) else list(votes)
    table = _read_table(given)
    disputed = None if isinstance(given, Mapping) else find_disputed(given)
    table = _select_judges(table, judges)
    seen = {grade for grades in table.values() for grade in grades.values()}
    grades = tuple(sorted(seen | set(scale or ())))
    if scale is not None and (outside := sorted(seen - set(scale))):
        known = ", ".join(f"{one:g}" for one in sorted(scale))
        raise DataError(f"the grade {outside[0]:g} is not one of the scale ({known})")
    ratings = Ratings.of(table, grades, cluster)
    if not ratings.shared:
        raise DataError(f"{' and '.join(table)} have no pair in common, so they cannot be compared")
    draws = _Draws(level, seed, resamples)
    names = tuple(table)
    whole = _measure(ratings, names, relevant, draws)
    couples = {two: ratings.only(two) for two in combinations(range(len(names)), TWO)}
    alone = [f"{names[a]} and {names[b]}" for (a, b), own in couples.items() if not own.shared]
    return replace(
        whole,
        pairs=tuple(
            _measure(own, (names[a], names[b]), relevant, draws)
            for (a, b), own in (couples.items() if len(names) > TWO else ())
            if own.shared
        ),
        disputes=_find_disputes(table, disputed),
        notes=tuple(f"{two} have no pair in common" for two in alone),
    )


# The grades of judges.


def _read_table(votes: Iterable[Vote] | Table) -> dict[str, dict[Any, float]]:
    """Return the grades by judge and item, without those of adjudicators, who saw the others."""
    if isinstance(votes, Mapping):
        table: dict[str, dict[Any, float]] = {}
        for judge, grades in votes.items():
            for item, grade in grades.items():
                if grade is not None and not is_number(grade):
                    raise DataError(f"{judge}: expected a grade for {item!r:.80}, found {grade!r}")
            table[judge] = {item: one for item, one in grades.items() if one is not None}
        return table
    table = {}
    for vote in current_votes(votes):
        if vote.question == "relevance" and vote.grade is not None and not vote.adjudicates:
            item = key_of(vote.query_id, vote.target)
            table.setdefault(vote.judge, {})[item] = vote.grade
    return table


def _select_judges(
    table: dict[str, dict[Any, float]], judges: Sequence[str]
) -> dict[str, dict[Any, float]]:
    for name in judges:
        if name not in table:
            raise ConfigurationError(f"no votes of the judge {name!r}; {suggest(name, table)}")
    chosen = {name: table[name] for name in judges or table if table[name]}
    if len(chosen) < TWO:
        found = f"found only {', '.join(chosen)}" if chosen else "found no votes"
        raise DataError(f"agreement needs the votes of two judges, {found}")
    return chosen


def _find_disputes(
    table: Mapping[str, Mapping[Any, float]], disputed: set[Any] | None
) -> tuple[Dispute, ...]:
    """Return the items with several grades, of those that judges of a ledger disagree about."""
    given: dict[Any, dict[str, float]] = {}
    for judge, grades in table.items():
        for item, grade in grades.items():
            given.setdefault(item, {})[judge] = grade
    found = [
        Dispute(item, grades, max(grades.values()) - min(grades.values()))
        for item, grades in given.items()
        if (disputed is None or item in disputed) and len(set(grades.values())) > 1
    ]
    return tuple(sorted(found, key=lambda one: (-one.distance, -len(one.grades), str(one.item))))


# Values and intervals.


@dataclass(frozen=True)
class _Draws:
    level: float
    seed: int
    resamples: int

    def estimate(
        self, ratings: Ratings, statistics: Mapping[str, Statistic]
    ) -> dict[str, Coefficient]:
        """Return the values of statistics and their intervals, from the same resamples."""
        counts = ratings.counts
        values = {
            name: float(compute(counts[None, :].astype(np.float64))[0])
            for name, compute in statistics.items()
        }
        why = f"no interval: fewer than {FEWEST_RESAMPLED} pairs in common"
        parts = ratings.clusters
        if few := parts is not None and len(parts) < FEWEST_CLUSTERS:
            why = f"no interval: pairs of fewer than {FEWEST_CLUSTERS} queries in common"
        if few or not self.resamples or ratings.shared < FEWEST_RESAMPLED:
            return {
                name: Coefficient(value, None, why if self.resamples else "")
                if np.isfinite(value)
                else Coefficient(None, None, _explain_undefined(ratings))
                for name, value in values.items()
            }
        generator = np.random.Generator(np.random.PCG64(self.seed))
        if parts is not None:
            chances = np.full(len(parts), 1 / len(parts))
            drawn = _compute_rows(
                statistics,
                self.resamples,
                lambda rows: generator.multinomial(len(parts), chances, len(rows)) @ parts,
                len(counts),
            )
            left = _compute_rows(
                statistics, len(parts), lambda rows: counts - parts[rows], len(counts)
            )
            return self._find_intervals(ratings, values, drawn, left)
        shares, total = counts / counts.sum(), int(counts.sum())
        drawn = _compute_rows(
            statistics,
            self.resamples if len(counts) <= _MANY else min(self.resamples, _RESAMPLES_OF_MANY),
            lambda rows: generator.multinomial(total, shares, len(rows)),
            len(counts),
        )
        left = {name: np.full(len(counts), value) for name, value in values.items()}
        if len(counts) <= _MANY:
            left = _compute_rows(  # without one item of each pattern
                statistics,
                len(counts),
                lambda rows: counts - (rows[:, None] == np.arange(len(counts))),
                len(counts),
            )
        left = {name: np.repeat(own, counts) for name, own in left.items()}
        return self._find_intervals(ratings, values, drawn, left)

    def _find_intervals(
        self,
        ratings: Ratings,
        values: Mapping[str, float],
        drawn: Mapping[str, Floats],
        left: Mapping[str, Floats],
    ) -> dict[str, Coefficient]:
        return {
            name: self._find_interval(value, drawn[name], left[name])
            if np.isfinite(value)
            else Coefficient(None, None, _explain_undefined(ratings))
            for name, value in values.items()
        }

    def _find_interval(self, value: float, drawn: Floats, left: Floats) -> Coefficient:
        known = drawn[np.isfinite(drawn)]
        if len(known) < (1 - _MOST_UNDEFINED) * len(drawn):
            return Coefficient(value, None, "no interval: too few pairs with a different grade")
        left = np.where(np.isfinite(left), left, value)
        ends = ((1 - self.level) / 2, (1 + self.level) / 2)
        low, high = np.quantile(known, correct_ends(ends, known, value, left))
        return Coefficient(value, Interval(float(low), float(high)))


def _compute_rows(
    statistics: Mapping[str, Statistic],
    count: int,
    make: Callable[[npt.NDArray[np.intp]], npt.NDArray[np.intp]],
    width: int,
) -> dict[str, Floats]:
    """Compute statistics of many rows of weights, a part of them at a time."""
    step = max(1, _CELLS_AT_ONCE // (_ROOM * width))
    parts: dict[str, list[Floats]] = {name: [] for name in statistics}
    for start in range(0, count, step):
        weights = make(np.arange(start, min(start + step, count))).astype(np.float64)
        for name, compute in statistics.items():
            parts[name].append(compute(weights))
    return {name: np.concatenate(own) for name, own in parts.items()}


def _explain_undefined(ratings: Ratings) -> str:
    used = np.flatnonzero((ratings.counts @ ratings.given) > 0)
    if len(used) == 1:
        grade = f"{ratings.scale[used[0]]:g}"
        return f"not defined: every grade is {grade}, so chance explains all agreement"
    return "not defined: chance explains all agreement"


def _measure(
    ratings: Ratings, judges: tuple[str, ...], relevant: float, draws: _Draws
) -> Agreement:
    statistics = list_statistics(ratings, relevant)
    one, other = ratings.compare(0, 1)
    table = (one.T * ratings.counts @ other).astype(int)
    return Agreement(
        judges,
        tuple(ratings.scale.tolist()),
        ratings.shared,
        draws.estimate(ratings, statistics),
        tuple(map(tuple, table.tolist())) if len(judges) == TWO else (),
        level=draws.level,
    )
