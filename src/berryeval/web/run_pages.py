"""Pages of runs: the list, and one run."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from berryeval.reports import Report, view_report
from berryeval.runs import NoStoreError
from berryeval.web.frame import render
from berryeval.web.run_listing import RunQuery, list_choices, list_page
from berryeval.web.site import site_of
from berryeval.workflows import judge_report

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
            listing, choices = list_page(store, asked), list_choices(store)
    except NoStoreError as error:
        return render(request, "no_runs.html", text=str(error))
    link = f"{site.settings.root}/runs"
    address = f"{link}?{urlencode(asked.change(page=asked.page))}".rstrip("?")
    answer = render(
        request, "runs.html", listing=listing, asked=asked, choices=choices,
        link=lambda changes: f"{link}?{urlencode(changes)}".rstrip("?"),
    )  # fmt: skip
    answer.headers["hx-push-url"] = address
    return answer


@router.get("/runs/{name:path}")
def show_run(request: Request, name: str) -> Response:
    """Show the report of a run."""
    report = judge_report(Report.of([site_of(request).shelf.get(name)]))
    return render(request, "page.html", **view_report(report))
