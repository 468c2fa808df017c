"""What answers cost, as providers report it: numbers by name, and words about them."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from berryeval.errors import ProviderError
from berryeval.json_record import found, is_finite

__all__ = ["added_costs", "as_cost", "is_amount"]


def is_amount(value: Any) -> bool:
    """Whether it is a number that can be counted; words and flags are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def as_cost(given: Any) -> dict[str, Any]:
    """What an answer cost, its numbers as Python's own; one that is not finite is refused.

    >>> as_cost({"usd": Decimal("0.25"), "model": "small"})
    {'usd': 0.25, 'model': 'small'}
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        msg = f"cost: expected a mapping from names to numbers, found {found(given)}"
        raise ProviderError(msg)
    return {str(name): _plain(str(name), value) for name, value in given.items()}


def _plain(name: str, value: Any) -> Any:
    if getattr(value, "shape", None) == ():  # an array that is one number
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        return value
    try:
        number = int(value) if isinstance(value, numbers.Integral) else float(value)
    except (OverflowError, ValueError):  # a fraction beyond all floats, a signalling NaN
        number = float("nan")
    if not is_amount(number):
        # The size of a number alone can fill a screen, and Python refuses to write the largest.
        large = isinstance(value, numbers.Integral | numbers.Rational)
        shown = "one beyond all floats" if large else value
        msg = f"cost {name!r} must be a finite number, found {shown}"
        raise ProviderError(msg)
    return number


def added_costs(costs: Iterable[Any]) -> dict[str, Any]:
    """What several answers cost together; of words the first are kept."""
    total: dict[str, Any] = {}
    for cost in map(as_cost, costs):
        for name, value in cost.items():
            both = is_amount(value) and is_amount(total.get(name))
            total[name] = total[name] + value if both else total.get(name, value)
    return total
