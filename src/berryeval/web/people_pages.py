"""The page of people: administrators add them, change their roles and tokens, and remove them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from berryeval.runs import ROLES, Role
from berryeval.web.accounts import UserAccounts
from berryeval.web.frame import render
from berryeval.web.guard import require_role
from berryeval.web.site import site_of

router = APIRouter(include_in_schema=False, dependencies=[Depends(require_role("administer"))])
RIGHTS = {
    "look": "sees runs, comparisons and trends",
    "judge": "also judges, and adds runs",
    "administer": "also adds and removes people, and adjudicates",
}


@router.get("/people")
def show_people(request: Request) -> Response:
    """Show everyone, and the form that adds someone."""
    return _show(request)


@router.post("/people")
def add_person(
    request: Request, name: Annotated[str, Form()], role: Annotated[Role, Form()]
) -> Response:
    """Add a person, and show the token once."""
    name, token = _accounts(request).add(name, role)
    return _show(request, name, token)


@router.post("/people/role")
def change_role(
    request: Request, name: Annotated[str, Form()], role: Annotated[Role, Form()]
) -> Response:
    """Give a person another role."""
    _accounts(request).change_role(name, role)
    return RedirectResponse(f"{site_of(request).settings.root}/people", 303)


@router.post("/people/token")
def renew_token(request: Request, name: Annotated[str, Form()]) -> Response:
    """Give a person another token, and show it once; sessions with the old one end."""
    token = _accounts(request).renew_token(name)
    return _show(request, name, token)


@router.post("/people/remove")
def remove_person(request: Request, name: Annotated[str, Form()]) -> Response:
    """Remove a person."""
    _accounts(request).remove(name)
    return RedirectResponse(f"{site_of(request).settings.root}/people", 303)


def _accounts(request: Request) -> UserAccounts:
    accounts = site_of(request).accounts
    if not isinstance(accounts, UserAccounts):
        raise HTTPException(404, "there is one person here; start with berryeval serve --users")
    return accounts


def _show(request: Request, name: str = "", token: str = "") -> Response:
    accounts, settings = _accounts(request), site_of(request).settings
    address = settings.url.rstrip("/") or str(request.base_url).rstrip("/")
    return render(
        request, "people.html", people=accounts.people(), roles=ROLES, rights=RIGHTS,
        name=name, token=token, link=f"{address}/sign-in#{token}",
    )  # fmt: skip
