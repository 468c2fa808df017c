"""Signing in and out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from berryeval.web.frame import render
from berryeval.web.guard import COOKIE
from berryeval.web.site import site_of

router = APIRouter(include_in_schema=False)


@router.get("/enter")
def enter(request: Request, token: str = "") -> Response:
    """Open a session with the link of the terminal."""
    return _sign_in(request, token)


@router.get("/sign-in")
def show_sign_in(request: Request) -> Response:
    """Show the form."""
    return render(request, "sign_in.html", users=site_of(request).settings.users, wrong=False)


@router.post("/sign-in")
def sign_in(request: Request, token: Annotated[str, Form()] = "") -> Response:
    """Open a session with a token."""
    return _sign_in(request, token)


@router.post("/sign-out")
def sign_out(request: Request) -> Response:
    """End the session in this browser."""
    answer = RedirectResponse(f"{site_of(request).settings.root}/sign-in", 303)
    answer.delete_cookie(COOKIE, path=f"{site_of(request).settings.root}/")
    return answer


def _sign_in(request: Request, token: str) -> Response:
    site = site_of(request)
    person = site.accounts.open_link(token)
    if person is None:
        users = site.settings.users
        return render(request, "sign_in.html", status=403, users=users, wrong=bool(token))
    answer = RedirectResponse(f"{site.settings.root}/", 303)
    answer.set_cookie(
        COOKIE, site.accounts.open_session(person), max_age=30 * 24 * 3600, httponly=True,
        samesite="strict", secure=site.settings.url.startswith("https:"),
        path=f"{site.settings.root}/",
    )  # fmt: skip
    return answer
