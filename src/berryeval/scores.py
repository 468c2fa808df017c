"""`Scores`: the table query x measure of one run, with what it takes to trust it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Outcome", "Scores"]

Outcome: TypeAlias = Literal["ok", "empty", "missing", "no relevant documents"]


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """The values of every measure for every judged query that counts.

    Attributes:
        measures: the canonical names of the measures.
        queries: the query ids, in the order of their bytes.
        values: float64, one row per measure, one column per query.
        aggregates: how each measure's values become one: mean, sum or geometric mean.
        outcomes: what became of each query.
        counts: int64, one row per query: retrieved, judged of these, relevant, in the run (0, 1).
        extra_queries: queries of the run without judgments; they are not scored.
        run_name: the name of the run.
        spellings: which measure each name means that the caller used.
    """

    measures: tuple[str, ...]
    queries: tuple[str, ...]
    values: npt.NDArray[np.float64]
    aggregates: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    counts: npt.NDArray[np.int64]
    extra_queries: tuple[str, ...] = ()
    run_name: str = "run"
    spellings: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def mean(self) -> ByMeasure:
        """One value per measure, over all queries: the mean, or what the measure asks for."""
        return ByMeasure(
            self, [_aggregate(*row) for row in zip(self.aggregates, self.values, strict=True)]
        )

    @cached_property
    def std(self) -> ByMeasure:
        """The standard deviation over the queries (n - 1); 0.0 for fewer than two."""
        return ByMeasure(
            self, [float(row.std(ddof=1)) if len(row) > 1 else 0.0 for row in self.values]
        )

    def per_query(self, measure: str) -> dict[str, float]:
        """The value of every query."""
        return dict(zip(self.queries, self.values[self.row_of(measure)].tolist(), strict=True))

    def row_of(self, measure: str) -> int:
        """Which row of `values` is this measure's."""
        name = self.spellings.get(str(measure), str(measure))
        try:
            return self.measures.index(name)
        except ValueError:
            msg = f"{measure!r} was not computed; there are {', '.join(self.measures)}"
            raise KeyError(msg) from None

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value:.4f}" for name, value in self.mean.items())
        return f"Scores({self.run_name!r}, {len(self)} queries, {shown})"


class ByMeasure(Mapping[str, float]):
    """One number per measure, found by any spelling that was used to ask for it."""

    def __init__(self, scores: Scores, numbers: list[float]) -> None:
        self._scores = scores
        self._numbers = numbers

    def __getitem__(self, measure: str) -> float:
        return self._numbers[self._scores.row_of(measure)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores.measures)

    def __len__(self) -> int:
        return len(self._scores.measures)

    def __repr__(self) -> str:
        return repr(dict(self))


def _aggregate(how: str, values: npt.NDArray[np.float64]) -> float:
    """One number of many, added up in the order of the queries, as trec_eval does."""
    numbers = values.tolist()
    total = 0.0
    if how == "geometric mean":
        for number in numbers:
            total += float(np.log(number))
        return float(np.exp(total / len(numbers))) if numbers else 0.0
    for number in numbers:
        total += number
    if how == "sum":
        return total
    return total / len(numbers) if numbers else 0.0
