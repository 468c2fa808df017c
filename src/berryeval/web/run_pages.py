"""Pages of runs: the list, one run, and values over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import RedirectResponse, Response

from berryeval.errors import BerryEvalError
from berryeval.reports import (
    Report,
    TrendLimit,
    TrendLine,
    build_trend_lines,
    view_report,
    view_trend,
)
from berryeval.runs import TIMES, NoStoreError
from berryeval.web.comparison_pages import link_queries
from berryeval.web.frame import is_partial, render, render_blocks
from berryeval.web.run_listing import RunFilter, RunQuery, list_choices, list_page
from berryeval.web.shelf import name_baseline
from berryeval.web.site import site_of
from berryeval.workflows import find_trend_limits, judge_report, list_run_folders

if TYPE_CHECKING:
    from markupsafe import Markup

    from berryeval.runs import FailedResult, Filters, RunRecord, Store
    from berryeval.web.shelf import RunShelf

router = APIRouter(include_in_schema=False)
_LATENCY, _COST = "latency ", "cost in "


@router.get("/")
def show_home(request: Request) -> Response:
    """Go to the list of runs."""
    return RedirectResponse(f"{site_of(request).settings.root}/runs", 303)


@router.get("/runs")
def show_runs(request: Request, asked: Annotated[RunQuery, Query()]) -> Response:
    """Show the list of runs."""
    site = site_of(request)
    try:
        with site.shelf.open_store() as store:
            listing = list_page(store, asked)
            choices = None if is_partial(request) else list_choices(store)
            stored = set() if is_partial(request) else set(store.names())
    except NoStoreError as error:
        return render(request, "no_runs.html", text=str(error), folders=list_run_folders())
    folders = (
        [] if is_partial(request) else [one for one in list_run_folders() if one not in stored]
    )
    link = f"{site.settings.root}/runs"
    address = f"{link}?{urlencode(asked.change(page=asked.page))}".rstrip("?")
    answer = render(
        request, "runs.html", listing=listing, asked=asked, choices=choices, folders=folders,
        link=lambda changes: f"{link}?{urlencode(changes)}".rstrip("?"),
    )  # fmt: skip
    answer.headers["hx-push-url"] = address
    return answer


@router.get("/runs/{name:path}")
def show_run(request: Request, name: str) -> Response:
    """Show the report of a run."""
    site = site_of(request)
    root, found = site.settings.root, site.shelf.locate(name)
    record = site.shelf.get_judged(found.name)
    key = ("run", found, stamp_baseline(record))
    body = site.shelf.bodies.get(key, lambda: _draw_run(record, root))
    encoded = urlencode({"run": record.id}, errors="replace")
    actions = [("All queries", f"{root}/queries?{encoded}")]
    if any(sum(one.scores is not None for one in part.providers) > 1 for part in record.benchmarks):
        actions.append(("Compare its providers", f"{root}/compare?{encoded}"))
    for part in record.benchmarks[:1]:
        trend = urlencode({"benchmark": part.name}, errors="replace")
        actions.append(("Over time", f"{root}/trends?{trend}"))
    baseline = name_baseline(record)
    return render(request, "run.html", body=body, actions=actions, run=record, baseline=baseline)


def _draw_run(record: RunRecord, root: str) -> dict[str, Markup]:
    link = partial(link_queries, root, [record.id])
    report = judge_report(Report.of([record]))
    return render_blocks("page.html", **view_report(report, link), root=root, link_table=link)


def stamp_baseline(record: RunRecord) -> str:
    """Return a text that changes when the baseline file of a run's gate does."""
    name = name_baseline(record)
    try:
        found = Path(name).stat() if name else None
    except (OSError, ValueError):
        return ""
    return f"{found.st_mtime_ns}-{found.st_size}" if found else ""


# Values over time.


