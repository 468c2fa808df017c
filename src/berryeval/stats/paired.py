"""`Pair`: the values of two systems for the same queries, checked, and what follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from berryeval.errors import DataError

if TYPE_CHECKING:
    from typing_extensions import Self


Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

# Two values are equal if they are closer than this share of the largest value: what is less is the
# rounding of the scores, as of 0.3 - 0.2 and 0.1.
RESOLUTION: Final = 1e-12
_SUM_BITS: Final = 61  # the largest sum of whole numbers, which the native core takes too


def checked_column(name: str, values: Any) -> Floats:
    """A list or array of finite numbers as an array; anything else is an error that says where."""
    try:
        column = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"{name} must be a list of numbers, found {values!r:.80}"
        raise DataError(msg) from error
    if column.ndim != 1:
        msg = f"{name} must be a list of numbers, found an array of {column.ndim} dimensions"
        raise DataError(msg)
    faulty = np.flatnonzero(~np.isfinite(column))
    if len(faulty):
        place = int(faulty[0])
        msg = (
            f"{name}[{place}] is {column[place]}: every query needs a finite number "
            f"({len(faulty)} of {len(column)} have none)"
        )
        raise DataError(msg)
    return column


@dataclass(frozen=True, eq=False)
class Pair:
    """The values `a` and `b` of two systems, place by place for the same query.

    Attributes:
        a: the values of the first system, the baseline.
        b: the values of the second; a difference is `b - a`.
    """

    a: Floats
    b: Floats

    @classmethod
    def of(cls, a: Any, b: Any) -> Self:
        """Two lists of numbers of the same length."""
        pair = cls(checked_column("a", a), checked_column("b", b))
        if len(pair.a) != len(pair.b):
            msg = (
                f"a has {len(pair.a)} values and b has {len(pair.b)}: "
                "a paired comparison needs both values of every query"
            )
            raise DataError(msg)
        if not len(pair.a):
            msg = "a and b have no values: there is no query to compare them by"
            raise DataError(msg)
        with np.errstate(over="ignore"):
            beyond = not np.isfinite(pair.b - pair.a).all()
        if beyond:
            msg = "the differences of a and b are too large for a float"
            raise DataError(msg)
        return pair

    @property
    def size(self) -> int:
        """How many queries there are."""
        return len(self.a)

    @cached_property
    def equal_within(self) -> float:
        """Differences up to this are none."""
        return RESOLUTION * float(max(np.abs(self.a).max(), np.abs(self.b).max()))

    @cached_property
    def differences(self) -> Floats:
        """`b - a` of every query; 0 where the two are equal."""
        found: Floats = self.b - self.a
        found[np.abs(found) <= self.equal_within] = 0.0
        return found

    @cached_property
    def non_zero(self) -> Floats:
        """The differences of the queries that differ."""
        return np.ascontiguousarray(self.differences[self.differences != 0])

    @cached_property
    def mean(self) -> float:
        """The mean difference; 0.0 if it is no more than rounding."""
        found = math.fsum(self.differences) / self.size
        return found if abs(found) > self.equal_within else 0.0

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of the differences (n - 1); 0.0 if they are all alike."""
        found = deviation_of(self.differences)
        return found if found > self.equal_within else 0.0

    @property
    def wins_ties_losses(self) -> tuple[int, int, int]:
        """In how many queries `b` is higher, equal, and lower."""
        wins = int((self.differences > 0).sum())
        losses = int((self.differences < 0).sum())
        return wins, self.size - wins - losses, losses


def sign_of(value: float) -> int:
    """1, 0 or -1."""
    return (value > 0) - (value < 0)


def deviation_of(values: Floats) -> float:
    """The standard deviation (n - 1), whatever their size; 0.0 of fewer than two values."""
    largest = float(np.abs(values).max(initial=0.0))
    if len(values) < 2 or largest == 0:  # noqa: PLR2004 - one value has no deviation
        return 0.0
    return largest * float(np.std(values / largest, ddof=1))


def as_whole_numbers(values: Floats) -> tuple[Whole, int]:
    """The values times a power of two, rounded, and its exponent: sums of them are exact.

    As many bits are kept as leave room for the sum of all absolute values.
    """
    largest = float(np.abs(values).max())
    spare = max(1, values.size).bit_length()
    exponent = _SUM_BITS - spare - math.frexp(largest)[1]
    return np.rint(np.ldexp(values, exponent)).astype(np.int64), exponent


# How values vary, and how many values it takes to know (`_internal.intervals` has that rule).

FEWEST_RESAMPLED: Final = 20  # queries; resamples of fewer stray much less than their mean does


def spread_of(values: Floats) -> float:
    """The standard deviation (n - 1) of the values; 0.0 if it is no more than rounding.

    Of two systems it is `Pair.deviation`, which knows how large the values were that differ.

    >>> spread_of(np.array([0.3, 0.1 + 0.2, 0.3]))
    0.0
    """
    found = deviation_of(values)
    return found if found > RESOLUTION * float(np.abs(values).max(initial=0.0)) else 0.0
