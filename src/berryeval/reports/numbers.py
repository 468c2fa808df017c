"""The one place where numbers become text, so that no two outputs round differently.

The text of a p-value comes from the statistics, whose sentences have it too.

>>> exact_measure(0.69), measure(0.69), interval(0.25, 1.0), delta(-0.0321)
('0.6900', '0.690', '0.25-1.00', '-0.032')
>>> milliseconds(0.0123), p_value(0.0004), p_value(0.0312), grade(2.0)
('12.3', '<0.001', '0.031', '2')
"""

from __future__ import annotations

from typing import Final

from berryeval.stats.wording import p_number as p_value

__all__ = [
    "NOTHING",
    "delta",
    "delta_interval",
    "exact_measure",
    "grade",
    "interval",
    "measure",
    "milliseconds",
    "p_value",
    "score",
]

NOTHING: Final = "-"  # in place of a number that is not there


def _fixed(value: float, digits: int, *, sign: bool = False) -> str:
    """So many decimals; what rounds to zero has no sign."""
    text = f"{value:{'+' if sign else ''}.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text


def exact_measure(value: float) -> str:
    """The value of a measure in files for other programs: four decimals."""
    return _fixed(value, 4)


def measure(value: float) -> str:
    """The value of a measure in tables for people: three decimals."""
    return _fixed(value, 3)


def interval(low: float, high: float) -> str:
    """A confidence interval: two decimals, for it says how unsure the third is."""
    if low < 0 or high < 0:
        return f"[{_fixed(low, 2)}, {_fixed(high, 2)}]"
    return f"{_fixed(low, 2)}-{_fixed(high, 2)}"


def delta(value: float) -> str:
    """A difference, with its sign."""
    return _fixed(value, 3, sign=True)


def delta_interval(low: float, high: float) -> str:
    """The confidence interval of a difference."""
    return f"[{delta(low)}, {delta(high)}]"


def milliseconds(seconds: float) -> str:
    """A time, given in seconds, as milliseconds."""
    return _fixed(seconds * 1000, 1)


def score(value: float) -> str:
    """The score of a hit, in full precision: reading it gives the same bits."""
    return repr(float(value))


def grade(value: float) -> str:
    """A grade: a whole number without a point."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
