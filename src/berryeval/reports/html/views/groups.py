"""The same measure by kind of query: by how much, in which category, at which difficulty."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from berryeval.reports.html.views.standings import Cell, answering, caption_of, deciding_measure
from berryeval.reports.rows import best_of, interval_of, is_best
from berryeval.scores import UNSPECIFIED

if TYPE_CHECKING:
    from berryeval.reports.model import Section

__all__ = ["Breakdown", "GroupRow", "breakdowns_of"]

_USUAL_ORDER: Final = (
    "trivial",
    "easy",
    "simple",
    "medium",
    "moderate",
    "hard",
    "difficult",
    "expert",
)


@dataclass(frozen=True)
class GroupRow:
    """A group of queries: how many, and what each system reaches on them."""

    name: str
    queries: int
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Breakdown:
    """A measure by groups. `by` is what the queries are grouped by."""

    by: str
    measure: str
    labels: tuple[str, ...]
    places: tuple[int, ...]
    rows: tuple[GroupRow, ...]

    @property
    def caption(self) -> str:
        """What there is to be seen besides the values."""
        return caption_of([one for row in self.rows for one in row.cells if one is not None], "row")


def breakdowns_of(section: Section) -> tuple[Breakdown, ...]:
    """By category and by difficulty, where the queries have any, of those that answered."""
    measure = deciding_measure(section)
    if not measure:
        return ()
    found = (_breakdown(section, by, measure) for by in ("category", "difficulty"))
    return tuple(one for one in found if one is not None)


def _breakdown(section: Section, by: str, measure: str) -> Breakdown | None:
    groups = section.groups(by)
    systems = answering(section, measure)
    if not groups or not systems:
        return None
    tables = [system.scores.by(groups) for system in systems if system.scores is not None]
    sizes = Counter(groups.get(query.id, UNSPECIFIED) for query in section.queries)
    names = sorted({name for table in tables for name in table}, key=_place)
    rows = []
    for name in names:
        values = [table[name].mean[measure] if name in table else None for table in tables]
        best = best_of(values, measure)
        cells = tuple(
            None
            if one is None
            else Cell(one, interval_of(table[name], measure), best=is_best(one, best))
            for one, table in zip(values, tables, strict=True)
        )
        rows.append(GroupRow(name, sizes[name], cells))
    places = tuple(section.systems.index(system) for system in systems)
    return Breakdown(by, measure, tuple(one.label for one in systems), places, tuple(rows))


def _place(name: str) -> tuple[int, str]:
    """Difficulties from easy to hard, everything else by name, what is unnamed last."""
    if name == UNSPECIFIED:
        return len(_USUAL_ORDER) + 1, name
    low = name.casefold()
    return _USUAL_ORDER.index(low) if low in _USUAL_ORDER else len(_USUAL_ORDER), low
