"""Corrections of p-values for multiple comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from berryeval.errors import ConfigurationError, DataError
from berryeval.stats.paired import RESOLUTION, Floats, check_column, scale_to_integers
from berryeval.stats.resampling import shuffled_ranges
from berryeval.stats.tests import SpelledRegistry

# A function from p-values to corrected p-values in the same order.
Correction: TypeAlias = Callable[[Sequence[float]], list[float]]

CORRECTIONS: Final = SpelledRegistry[Correction](
    "correction",
    {
        "holm": "berryeval.stats.corrections:holm",
        "bonferroni": "berryeval.stats.corrections:bonferroni",
        "benjamini-hochberg": "berryeval.stats.corrections:benjamini_hochberg",
        "tukey": "berryeval.stats.corrections:tukey",
        "none": "builtins:list",
    },
    {
        "bh": "benjamini-hochberg",
        "fdr": "benjamini-hochberg",
        "fdr-bh": "benjamini-hochberg",
        "holm-bonferroni": "holm",
        "tukey-hsd": "tukey",
    },
)


def correct_p_values(p_values: Sequence[float | None], method: str = "holm") -> list[float | None]:
    """Correct p-values for multiple comparisons; None stays None and is not counted.

        >>> correct_p_values([0.01, 0.04, None, 0.03], "holm")
        [0.03, 0.06, None, 0.06]

    "holm" and "bonferroni" control the family-wise error rate; Holm is uniformly more powerful.
    "benjamini-hochberg" controls the false discovery rate.
    """
    correct = CORRECTIONS.get(method)
    given = [p for p in p_values if p is not None]
    for p in given:
        if not 0 <= p <= 1:
            raise ValueError(f"p-values must be between 0 and 1, found {p!r}")
    found = iter(correct(given))
    return [None if p is None else next(found) for p in p_values]


def bonferroni(p_values: Sequence[float]) -> list[float]:
    """Multiply each p-value by their number."""
    return [min(1.0, p * len(p_values)) for p in p_values]


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values by Holm's step-down procedure."""
    found = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(_ascending(p_values)):
        highest = found[place] = max(highest, min(1.0, p_values[place] * (len(p_values) - rank)))
    return found


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Correct p-values by the Benjamini-Hochberg step-up procedure."""
    found = [0.0] * len(p_values)
    lowest = 1.0
    for before, place in reversed(list(enumerate(_ascending(p_values)))):
        lowest = found[place] = min(lowest, p_values[place] * len(p_values) / (before + 1))
    return found


def tukey(_p_values: Sequence[float]) -> list[float]:
    """Reject p-values: Tukey's correction needs the values of all systems."""
    raise ConfigurationError(
        "Tukey's correction needs the values of all systems: use `compare` or `tukey_hsd`"
    )


def _ascending(p_values: Sequence[float]) -> list[int]:
    return sorted(range(len(p_values)), key=p_values.__getitem__)


def tukey_hsd(systems: Any, *, seed: int = 0, samples: int = 100_000) -> Floats:
    """Return the p-value of every pair of systems by Tukey's randomised HSD (Carterette 2012).

    Under the null hypothesis the values of a query are exchangeable among the systems. They are
    shuffled per query, and the range of the means is compared with the difference of each pair: p
    is (1 + number of shuffles that reach the difference) / (1 + samples). For two systems this is
    the randomization test.

    `systems` has a list of values per system, for the same queries in the same order. The result is
    a square matrix with 1.0 on its diagonal.
    """
    rows = [check_column(f"systems[{place}]", row) for place, row in enumerate(systems)]
    if len(rows) < 2 or len({len(row) for row in rows}) > 1 or len(rows[0]) < 2:  # noqa: PLR2004 - a pair
        found = ", ".join(str(len(row)) for row in rows) or "none"
        raise DataError(
            "Tukey's test needs two or more systems with values for the same two or more queries; "
            f"found systems with these numbers of values: {found}"
        )
    table = np.column_stack(rows)
    largest = float(np.abs(table).max())
    if largest == 0:
        return np.ones((len(rows), len(rows)))
    whole, exponent = scale_to_integers(table)
    slack = int(np.ldexp(RESOLUTION * largest * len(table), exponent)) + table.size
    ranges = np.sort(shuffled_ranges(whole, seed, samples))
    sums = whole.sum(axis=0)
    reached = np.abs(sums[:, None] - sums[None, :]) - slack
    counts = samples - np.searchsorted(ranges, reached, "left")
    return np.asarray((1 + counts) / (1 + samples), dtype=np.float64)
