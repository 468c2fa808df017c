"""Pages of runs: the list, and one run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from berryeval.reports import Report, view_report
from berryeval.runs import NoStoreError
from berryeval.web.comparison_pages import link_queries
from berryeval.web.frame import is_partial, render, render_blocks
from berryeval.web.run_listing import RunQuery, list_choices, list_page
from berryeval.web.site import site_of
from berryeval.workflows import judge_report, list_run_folders

if TYPE_CHECKING:
    from markupsafe import Markup

    from berryeval.runs import RunRecord

router = APIRouter(include_in_schema=False)


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
    gate = record.plan.get("gate")
    baseline = str(gate.get("baseline") or "") if isinstance(gate, Mapping) else ""
    return render(request, "run.html", body=body, actions=actions, run=record, baseline=baseline)


def _draw_run(record: RunRecord, root: str) -> dict[str, Markup]:
    link = partial(link_queries, root, [record.id])
    report = judge_report(Report.of([record]))
    return render_blocks("page.html", **view_report(report, link), root=root, link_table=link)


def stamp_baseline(record: RunRecord) -> str:
    """Return a text that changes when the baseline file of a run's gate does."""
    gate = record.plan.get("gate")
    name = gate.get("baseline") if isinstance(gate, Mapping) else None
    try:
        found = Path(str(name)).stat() if name else None
    except (OSError, ValueError):
        return ""
    return f"{found.st_mtime_ns}-{found.st_size}" if found else ""
