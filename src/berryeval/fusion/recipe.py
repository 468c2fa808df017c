"""`Recipe`: a method of fusion as the few steps that Python and native code both take.

1. Each run gives points to the documents that it ranks: from their scores, or from their ranks.
2. The points of a document are combined over the runs.

Everything that is not plain arithmetic, such as powers and logarithms, is computed once, in tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

# Where points come from: the normalized score; a table by rank; a table by segment of the ranking;
# the mean of a table around the rank; the number of candidates not ranked above; a table by rank
# times one plus the score.
Points: TypeAlias = Literal["score", "rank", "segment", "window", "borda", "boosted"]
Combine: TypeAlias = Literal["sum", "mean", "max", "min", "median", "votes", "condorcet"]

NORMS: Final[dict[str, str]] = {
    "none": "the score as it is",
    "min-max": "(s - lowest) / (highest - lowest); 1 if all scores are equal",
    "min-max-inverted": "min-max of the negated scores, so that the lowest score ranks first",
    "max": "s / |highest|; the score as it is if the highest is 0",
    "sum": "(s - lowest) / sum of (s - lowest); 1 / n if all scores are equal",
    "zmuv": "(s - mean) / standard deviation; 0 if all scores are equal",
    "rank": "1 - (rank - 1) / n",
    "borda": "1 - (rank - 1) / c, and 1/2 - (n - 1) / 2c for a candidate that the run lacks",
}

# The smallest denominator of a norm: 0 is exact, ranx divides by at least 1e-9.
PROFILES: Final[dict[str, float]] = {"berryeval": 0.0, "ranx": 1e-9}


@dataclass(frozen=True)
class Recipe:
    """The steps of a fusion.

    Attributes:
        points: Where the points of a document come from.
        combine: How the points of the runs become one score.
        norm: Normalization of scores; a key of `NORMS`.
        least: Smallest denominator of the normalization; 0 is exact.
        scales: Factor on the points of each run.
        votes: Weight of each run, where weights are not factors on points.
        factors: Factor on a sum by the number of runs that rank the document, from 0 up.
        tables: Numbers of each run by rank or segment.
        missing: Points of a document that a run does not rank; NaN: it does not count.
        window: Ranks on each side that a mean includes.
    """

    points: Points
    combine: Combine
    norm: str
    least: float
    scales: tuple[float, ...]
    votes: tuple[float, ...]
    factors: tuple[float, ...]
    tables: tuple[Floats, ...] = ()
    missing: float = float("nan")
    window: int = 0

    @property
    def inverted(self) -> bool:
        """Whether the lowest score ranks first."""
        return self.norm == "min-max-inverted"

    @property
    def reads_scores(self) -> bool:
        """Whether scores count, not only their order."""
        return self.points in {"score", "boosted"}

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The recipe for native code."""
        norm = "min-max" if self.inverted else self.norm
        words = self.points, self.combine, norm
        numbers = self.inverted, self.least, self.missing, self.window
        return *words, *numbers, self.scales, self.votes, self.factors, list(self.tables)
