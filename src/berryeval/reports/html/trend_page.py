"""`render_trend`: values over time as one HTML file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from berryeval.reports.html.charts.trend import trend_figures
from berryeval.reports.html.drawings import Studio
from berryeval.reports.html.render import rendered
from berryeval.reports.html.short_names import short_names
from berryeval.reports.html.views.trend import breaks_of, by_benchmark, moment, views_of
from berryeval.reports.methods import OF_A_VALUE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.reports.html.drawings import Drawing
    from berryeval.reports.html.views.trend import Break, LineView, PointView
    from berryeval.reports.trend import TrendLine

__all__ = ["render_trend"]


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
        measure=lines[0].measure,
        parts=[_part(name, group, studio) for name, group in by_benchmark(lines).items()],
        runs=len({point.run for line in lines for point in line.points}),
        first=moment(min(moments)),
        last=moment(max(moments)),
        charts_lack=studio.lacks,
        interval=OF_A_VALUE,
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
