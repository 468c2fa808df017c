"""Everything that the template lays out, section by section."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from berryeval.reports import differences
from berryeval.reports.exports import Exporter, single_file
from berryeval.reports.html import svg as palette
from berryeval.reports.html import words as numbers
from berryeval.reports.html.breakdown import Breakdown, breakdowns_of, heat_map
from berryeval.reports.html.certainty import Contrast, contrasts_of, lead_chart
from berryeval.reports.html.failures import Disagreement, Failing, disagreements_of, failing_of
from berryeval.reports.html.headline import Finding, finding_of
from berryeval.reports.html.provenance import notes_of, run_facts
from berryeval.reports.html.rankings import QueryViews, difference_chart, queries_of, side_of
from berryeval.reports.html.speed import Speed, latency_chart, speeds_of, trade_off_chart
from berryeval.reports.html.standings import (
    Standings,
    answering,
    deciding_metric,
    metrics_chart,
    precision_recall_chart,
    standings_of,
)
from berryeval.reports.html.svg import Studio
from berryeval.reports.html.trend_lines import (
    breaks_of,
    by_benchmark,
    moment,
    trend_figures,
    views_of,
)
from berryeval.reports.html.words import broken, cleaned, short, short_names, tied, whole
from berryeval.reports.legends import (
    INTERVAL_NAME,
    describe_interval,
    describe_test,
    group_by_owner,
)
from berryeval.reports.tables import build_differences_table, result_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment

    from berryeval.reports.differences import ComparedBenchmark
    from berryeval.reports.html.svg import Drawing
    from berryeval.reports.html.trend_lines import Break, LineView, PointView
    from berryeval.reports.report import Report, Section
    from berryeval.reports.tables import Table
    from berryeval.reports.trend import TrendLine
    from berryeval.stats import Comparison, PairedDifference


@dataclass(frozen=True)
class Charts:
    """The charts of a section, each None where there is nothing to draw."""

    lead: Drawing | None
    metrics: Drawing | None
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
    metric: str
    method: str


def section_view(
    section: Section, number: int, studio: Studio, *, compared: bool = False
) -> SectionView:
    """The view of a section, charts drawn."""
    standings = standings_of(section)
    metric = deciding_metric(section)
    breakdowns, speeds = breakdowns_of(section), speeds_of(section)
    order = answering(section, metric) if metric else []
    contrasts = contrasts_of(section, metric) if order else ()
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
        metric=metric,
        method=_method(contrasts, section.comparison),
    )


def _method(contrasts: tuple[Contrast, ...], found: Comparison | None) -> str:
    """How intervals and p-values came about, as the end of a sentence."""
    intervals = f"; intervals: {describe_interval(found)}" if found else ""
    rows = [one.row for one in contrasts if one.row is not None and one.row.p is not None]
    if not rows:
        return intervals if any(one.interval for one in contrasts) else ""
    alone = ", each for its pair alone" if any(row.comparisons > 1 for row in rows) else ""
    return f"{intervals}{alone if intervals else ''}; p of the {describe_test(rows)}"


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
        difference_chart(rival, standings.rows[0].place, standings.metrics[0]) if rival else None
    )
    lead = None if compared else lead_chart(contrasts, labels, deciding_metric(section))
    names = short_names(labels)
    sides = {side_of(label): side_of(brief) for label, brief in names.items()}
    return Charts(
        lead=studio.draw(lead, names),
        metrics=studio.draw(metrics_chart(standings, labels), names),
        differences=studio.draw(between, sides),
        precision_recall=studio.draw(precision_recall_chart(section), names),
        groups=tuple(studio.draw(heat_map(one), names) for one in breakdowns),
        latency=studio.draw(latency_chart(speeds, labels), names),
        trade_off=studio.draw(trade_off_chart(standings, speeds, labels), names),
    )


# What a page of ours may load: nothing but its own style sheet.

_POLICY: Final = (
    "default-src 'none'; style-src '{hash}'; img-src data:; base-uri 'none'; form-action 'none'"
)


def policy(style: str) -> str:
    """The Content-Security-Policy of a page with this style sheet, known by its hash."""
    digest = hashlib.sha256(style.encode("utf-8")).digest()
    return _POLICY.format(hash=f"sha256-{base64.b64encode(digest).decode('ascii')}")


# `render`: a report as one HTML file.


def render(report: Report) -> str:
    """The report as one HTML file: no network, no script, nothing beside it.

    The same report always gives the same bytes. Texts of queries, passages and providers are shown
    as text, whatever they hold. Charts need the extra `report`; without it the page has all the
    numbers and says how to get the charts.
    """
    studio = Studio()
    return rendered(
        "page.html",
        report=report,
        group_by_owner=group_by_owner,
        differences=differences,
        describe_test=describe_test,
        metric_table=_metric_table,
        group_table=_group_table,
        sections=[
            section_view(one, place, studio, compared=report.compares(one))
            for place, one in enumerate(report.sections)
        ],
        runs=[run_facts(run) for run in report.runs],
        benchmarks=len({one.name for one in report.sections}),
        asked=len({(one.name, query.id) for one in report.sections for query in one.queries}),
        charts_lack=studio.lacks,
    )


def _metric_table(one: ComparedBenchmark, rows: Sequence[PairedDifference]) -> Table:
    """Build the table of a pair of systems by metric."""
    table = build_differences_table([("", row) for row in rows], level=one.comparison.level)
    return table.select(["metric", *result_keys(one), "finding"])


def _group_table(one: ComparedBenchmark, rows: Sequence[tuple[str, PairedDifference]]) -> Table:
    """Build the table of a pair of systems by group of queries."""
    table = build_differences_table(rows, level=one.comparison.level, by=one.by)
    return table.select(["group", "queries", *result_keys(one), "finding"])


def rendered(template: str, **values: Any) -> str:
    """A page from its template, with the one style sheet and a policy that allows nothing else."""
    from markupsafe import Markup

    environment = _environment()
    style = environment.get_template("style.css").render(
        chart_rules=Markup(palette.chart_rules()),  # noqa: S704 - our own colours
        light_systems=Markup(palette.system_rules(dark=False)),  # noqa: S704 - our own colours
        dark_systems=Markup(palette.system_rules(dark=True)),  # noqa: S704 - our own colours
    )
    return environment.get_template(template).render(
        policy=policy(style),
        style=Markup(style),  # noqa: S704 - our own style sheet
        **values,
    )


@cache
def _environment() -> Environment:
    """Everything is escaped, and cleaned of characters that no page can hold."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("berryeval.reports.html"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=cleaned,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shown: dict[str, Any] = {one.__name__: one for one in numbers.FILTERS}
    environment.filters |= shown | {"broken": broken, "short": short, "tied": tied, "whole": whole}
    environment.globals |= {"hues": len(palette.SYSTEMS), "forms": len(palette.SHAPES)}
    return environment


