"""The HTML report and the trend page: one file each, without network access."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal import numbers
from berryeval._internal.text import pluralize
from berryeval.reports import differences
from berryeval.reports.exports import Exporter, single_file
from berryeval.reports.html import pairs, svg
from berryeval.reports.html.breakdown import build_breakdowns, draw_heat_map
from berryeval.reports.html.contrasts import build_contrasts, draw_leads
from berryeval.reports.html.failures import collect_failures, find_disagreements
from berryeval.reports.html.headline import build_headline
from berryeval.reports.html.rankings import QueryViews, draw_differences, name_side, view_queries
from berryeval.reports.html.speed import collect_speeds, draw_latencies, draw_trade_off
from berryeval.reports.html.standings import (
    build_standings,
    deciding_metric,
    draw_metrics,
    draw_precision_recall,
    find_answering,
    order_systems,
)
from berryeval.reports.html.trend_lines import (
    draw_trend,
    format_moment,
    group_by_benchmark,
    number_breaks,
    view_lines,
    view_points,
)
from berryeval.reports.html.typography import build_environment, shorten, shorten_names
from berryeval.reports.legends import (
    INTERVAL_NAME,
    describe_interval,
    describe_test,
    group_by_owner,
    name_fallen,
)
from berryeval.reports.sections import format_tags
from berryeval.reports.stage_tables import list_stage_tables
from berryeval.reports.tables import unjudged_share

if TYPE_CHECKING:
    from berryeval.reports.differences import ComparedBenchmark
    from berryeval.reports.html.contrasts import Contrast
    from berryeval.reports.html.standings import Standings
    from berryeval.reports.html.svg import Drawing
    from berryeval.reports.sections import Report, Section, System
    from berryeval.reports.trend import TrendLimit, TrendLine
    from berryeval.runs import RunRecord
    from berryeval.stats import Comparison

_ERROR_CHARACTERS = 80
_HASH_CHARACTERS = 23  # "sha256:" and sixteen digits


def render(report: Report) -> str:
    """Render a report as one HTML file.

    The same report always gives the same bytes. Queries, passages and names are shown as text,
    whatever they contain. Charts need the extra `report`; without it the page has all numbers in
    tables and says how to install it.
    """
    return _render_template("page.html", **view_report(report))


def view_report(
    report: Report, link_query: Callable[[str, str], str] | None = None
) -> dict[str, Any]:
    """Collect what the template `page.html` shows.

    Args:
        report: Report to show.
        link_query: Returns the address of the page of a query, given its benchmark and its id. The
            report then shows no rankings itself.
    """
    studio = svg.Studio()
    sections = [
        view_section(one, place, studio, compared=report.compares(one))
        | _view_queries(one, place, link_query)
        for place, one in enumerate(report.sections)
    ]
    return {
        "report": report,
        "group_by_owner": group_by_owner,
        "name_fallen": name_fallen,
        "differences": differences,
        "pairs": pairs,
        "query_links": partial(_link_queries, sections),
        "sections": sections,
        "runs": [collect_facts(run) for run in report.runs],
        "benchmarks": len({one.name for one in report.sections}),
        "asked": len({(one.name, query.id) for one in report.sections for query in one.queries}),
        "charts_lack": studio.lacks,
    }


HTML: Final = Exporter(
    "one page with charts and every query, for people",
    (".html", ".htm"),
    single_file("report.html", render),
    home="run folder",
)


# Sections of the report.


def view_section(
    section: Section, number: int, studio: svg.Studio, *, compared: bool
) -> dict[str, Any]:
    """Collect what the template shows; a `compared` section does not judge significance itself."""
    standings = build_standings(section)
    metric = deciding_metric(section)
    breakdowns, speeds = build_breakdowns(section), collect_speeds(section)
    order = find_answering(section, metric) if metric else []
    contrasts = build_contrasts(section, metric) if order else ()
    places = {system.label: system.place for system in section.systems}
    names = shorten_names(list(places))
    figures = {
        "lead": None if compared else draw_leads(contrasts, places, metric),
        "metrics": draw_metrics(standings, places),
        "precision_recall": draw_precision_recall(section),
        "latency": draw_latencies(speeds, places),
        "trade_off": draw_trade_off(standings, speeds, places),
    }
    charts = {name: studio.draw(figure, names) for name, figure in figures.items()}
    return {
        "number": number,
        "name": section.title,
        "benchmark": section.name,
        "compared": compared,
        "queries": len(section.queries),
        "depths": sorted({system.benchmark.k for system in section.systems}),
        "headline": build_headline(standings, contrasts, compared=compared),
        "standings": standings,
        "contrasts": () if compared else contrasts,
        "breakdowns": breakdowns,
        "heat_maps": [studio.draw(draw_heat_map(one), names) for one in breakdowns],
        "failing": collect_failures(section),
        "disagreements": find_disagreements(section),
        "order": [(system.place, system.label) for system in order],
        "speeds": speeds,
        "stages": list(list_stage_tables({one.label: one.record for one in section.systems})),
        "notes": reliability_notes(section),
        "charts": charts | {"differences": _draw_differences(standings, contrasts, names, studio)},
        "unjudged": describe_unjudged(section),
        "corrected": any(one.row and one.row.comparisons > 1 for one in contrasts),
        "alone": section.systems[0].label if len(section.systems) == 1 else "",
        "metric": metric,
        "method": _describe_method(contrasts, section.comparison),
    }


def _view_queries(
    section: Section, number: int, link_query: Callable[[str, str], str] | None
) -> dict[str, Any]:
    """Return the rankings of queries that the page shows, and the address of each query."""
    if link_query is not None:
        links = {query.id: link_query(section.name, query.id) for query in section.queries}
        return {"details": QueryViews((), 0), "links": links}
    details = view_queries(section)
    return {
        "details": details,
        "links": {
            query.id: f"#s{number}-q{place}"
            for place, query in enumerate(section.queries)
            if place in details.numbers
        },
    }


def _draw_differences(
    standings: Standings, contrasts: Sequence[Contrast], names: dict[str, str], studio: svg.Studio
) -> Drawing | None:
    """Draw the best system against the next one whose scores are meaningful."""
    rival = next((one for one in contrasts if one.outcomes.telling and not one.equal), None)
    if rival is None:
        return None
    figure = draw_differences(rival, standings.rows[0].place, standings.metrics[0])
    return studio.draw(figure, {name_side(label): name_side(name) for label, name in names.items()})


def _describe_method(contrasts: tuple[Contrast, ...], found: Comparison | None) -> str:
    intervals = f"; confidence intervals: {describe_interval(found)}" if found else ""
    rows = [one.row for one in contrasts if one.row is not None and one.row.p is not None]
    if not rows:
        return intervals if any(one.interval for one in contrasts) else ""
    alone = ", each for its pair alone" if any(row.comparisons > 1 for row in rows) else ""
    return f"{intervals}{alone if intervals else ''}; p: {describe_test(rows)}"


def _link_queries(sections: Sequence[dict[str, Any]], one: ComparedBenchmark) -> dict[str, str]:
    """Return the place of each query of a compared benchmark that the page shows."""
    found: dict[str, str] = {}
    for section in sections:
        if section["benchmark"] == one.benchmark:
            found = section["links"] | found
    return found


def view_comparison(
    report: Report, link_query: Callable[[str, str], str] | None = None
) -> dict[str, Any]:
    """Collect what the template `compared.html` shows; see `view_report` for the arguments."""

    def link(one: ComparedBenchmark) -> dict[str, str]:
        if link_query is None:
            return {}
        return {query.query_id: link_query(one.benchmark, query.query_id) for query in one.moved}

    return {
        "report": report,
        "differences": differences,
        "pairs": pairs,
        "query_links": link,
        "runs": [collect_facts(run) for run in report.runs],
        "charts_lack": svg.Studio().lacks,
    }


# The trend page.


def render_trend_page(lines: Sequence[TrendLine]) -> str:
    """Render values over time as one HTML file."""
    return _render_template("trend.html", **view_trend(lines))


def view_trend(
    lines: Sequence[TrendLine],
    limits: Sequence[TrendLimit] = (),
    link_run: Callable[[str], str] | None = None,
    *,
    wide: bool = False,
) -> dict[str, Any]:
    """Collect what the template `trend.html` shows.

    Args:
        lines: At least one line.
        limits: Limits of gates and values of baselines, drawn as level lines.
        link_run: Returns the address of the page of a run, given its name.
        wide: Draw charts for wide windows, too.
    """
    studio = svg.Studio()
    moments = [point.moment for line in lines for point in line.points]
    return {
        "metric": lines[0].metric,
        "about": lines[0].about,
        "parts": [
            _view_benchmark(name, group, [one for one in limits if one.benchmark == name], studio)
            | {"wide": [] if not wide else _draw_wide(group, limits, studio)}
            for name, group in group_by_benchmark(lines).items()
        ],
        "runs": len({point.run for line in lines for point in line.points}),
        "first": format_moment(min(moments)),
        "last": format_moment(max(moments)),
        "charts_lack": studio.lacks,
        "interval": INTERVAL_NAME,
        "link_run": link_run,
    }


def _view_benchmark(
    benchmark: str, lines: Sequence[TrendLine], limits: Sequence[TrendLimit], studio: svg.Studio
) -> dict[str, Any]:
    breaks = number_breaks(lines)
    names = shorten_names([line.provider for line in lines])
    drawings = [studio.draw(one, names) for one in draw_trend(lines, breaks, limits)]
    return {
        "name": benchmark,
        "drawings": [one for one in drawings if one is not None],
        "breaks": breaks,
        "limits": list(dict.fromkeys(one.words for one in limits)),
        "lines": view_lines(lines),
        "points": view_points(lines),
    }


def _draw_wide(
    lines: Sequence[TrendLine], limits: Sequence[TrendLimit], studio: svg.Studio
) -> list[Drawing]:
    own = [one for one in limits if one.benchmark == lines[0].benchmark]
    found = (studio.draw(one) for one in draw_trend(lines, number_breaks(lines), own, wide=True))
    return [one for one in found if one is not None]


# Templates.


def _render_template(template: str, **values: Any) -> str:
    """Render a template with our style sheet and script, and a policy that allows nothing else."""
    from markupsafe import Markup

    environment = build_environment()
    script = report_script() if template == "page.html" else ""
    style = report_style()
    policy = f"default-src 'none'; style-src '{_hash(style)}'; img-src data:"
    policy += f"; script-src '{_hash(script)}'" if script else ""
    return environment.get_template(template).render(
        policy=f"{policy}; base-uri 'none'; form-action 'none'",
        style=Markup(style),  # noqa: S704 - our own style sheet
        script=Markup(script),  # noqa: S704 - our own script, without a word of the data
        **values,
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


def report_style() -> str:
    """Return the style sheet of all pages."""
    from markupsafe import Markup

    return (
        build_environment()
        .get_template("style.css")
        .render(
            chart_rules=Markup(svg.chart_rules()),  # noqa: S704 - our own colors
            light_systems=Markup(svg.system_rules(dark=False)),  # noqa: S704 - our own colors
            dark_systems=Markup(svg.system_rules(dark=True)),  # noqa: S704 - our own colors
        )
    )


def report_script() -> str:
    """Return the script of the report, which filters and sorts its queries."""
    return build_environment().get_template("page.js").render()


# Provenance: runs, data hashes and versions, and notes on reliability.


@dataclass(frozen=True)
class RunFacts:
    """Facts about a run, as names and values."""

    id: str
    started: str
    facts: tuple[tuple[str, str], ...]


def collect_facts(run: RunRecord) -> RunFacts:
    """Collect the facts about a run and each of its benchmarks."""
    facts = [
        ("started", _format_time(run.created)),
        ("tags", shorten(format_tags(run.tags), 300)),
        ("configuration", _brief(run.config_hash)),
    ]
    for part in run.benchmarks:
        queries = pluralize(len(part.queries), "query")
        words = f"{_brief(part.content_hash)}, {queries}, k = {part.k}"
        facts.append((f"data of {shorten(part.name, 60)}", words))
    facts.append(("versions", ", ".join(f"{name} {text}" for name, text in run.versions.items())))
    return RunFacts(
        shorten(run.id, 120),
        _format_time(run.created),
        tuple((name, text) for name, text in facts if text),
    )


def reliability_notes(section: Section) -> tuple[tuple[str, str], ...]:
    """Return the notes on reliability, each with the system it is about, or empty for all."""
    found: dict[tuple[str, str], None] = {}
    for note in section.notes:
        found["", note] = None
    for system in order_systems(section):
        for note in system.benchmark.notes:
            found["", note] = None
        for note in (*system.record.warnings, *(system.scores.notes if system.scores else ())):
            found[system.label, _shorten_error(system, note)] = None
    return tuple((about, shorten(note, 600)) for about, note in found)


def _shorten_error(system: System, note: str) -> str:
    """Shorten an error within a note; the section on failures shows it in full."""
    errors = (error for error in system.errors if error in note)
    longest = max(errors, key=len, default="")
    return note.replace(longest, shorten(longest, _ERROR_CHARACTERS)) if longest else note


def describe_unjudged(section: Section) -> str:
    """Return the share of hits without a judgment; empty without such hits."""
    shares = [
        f"{shorten(system.label, 60)} {numbers.format_share(share)}"
        for system in order_systems(section)
        if (share := unjudged_share(system.scores))
    ]
    return f"Unjudged hits count as not relevant: {', '.join(shares)}." if shares else ""


def _format_time(text: str) -> str:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return shorten(text, 40)
    zone = f" UTC{found:%z}".removesuffix("+0000") if found.tzinfo else ""
    return f"{found:%Y-%m-%d %H:%M}{zone}"


def _brief(digest: str) -> str:
    return digest[:_HASH_CHARACTERS]
