"""The application: every route, and what errors look like."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from berryeval import __version__
from berryeval.errors import BerryEvalError, ConfigurationError, NotWrittenError
from berryeval.reports import report_script, report_style
from berryeval.web import (
    api_judging,
    api_runs,
    comparison_pages,
    judging_pages,
    people_pages,
    query_pages,
    run_pages,
)
from berryeval.web.frame import STATIC
from berryeval.web.guard import Guard, refuse

if TYPE_CHECKING:
    from berryeval.web.site import Site

log = logging.getLogger("berryeval")
_TYPES: Final = {"report.css": "text/css", "report.js": "text/javascript"}  # made by the report
_ROUTERS: Final = (
    api_judging.router,  # the first: votes are asked for most
    people_pages.entrance,
    people_pages.router,
    query_pages.router,
    judging_pages.router,
    query_pages.api,
    api_runs.router,
    comparison_pages.router,
    run_pages.router,  # the last: /runs/NAME takes any name
)


def build_application(site: Site) -> FastAPI:
    """Build the application of a site; a new page is a router of `_ROUTERS`."""
    app = FastAPI(
        title="BerryEval", version=__version__, docs_url=None, redoc_url=None,
        redirect_slashes=False,
        openapi_url="/api/v1/openapi.json", servers=[{"url": site.settings.root or "/"}],
        lifespan=_run,
    )  # fmt: skip
    app.state.site = site
    _check_root(site.settings.root)
    for name in _TYPES:
        app.get(f"/static/{name}", include_in_schema=False)(_serve_generated)
    app.mount("/static", StaticFiles(directory=STATIC))
    for router in _ROUTERS:
        app.include_router(router)
    app.add_exception_handler(BerryEvalError, _show_problem)
    app.add_exception_handler(HTTPException, _show_problem)
    app.add_exception_handler(RequestValidationError, _show_problem)
    app.add_exception_handler(Exception, _show_problem)
    app.add_middleware(Guard, site=site)
    return app


def _check_root(root: str) -> None:
    """Refuse a path of the site that begins as one of its pages, which would be ambiguous."""
    paths = [getattr(route, "path", "") for router in _ROUTERS for route in router.routes]
    own = {path.split("/")[1] for path in ("/static", *paths) if path.startswith("/")} - {""}
    if root.partition("/")[2].partition("/")[0] in own:
        raise ConfigurationError(
            f"the path {root} of --url is also one of the site's own pages; choose another, such "
            "as /berry"
        )


@asynccontextmanager
async def _run(app: FastAPI) -> AsyncIterator[None]:
    """Close what the site keeps open when the server ends."""
    yield
    await run_in_threadpool(app.state.site.rooms.close)


@cache
def _generate(name: str) -> Response:
    text = report_style() if name.endswith(".css") else report_script()
    return Response(text, media_type=_TYPES[name])


def _serve_generated(request: Request) -> Response:
    return _generate(request.url.path.rpartition("/")[2])


def _show_problem(request: Request, error: Exception) -> Response:
    """Answer with what is wrong: a page for people, JSON for programs, never a traceback."""
    status, text = _explain(error)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("%s %s: %s", request.method, request.url.path, error, exc_info=error)
    headers = getattr(error, "headers", None)
    return refuse(request, HTTPException(status, text, headers))


def _explain(error: Exception) -> tuple[int, str]:
    if isinstance(error, HTTPException):
        return error.status_code, str(error.detail)
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        where = ".".join(str(one) for one in first["loc"][1:])
        return 422, f"{where}: {first['msg']}"
    if isinstance(error, ConfigurationError):
        return 400, str(error)
    if isinstance(error, NotWrittenError):
        return 503, str(error)
    if isinstance(error, BerryEvalError):
        missing = str(error).startswith(("no run ", "no query ", "no hit ", "no pool "))
        return 404 if missing else 422, str(error)
    return 500, "something went wrong in the server; its log says what"
