"""Pages of runs: the list, one run, and several compared."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from berryeval.reports import Report, view_report
from berryeval.web.frame import render
from berryeval.web.site import site_of
from berryeval.workflows import judge_report

router = APIRouter(include_in_schema=False)


@router.get("/")
def show_home(request: Request) -> Response:
    """Go to the list of runs."""
    return RedirectResponse(f"{site_of(request).settings.root}/runs", 303)


@router.get("/runs")
def show_runs(request: Request) -> Response:
    """Show the list of runs."""
    with site_of(request).shelf.open_store() as store:
        found = store.list_runs(limit=50)
    return render(request, "runs.html", runs=found)


@router.get("/runs/{name}")
def show_run(request: Request, name: str) -> Response:
    """Show the report of a run."""
    report = judge_report(Report.of([site_of(request).shelf.get(name)]))
    return render(request, "page.html", **view_report(report))
