"""Number formatting: every output rounds here, so that no two outputs round differently.

>>> format_exact_metric(0.69), format_metric(0.69), format_interval(0.25, 1.0)
('0.6900', '0.690', '0.25-1.00')
>>> format_delta(-0.0321), format_milliseconds(0.0123), format_grade(2.0)
('-0.032', '12.3', '2')
>>> format_p_value(0.0004), format_p_value(0.0312)
('<0.001', '0.031')
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from berryeval._internal.aggregates import Interval


NOTHING: Final = "-"  # placeholder for a missing number
_ROUNDING: Final = 1e-12
_HUGE: Final = 1e15  # numbers from here on have an exponent
_LARGE: Final = 100  # amounts from here on have no decimals
_COUNT: Final = 10  # differences from here on are of counts, not of fractions
LIMIT_ROUNDING: Final = 1e-9  # a mean of floats may miss a limit by this much and still meet it
_SMALLEST_P: Final = 0.001


def _format_fixed(value: float, digits: int, *, sign: bool = False) -> str:
    """Format with a fixed number of decimals; a value that rounds to zero has no sign."""
    if abs(value) >= _HUGE:
        return f"{value:{'+' if sign else ''}.3g}"
    text = f"{value:{'+' if sign else ''}.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text


def format_exact_metric(value: float) -> str:
    """Format a metric for other programs: four decimals."""
    return _format_fixed(value, 4)


def format_exact_interval(low: float, high: float, queries: int) -> str:
    """Format the interval of a metric for other programs; a dash if it is not known."""
    found = known_interval(low, high, queries)
    return " to ".join(map(format_exact_metric, found)) if found else NOTHING


def format_metric(value: float) -> str:
    """Format a metric for people: three decimals."""
    return _format_fixed(value, 3)


def format_interval(low: float, high: float, *, digits: int = 2) -> str:
    """Format a confidence interval, by default with two decimals."""
    if low < 0 or high < 0:
        return f"[{_format_fixed(low, digits)}, {_format_fixed(high, digits)}]"
    return f"{_format_fixed(low, digits)}-{_format_fixed(high, digits)}"


def is_close(one: float, other: float) -> bool:
    """Whether two values differ by no more than rounding."""
    return math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


def known_interval(low: float | None, high: float | None, queries: int) -> Interval | None:
    """Return the interval of a value, or None if `is_spread_known` says it is not known."""
    from berryeval._internal.aggregates import Interval, is_spread_known

    if low is None or high is None:
        return None
    width = 0.0 if is_close(low, high) else high - low
    return Interval(low, high) if is_spread_known(queries, width) else None


def format_interval_around(
    value: float, low: float | None, high: float | None, queries: int
) -> str:
    """Format the interval of a value; the empty string if it is not known.

    The interval has three decimals where two would show no range or exclude the value itself.
    """
    found = known_interval(low, high, queries)
    if found is None:
        return ""
    shown = [float(_format_fixed(end, 2)) for end in found]
    if shown[0] == shown[1] or not shown[0] <= float(format_metric(value)) <= shown[1]:
        return format_interval(*found, digits=3)
    return format_interval(*found)


def format_delta(value: float) -> str:
    """Format a difference, with its sign."""
    return _format_fixed(value, 3, sign=True)


def format_precise_delta(value: float) -> str:
    """Format a difference in a sentence, with enough digits to tell it from 0."""
    if abs(value) >= _COUNT:
        return f"{value:+.1f}" if abs(value) < _HUGE else f"{value:+.3g}"
    text = f"{value:+.3f}"
    return f"{value:+.1g}" if value and not float(text) else text


def format_delta_interval(low: float, high: float) -> str:
    """Format the confidence interval of a difference."""
    return f"[{format_delta(low)}, {format_delta(high)}]"


def format_p_value(value: float) -> str:
    """Format a p-value: three decimals, and never 0."""
    return f"{value:.3f}" if value >= _SMALLEST_P else f"<{_SMALLEST_P}"


def format_p_equation(value: float | None) -> str:
    """Format a p-value in a sentence."""
    if value is None:
        return "no p"
    text = format_p_value(value)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def format_milliseconds(seconds: float) -> str:
    """Format a time given in seconds as milliseconds."""
    return _format_fixed(seconds * 1000, 1)


def format_amount(value: float) -> str:
    """Format tokens or money: no decimals from 100 on, else three significant digits."""
    if abs(value) >= _HUGE:
        return f"{value:.3g}"
    if abs(value) >= _LARGE:
        return f"{value:.0f}"
    digits = 3 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_share(value: float) -> str:
    """Format a fraction as a percentage."""
    return f"{_format_fixed(100 * value, 1)}%"


def format_score(value: float) -> str:
    """Format the score of a hit in full precision: parsing it gives the same bits."""
    return repr(float(value))


def format_grade(value: float) -> str:
    """Format a grade; a whole number has no decimal point."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def format_value_beside(value: float, limit: float, digits: int = 3) -> str:
    """Format a value with as many digits as show on which side of the limit it lies."""
    if abs(value) >= _HUGE:
        return repr(float(value))
    for more in range(digits, 16):
        text = f"{value:.{more}f}"
        if _same_side(float(text), value, limit):
            return text
    return repr(value)


def format_change_beside(change: float, limit: float) -> str:
    """Format the size of a change so that it shows on which side of the limit it lies."""
    size = abs(change)
    text = format_precise_delta(size).lstrip("+")
    return text if _same_side(float(text), size, limit) else format_value_beside(size, limit)


def _same_side(shown: float, value: float, limit: float) -> bool:
    """Whether the rounded value lies where the value does: above the limit, below it, or at it."""
    if abs(value - limit) <= LIMIT_ROUNDING:
        return True
    return shown != limit and (shown > limit) == (value > limit)


def format_allowance(limit: float) -> str:
    """Format an allowed change with three decimals, or with all it has."""
    text = format_precise_delta(limit).lstrip("+")
    return text if float(text) == limit else f"{limit:.10g}"


def format_exact_share(value: float) -> str:
    """Format a share in percent with one decimal, or with all it has."""
    text = f"{value * 100:.1f}"
    exact = abs(float(text) - value * 100) <= LIMIT_ROUNDING
    return f"{text if exact else f'{value * 100:.10g}'}%"
