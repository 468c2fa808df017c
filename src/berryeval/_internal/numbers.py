"""The one place where numbers become text, so that no two outputs round differently.

The text of a p-value comes from the statistics, whose sentences have it too.

>>> exact_metric(0.69), metric(0.69), interval(0.25, 1.0), delta(-0.0321)
('0.6900', '0.690', '0.25-1.00', '-0.032')
>>> milliseconds(0.0123), p_value(0.0004), p_value(0.0312), grade(2.0)
('12.3', '<0.001', '0.031', '2')
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from berryeval._internal.intervals import Interval


NOTHING: Final = "-"  # in place of a number that is not there
_ROUNDING: Final = 1e-12
_MUCH: Final = 100
_COUNT: Final = 10  # from here on a difference is one of counts, not of fractions
LIMIT_ROUNDING: Final = 1e-9  # a mean of floats may miss a limit by this much and still meet it
_LEAST_P: Final = 0.001  # smaller p-values are shown as below it


def _fixed(value: float, digits: int, *, sign: bool = False) -> str:
    """So many decimals; what rounds to zero has no sign."""
    text = f"{value:{'+' if sign else ''}.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text


def exact_metric(value: float) -> str:
    """The value of a metric in files for other programs: four decimals."""
    return _fixed(value, 4)


def exact_interval(low: float, high: float, queries: int) -> str:
    """The interval beside an `exact_metric` over so many queries; a dash where it says nothing.

    >>> exact_interval(0.25, 1.0, 4), exact_interval(0.25, 0.25, 4)
    ('0.2500 to 1.0000', '-')
    """
    found = known_interval(low, high, queries)
    return " to ".join(map(exact_metric, found)) if found else NOTHING


def metric(value: float) -> str:
    """The value of a metric in tables for people: three decimals."""
    return _fixed(value, 3)


def interval(low: float, high: float, *, digits: int = 2) -> str:
    """A confidence interval: two decimals, for it says how unsure the third is."""
    if low < 0 or high < 0:
        return f"[{_fixed(low, digits)}, {_fixed(high, digits)}]"
    return f"{_fixed(low, digits)}-{_fixed(high, digits)}"


def alike(one: float, other: float) -> bool:
    """Whether two values differ by no more than rounding.

    >>> alike(0.22000000000000006, 0.22), alike(0.22, 0.220001)
    (True, False)
    """
    return math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


def known_interval(low: float | None, high: float | None, queries: int) -> Interval | None:
    """The interval of a value, where so many queries tell one; None where they do not.

    The rule of comparisons: two queries whose values differ tell how far the mean may be off, and
    ten of the same value do, whose interval is a point; fewer of the same value do not.

    >>> known_interval(0.5, 0.5, 9), known_interval(0.5, 0.5, 10)
    (None, Interval(low=0.5, high=0.5))
    """
    from berryeval._internal.intervals import Interval, spread_known

    if low is None or high is None:
        return None
    width = 0.0 if alike(low, high) else high - low
    return Interval(low, high) if spread_known(queries, width) else None


def interval_around(value: float, low: float | None, high: float | None, queries: int) -> str:
    """The interval of a value over so many queries; empty where it would say nothing.

    It has three decimals where two would show no range, or leave out the value itself.

    >>> interval_around(0.5, 0.25, 0.75, 4), interval_around(0.8555, 0.8551, 0.9, 9)
    ('0.25-0.75', '0.855-0.900')
    >>> interval_around(0.5, 0.5, 0.5, 1)
    ''
    """
    found = known_interval(low, high, queries)
    if found is None:
        return ""
    shown = [float(_fixed(end, 2)) for end in found]
    if shown[0] == shown[1] or not shown[0] <= float(metric(value)) <= shown[1]:
        return interval(*found, digits=3)
    return interval(*found)


def delta(value: float) -> str:
    """A difference, with its sign."""
    return _fixed(value, 3, sign=True)


def precise_delta(value: float) -> str:
    """Format a difference in a sentence, with enough digits to tell it from 0.

    >>> precise_delta(0.0414), precise_delta(-12.345), precise_delta(0.00004), precise_delta(0.0)
    ('+0.041', '-12.3', '+4e-05', '+0.000')
    """
    if abs(value) >= _COUNT:
        return f"{value:+.1f}"
    text = f"{value:+.3f}"
    return f"{value:+.1g}" if value and not float(text) else text


def delta_interval(low: float, high: float) -> str:
    """The confidence interval of a difference."""
    return f"[{delta(low)}, {delta(high)}]"


def p_value(value: float) -> str:
    """A p-value: three decimals, and never 0."""
    return f"{value:.3f}" if value >= _LEAST_P else f"<{_LEAST_P}"


def p_equation(value: float | None) -> str:
    """Format a p-value in a sentence.

    >>> p_equation(0.0312), p_equation(0.0004), p_equation(None)
    ('p = 0.031', 'p < 0.001', 'no p')
    """
    if value is None:
        return "no p"
    text = p_value(value)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def milliseconds(seconds: float) -> str:
    """A time, given in seconds, as milliseconds."""
    return _fixed(seconds * 1000, 1)


def amount(value: float) -> str:
    """How much of something, tokens or money: whole where it is much, else three digits.

    >>> amount(1234.5), amount(12.345), amount(0.0004321), amount(5)
    ('1234', '12.3', '0.000432', '5')
    """
    if abs(value) >= _MUCH:
        return f"{value:.0f}"
    digits = 3 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def share(value: float) -> str:
    """A part of the whole, in percent."""
    return f"{_fixed(100 * value, 1)}%"


def score(value: float) -> str:
    """The score of a hit, in full precision: reading it gives the same bits."""
    return repr(float(value))


def grade(value: float) -> str:
    """A grade: a whole number without a point."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def value_beside(value: float, limit: float, digits: int = 3) -> str:
    """Format a value with as many digits as show on which side of the limit it lies.

    >>> value_beside(0.7512, 0.75), value_beside(0.7496, 0.75), value_beside(0.75, 0.75)
    ('0.751', '0.7496', '0.750')
    """
    for more in range(digits, 16):
        text = f"{value:.{more}f}"
        if _same_side(float(text), value, limit):
            return text
    return repr(value)


def change_beside(change: float, limit: float) -> str:
    """Format the size of a change so that it shows on which side of the limit it lies.

    >>> change_beside(-0.0104, 0.01), change_beside(0.5, 0.01)
    ('0.0104', '0.500')
    """
    size = abs(change)
    text = precise_delta(size).lstrip("+")
    return text if _same_side(float(text), size, limit) else value_beside(size, limit)


def _same_side(shown: float, value: float, limit: float) -> bool:
    """Whether the rounded value lies where the value does: above the limit, below it, or at it."""
    if abs(value - limit) <= LIMIT_ROUNDING:
        return True
    return shown != limit and (shown > limit) == (value > limit)


def allowance(limit: float) -> str:
    """Format an allowed change with three decimals, or with all it has.

    >>> allowance(0.02), allowance(0.0101)
    ('0.020', '0.0101')
    """
    text = precise_delta(limit).lstrip("+")
    return text if float(text) == limit else f"{limit:.10g}"


def exact_share(value: float) -> str:
    """Format a share in percent with one decimal, or with all it has.

    >>> exact_share(0.05), exact_share(0.0999)
    ('5.0%', '9.99%')
    """
    text = f"{value * 100:.1f}"
    exact = abs(float(text) - value * 100) <= LIMIT_ROUNDING
    return f"{text if exact else f'{value * 100:.10g}'}%"