# `render_trend`: values over time as one HTML file.


@dataclass(frozen=True)
class Part:
    """What the page says about one benchmark."""

    name: str
    drawings: tuple[Drawing, ...]
    breaks: tuple[Break, ...]
    lines: tuple[LineView, ...]
    points: tuple[PointView, ...]


def render_trend(lines: Sequence[TrendLine]) -> str:
    """The lines as one HTML file: no network, no script, in light and dark, as the report."""
    studio = Studio()
    moments = [point.moment for line in lines for point in line.points]
    return rendered(
        "trend.html",
        metric=lines[0].metric,
        parts=[_part(name, group, studio) for name, group in by_benchmark(lines).items()],
        runs=len({point.run for line in lines for point in line.points}),
        first=moment(min(moments)),
        last=moment(max(moments)),
        charts_lack=studio.lacks,
        interval=INTERVAL_NAME,
    )


def _part(benchmark: str, lines: Sequence[TrendLine], studio: Studio) -> Part:
    breaks = breaks_of(lines)
    latest, points = views_of(lines)
    names = short_names([line.provider for line in lines])
    drawings = (studio.draw(one, names) for one in trend_figures(lines, breaks))
    return Part(
        benchmark,
        tuple(one for one in drawings if one is not None),
        tuple(breaks),
        tuple(latest),
        tuple(points),
    )


# The page for people: everything in one HTML file, with charts.


HTML: Final = Exporter(
    "one page with charts and every query, for people",
    (".html", ".htm"),
    single_file("report.html", render),
    home="run folder",
)
