"""Compared pairs of systems as pieces of HTML, for any page with the style sheet of the report.

Every piece is a function of a pair: the verdict with the differences by metric, the tables, the
charts by query and by group, and the queries that moved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from berryeval.metrics import direction_of, gain_sign
from berryeval.reports.differences import (
    collect_group_notes,
    collect_notes,
    explain_change,
    group_by_pair,
    rows_by_group,
    summarize_findings,
)
from berryeval.reports.html.contrasts import Contrast, describe_counts, draw_differences_of
from berryeval.reports.html.rankings import draw_differences, name_side, view_pair
from berryeval.reports.html.svg import Studio
from berryeval.reports.html.typography import build_environment, shorten_names
from berryeval.reports.legends import describe_test
from berryeval.reports.sections import Outcomes, assign_places
from berryeval.reports.tables import build_differences_table, result_keys

if TYPE_CHECKING:
    from markupsafe import Markup

    from berryeval.reports.differences import ComparedBenchmark, MovedQuery
    from berryeval.reports.html.rankings import QueryView
    from berryeval.reports.html.svg import Drawing, Figure
    from berryeval.reports.sections import Report, System
    from berryeval.stats import PairedDifference


_ROUNDING: Final = 1e-9


@dataclass(frozen=True, eq=False)
class SystemPair:
    """Two systems that were compared on a benchmark.

    Attributes:
        compared: Comparison that the pair belongs to.
        rows: Differences of the pair by metric.
        systems: Systems with their answers, by their names in the comparison; without them there
            are no bars of queries and no texts.
    """

    compared: ComparedBenchmark
    rows: tuple[PairedDifference, ...]
    systems: Mapping[str, System] = field(default_factory=dict)

    @property
    def baseline(self) -> str:
        """Name of the baseline."""
        return self.rows[0].baseline

    @property
    def system(self) -> str:
        """Name of the system that is compared with the baseline."""
        return self.rows[0].system

    @property
    def moved(self) -> list[MovedQuery]:
        """Queries of the pair that changed most."""
        names = (self.baseline, self.system)
        return [one for one in self.compared.moved if (one.baseline, one.system) == names]

    @property
    def groups(self) -> list[tuple[str, PairedDifference]]:
        """Differences by the first metric in each group of queries."""
        return rows_by_group(self.compared.comparison, self.rows[0])

    @cached_property
    def places(self) -> dict[str, int]:
        """Places that choose the color and shape of each system."""
        places = assign_places((self.baseline, self.system))
        return places | {name: one.place for name, one in self.systems.items() if name in places}

    @cached_property
    def contrast(self) -> Contrast:
        """The system against the baseline by the first metric, by query where that is known."""
        row = self.rows[0]
        known = self.systems.get(self.baseline)
        return Contrast(
            row.system,
            row.baseline,
            self.places[row.baseline],
            self._subtract_values(),
            gain_sign(row.metric),
            row,
            Outcomes() if known is None else known.outcomes,
        )

    def _subtract_values(self) -> dict[str, float]:
        """Return the gain of each query; nothing if the records have other values than the row."""
        row = self.rows[0]
        known = [self.systems.get(name) for name in (row.baseline, row.system)]
        scores = [None if one is None else one.record.scores_with(row.metric) for one in known]
        before, after = ({} if one is None else one.per_query(row.metric) for one in scores)
        sign = gain_sign(row.metric)
        gains = {query: sign * (after[query] - before[query]) for query in before if query in after}
        changed = {query for one in self.compared.data.values() for query in one["changed"]}
        for left_out in (changed, ()):
            found = {query: gain for query, gain in gains.items() if query not in left_out}
            if len(found) == row.n and _has_changes(found, row, sign):
                return found
        return {}


def _has_changes(gains: Mapping[str, float], row: PairedDifference, sign: int) -> bool:
    """Whether the largest changes of a row are among these gains."""
    largest = (*row.raised[:1], *row.lowered[:1])
    return bool(largest) and all(
        abs(sign * gains.get(query, math.inf) - change) < _ROUNDING for query, change in largest
    )


def list_pairs(report: Report, compared: ComparedBenchmark) -> list[SystemPair]:
    """Return the pairs of a comparison of this report, with the systems of its sections.

    A report that was read from a file has no other names of its systems than their labels.
    """
    parts = [section for section in report.sections if section.name == compared.benchmark]
    known = [one for section in parts for one in section.systems]
    systems = {one.label: one for one in known}
    by_record = {id(one.record): one for one in known}
    for label, record in report.systems.get(compared.benchmark, {}).items():
        if id(record) in by_record:
            systems[label] = replace(by_record[id(record)], label=label)
    return [
        SystemPair(compared, tuple(rows), systems)
        for rows in group_by_pair(compared.comparison).values()
    ]


# Pieces.


def render_verdict(pair: SystemPair) -> Markup:
    """Render whether the system is better than the baseline, with the differences by metric."""
    row = pair.rows[0]
    headline, _, evidence = row.sentence.partition(f": {row.metric} ")
    if not headline.startswith((row.system, row.baseline)):
        headline = headline[:1].upper() + headline[1:]
    lines = [f"{row.metric} {evidence}"] if evidence else []
    if row.n:
        lines.append(f"B{describe_counts(pair.contrast, row.n)[1:]}")
    if len(pair.rows) > 1:
        lines.append(f"All metrics: {summarize_findings(list(pair.rows))}")
    differences = draw_differences_of([(one.metric, one) for one in pair.rows], pair.places)
    return _render(
        "verdict",
        kind="certain" if row.better else "worse" if row.worse else "open",
        headline=headline,
        lines=lines,
        drawing=_draw(pair, differences),
    )


def render_tables(pair: SystemPair, name: str) -> Markup:
    """Render the differences by metric and by group, with notes; `name` begins the ids."""
    found, groups = pair.compared.comparison, pair.groups
    tables = [
        {
            "id": name,
            "by": "",
            "test": describe_test(pair.rows),
            "table": _build_table(pair, [("", row) for row in pair.rows], ["metric"]),
            "notes": collect_notes(pair.rows, found.notes),
        }
    ]
    if groups:
        tables.append({
            "id": f"{name}-groups",
            "by": pair.compared.by,
            "test": describe_test([row for _, row in groups]),
            "table": _build_table(pair, groups, ["group", "queries"]),
            "notes": collect_group_notes(groups, found.notes),
        })  # fmt: skip
    return _render("tables", pair=pair, tables=tables)


def _build_table(
    pair: SystemPair, rows: Sequence[tuple[str, PairedDifference]], first: list[str]
) -> Any:
    one = pair.compared
    table = build_differences_table(rows, level=one.comparison.level, by=one.by)
    return table.select([*first, *result_keys(one), "finding"])


def render_charts(pair: SystemPair) -> Markup:
    """Render the differences by query, and by group if the comparison has groups."""
    bars = draw_differences(pair.contrast, pair.places[pair.system], pair.rows[0].metric)
    figures = bars, draw_differences_of(pair.groups, pair.places, pair.compared.by)
    return _render("charts", drawings=[_draw(pair, one) for one in figures if one is not None])


def render_moved(pair: SystemPair, links: Mapping[str, str] | None = None) -> Markup:
    """Render the queries that changed most: what was wanted, and what each system found.

    `links` are addresses of pages or places with all rankings of a query, by its id.
    """
    names = (pair.baseline, pair.system)
    systems = [pair.systems[name] for name in names if name in pair.systems]
    moved = pair.moved
    views: dict[str, QueryView] = {}
    if moved and len(systems) == len(names):
        found = view_pair(systems, moved[0].metric, [one.query_id for one in moved])
        views = {moved[view.number].query_id: view for view in found}
    queries = [
        {
            "moved": one,
            "view": views.get(one.query_id),
            "words": _explain(one, views.get(one.query_id)),
            "link": (links or {}).get(one.query_id, ""),
            "good": (one.change > 0) == (direction_of(one.metric) != "down"),
        }
        for one in moved
    ]
    return _render("moved", pair=pair, queries=queries)


def _explain(moved: MovedQuery, view: QueryView | None) -> Sequence[str]:
    """Return what the view leaves open: all changes, unless it has both ranks of every target."""
    if view is None or not view.wanted:
        return list(explain_change(moved))
    known = all(len(one.ranks) == len(view.rankings) for one in view.wanted)
    return moved.notes if known else list(explain_change(moved))


def _draw(pair: SystemPair, figure: Figure | None) -> Drawing | None:
    names = shorten_names((pair.baseline, pair.system))
    sides = {name_side(label): name_side(name) for label, name in names.items()}
    return Studio().draw(figure, names | sides)


def _render(macro: str, **values: Any) -> Markup:
    found: Markup = getattr(build_environment().get_template("pairs.html").module, macro)(**values)
    return found
