"""Exact partial sums: they can be added in any order, so results do not depend on partitions."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from berryeval._internal.aggregates import aggregate, count_units, round_units

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from berryeval.scoring import Scores

_SPLIT: Final = float((1 << 27) + 1)  # halves the 53 bits of a float
_LARGE: Final = 2.0**500  # squares of larger numbers may overflow
_ONE: Final = count_units(np.ones(1))


@dataclass
class Moments:
    """Count, exact sums of values, squares and logarithms, and the range of a column.

    Attributes:
        count: Number of values.
        units: Sum of the values in units of `count_units`.
        squares: Sum of their squares in the same units.
        logs: Sum of their logarithms in the same units, for a geometric mean.
        least: Lowest value.
        most: Highest value.
    """

    count: int = 0
    units: int = 0
    squares: int = 0
    logs: int = 0
    least: float = math.inf
    most: float = -math.inf

    @classmethod
    def of(cls, values: npt.NDArray[np.float64], how: str = "mean") -> Moments:
        """Return the sums of finite values."""
        least, most = float(values.min(initial=math.inf)), float(values.max(initial=-math.inf))
        logs = 0
        if how == "geometric mean" and least > 0:
            logs = count_units(np.array([math.log(value) for value in values.tolist()]))
        return cls(len(values), count_units(values), _count_squares(values), logs, least, most)

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.count + other.count,
            self.units + other.units,
            self.squares + other.squares,
            self.logs + other.logs,
            min(self.least, other.least),
            max(self.most, other.most),
        )

    def to_list(self) -> list[str | float]:
        """Return the fields for JSON, large integers as text."""
        return [hex(one) if isinstance(one, int) else one for one in vars(self).values()]

    @classmethod
    def from_list(cls, fields: list[Any]) -> Moments:
        """Read the output of `to_list`."""
        return cls(*(int(one, 16) if isinstance(one, str) else one for one in fields))

    def aggregate(self, how: str = "mean") -> float:
        """Return the "mean", "sum" or "geometric mean": the bytes of the local `aggregate`."""
        if not self.count:
            return aggregate(how, np.zeros(0))
        if how == "geometric mean":
            return 0.0 if self.least <= 0 else math.exp(round_units(self.logs) / self.count)
        total = round_units(self.units)
        return total if how == "sum" else total / self.count

    @property
    def std(self) -> float:
        """Standard deviation (n - 1), rounded once; 0.0 below two values or about 1e-154."""
        if self.count < 2:  # noqa: PLR2004 - one value has no deviation
            return 0.0
        above = max(self.count * self.squares * _ONE - self.units**2, 0)  # squares may underflow
        below = self.count * (self.count - 1) * _ONE**2
        try:
            return math.sqrt(above / below)
        except OverflowError:  # of the variance
            return float(math.isqrt(above // below))


def _count_squares(values: npt.NDArray[np.float64]) -> int:
    """Return the exact sum of squares, from products that no float rounds."""
    if np.abs(values).max(initial=0.0) > _LARGE:
        return sum(count_units(np.array([value])) ** 2 // _ONE for value in values.tolist())
    scaled = _SPLIT * values
    high = scaled - (scaled - values)
    low = values - high
    return count_units(np.concatenate([high * high, 2 * high * low, low * low]))


@dataclass
class Totals:
    """What a summary needs to know of the queries of a partition, or of all.

    Attributes:
        columns: Sums of each metric.
        outcomes: Number of queries with each outcome.
        retrieved: Number of retrieved documents.
        judged: Number of these that are judged.
        run_rows: Number of rows of the run, without those that a lenient reader left out.
        judgments: Number of rows of the judgments, counted likewise.
        dropped: Number of rows that a lenient reader left out.
        extra: Number of queries without judgments.
        left_out: Number of judged queries that the profile does not count.
        first_extra: The first of the queries without judgments, by bytes.
        first_judged: The first judged query, by bytes.
        highest: Highest grade.
        backends: Backends that computed the scores.
    """

    columns: list[Moments]
    outcomes: Counter[str] = field(default_factory=Counter)
    retrieved: int = 0
    judged: int = 0
    run_rows: int = 0
    judgments: int = 0
    dropped: int = 0
    extra: int = 0
    left_out: int = 0
    first_extra: str = ""
    first_judged: str = ""
    highest: float = 0.0
    backends: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, scores: Scores) -> Totals:
        """Return the totals of some queries; the caller adds rows and grades."""
        counts = scores.counts.sum(axis=0) if len(scores.counts) else np.zeros(4, dtype=np.int64)
        return cls(
            columns=[
                Moments.of(row, how)
                for row, how in zip(scores.values, scores.aggregates, strict=True)
            ],
            outcomes=Counter(scores.outcomes),
            retrieved=int(counts[0]),
            judged=int(counts[1]),
            dropped=scores.dropped,
            extra=len(scores.extra_queries),
            left_out=len(scores.left_out),
            first_extra=_first(scores.extra_queries),
            first_judged=_first((*scores.queries[:1], *scores.left_out[:1])),
        )

    def add(self, other: Totals) -> None:
        """Add the totals of other queries."""
        self.columns = [a + b for a, b in zip(self.columns, other.columns, strict=True)]
        self.outcomes += other.outcomes
        for name in ("retrieved", "judged", "run_rows", "judgments", "dropped"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.extra += other.extra
        self.left_out += other.left_out
        self.first_extra = _first((self.first_extra, other.first_extra))
        self.first_judged = _first((self.first_judged, other.first_judged))
        self.highest = max(self.highest, other.highest)
        self.backends = sorted({*self.backends, *other.backends})

    @property
    def queries(self) -> int:
        """Number of queries that count."""
        return sum(self.outcomes.values())

    def to_bytes(self) -> bytes:
        """Return the totals as JSON."""
        parts: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        parts["columns"] = [column.to_list() for column in self.columns]
        return json.dumps(parts).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Totals:
        """Read the output of `to_bytes`."""
        parts = json.loads(data)
        columns = [Moments.from_list(column) for column in parts.pop("columns")]
        return cls(columns, Counter(parts.pop("outcomes")), **parts)


def _first(queries: Iterable[str]) -> str:
    """Return the first query by bytes, or an empty text."""
    return min(filter(None, queries), key=str.encode, default="")
