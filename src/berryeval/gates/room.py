"""How far a measure can fall at all: a rule that allows more than that would never fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from berryeval.errors import ConfigurationError
from berryeval.gates.rules import ROUNDING
from berryeval.gates.wording import fall_of
from berryeval.intervals import aggregate
from berryeval.measures.direction import direction_of
from berryeval.measures.ranges import range_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval.gates.baseline import Baseline, BaselinePart
    from berryeval.gates.rules import Rule

__all__ = ["can_break", "check_room", "value_among"]


def can_break(rule: Rule, before: float) -> bool:
    """Whether a measure with this value can become worse by more than the rule allows.

    A rule that allows no drop is no slip: of a value at the worst end it is kept, and passes.
    """
    if not rule.max_drop:
        return True
    low, high = range_of(rule.measure)
    room = high - before if direction_of(rule.measure) == "down" else before - low
    return rule.max_drop < room - ROUNDING


def value_among(rule: Rule, part: BaselinePart, queries: Iterable[str]) -> float:
    """The value of the rule's measure in the baseline, of these queries alone."""
    wanted = set(queries)
    row = zip(part.queries, part.values[rule.measure], strict=True)
    kept = np.array([value for query, value in row if query in wanted], dtype=np.float64)
    return aggregate(part.aggregate_of(rule.measure), kept)


def check_room(rule: Rule, baseline: Baseline, values: Mapping[tuple[str, str], float]) -> None:
    """Refuse a rule that none of these values of the baseline can break.

    Args:
        rule: about a drop.
        baseline: where the values are from.
        values: by the names of benchmark and provider.
    """
    if not values or any(can_break(rule, value) for value in values.values()):
        return
    end = range_of(rule.measure)[1 if direction_of(rule.measure) == "down" else 0]
    found = ", ".join(
        f"{value:.10g} of {provider} on {benchmark}"
        for (benchmark, provider), value in values.items()
    )
    bound = "above" if fall_of(rule) == "rise" else "below"
    msg = (
        f"the rule {str(rule)!r} would never fail: in the baseline {baseline.run}, {rule.measure} "
        f"is {found}, and it is never {bound} {end:.10g}; give a max_drop below "
        f"{max(abs(value - end) for value in values.values()):.3g}"
    )
    raise ConfigurationError(msg)
