"""Pages of people: signing in and out, and the page where administrators add and remove them."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from berryeval.runs import ROLES, Role
from berryeval.web.accounts import LIFETIME, UserAccounts
from berryeval.web.frame import render
from berryeval.web.guard import check_pace, find_address, require_role
from berryeval.web.site import site_of

entrance = APIRouter(include_in_schema=False)  # signing in and out
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


@entrance.get("/enter")
def enter(request: Request) -> Response:
    """Open a session with the link of the terminal, which works once.

    With `--users`, an address never contains a token, because proxies and histories keep addresses.
    """
    site = site_of(request)
    if site.settings.users:
        return RedirectResponse(f"{site.settings.root}/sign-in", 303)
    query = parse_qs(request.state.query.decode("ascii", "replace"))
    return _sign_in(request, query.get("token", [""])[0])


@entrance.get("/sign-in")
def show_sign_in(request: Request) -> Response:
    """Show the form."""
    return render(request, "sign_in.html", users=site_of(request).settings.users, wrong=False)


@entrance.post("/sign-in")
def sign_in(request: Request, token: Annotated[str, Form()] = "") -> Response:
    """Open a session with a token."""
    return _sign_in(request, token.strip())


@entrance.post("/sign-out")
def sign_out(request: Request) -> Response:
    """End the session in this browser."""
    site = site_of(request)
    answer = RedirectResponse(f"{site.settings.root}/sign-in", 303)
    answer.delete_cookie(site.cookie, path=f"{site.settings.root}/")
    return answer


def _sign_in(request: Request, token: str) -> Response:
    site = site_of(request)
    address = find_address(request.scope, site)
    check_pace(site, address)
    person = site.accounts.sign_in(token)
    if person is None:
        site.throttle.count_wrong(address)
        users = site.settings.users
        return render(request, "sign_in.html", status=403, users=users, wrong=bool(token))
    answer = RedirectResponse(f"{site.settings.root}/", 303)
    answer.set_cookie(
        site.cookie, site.accounts.open_session(person), max_age=LIFETIME, httponly=True,
        samesite="lax", secure=site.settings.url.startswith("https:"),
        path=f"{site.settings.root}/",
    )  # fmt: skip
    return answer
