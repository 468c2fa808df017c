"""A comparison as CSV: a row per measure, pair and group, in full precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.reports.differences import finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from berryeval.reports.compared import ComparedBenchmark
    from berryeval.stats import PairedDifference

__all__ = ["COMPARISON", "comparison_rows"]

COMPARISON: Final = (
    "benchmark", "group", "measure", "baseline", "system", "queries", "baseline_value",
    "system_value", "difference", "ci_low", "ci_high", "p", "p_corrected", "effect_size",
    "effect", "wins", "ties", "losses", "finding", "cannot",
)  # fmt: skip


def comparison_rows(
    comparisons: Sequence[ComparedBenchmark], defused: Callable[[str], str]
) -> Iterator[Sequence[str]]:
    """The rows, titles first; the group of all queries has no name."""
    yield COMPARISON
    for one in comparisons:
        groups = {"": one.comparison, **one.comparison.groups}
        for label, found in groups.items():
            for row in found.rows:
                names = (one.benchmark, label, row.measure, row.baseline, row.system)
                yield [*map(defused, names), *_numbers(row), finding(row), row.cannot]


def _numbers(row: PairedDifference) -> Iterator[str]:
    low, high = row.interval or (None, None)
    effect = row.effect
    for value in (
        row.n, row.baseline_value if row.n else None, row.system_value if row.n else None,
        row.difference if row.n else None, low, high, row.p, row.p_corrected,
        effect.g if effect else None, effect.word if effect else None,
        row.wins, row.ties, row.losses,
    ):  # fmt: skip
        yield "" if value is None else str(value)
