"""What rules want, and what was found, in words whose numbers tell the two apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.gates.rules import ROUNDING
from berryeval.measures.direction import direction_of
from berryeval.stats.wording import number

if TYPE_CHECKING:
    from berryeval.gates.rules import Rule

__all__ = ["change_of", "fall_of", "limit_of", "percent", "told_apart", "wants"]


def told_apart(value: float, limit: float, digits: int = 3) -> str:
    """A value with so many digits, or as many as it takes to be on its side of the limit.

    >>> told_apart(0.7512, 0.75), told_apart(0.7496, 0.75), told_apart(0.75, 0.75)
    ('0.751', '0.7496', '0.750')
    """
    for more in range(digits, 16):
        text = f"{value:.{more}f}"
        if _on_its_side(float(text), value, limit):
            return text
    return repr(value)


def limit_of(rule: Rule) -> float:
    """The number that the rule wants something to keep to."""
    wanted = (rule.at_least, rule.at_most, rule.max_drop)
    return next((one for one in wanted if one is not None), 0.0)


def wants(rule: Rule, *, fell: bool = False) -> str:
    """What the rule wants, as "the gate wants at least 0.6"; after "fell by", how far it may."""
    limit = limit_of(rule)
    if rule.max_drop is not None:
        if not limit:
            return f"the gate allows no {fall_of(rule)}"
        return f"the gate allows {'' if fell else f'a {fall_of(rule)} of '}{_drop(limit)}"
    bound = "at least" if rule.at_least is not None else "at most"
    if rule.latency:
        return f"the gate wants {bound} {limit * 1000:.10g} ms"
    return f"the gate wants {bound} {percent(limit) if rule.errors else f'{limit:.10g}'}"


def fall_of(rule: Rule) -> str:
    """What is worse: a drop, or a rise where less is better."""
    return "rise" if direction_of(rule.measure) == "down" else "drop"


def change_of(change: float, limit: float) -> str:
    """How large a change is, without its sign."""
    size = abs(change)
    text = number(size).lstrip("+")
    return text if _on_its_side(float(text), size, limit) else told_apart(size, limit)


def _on_its_side(shown: float, value: float, limit: float) -> bool:
    """Whether a rounded value is where the value is: above the limit, below it, or at it."""
    if abs(value - limit) <= ROUNDING:
        return True
    return shown != limit and (shown > limit) == (value > limit)


def percent(share: float) -> str:
    """A share as percent, with one digit or with all it has."""
    text = f"{share * 100:.1f}"
    return f"{text if abs(float(text) - share * 100) <= ROUNDING else f'{share * 100:.10g}'}%"


def _drop(limit: float) -> str:
    """What may be lost, with three digits or with all it has."""
    text = number(limit).lstrip("+")
    return text if float(text) == limit else f"{limit:.10g}"
