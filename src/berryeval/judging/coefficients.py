"""Coefficients of agreement, as functions of how often each pattern of grades occurs.

Judges who grade at random agree, too, as often as their grades are alike. Every coefficient is 1
for perfect agreement and 0 for as much as chance gives; they differ in what they call chance:

    kappa   both judges draw from the grades that each of them gave (Cohen 1960, 1968)
    alpha   all judges draw from the grades that all of them gave (Krippendorff 2004)
    AC      judges guess the hard pairs only (Gwet 2008, 2014): close to raw agreement where one
            grade is much more frequent than the others, and kappa is low in spite of agreement

Patterns make resampling cheap: a bootstrap draws how often each pattern occurs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval.stats import Floats

Statistic: TypeAlias = Callable[[Floats], Floats]  # of weights of patterns, a row per resample

TWO: Final = 2  # judges, or grades of one item, that it takes to agree
MEASURES: Final = {
    "agreement": "raw agreement",
    "kappa relevant": "Cohen's kappa, relevant or not",
    "kappa": "Cohen's kappa",
    "kappa linear": "Cohen's kappa, linear weights",
    "kappa quadratic": "Cohen's kappa, quadratic weights",
    "alpha nominal": "Krippendorff's alpha, nominal",
    "alpha ordinal": "Krippendorff's alpha, ordinal",
    "AC1": "Gwet's AC1",
    "AC2 linear": "Gwet's AC2, linear weights",
    "AC2 quadratic": "Gwet's AC2, quadratic weights",
    "AC2 ordinal": "Gwet's AC2, ordinal weights",
}


@dataclass(frozen=True, eq=False)
class Ratings:
    """Grades of items by judges, as patterns: items with the same grades count as one.

    Attributes:
        codes: A row per pattern and a column per judge: place of the grade in the scale, or -1.
        counts: Number of items of each pattern.
        scale: The grades.
        clusters: Number of items of each pattern in each cluster of items that are dependent, a row
            per cluster with an item that two judges graded; None if all items are independent.
    """

    codes: npt.NDArray[np.intp]
    counts: npt.NDArray[np.intp]
    scale: Floats
    clusters: npt.NDArray[np.intp] | None = None

    @classmethod
    def of(
        cls,
        table: Mapping[str, Mapping[Any, float]],
        scale: Sequence[float],
        cluster: Callable[[Any], Any] | None = None,
    ) -> Ratings:
        """Collect the patterns of a table; `cluster` names that of an item."""
        code = {grade: place for place, grade in enumerate(scale)}
        items = dict.fromkeys(item for grades in table.values() for item in grades)
        patterns = {
            item: tuple(code[grades[item]] if item in grades else -1 for grades in table.values())
            for item in items
        }
        rows = Counter(patterns.values())
        order = sorted(rows)
        codes = np.array(order, dtype=np.intp).reshape(len(order), len(table))
        counts = np.array([rows[row] for row in order], dtype=np.intp)
        places = np.array(scale, dtype=np.float64)
        if cluster is None:
            return cls(codes, counts, places)
        parts: dict[Any, Counter[tuple[int, ...]]] = {}
        for item, row in patterns.items():
            if sum(one >= 0 for one in row) >= TWO:
                parts.setdefault(cluster(item), Counter())[row] += 1
        inside = [[part[row] for row in order] for part in parts.values()]
        return cls(codes, counts, places, np.array(inside, dtype=np.intp))

    def only(self, judges: Sequence[int]) -> Ratings:
        """Return the grades of some of the judges, where at least one of them gave one."""
        codes = self.codes[:, list(judges)]
        kept = (codes >= 0).any(axis=1)
        rows, places = np.unique(codes[kept], axis=0, return_inverse=True)
        counts = np.zeros(len(rows), dtype=np.intp)
        np.add.at(counts, places.reshape(-1), self.counts[kept])
        return Ratings(rows, counts, self.scale)

    @property
    def shared(self) -> int:
        """Number of items with at least two grades."""
        return int(self.counts[(self.codes >= 0).sum(axis=1) >= TWO].sum())

    @cached_property
    def given(self) -> Floats:
        """Number of times that each grade occurs in each pattern."""
        return (
            np.stack([(self.codes == k).sum(axis=1) for k in range(len(self.scale))], axis=1) * 1.0
        )

    def compare(self, a: int, b: int) -> tuple[Floats, Floats]:
        """Return the grades of two judges, 1 at each, where both gave one; a row per pattern."""
        both = (self.codes[:, a] >= 0) & (self.codes[:, b] >= 0)
        places = np.arange(len(self.scale))
        one, other = ((self.codes[:, [at]] == places) & both[:, None] for at in (a, b))
        return one.astype(np.float64), other.astype(np.float64)


# Coefficients: functions of the weights of patterns, nan where not defined.


def _kappa(ratings: Ratings, a: int, b: int, distances: Floats) -> Statistic:
    """Return Cohen's kappa of two judges, with `distances` between grades."""
    one, other = ratings.compare(a, b)
    apart = ((one @ distances) * other).sum(axis=1)

    def compute(weights: Floats) -> Floats:
        rows, columns = weights @ one, weights @ other
        expected = ((rows @ distances) * columns).sum(axis=1)
        return 1 - _divide((weights @ apart) * rows.sum(axis=1), expected)

    return compute


