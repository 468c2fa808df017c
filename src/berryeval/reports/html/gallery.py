"""The charts of the report for notebooks: of scores, of a comparison, and of a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from berryeval._internal.charts import Chart, Charts
from berryeval._internal.optional import import_optional
from berryeval.metrics import direction_of
from berryeval.reports.differences import group_by_pair, rows_by_group
from berryeval.reports.html.contrasts import draw_differences_of
from berryeval.reports.html.page import view_section
from berryeval.reports.html.standings import Row, Standings, draw_metrics
from berryeval.reports.html.svg import CHARTS_NEED, Studio, chart_rules
from berryeval.reports.html.typography import clean, shorten_names
from berryeval.reports.sections import Outcomes, Report, assign_places
from berryeval.reports.tables import rate
from berryeval.runs import RunRecord

if TYPE_CHECKING:
    from berryeval.reports.html.svg import Drawing, Figure
    from berryeval.runs import BenchmarkRecord
    from berryeval.scoring import Scores
    from berryeval.stats import Comparison

_NAMES: Final = {
    "metrics": "metrics",
    "lead": "lead",
    "differences": "differences",
    "precision_recall": "precision-recall",
    "latency": "latency",
    "trade_off": "trade-off",
}


def draw_scores(scores: Scores) -> Charts:
    """Draw the metrics of one table of scores."""
    label = scores.run_name
    row = Row(
        place=assign_places([label])[label],
        label=label,
        kind="",
        cells=tuple(rate([scores], metric)[0] for metric in scores.metrics),
        queries=scores.count,
        outcomes=Outcomes(),
    )
    downwards = tuple(direction_of(metric) == "down" for metric in scores.metrics)
    places = {label: row.place}
    figure = draw_metrics(Standings(scores.metrics, downwards, (row,)), places)
    return _hang({"metrics": _draw(figure, places)})


def draw_comparison(comparison: Comparison) -> Charts:
    """Draw the differences of every pair: by metric, and by group for the first metric."""
    places = assign_places(comparison.systems)
    return _hang(dict(_draw_pairs(comparison, places)))


def _draw_pairs(
    comparison: Comparison, places: Mapping[str, int]
) -> Iterator[tuple[str, Drawing | None]]:
    for rows in group_by_pair(comparison).values():
        name = f"{rows[0].system} against {rows[0].baseline}"
        figure = draw_differences_of([(row.metric, row) for row in rows], places)
        yield name, _draw(figure, places)
        if groups := rows_by_group(comparison, rows[0]):
            figure = draw_differences_of(groups, places, "group")
            yield f"{name} by group", _draw(figure, places)


def draw_benchmark(record: BenchmarkRecord) -> Charts:
    """Draw the section of a benchmark in the report of a run."""
    (section,) = Report.of([RunRecord("", "", (record,))]).sections
    view = view_section(section, 0, _open_studio(), compared=False)
    charts = {name: view["charts"][key] for key, name in _NAMES.items()}
    maps = zip(view["breakdowns"], view["heat_maps"], strict=True)
    return _hang(charts | {f"by {one.by}": drawing for one, drawing in maps})


def _draw(figure: Figure | None, places: Mapping[str, int]) -> Drawing | None:
    return _open_studio().draw(figure, shorten_names(list(places)))


def _open_studio() -> Studio:
    """Return a studio that can draw; a page does without charts, but they are all there is here."""
    import_optional("vl_convert", CHARTS_NEED, extra="report")
    return Studio()


def _hang(drawings: Mapping[str, Drawing | None]) -> Charts:
    """Return the drawings that there are."""
    found = [
        Chart(name, str(one.svg), str(clean(one.caption)))
        for name, one in drawings.items()
        if one is not None
    ]
    return Charts(tuple(found), chart_rules(".berryeval-chart"))
