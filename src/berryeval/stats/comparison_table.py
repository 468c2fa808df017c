"""A comparison as columns of a frame, and what a notebook shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.notebook import Card, Cell, name_three
from berryeval._internal.numbers import (
    NOTHING,
    format_delta,
    format_delta_interval,
    format_p_value,
)
from berryeval._internal.text import pluralize

if TYPE_CHECKING:
    from berryeval._internal.notebook import Content
    from berryeval.stats.comparison import Comparison, PairedDifference

_FIELDS: Final = (
    "metric", "baseline", "system", "n", "baseline_value", "system_value", "difference",
)  # fmt: skip
_MORE: Final = ("p", "p_corrected", "wins", "ties", "losses", "finding", "sentence")


def tabulate(comparison: Comparison) -> dict[str, list[Any]]:
    """Return the rows of a comparison and of its groups as columns.

    The column `group` is empty for all queries; `low` and `high` are the ends of the interval of
    the difference, missing if that is not known.
    """
    rows = list(_list_rows(comparison))
    columns: dict[str, list[Any]] = {"group": [group for group, _ in rows]}
    columns |= {name: [getattr(row, name) for _, row in rows] for name in _FIELDS}
    for name in ("low", "high"):
        ends = [row.interval for _, row in rows]
        columns[name] = [None if end is None else getattr(end, name) for end in ends]
    return columns | {name: [getattr(row, name) for _, row in rows] for name in _MORE}


def _list_rows(comparison: Comparison) -> Iterator[tuple[str, PairedDifference]]:
    for row in comparison.rows:
        yield "", row
    for name, group in comparison.groups.items():
        for row in group.rows:
            yield name, row


def preview(comparison: Comparison) -> str:
    """Render the rows with their differences, intervals and p-values."""
    level = f"{100 * comparison.level:g} %"
    card = Card(
        "Comparison",
        f"against {comparison.baseline}" if comparison.baseline else "all pairs",
        f"{comparison.test} test",
        f"correction: {comparison.correction}",
    )
    several = len(comparison.systems) > 2  # noqa: PLR2004 - a pair
    names = "" if several or not comparison.rows else _name_pair(comparison.rows[0])
    titles = ["metric", *(["pair"] if several else []), "baseline", "system"]
    titles += [f"difference, {level} interval", "p", "better / equal / worse", "finding"]
    rows = [_show_row(row, several=several) for row in comparison.rows]
    card.add_table(titles, rows, caption=names)
    if comparison.groups:
        found = name_three(list(comparison.groups))
        count = pluralize(len(comparison.groups), "group")
        card.add_notes([f"{count} of queries ({found}): groups[name], or to_frame()"])
    # Rows of one pair have the same notes.
    notes = (*comparison.notes, *(note for row in comparison.rows for note in row.notes))
    card.add_notes(dict.fromkeys(notes))
    return card.render()


def _name_pair(row: PairedDifference) -> str:
    queries = pluralize(row.n, "query")
    return f"{row.system} (system) against {row.baseline} (baseline), {queries}"


def _show_row(row: PairedDifference, *, several: bool) -> tuple[Content, ...]:
    ends = "" if row.interval is None else format_delta_interval(*row.interval)
    p = NOTHING if row.p_corrected is None else format_p_value(row.p_corrected)
    # Where lower values are better, those that fell are better.
    wins, losses = (row.losses, row.wins) if row.direction == "down" else (row.wins, row.losses)
    return (
        row.metric,
        *([f"{row.system} against {row.baseline}"] if several else []),
        row.baseline_value,
        row.system_value,
        Cell(format_delta(row.difference), ends, bold=row.significant),
        Cell(p),
        Cell(f"{wins:,} / {row.ties:,} / {losses:,}"),
        row.finding,
    )