def _mean_kappa(ratings: Ratings, distances: Floats) -> Statistic:
    """Return the mean of kappa over all pairs of judges for which it is defined (Light 1971)."""
    judges = range(ratings.codes.shape[1])
    parts = [_kappa(ratings, a, b, distances) for a, b in combinations(judges, TWO)]

    def compute(weights: Floats) -> Floats:
        values = np.stack([part(weights) for part in parts])
        known = np.isfinite(values)
        return _divide(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0) * 1.0)

    return compute


def _alpha(ratings: Ratings, *, ordinal: bool) -> Statistic:
    """Return Krippendorff's alpha; items with fewer than two grades do not count."""
    given, size = ratings.given, len(ratings.scale)
    totals = given.sum(axis=1)
    matched = given[:, :, None] * given[:, None, :] - given[:, :, None] * np.eye(size)
    matched[totals < TWO] = 0.0
    cells = (matched / np.maximum(totals - 1, 1)[:, None, None]).reshape(len(given), -1)

    def compute(weights: Floats) -> Floats:
        table = (weights @ cells).reshape(-1, size, size)
        counts = table.sum(axis=2)
        if ordinal:  # ranks between the middles of two grades
            middles = counts.cumsum(axis=1) - counts / 2
            distances = np.square(middles[:, :, None] - middles[:, None, :])
        else:
            distances = np.broadcast_to(1 - np.eye(size), table.shape)
        expected = (counts[:, :, None] * counts[:, None, :] * distances).sum(axis=(1, 2))
        found = (table * distances).sum(axis=(1, 2)) * (counts.sum(axis=1) - 1)
        return 1 - _divide(found, expected)

    return compute


def _raw(ratings: Ratings, closeness: Floats) -> tuple[Floats, Floats]:
    """Return the agreement of each pattern, and whether it has two grades."""
    given = ratings.given
    totals = given.sum(axis=1)
    shared = totals >= TWO
    agreed = (given * (given @ closeness - 1)).sum(axis=1)
    return np.where(shared, agreed / np.maximum(totals * (totals - 1), 1), 0.0), shared * 1.0


def _gwet(ratings: Ratings, closeness: Floats) -> Statistic:
    """Return Gwet's AC1, or AC2 by a table of how close grades are (1 on the diagonal)."""
    agreed, shared = _raw(ratings, closeness)
    shares = ratings.given / ratings.given.sum(axis=1, keepdims=True)
    size = len(ratings.scale)
    factor = float(closeness.sum()) / (size * (size - 1)) if size > 1 else np.nan

    def compute(weights: Floats) -> Floats:
        raw = _divide(weights @ agreed, weights @ shared)
        used = _divide(weights @ shares, weights.sum(axis=1, keepdims=True))
        chance = factor * (used * (1 - used)).sum(axis=1)
        return _divide(raw - chance, 1 - chance)

    return compute


def _agreement_rate(ratings: Ratings) -> Statistic:
    agreed, shared = _raw(ratings, np.eye(len(ratings.scale)))
    return lambda weights: _divide(weights @ agreed, weights @ shared)


def _divide(above: Floats, below: Floats) -> Floats:
    """Divide; nan where the divisor is 0."""
    ok = below > 0
    return np.where(ok, above / np.where(ok, below, 1.0), np.nan)


def list_statistics(ratings: Ratings, relevant: float) -> dict[str, Statistic]:
    """Return the statistics by the names of `MEASURES`; nan is undefined."""
    scale, size = ratings.scale, len(ratings.scale)
    apart = np.abs(scale[:, None] - scale[None, :])
    unlike = 1 - np.eye(size)
    linear = apart / (apart.max() or 1.0)
    places = np.arange(size)
    steps = np.abs(places[:, None] - places[None, :])
    ordinal = steps * (steps + 1) / max(size * (size - 1), 1)
    sides = scale >= relevant
    return {
        "agreement": _agreement_rate(ratings),
        "kappa relevant": _mean_kappa(ratings, (sides[:, None] != sides[None, :]) * 1.0),
        "kappa": _mean_kappa(ratings, unlike),
        "kappa linear": _mean_kappa(ratings, linear),
        "kappa quadratic": _mean_kappa(ratings, linear**2),
        "alpha nominal": _alpha(ratings, ordinal=False),
        "alpha ordinal": _alpha(ratings, ordinal=True),
        "AC1": _gwet(ratings, np.eye(size)),
        "AC2 linear": _gwet(ratings, 1 - linear),
        "AC2 quadratic": _gwet(ratings, 1 - linear**2),
        "AC2 ordinal": _gwet(ratings, 1 - ordinal),
    }
