"""The page of values over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from berryeval._internal.text import parse_time
from berryeval.errors import BerryEvalError
from berryeval.reports import TrendLimit, TrendLine, build_trend_lines, view_trend
from berryeval.runs import Filters, NoStoreError
from berryeval.web.frame import render, render_blocks
from berryeval.web.site import site_of
from berryeval.workflows import find_trend_limits

if TYPE_CHECKING:
    from berryeval.runs import FailedResult, Store
    from berryeval.web.shelf import RunShelf

router = APIRouter(include_in_schema=False)
_LATENCY, _COST = "latency ", "cost in "
_PERCENTILES: Final = ("p50", "p95", "p99", "max")


class TrendRequest(BaseModel):
    """Which values to follow; every field is a parameter of the address."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    what: str = Field(
        default="", description="a metric, latency p95 (or p50, p99, max), or cost in UNIT"
    )
    benchmark: str = Field(default="", description="only this benchmark")
    provider: str = Field(default="", description="only this provider")
    tag: str = Field(default="", description="only runs with this tag: model, or model=small")
    split: str = Field(default="", description="name of a tag; each of its values is a line")
    since: str = Field(default="", description="earliest start: a date, a time, or an age as 30d")
    until: str = Field(default="", description="latest start")
    last: int = Field(default=100, ge=2, le=2000, description="number of runs, the newest ones")

    def filters(self, store: Store) -> Filters:
        """Return the filters of the store; the number of runs becomes the earliest start."""
        found = Filters(
            self.benchmark or None,
            self.provider or None,
            parse_time(self.since, "since") if self.since else None,
            parse_time(self.until, "until", end=True) if self.until else None,
            self.tag or None,
        )
        times = store.times(found)
        if len(times) <= self.last:
            return found
        return Filters(
            found.benchmark, found.provider, times[self.last - 1][1], found.until, found.tag
        )


class Trend:
    """Values over time, what they are measured against, and the providers that failed."""

    def __init__(self, shelf: RunShelf, asked: TrendRequest) -> None:
        with shelf.open_store() as store:
            self.choices = _list_choices(store)
            self.what = asked.what or (self.choices["what"] or [""])[0]
            filters = asked.filters(store)
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
            *(f"{_LATENCY}{name}" for name in _PERCENTILES),
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
        values["body"] = site.shelf.bodies.get(key, lambda: _draw(trend, root))
    answer = render(request, "trends.html", asked=asked, trend=trend, **values)
    chosen = asked.model_dump(exclude_defaults=True)
    chosen = {name: value for name, value in chosen.items() if value != ""}
    answer.headers["hx-push-url"] = f"{root}/trends?{urlencode(chosen)}".rstrip("?")
    return answer


def _stamp_line(line: TrendLine) -> tuple[Any, ...]:
    points = tuple((one.run, one.value, one.content_hash, one.sample, one.k) for one in line.points)
    return line.benchmark, line.provider, line.metric, points


def _draw(trend: Trend, root: str) -> Any:
    def link(name: str) -> str:
        return f"{root}/runs/{quote(name, errors='replace')}"

    view = view_trend(trend.lines, trend.limits, link, wide=True)
    return render_blocks("trend.html", **view, root=root)
