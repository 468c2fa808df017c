"""The rows of a comparison by Tukey's test, which looks at all systems at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from berryeval.stats.alignment import common_queries
from berryeval.stats.paired import Pair, sign_of
from berryeval.stats.rows import testable, tested
from berryeval.stats.tukey import tukey_hsd

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.scores import Scores
    from berryeval.stats.comparison import PairedDifference
    from berryeval.stats.paired import Floats
    from berryeval.stats.rows import Options

__all__ = ["rows_by_tukey"]


def rows_by_tukey(
    family: list[PairedDifference],
    systems: Mapping[str, Scores],
    measure: str,
    options: Options,
) -> list[PairedDifference]:
    """The rows, by one shuffle of all systems, by the queries that all of them have."""
    comparisons = sum(row.p is not None for row in family)
    if not comparisons:
        return family  # each row says itself why it has no p
    common = common_queries(systems)
    rows = [replace(row, comparisons=comparisons) for row in family]
    if len(common) < 2:  # noqa: PLR2004 - nothing to shuffle
        return [replace(row, cannot=row.cannot or _too_few(len(common))) for row in rows]
    columns = _columns(systems, common, measure, family[0].aggregate)
    square = tukey_hsd(list(columns.values()), seed=options.seed, samples=options.samples)
    at = {name: place for place, name in enumerate(columns)}
    note = f"Tukey's test is of the {len(common)} queries that all systems have"
    found = []
    for row in rows:
        if row.p is None:
            found.append(row)
            continue
        found.append(
            replace(
                row,
                p_corrected=float(square[at[row.baseline], at[row.system]]),
                notes=(*row.notes, note) if len(common) < row.n else row.notes,
                test_sign=sign_of(Pair.of(columns[row.baseline], columns[row.system]).mean),
            )
        )
    return found


def _columns(
    systems: Mapping[str, Scores], queries: Sequence[str], measure: str, how: str
) -> dict[str, Floats]:
    """The values of each system that can be tested; a pair that has a p is always among them."""
    found = {}
    for name, scores in systems.items():
        table = scores.select(queries)
        values = table.values[table.row_of(measure)]
        if testable(values, how):
            found[name] = tested(values, how)
    return found


def _too_few(shared: int) -> str:
    """Why there is no corrected p."""
    found = "only one" if shared else "none"
    return (
        f"Tukey's test takes two or more queries that all systems have, and there is {found}; "
        "correct by holm, pair by pair"
    )
