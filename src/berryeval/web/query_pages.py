"""Pages and API of queries: the table of all, and one query with its rankings."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import RedirectResponse, Response

from berryeval.web.accounts import Person  # noqa: TC001 - FastAPI reads it
from berryeval.web.frame import render
from berryeval.web.guard import person_of, require_role
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

router = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api/v1", tags=["queries"])
_USUAL = TableRequest(run=["any"])


@router.get("/runs/{name:path}/queries")
def show_queries_of_run(request: Request, name: str) -> Response:
    """Go to the table of queries of a run."""
    address = f"/queries?{_encode({'run': name})}"
    return RedirectResponse(f"{site_of(request).settings.root}{address}", 303)


@router.get("/queries")
def show_queries(request: Request, asked: Annotated[TableRequest, Query()]) -> Response:
    """Show the table of queries."""
    table = find_table(request, asked)
    return render(
        request, "query_table.html", table=table.view(asked), asked=asked,
        choices=table.choices, runs=table.report.runs, letters=table.letters, link=_Links(asked),
    )  # fmt: skip


@router.get("/query")
def show_query(request: Request, asked: Annotated[QueryRequest, Query()]) -> Response:
    """Show one query."""
    table = find_table(request, asked)
    found = view_query(table, asked)
    page = ((found.place or 1) - 1) // asked.size + 1
    return render(
        request, "query.html", query=found, asked=asked, page=page, link=_Links(asked),
        runs=table.report.runs, letters=table.letters, judges=person_of(request).may("judge"),
        has_texts=asked.whole or table.has_texts(),
    )  # fmt: skip


@router.get("/passage")
def show_passage(request: Request, asked: Annotated[PassageRequest, Query()]) -> Response:
    """Show the whole text of a hit."""
    table = find_table(request, asked)
    found, query = read_passage(table, asked), table.find_query(asked.id)
    return render(
        request, "passage.html", passage=found, query=query, asked=asked, link=_Links(asked)
    )


class _Links:
    """Addresses of other views: what a reader chose stays, what is usual is left out."""

    def __init__(self, asked: TableRequest) -> None:
        self._asked = asked

    def table(self, **changes: Any) -> str:
        """Return the address of a table with some choices changed."""
        return f"/queries?{self._encode(changes)}"

    def query(self, name: str, **more: Any) -> str:
        """Return the address of a query."""
        return f"/query?{self._encode({'page': 1})}&{_encode({'id': name, **more})}"

    def passage(self, name: str, system: str, rank: int) -> str:
        """Return the address of the whole text of a hit."""
        more = {"id": name, "system": system, "rank": rank}
        return f"/passage?{self._encode({'page': 1})}&{_encode(more)}"

    def _encode(self, changes: dict[str, Any]) -> str:
        values = self._asked.model_copy(update=changes)
        chosen = {
            name: value
            for name in TableRequest.model_fields
            if (value := getattr(values, name)) != getattr(_USUAL, name)
        }
        return _encode(chosen)


def _encode(values: dict[str, Any]) -> str:
    return urlencode(values, doseq=True, errors="replace")


@api.get("/queries")
def list_queries(request: Request, asked: Annotated[TableRequest, Query()]) -> QueryPage:
    """List the queries of one or more runs, with what each system scored on them."""
    return find_table(request, asked).view(asked)


@api.get("/query")
def get_query(request: Request, asked: Annotated[QueryRequest, Query()]) -> QueryDetail:
    """Return one query: what is wanted, and the hits of every system."""
    return view_query(find_table(request, asked), asked)


@api.get("/passage")
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


@api.post("/hits/vote")
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
