"""Corrections of p-values where several comparisons are made at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from berryeval.errors import ConfigurationError, DataError
from berryeval.stats.paired import RESOLUTION, Floats, as_whole_numbers, checked_column
from berryeval.stats.resampling import shuffled_ranges
from berryeval.stats.tests import SpelledRegistry

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


# Tukey's honestly significant difference, by randomisation: all pairs of systems at once.


def tukey_hsd(systems: Any, *, seed: int = 0, samples: int = 100_000) -> Floats:
    """The p-value of every pair of systems, corrected for there being so many.

    If no system differs from another, the values of a query could have been those of any of them:
    they are shuffled among the systems, query by query, and the highest mean less the lowest is
    what even the best of all pairs reaches by chance. p is (1 + how many of `samples` shuffles
    reach the pair's difference) / (1 + samples). Carterette (2012); of two systems this is the
    randomisation test.

    Args:
        systems: a list of values per system, for the same queries in the same order.
        seed: of the shuffles.
        samples: how many shuffles.

    Returns:
        A square of p-values, 1.0 on its diagonal.
    """
    rows = [checked_column(f"systems[{place}]", row) for place, row in enumerate(systems)]
    if len(rows) < 2 or len({len(row) for row in rows}) > 1 or len(rows[0]) < 2:  # noqa: PLR2004 - a pair
        found = ", ".join(str(len(row)) for row in rows) or "none"
        msg = (
            "Tukey's test needs two or more systems with values for the same two or more queries; "
            f"found systems with so many values: {found}"
        )
        raise DataError(msg)
    table = np.column_stack(rows)
    largest = float(np.abs(table).max())
    if largest == 0:
        return np.ones((len(rows), len(rows)))
    whole, exponent = as_whole_numbers(table)
    slack = int(np.ldexp(RESOLUTION * largest * len(table), exponent)) + table.size
    ranges = np.sort(shuffled_ranges(whole, seed, samples))
    sums = whole.sum(axis=0)
    reached = np.abs(sums[:, None] - sums[None, :]) - slack
    counts = samples - np.searchsorted(ranges, reached, "left")
    return np.asarray((1 + counts) / (1 + samples), dtype=np.float64)
