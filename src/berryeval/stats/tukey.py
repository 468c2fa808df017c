"""Tukey's honestly significant difference, by randomisation: all pairs of systems at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from berryeval.errors import DataError
from berryeval.stats.paired import RESOLUTION, Floats, as_whole_numbers, checked_column
from berryeval.stats.resampling import shuffled_ranges

__all__ = ["tukey_hsd"]


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