class TrendRequest(RunFilter):
    """Which values to follow."""

    what: str = Field(
        default="", description="a metric, latency p95 (or p50, p99, max), or cost in UNIT"
    )
    split: str = Field(default="", description="name of a tag; each of its values is a line")
    last: int = Field(default=100, ge=2, le=2000, description="number of runs, the newest ones")

    def filter_last(self, store: Store) -> Filters:
        """Return the filters of the store; the number of runs becomes the earliest start."""
        found = self.filters
        times = store.times(found)
        return found if len(times) <= self.last else replace(found, since=times[self.last - 1][1])


class Trend:
    """Values over time, what they are measured against, and the providers that failed."""

    def __init__(self, shelf: RunShelf, asked: TrendRequest) -> None:
        with shelf.open_store() as store:
            self.choices = _list_choices(store)
            self.what = asked.what or (self.choices["what"] or [""])[0]
            filters = asked.filter_last(store)
            points = (
                store.trend(filters=filters, tag=asked.split, **_read_subject(self.what))
                if self.what
                else []
            )
            self.failures: list[FailedResult] = store.failures(filters)
        self.lines: list[TrendLine] = build_trend_lines(points)
        self.limits: list[TrendLimit] = []
        if self.lines:
            newest = max((line.points[-1] for line in self.lines), key=lambda one: one.moment)
            self.limits = _find_limits(shelf, self.lines, newest.run)


def _list_choices(store: Store) -> dict[str, list[str]]:
    return {
        "what": [
            *_order_metrics(store),
            *(f"{_LATENCY}{name}" for name in TIMES),
            *(f"{_COST}{unit}" for unit in store.costs()),
        ],
        "benchmark": store.benchmarks(),
        "provider": store.providers(),
        "tag": store.tag_values(),
        "split": store.tags(),
    }


def _order_metrics(store: Store) -> list[str]:
    """Return the metrics: first those that the newest run was asked for."""
    newest = store.list_runs(limit=1)
    asked = [
        value.metric
        for run in newest
        for one in run.results
        for value in one.values
        if value.low is not None
    ]
    return list(dict.fromkeys([*asked, *store.metrics()]))


def _read_subject(what: str) -> dict[str, str]:
    if what.startswith(_LATENCY):
        return {"latency": what.removeprefix(_LATENCY)}
    return {"cost": what.removeprefix(_COST)} if what.startswith(_COST) else {"metric": what}


def _find_limits(shelf: RunShelf, lines: Sequence[TrendLine], newest: str) -> list[TrendLimit]:
    try:
        return find_trend_limits(lines, shelf.get_judged(newest))
    except BerryEvalError:  # the record of the run is damaged; its values are known nevertheless
        return []


@router.get("/trends")
def show_trends(request: Request, asked: Annotated[TrendRequest, Query()]) -> Response:
    """Show values over time."""
    site = site_of(request)
    root = site.settings.root
    try:
        trend = Trend(site.shelf, asked)
    except NoStoreError as error:
        return render(request, "no_runs.html", text=str(error), folders=[])
    values: dict[str, Any] = {}
    if trend.lines:
        key = ("trend", root, tuple(map(_stamp_line, trend.lines)), tuple(trend.limits))
        values["body"] = site.shelf.bodies.get(key, lambda: _draw_trend(trend, root))
    answer = render(request, "trends.html", asked=asked, trend=trend, **values)
    chosen = asked.model_dump(exclude_defaults=True)
    chosen = {name: value for name, value in chosen.items() if value != ""}
    answer.headers["hx-push-url"] = f"{root}/trends?{urlencode(chosen)}".rstrip("?")
    return answer


def _stamp_line(line: TrendLine) -> tuple[Any, ...]:
    points = tuple((one.run, one.value, one.content_hash, one.sample, one.k) for one in line.points)
    return line.benchmark, line.provider, line.metric, points


def _draw_trend(trend: Trend, root: str) -> Any:
    def link(name: str) -> str:
        return f"{root}/runs/{quote(name, errors='replace')}"

    view = view_trend(trend.lines, trend.limits, link, wide=True)
    return render_blocks("trend.html", **view, root=root)
