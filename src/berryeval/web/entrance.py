"""Signing in and out."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from berryeval.web.accounts import LIFETIME
from berryeval.web.frame import render
from berryeval.web.guard import check_pace, find_address
from berryeval.web.site import site_of

router = APIRouter(include_in_schema=False)


@router.get("/enter")
def enter(request: Request) -> Response:
    """Open a session with the link of the terminal, which works once.

    With `--users`, tokens never stand in an address, where proxies and histories keep them.
    """
    site = site_of(request)
    if site.settings.users:
        return RedirectResponse(f"{site.settings.root}/sign-in", 303)
    query = parse_qs(request.state.query.decode("ascii", "replace"))
    return _sign_in(request, query.get("token", [""])[0])


@router.get("/sign-in")
def show_sign_in(request: Request) -> Response:
    """Show the form."""
    return render(request, "sign_in.html", users=site_of(request).settings.users, wrong=False)


@router.post("/sign-in")
def sign_in(request: Request, token: Annotated[str, Form()] = "") -> Response:
    """Open a session with a token."""
    return _sign_in(request, token.strip())


@router.post("/sign-out")
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
