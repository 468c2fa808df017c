"""`render`: a report as one HTML file."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from berryeval.reports import differences
from berryeval.reports.html import numbers, palette
from berryeval.reports.html.drawings import Studio
from berryeval.reports.html.page import section_view
from berryeval.reports.html.policy import policy
from berryeval.reports.html.text import broken, cleaned, short, tied, whole
from berryeval.reports.html.views.provenance import run_facts
from berryeval.reports.methods import how_tested
from berryeval.reports.rows import by_owner

if TYPE_CHECKING:
    from jinja2 import Environment

    from berryeval.reports.model import Report

__all__ = ["render", "rendered"]


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
        by_owner=by_owner,
        differences=differences,
        how_tested=how_tested,
        sections=[
            section_view(one, place, studio, compared=report.compares(one))
            for place, one in enumerate(report.sections)
        ],
        runs=[run_facts(run) for run in report.runs],
        benchmarks=len({one.name for one in report.sections}),
        asked=len({(one.name, query.id) for one in report.sections for query in one.queries}),
        charts_lack=studio.lacks,
    )


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
    shown: dict[str, Any] = {name: getattr(numbers, name) for name in numbers.__all__}
    environment.filters |= shown | {"broken": broken, "short": short, "tied": tied, "whole": whole}
    environment.globals |= {"hues": len(palette.SYSTEMS), "forms": len(palette.SHAPES)}
    return environment
