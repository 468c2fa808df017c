"""`Pair`: the values of two systems for the same queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from berryeval._internal.text import pluralize
from berryeval.errors import DataError

if TYPE_CHECKING:
    from typing_extensions import Self

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

# Values closer than this fraction of the largest value are equal: the difference is due to
# rounding, as between 0.3 - 0.2 and 0.1.
RESOLUTION: Final = 1e-12
_SUM_BITS: Final = 61  # bits of the largest sum of integers, as in the native core


def check_column(name: str, values: Any) -> Floats:
    """Convert a list of finite numbers to an array; raise DataError for anything else."""
    try:
        column = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be a list of numbers, found {values!r:.80}") from error
    if column.ndim != 1:
        raise DataError(
            f"{name} must be a list of numbers, found an array of {column.ndim} dimensions"
        )
    faulty = np.flatnonzero(~np.isfinite(column))
    if len(faulty):
        place = int(faulty[0])
        raise DataError(
            f"{name}[{place}] is {column[place]}: every query needs a finite number "
            f"({len(faulty)} of {len(column)} have none)"
        )
    return column


@dataclass(frozen=True, eq=False)
class Pair:
    """The values of two systems for the same queries in the same order; a difference is `b - a`."""

    a: Floats
    b: Floats

    @classmethod
    def of(cls, a: Any, b: Any) -> Self:
        """Create a pair from two lists of numbers of the same length."""
        pair = cls(check_column("a", a), check_column("b", b))
        if len(pair.a) != len(pair.b):
            raise DataError(
                f"a has {pluralize(len(pair.a), 'value')} and b has {len(pair.b)}: "
                "a paired comparison needs both values of every query"
            )
        if not len(pair.a):
            raise DataError("a and b have no values: a comparison needs at least one query")
        with np.errstate(over="ignore"):
            if not np.isfinite(pair.b - pair.a).all():
                raise DataError("the differences of a and b are too large for a float")
        return pair

    @property
    def size(self) -> int:
        """Number of queries."""
        return len(self.a)

    @cached_property
    def equal_within(self) -> float:
        """Largest difference that counts as equal."""
        return RESOLUTION * float(max(np.abs(self.a).max(), np.abs(self.b).max()))

    @cached_property
    def differences(self) -> Floats:
        """`b - a` of every query; 0 if the values are equal up to rounding."""
        found: Floats = self.b - self.a
        found[np.abs(found) <= self.equal_within] = 0.0
        return found

    @cached_property
    def non_zero(self) -> Floats:
        """Differences other than 0."""
        return np.ascontiguousarray(self.differences[self.differences != 0])

    @cached_property
    def mean(self) -> float:
        """Mean difference; 0.0 if it is due to rounding."""
        found = math.fsum(self.differences) / self.size
        return found if abs(found) > self.equal_within else 0.0

    @cached_property
    def deviation(self) -> float:
        """Standard deviation of the differences (n - 1); 0.0 if they are all equal."""
        found = deviation_of(self.differences)
        return found if found > self.equal_within else 0.0

    @property
    def wins_ties_losses(self) -> tuple[int, int, int]:
        """Number of queries in which `b` is higher, equal and lower."""
        wins = int((self.differences > 0).sum())
        losses = int((self.differences < 0).sum())
        return wins, self.size - wins - losses, losses

    def describe_constant(self, test: str) -> str:
        """Explain why a test is not possible if all differences are equal."""
        found = f"every query differs by {self.mean:g}" if self.mean else "no query differs"
        return f"{found}: {test} needs differences that vary"


def sign_of(value: float) -> int:
    """Return 1, 0 or -1."""
    return (value > 0) - (value < 0)


def deviation_of(values: Floats) -> float:
    """Return the standard deviation (n - 1) without overflow; 0.0 for fewer than two values."""
    largest = float(np.abs(values).max(initial=0.0))
    if len(values) < 2 or largest == 0:  # noqa: PLR2004 - one value has no deviation
        return 0.0
    return largest * float(np.std(values / largest, ddof=1))


def scale_to_integers(values: Floats) -> tuple[Whole, int]:
    """Scale values by a power of two (also returned) and round them, so that sums are exact."""
    largest = float(np.abs(values).max())
    spare = max(1, values.size).bit_length()
    exponent = _SUM_BITS - spare - math.frexp(largest)[1]
    return np.rint(np.ldexp(values, exponent)).astype(np.int64), exponent


FEWEST_RESAMPLED: Final = 20  # queries; resamples of fewer vary much less than their mean


def spread_of(values: Floats) -> float:
    """Return the standard deviation (n - 1) of values; 0.0 if it is due to rounding.

    For two systems use `Pair.deviation`, which knows the size of the values.

    >>> spread_of(np.array([0.3, 0.1 + 0.2, 0.3]))
    0.0
    """
    found = deviation_of(values)
    return found if found > RESOLUTION * float(np.abs(values).max(initial=0.0)) else 0.0
