"""The API that takes runs of other machines, such as those of continuous integration."""

from __future__ import annotations

from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from berryeval.web.guard import require_role
from berryeval.web.site import site_of
from berryeval.workflows import add_pushed

router = APIRouter(prefix="/api/v1", tags=["runs"])
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": "The record of a run, as `berryeval runs export` writes it; may be gzip.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}

_ANSWERS: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "The run was there already, or was replaced."},
    409: {"description": "The store has a run of this name with other content."},
    413: {"description": "The body is too large."},
    422: {"description": "The body is not the record of a run."},
}


class PushedRun(BaseModel):
    """A run that was sent."""

    run: str = Field(description="Name of the run in the store; longer if another run has its own.")
    how: str = Field(description="added, there already (identical), or replaced.")
    path: str = Field(description="Path of its page on this server.")


@router.post(
    "/runs", response_model=PushedRun, status_code=201, responses=_ANSWERS, openapi_extra=_BODY,
    dependencies=[Depends(require_role("judge"))],
)  # fmt: skip
async def push(
    request: Request,
    response: Response,
    *,
    replace: Annotated[bool, Query(description="Whether to overwrite one that differs.")] = False,
) -> PushedRun:
    """Add a run to the store; sending it again changes nothing."""
    site, body = site_of(request), await request.body()
    added = await run_in_threadpool(add_pushed, body, site.settings.store, replace=replace)
    if added.how == "differs":
        raise HTTPException(
            409, f"the server has a run {added.id} with other content; push it with --replace"
        )
    if added.how != "added":
        response.status_code = 200
    path = f"{site.settings.root}/runs/{quote(added.id)}"
    return PushedRun(run=added.id, how=added.how, path=path)
