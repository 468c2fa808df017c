"""Corrections of p-values where several comparisons are made at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from berryeval.errors import ConfigurationError
from berryeval.stats.names import SpelledRegistry

__all__ = ["CORRECTIONS", "Correction", "corrected"]

# Takes p-values; gives the corrected ones, in the same order.
Correction: TypeAlias = Callable[[Sequence[float]], list[float]]

CORRECTIONS: Final = SpelledRegistry[Correction](
    "correction",
    {
        "holm": "berryeval.stats.corrections:holm",
        "bonferroni": "berryeval.stats.corrections:bonferroni",
        "benjamini-hochberg": "berryeval.stats.corrections:benjamini_hochberg",
        "tukey": "berryeval.stats.corrections:tukey",
        "none": "berryeval.stats.corrections:none",
    },
    {
        "bh": "benjamini-hochberg",
        "fdr": "benjamini-hochberg",
        "fdr-bh": "benjamini-hochberg",
        "holm-bonferroni": "holm",
        "tukey-hsd": "tukey",
    },
)


def corrected(p_values: Sequence[float | None], method: str = "holm") -> list[float | None]:
    """The p-values, corrected for how many there are; None, where there is none, stays None.

        >>> corrected([0.01, 0.04, None, 0.03], "holm")
        [0.03, 0.06, None, 0.06]

    "holm" and "bonferroni" bound the chance of even one false finding in the family; Holm's finds
    more, and never less. "benjamini-hochberg" bounds the share of false ones among the findings.
    """
    correct = CORRECTIONS.get(method)
    given = [p for p in p_values if p is not None]
    for p in given:
        if not 0 <= p <= 1:
            msg = f"a p-value lies between 0 and 1, found {p!r}"
            raise ValueError(msg)
    found = iter(correct(given))
    return [None if p is None else next(found) for p in p_values]


def none(p_values: Sequence[float]) -> list[float]:
    """As they are."""
    return list(p_values)


def bonferroni(p_values: Sequence[float]) -> list[float]:
    """Times their number."""
    return [min(1.0, p * len(p_values)) for p in p_values]


def holm(p_values: Sequence[float]) -> list[float]:
    """The smallest times their number, the next times one less, and never less than before."""
    found = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(_ascending(p_values)):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - rank)))
        found[place] = highest
    return found


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Times their number over their rank, and never more than that of a larger one."""
    found = [0.0] * len(p_values)
    lowest = 1.0
    order = _ascending(p_values)
    for rank in range(len(p_values), 0, -1):
        place = order[rank - 1]
        lowest = min(lowest, p_values[place] * len(p_values) / rank)
        found[place] = lowest
    return found


def tukey(_p_values: Sequence[float]) -> list[float]:
    """Not one of p-values: it shuffles the values of all systems, which `compare` has."""
    msg = "Tukey's correction needs the values of all systems: use `compare` or `tukey_hsd`"
    raise ConfigurationError(msg)


def _ascending(p_values: Sequence[float]) -> list[int]:
    return sorted(range(len(p_values)), key=p_values.__getitem__)
