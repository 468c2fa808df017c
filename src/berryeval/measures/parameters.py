"""The parameters of measures: what each kind accepts, and how a value is written.

The kind of a parameter is the annotation of the reference function's argument, as text. A kind of
your own is a line in `CHECKS` and one in `WANTED`, or, if it is a choice among words, in `CHOICES`.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from berryeval.errors import MeasureError

__all__ = [
    "CHECKS",
    "CHOICES",
    "REQUIRED",
    "Count",
    "Discounting",
    "Gains",
    "Parameter",
    "Positive",
    "RbpGain",
    "Rounding",
    "Share",
    "Shares",
    "shown",
]

REQUIRED: Final = inspect.Parameter.empty

Count: TypeAlias = int
Positive: TypeAlias = float
Share: TypeAlias = float
Shares: TypeAlias = tuple[float, ...]
Gains: TypeAlias = tuple[tuple[float, float], ...]
Discounting: TypeAlias = Literal["log2", "exp-log2"]
Rounding: TypeAlias = Literal["lround", "ceil0.9"]
RbpGain: TypeAlias = Literal["binary", "scaled", "minmax", "raw"]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a measure; without a default it must be given."""

    name: str
    kind: str
    default: Any = REQUIRED

    @property
    def required(self) -> bool:
        """Whether the measure makes no sense without it."""
        return self.default is REQUIRED

    @property
    def base_kind(self) -> str:
        """The kind without what says that it may be left out."""
        return self.kind.removesuffix(" | None")

    def checked(self, owner: str, value: Any) -> Any:
        """`value` as the parameter wants it, or a `MeasureError` that says what it wants."""
        if value is None and self.default is None:
            return None
        try:
            checked = CHECKS[self.base_kind](value)
        except (TypeError, ValueError, KeyError, OverflowError):
            checked = None
        if checked is None:
            wanted = WANTED.get(self.base_kind, self.base_kind)
            msg = f"{self.name} of {owner} must be {wanted}, found {value!r}"
            raise MeasureError(msg)
        return checked


def shown(value: Any) -> str:
    """A value as the grammar reads it."""
    if isinstance(value, tuple):
        if value and not isinstance(value[0], tuple):
            return "[" + ",".join(shown(item) for item in value) + "]"
        return "{" + ",".join(f"{shown(k)}:{shown(v)}" for k, v in value) + "}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004 - exact below
        return str(int(value))
    return repr(value)


# Some measures look at every rank up to their cutoff; a typing error must not take hours.
_DEEPEST: Final = 10_000_000


def _count(value: Any) -> int | None:
    number = operator.index(value)
    return number if 0 <= number < 2**53 and not isinstance(value, bool) else None


def _integer(value: Any) -> int | None:
    number = _count(value)
    return number if number and number <= _DEEPEST else None


def _number(value: Any) -> float | None:
    number = float(value)
    return None if isinstance(value, bool | str) or not math.isfinite(number) else number


def _positive(value: Any) -> float | None:
    number = _number(value)
    return number if number is not None and number > 0 else None


def _share(value: Any) -> float | None:
    number = _number(value)
    return number if number is not None and 0 <= number <= 1 else None


def _shares(value: Any) -> tuple[float, ...] | None:
    shares = [_share(item) for item in value]
    known = tuple(sorted(share for share in shares if share is not None))
    return known if known and len(known) == len(shares) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


_UNJUDGED_LEVELS: Final = (-1.0, -2.0)


def _gains(value: Any) -> tuple[tuple[float, float], ...] | None:
    pairs = value.items() if isinstance(value, Mapping) else value
    gains: dict[float, float] = {}
    for level, gain in pairs:
        grade, number = _number(level), _number(gain)
        if grade is None or number is None or (grade < 0 and grade not in _UNJUDGED_LEVELS):
            return None
        gains[grade] = number
    return tuple(sorted(gains.items())) or None


def _one_of(words: tuple[str, ...]) -> Callable[[Any], str | None]:
    return lambda value: value if value in words else None


# Choices among words; native code knows the words by the name of the parameter.
CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "Discounting": ("log2", "exp-log2"),
    "Rounding": ("lround", "ceil0.9"),
    "RbpGain": ("binary", "scaled", "minmax", "raw"),
}
# How a parameter is checked: the value as it is kept, or None, or one of the usual errors.
CHECKS: Final[dict[str, Callable[[Any], Any]]] = {
    "int": _integer,
    "Count": _count,
    "float": _number,
    "Positive": _positive,
    "Share": _share,
    "Shares": _shares,
    "bool": _flag,
    "Gains": _gains,
    **{kind: _one_of(words) for kind, words in CHOICES.items()},
}
WANTED: Final[dict[str, str]] = {
    "int": f"an integer from 1 to {_DEEPEST}",
    "Count": "an integer from 0 up",
    "float": "a number",
    "Positive": "a number above 0",
    "Share": "a number from 0 to 1",
    "Shares": "a list of numbers from 0 to 1, as in [0,0.5,1]",
    "bool": "True or False",
    "Gains": (
        "a mapping of grade to gain, as in gains={1:1,2:3}; of the levels below 0 there are -1, "
        "documents without a judgment, and -2, documents in the pool that were not judged"
    ),
    **{kind: " or ".join(map(repr, words)) for kind, words in CHOICES.items()},
}
