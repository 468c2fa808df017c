"""The page of compared runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import RedirectResponse, Response

from berryeval.errors import ConfigurationError
from berryeval.reports import view_comparison
from berryeval.runs import group_queries
from berryeval.web.frame import render, render_blocks
from berryeval.web.site import site_of
from berryeval.workflows import compare_runs

if TYPE_CHECKING:
    from markupsafe import Markup

    from berryeval.reports import Report
    from berryeval.runs import RunRecord
    from berryeval.web.shelf import RunShelf
    from berryeval.workflows import LocatedRun

router = APIRouter(include_in_schema=False)


class ComparisonRequest(BaseModel):
    """Which runs to compare, and how; every field is a parameter of the address."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    run: tuple[str, ...] = Field(
        min_length=1, max_length=20, description="runs, by name, or RUN#PROVIDER"
    )
    provider: tuple[str, ...] = Field(default=(), description="only these providers")
    baseline: str = Field(
        default="", description="system that the others are compared with, or all for every pair"
    )
    metric: str = Field(default="", description="metric that decides; by default the first")
    by: str = Field(default="", description="property of queries to group by, such as category")
    moved: int = Field(default=5, ge=0, le=100, description="changed queries to show, per pair")

    def change(self, **changes: Any) -> str:
        """Return the address of the comparison after a change."""
        values = {**self.model_dump(exclude_defaults=True), **changes}
        return f"/compare?{urlencode(values, doseq=True, errors='replace')}"


def find_compared(shelf: RunShelf, asked: ComparisonRequest) -> dict[LocatedRun, tuple[str, ...]]:
    """Return the runs that were asked for, and the providers of each that are to be compared."""
    found: dict[LocatedRun, tuple[str, ...]] = {}
    for text in dict.fromkeys(asked.run):
        name, mark, provider = text.rpartition("#")
        if mark and shelf.holds(name) and not shelf.holds(text):
            run = shelf.locate(name)
            found[run] = (*found.get(run, ()), provider)
        else:
            found.setdefault(shelf.locate(text), asked.provider)
    return found


def compare(shelf: RunShelf, asked: ComparisonRequest) -> Report:
    """Compare the runs that were asked for."""
    found = find_compared(shelf, asked)
    records = [select_providers(shelf.get(run.name), providers) for run, providers in found.items()]
    return compare_runs(
        records,
        baseline=asked.baseline or None,
        metrics=_order_metrics(records, asked.metric) if asked.metric else None,
        by=_choose_groups(records, asked.by),
        moved=asked.moved,
    )


def select_providers(record: RunRecord, providers: Sequence[str]) -> RunRecord:
    """Return a run with only these providers; all of them if none is named."""
    if not providers:
        return record
    parts = tuple(
        replace(part, providers=tuple(one for one in part.providers if one.name in providers))
        for part in record.benchmarks
    )
    if not any(part.providers for part in parts):
        raise ConfigurationError(f"the run {record.id} has no provider {' or '.join(providers)}")
    return replace(record, benchmarks=tuple(part for part in parts if part.providers))


def _order_metrics(records: Sequence[RunRecord], first: str) -> list[str]:
    """Return a metric, then the others that every provider was asked for."""
    found = [
        list(provider.scores.metrics)
        for record in records
        for part in record.benchmarks
        for provider in part.providers
        if provider.scores is not None
    ]
    shared = [name for name in found[0] if all(name in one for one in found)] if found else []
    return list(dict.fromkeys([first, *shared]))


def _choose_groups(records: Sequence[RunRecord], by: str) -> str | None:
    """Return the property to group by: the one asked for, else the category if queries have one."""
    queries = [query for record in records for part in record.benchmarks for query in part.queries]
    if by and by != "none" and not group_queries(queries, by):
        raise ConfigurationError(f"no query of these runs has the property {by!r:.80}")
    if by:
        return None if by == "none" else by
    return "category" if len(set(group_queries(queries, "category").values())) > 1 else None


def link_queries(root: str, runs: Sequence[str], benchmark: str, query: str = "") -> str:
    """Return the address of the table of queries, or of one query."""
    values = [*(("run", run) for run in runs), ("benchmark", benchmark)]
    values += [("id", query)] if query else []
    return f"{root}/{'query' if query else 'queries'}?{urlencode(values, errors='replace')}"


@router.get("/compare")
def show_comparison(request: Request) -> Response:
    """Show whether runs differ, where and why; without a run, go to the list."""
    site = site_of(request)
    root, given = site.settings.root, request.query_params
    if "run" not in given:
        return RedirectResponse(f"{root}/runs", 303)
    asked = _read(request)
    key = ("compare", asked, tuple(find_compared(site.shelf, asked)))
    body = site.shelf.bodies.get(key, lambda: _draw(site.shelf, asked, root))
    return render(request, "body.html", body=body)


def _read(request: Request) -> ComparisonRequest:
    given = request.query_params
    values: dict[str, Any] = {name: value for name, value in given.items() if value}
    values |= {name: tuple(filter(None, given.getlist(name))) for name in ("run", "provider")}
    try:
        return ComparisonRequest.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(one) for one in first["loc"])
        raise ConfigurationError(f"{where}: {first['msg']}") from None


def _draw(shelf: RunShelf, asked: ComparisonRequest, root: str) -> dict[str, Markup]:
    report = compare(shelf, asked)
    runs = [run.id for run in report.runs]
    whole = [shelf.get(name) for name in runs]
    parts = [part for run in whole for part in run.benchmarks]
    link = partial(link_queries, root, runs)
    given = sum(len(part.providers) for run in report.runs for part in run.benchmarks)
    used = {(one.benchmark, name) for one in report.compared for name in one.comparison.systems}
    return render_blocks(
        "compare.html",
        **view_comparison(report, link),
        root=root,
        asked=asked,
        link_table=link,
        chosen=report.compared[0],
        left_out=given - len(used),
        providers=list(dict.fromkeys(one.name for part in parts for one in part.providers)),
        groups=[
            name
            for name in ("category", "difficulty")
            if any(group_queries(part.queries, name) for part in parts)
        ],
        systems=list(dict.fromkeys(name for one in report.systems.values() for name in one)),
        metrics=sorted({name for one in report.compared for name in one.comparison.metrics}),
    )
