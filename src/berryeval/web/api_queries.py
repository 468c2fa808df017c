"""The API of queries: the table, and one query with its rankings."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from berryeval.web.query_detail import (
    PassageRequest,
    PassageText,
    QueryDetail,
    QueryRequest,
    read_passage,
    view_query,
)
from berryeval.web.query_table import QueryPage, TableRequest, find_table

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
