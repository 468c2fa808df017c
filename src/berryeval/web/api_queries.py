"""The API of queries: the table, and one query with its rankings."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field

from berryeval.web.accounts import Person  # noqa: TC001 - FastAPI reads it
from berryeval.web.guard import require_role
from berryeval.web.query_detail import (
    PassageRequest,
    PassageText,
    QueryDetail,
    QueryRequest,
    read_passage,
    view_query,
)
from berryeval.web.query_table import QueryPage, TableRequest, Text, check_place, find_table
from berryeval.web.rooms import GivenVote
from berryeval.web.site import site_of

router = APIRouter(prefix="/api/v1", tags=["queries"])


@router.get("/queries")
def list_queries(request: Request, asked: Annotated[TableRequest, Query()]) -> QueryPage:
    """List the queries of one or more runs, with what each system scored on them."""
    return find_table(request, asked).view(asked)


@router.get("/query")
def get_query(request: Request, asked: Annotated[QueryRequest, Query()]) -> QueryDetail:
    """Return one query: what is wanted, and the hits of every system."""
    return view_query(find_table(request, asked), asked)


@router.get("/passage")
def get_passage(request: Request, asked: Annotated[PassageRequest, Query()]) -> PassageText:
    """Return the whole text of a hit, from the benchmark of its run."""
    return read_passage(find_table(request, asked), asked)


class HitVote(PassageRequest):
    """A vote on a hit."""

    grade: Annotated[float | None, Field(description="Grade; null if the judge cannot tell")] = None
    note: Annotated[str, Field(max_length=10_000)] = ""
    withdrawn: Annotated[bool, Field(description="Take the last vote on the hit back")] = False
    request: Annotated[
        str,
        Field(min_length=1, max_length=80, description="Id made by the sender: sent twice, a vote "
              "counts once"),
    ]  # fmt: skip


class StoredVote(BaseModel):
    """A vote as it is stored."""

    judge: Text
    grade: float | None
    withdrawn: bool
    time: str


@router.post("/hits/vote")
def vote_on_hit(
    request: Request, given: HitVote, person: Annotated[Person, Depends(require_role("judge"))]
) -> StoredVote:
    """Judge a hit; the answer comes when the vote is on the disk."""
    table, site = find_table(request, given), site_of(request)
    system, query = table.find_system(given.system), table.find_query(given.id)
    check_place(system.run, system.benchmark.name, site.settings)
    vote = site.rooms.vote_on_hit(
        person.name, system.run.id, system.record.name, query.id, given.rank,
        GivenVote(given.request, "", given.grade, given.note, given.withdrawn),
        system.benchmark.name,
    )  # fmt: skip
    return StoredVote(judge=vote.judge, grade=vote.grade, withdrawn=vote.withdrawn, time=vote.time)
