"""How numbers came about, in words, the same in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.stats import Comparison, PairedDifference

__all__ = [
    "OF_A_VALUE",
    "correction_words",
    "how_tested",
    "interval_words",
    "method_words",
    "shown_rows",
    "tested_by",
]

OF_A_VALUE: Final = "95 % bootstrap interval"  # what `Scores.ci` gives unless it is asked otherwise
_INTERVALS: Final = {
    "t": "Student's t",
    "bca": "bootstrap, BCa",
    "percentile": "bootstrap, percentiles",
}
# Its p is no other p made larger: it has a test of its own, which is never exact.
_CORRECTIONS: Final = {"tukey": "tukey, by random shuffles of all systems"}


def interval_words(found: Comparison) -> str:
    """How the intervals of differences were made."""
    return _INTERVALS.get(found.interval, found.interval)


def correction_words(name: str) -> str:
    """The correction, and how it comes to its p where that is not how the test does."""
    return _CORRECTIONS.get(name, name)


def shown_rows(found: Comparison) -> list[PairedDifference]:
    """The rows that tables have: all measures, and the first of them by group."""
    groups = [row for group in found.groups.values() for row in group.rows]
    return [*found.rows, *(row for row in groups if row.measure == found.measures[0])]


def method_words(found: Comparison) -> str:
    """How the rows that tables have were tested."""
    return tested_by(shown_rows(found))


def tested_by(rows: Sequence[PairedDifference]) -> str:
    """The test, and how it was carried out: not all rows need have been tested alike."""
    rows = [row for row in rows if row.p is not None] or rows
    sampled = list(dict.fromkeys(row.test for row in rows if not row.exact))
    exact = [row for row in rows if row.exact]
    if not sampled:
        return " or ".join(dict.fromkeys(row.test for row in exact))
    words = " or ".join(sampled)
    return f"{words}, and exact in {len(exact)} of {len(rows)} rows" if exact else words


def _family(rows: Sequence[PairedDifference]) -> str:
    """What p-values were corrected for; rows of other measures or groups may be of other families.

    Empty where every row is alone in its family.
    """
    sizes = sorted({row.comparisons for row in rows if row.p is not None})
    if not sizes or sizes[-1] == 1:
        return ""
    if rows[0].correction == "none":
        return "not corrected for there being several"
    count = " to ".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
    return f"corrected ({correction_words(rows[0].correction)}) for {count} comparisons"


def how_tested(rows: Sequence[PairedDifference]) -> str:
    """The test and the correction, as a part of a sentence."""
    return ", ".join(filter(None, (tested_by(rows), _family(rows))))
