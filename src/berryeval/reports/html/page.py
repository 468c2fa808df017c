"""Everything that the template lays out, section by section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from berryeval.reports.html.charts.differences import difference_chart, side_of
from berryeval.reports.html.charts.heat_map import heat_map
from berryeval.reports.html.charts.latency import latency_chart
from berryeval.reports.html.charts.lead import lead_chart
from berryeval.reports.html.charts.measures import measures_chart
from berryeval.reports.html.charts.precision_recall import precision_recall_chart
from berryeval.reports.html.charts.trade_off import trade_off_chart
from berryeval.reports.html.short_names import short_names
from berryeval.reports.html.views.certainty import Contrast, contrasts_of
from berryeval.reports.html.views.failures import (
    Disagreement,
    Failing,
    disagreements_of,
    failing_of,
)
from berryeval.reports.html.views.groups import Breakdown, breakdowns_of
from berryeval.reports.html.views.provenance import notes_of
from berryeval.reports.html.views.queries import QueryViews, queries_of
from berryeval.reports.html.views.speed import Speed, speeds_of
from berryeval.reports.html.views.standings import (
    Standings,
    answering,
    deciding_measure,
    standings_of,
)
from berryeval.reports.html.views.verdict import Finding, finding_of
from berryeval.reports.methods import how_tested, interval_words

if TYPE_CHECKING:
    from berryeval.reports.html.drawings import Drawing, Studio
    from berryeval.reports.model import Section
    from berryeval.stats import Comparison

__all__ = ["Charts", "SectionView", "section_view"]


@dataclass(frozen=True)
class Charts:
    """The charts of a section, each None where there is nothing to draw."""

    lead: Drawing | None
    measures: Drawing | None
    differences: Drawing | None
    precision_recall: Drawing | None
    groups: tuple[Drawing | None, ...]
    latency: Drawing | None
    trade_off: Drawing | None


@dataclass(frozen=True)
class SectionView:
    """What the page says about one benchmark; `number` makes its anchors unique.

    Where it is `compared` above, by what was asked for, nothing here says what is significant.
    """

    number: int
    name: str
    compared: bool
    queries: int
    depths: tuple[int, ...]
    finding: Finding
    standings: Standings
    contrasts: tuple[Contrast, ...]
    breakdowns: tuple[Breakdown, ...]
    failing: tuple[Failing, ...]
    disagreements: tuple[Disagreement, ...]
    order: tuple[tuple[int, str], ...]
    speeds: tuple[Speed, ...]
    details: QueryViews
    notes: tuple[tuple[str, str], ...]
    charts: Charts
    numbers: dict[str, int]
    measure: str
    method: str


def section_view(
    section: Section, number: int, studio: Studio, *, compared: bool = False
) -> SectionView:
    """The view of a section, charts drawn."""
    standings = standings_of(section)
    measure = deciding_measure(section)
    breakdowns, speeds = breakdowns_of(section), speeds_of(section)
    order = answering(section, measure) if measure else []
    contrasts = contrasts_of(section, measure) if order else ()
    return SectionView(
        number=number,
        name=section.title,
        compared=compared,
        queries=len(section.queries),
        depths=tuple(sorted({system.benchmark.k for system in section.systems})),
        finding=finding_of(standings, contrasts, compared=compared),
        standings=standings,
        contrasts=() if compared else contrasts,
        breakdowns=breakdowns,
        failing=failing_of(section),
        disagreements=disagreements_of(section),
        order=tuple((section.systems.index(system), system.label) for system in order),
        speeds=speeds,
        details=queries_of(section),
        notes=notes_of(section),
        charts=_charts(
            section, standings, contrasts, breakdowns, speeds, studio, compared=compared
        ),
        numbers={query.id: place for place, query in enumerate(section.queries)},
        measure=measure,
        method=_method(contrasts, section.comparison),
    )


def _method(contrasts: tuple[Contrast, ...], found: Comparison | None) -> str:
    """How intervals and p-values came about, as the end of a sentence."""
    intervals = f"; intervals: {interval_words(found)}" if found else ""
    rows = [one.row for one in contrasts if one.row is not None and one.row.p is not None]
    if not rows:
        return intervals if any(one.interval for one in contrasts) else ""
    alone = ", each for its pair alone" if any(row.comparisons > 1 for row in rows) else ""
    return f"{intervals}{alone if intervals else ''}; p of the {how_tested(rows)}"


def _charts(
    section: Section,
    standings: Standings,
    contrasts: tuple[Contrast, ...],
    breakdowns: tuple[Breakdown, ...],
    speeds: tuple[Speed, ...],
    studio: Studio,
    *,
    compared: bool,
) -> Charts:
    labels = [system.label for system in section.systems]
    rival = next((one for one in contrasts if one.outcomes.telling and not one.equal), None)
    between = (
        difference_chart(rival, standings.rows[0].place, standings.measures[0]) if rival else None
    )
    lead = None if compared else lead_chart(contrasts, labels, deciding_measure(section))
    names = short_names(labels)
    sides = {side_of(label): side_of(brief) for label, brief in names.items()}
    return Charts(
        lead=studio.draw(lead, names),
        measures=studio.draw(measures_chart(standings, labels), names),
        differences=studio.draw(between, sides),
        precision_recall=studio.draw(precision_recall_chart(section), names),
        groups=tuple(studio.draw(heat_map(one), names) for one in breakdowns),
        latency=studio.draw(latency_chart(speeds, labels), names),
        trade_off=studio.draw(trade_off_chart(standings, speeds, labels), names),
    )
