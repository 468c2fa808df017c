"""The guard: every check that a request must pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import httpx

FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
def browser_like(client: httpx.Client) -> httpx.Client:
    """Return a client with a session that sends no form token by itself, as a plain form."""
    client.headers.pop("x-form-token")
    client.follow_redirects = False
    return client


def test_a_form_without_its_token_is_refused(browser_like: httpx.Client) -> None:
    """A page of another site can post forms; only ours knows the token."""
    for body in ("", "form_token=", "form_token=" + "0" * 64, "x=1&form_token[]=1"):
        answer = browser_like.post("/sign-out", content=body, headers=FORM)
        assert answer.status_code == 403, body
        assert "load it again" in answer.text
    assert browser_like.get("/runs").status_code == 200


def test_a_form_with_its_token_is_accepted(browser_like: httpx.Client) -> None:
    shown = browser_like.get("/runs").text
    token = shown.partition('name="form_token" value="')[2].partition('"')[0]
    answer = browser_like.post("/sign-out", data={"form_token": token})
    assert answer.headers["location"] == "/sign-in"
    assert browser_like.get("/runs").status_code == 303
