"""Breakdowns: the deciding metric by category and difficulty, with a heat map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from berryeval.reports.html.standings import deciding_metric, explain_marks, find_answering
from berryeval.reports.html.svg import ON_DEEP, ON_PALE, RAMP, WIDTH, Figure
from berryeval.reports.html.typography import shorten, shorten_names, value
from berryeval.reports.tables import rate
from berryeval.scoring import UNSPECIFIED

if TYPE_CHECKING:
    from berryeval.reports.sections import Section
    from berryeval.reports.tables import Score


_USUAL_ORDER: Final = (
    "trivial", "easy", "simple", "medium", "moderate", "hard", "difficult", "expert",
)  # fmt: skip


@dataclass(frozen=True)
class GroupRow:
    """A group of queries: its size, and the score of each system."""

    name: str
    queries: int
    cells: tuple[Score | None, ...]


@dataclass(frozen=True)
class Breakdown:
    """A metric by group; `by` is the field the queries are grouped by."""

    by: str
    metric: str
    labels: tuple[str, ...]
    places: tuple[int, ...]
    rows: tuple[GroupRow, ...]

    @property
    def caption(self) -> str:
        """Explanation of intervals and marks."""
        return explain_marks(
            [one for row in self.rows for one in row.cells if one is not None], "row"
        )


def build_breakdowns(section: Section) -> tuple[Breakdown, ...]:
    """Break the deciding metric down by category and difficulty, where queries have them."""
    metric = deciding_metric(section)
    if not metric:
        return ()
    found = (_breakdown(section, by, metric) for by in ("category", "difficulty"))
    return tuple(one for one in found if one is not None)


def _breakdown(section: Section, by: str, metric: str) -> Breakdown | None:
    groups = section.groups(by)
    systems = find_answering(section, metric)
    if not groups or not systems:
        return None
    tables = [system.scores.by(groups) for system in systems if system.scores is not None]
    sizes = Counter(groups.get(query.id, UNSPECIFIED) for query in section.queries)
    names = sorted({name for table in tables for name in table}, key=_place)
    rows = [
        GroupRow(name, sizes[name], tuple(rate((table.get(name) for table in tables), metric)))
        for name in names
    ]
    places = tuple(system.place for system in systems)
    return Breakdown(by, metric, tuple(one.label for one in systems), places, tuple(rows))


def _place(name: str) -> tuple[int, str]:
    """Sort key: difficulties from easy to hard, others by name, unspecified last."""
    if name == UNSPECIFIED:
        return len(_USUAL_ORDER) + 1, name
    low = name.casefold()
    return _USUAL_ORDER.index(low) if low in _USUAL_ORDER else len(_USUAL_ORDER), low


# The heat map: groups down, systems across.

MOST_ROWS: Final = 24
MOST_ACROSS: Final = 6  # with more systems, the longer side goes down the page
_ROOM: Final = WIDTH - 20
_LETTERS_DOWN: Final = 20  # of a group name
_LETTERS_ACROSS: Final = 13
_NUMBER: Final = 42  # pixels of a number
_SHORT_NUMBER: Final = 34
_LETTER: Final = 8
_DEEP: Final = 5  # step of the ramp from which letters are light


def draw_heat_map(breakdown: Breakdown) -> Figure | None:
    """Draw a breakdown; with many groups, only the largest."""
    largest = sorted(breakdown.rows, key=lambda row: -row.queries)[:MOST_ROWS]
    rows = [row for row in breakdown.rows if row in largest]
    turned = len(breakdown.labels) > max(MOST_ACROSS, len(rows))
    data = _fields(rows, breakdown.labels, _LETTERS_ACROSS if turned else _LETTERS_DOWN)
    if not data:
        return None
    groups = list(dict.fromkeys(one["group"] for one in data))
    down, across = ("group", groups), ("system", list(breakdown.labels))
    if turned:
        down, across = across, down
    every = len(breakdown.rows)
    some = f" Only the {len(rows)} largest of {every} groups are drawn; the table has all."
    some = some if len(rows) < every else ""
    spec = {
        "width": _ROOM,
        "height": {"step": 34 if len(down[1]) <= MOST_ACROSS else 27},
        "data": {"values": data},
        "encoding": {"y": _axis(*down), "x": _axis(*across, top=True)},
        "layer": _layers([one["value"] for one in data], _ROOM / len(across[1])),
    }
    best = max(data, key=lambda one: one["value"])
    least = min(data, key=lambda one: one["value"])
    return Figure(
        spec,
        f"{breakdown.metric} by {breakdown.by}; a stronger color is a higher value. "
        f"The number of queries is in parentheses.{some}",
        f"Heat map of {breakdown.metric} by {breakdown.by} and provider. Highest: "
        f"{best['system']} on {best['group']}, {best['words']}; lowest: {least['system']} on "
        f"{least['group']}, {least['words']}. The table below has all numbers.{some}",
    )


def _fields(rows: Sequence[GroupRow], labels: Sequence[str], letters: int) -> list[dict[str, Any]]:
    """Return a field per group and system; names are cut so that the counts stay visible."""
    brief = shorten_names([row.name for row in rows], letters)
    names = [f"{shorten(brief.get(row.name, row.name), letters)} ({row.queries})" for row in rows]
    if len(set(names)) < len(names):
        names = [f"{place}: {name}" for place, name in enumerate(names, start=1)]
    return [
        {"group": name, "system": label, "value": cell.value, "words": value(cell.value),
         "brief": f"{cell.value:.2g}"}
        for name, row in zip(names, rows, strict=True)
        for label, cell in zip(labels, row.cells, strict=True)
        if cell is not None
    ]  # fmt: skip


def _axis(field: str, order: list[str], *, top: bool = False) -> dict[str, Any]:
    look: dict[str, Any] = {"ticks": False, "domain": False, "labelPadding": 6, "labelLimit": 220}
    if top:
        fits = max(map(len, order)) * _LETTER < _ROOM / len(order)
        look |= {"orient": "top", "labelAngle": 0 if fits else -40, "labelLimit": 130}
    return {"field": field, "type": "nominal", "sort": order, "title": None, "axis": look}


def _layers(numbers: list[float], room: float) -> list[dict[str, Any]]:
    low, high = min(numbers), max(numbers)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif low == high:
        high = low + 1
    deep = low + (high - low) * _DEEP / len(RAMP)
    ramp = {"type": "quantize", "domain": [low, high], "range": [one.light for one in RAMP]}
    hue = {"field": "value", "type": "quantitative", "legend": None, "scale": ramp}
    ink = {
        "condition": {"test": f"datum.value >= {deep!r}", "value": ON_DEEP.light},
        "value": ON_PALE.light,
    }
    fields = {"mark": {"type": "rect", "cornerRadius": 3}, "encoding": {"color": hue}}
    if room < _SHORT_NUMBER:
        return [fields]
    words = "words" if room >= _NUMBER else "brief"
    text = {
        "mark": {"type": "text", "fontSize": 12},
        "encoding": {"text": {"field": words}, "color": ink},
    }
    return [fields, text]
