"""People: signing in with a token, roles, and the page of administrators."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from berryeval.errors import ConfigurationError
from berryeval.web.accounts import UserAccounts
from tests.browser import needs_browser
from tests.reports.html_records import NASTY
from tests.web.looks import check_looks
from tests.web.serving import Served, serve_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def team(folder: Path) -> Iterator[tuple[Served, str]]:
    """Serve the folder to named people; return the token of the first administrator too."""
    with serve_site(store=str(folder / "team.db"), users=True) as found:
        yield found, accounts(found).add_first("Ann")


def accounts(served: Served) -> UserAccounts:
    """Return the accounts of a server with users."""
    found = served.site.accounts
    assert isinstance(found, UserAccounts)
    return found


@contextmanager
def signed_in(served: Served, token: str) -> Iterator[httpx.Client]:
    """Open a client that signs in with a form, as a browser does."""
    with httpx.Client(
        base_url=served.address, headers={"origin": served.address}, timeout=60
    ) as client:
        assert client.post("/sign-in", data={"token": token}).status_code == 303
        yield client


def post(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    """Send a form of the page of people."""
    page = client.get("/people").text
    token = page.partition('name="form_token" value="')[2].partition('"')[0]
    return client.post(path, data={"form_token": token, **fields})


def read_token(answer: httpx.Response) -> str:
    """Return the token that a page shows."""
    return str(re.findall(r'class="secret">([^<]+)</code>', answer.text)[-1])


def test_an_administrator_adds_changes_and_removes_people(team: tuple[Served, str]) -> None:
    """A token is shown once; a role counts at once; whoever is removed is out at once."""
    served, admin = team
    with signed_in(served, admin) as ann:
        added = post(ann, "/people", name="bob", role="judge")
        token = read_token(added)
        assert f"/sign-in#{token}" in added.text
        assert token not in ann.get("/people").text
        with signed_in(served, token) as bob:
            assert "bob" in bob.get("/sign-in").text
            assert bob.get("/people").status_code == 403
            post(ann, "/people/role", name="bob", role="administer")
            assert bob.get("/people").status_code == 200
            post(ann, "/people/remove", name="bob")
            assert bob.get("/people").headers["location"] == "/sign-in"
        again = ann.post("/sign-in", data={"token": token})
        assert again.status_code == 403


def test_a_new_token_ends_the_sessions_of_the_old_one(team: tuple[Served, str]) -> None:
    served, admin = team
    with signed_in(served, admin) as ann:
        old = read_token(post(ann, "/people", name="cid", role="look"))
        with signed_in(served, old) as cid:
            new = read_token(post(ann, "/people/token", name="cid"))
            assert cid.get("/runs").status_code == 303
        with signed_in(served, new) as cid:
            assert cid.get("/people").status_code == 403


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "", "role": "look"}, "name"),
        ({"name": "ann", "role": "look"}, "is taken"),
        ({"name": "human", "role": "judge"}, "no judge can be called"),
        ({"name": " human ", "role": "judge"}, "no judge can be called"),
        ({"name": "eve", "role": "root"}, "role"),
        ({"name": "x" * 81, "role": "look"}, "1 to 80 printable characters"),
    ],
)
def test_bad_people_are_refused_on_a_page(
    team: tuple[Served, str], fields: dict[str, str], said: str
) -> None:
    served, admin = team
    with signed_in(served, admin) as ann:
        before = accounts(served).people()
        answer = post(ann, "/people", **fields)
        assert answer.status_code in {400, 422}
        assert said in answer.text
        assert "<h1>That did not work" in answer.text
        assert accounts(served).people() == before


def test_the_last_administrator_cannot_be_removed(team: tuple[Served, str]) -> None:
    served, admin = team
    with signed_in(served, admin) as ann:
        answer = post(ann, "/people/remove", name="Ann")
        assert "Ann is the only one who may administer" in answer.text
        assert ann.get("/people").status_code == 200


def test_the_store_keeps_no_token(team: tuple[Served, str], folder: Path) -> None:
    served, admin = team
    with signed_in(served, admin) as ann:
        token = read_token(post(ann, "/people", name="dan", role="look"))
    stored = (folder / "team.db").read_bytes()
    assert admin.encode() not in stored
    assert token.encode() not in stored


def test_programs_send_their_token_in_a_header(team: tuple[Served, str]) -> None:
    served, admin = team
    url = f"{served.address}/api/v1/openapi.json"
    assert (
        httpx.get(url, headers={"authorization": f"Bearer {admin}"}, timeout=60).status_code == 200
    )
    for wrong in ("Bearer", "Bearer x", f"Basic {admin}"):
        answer = httpx.get(url, headers={"authorization": wrong}, timeout=60)
        assert answer.status_code == 401
        assert "Authorization: Bearer TOKEN" in answer.json()["error"]


def test_without_users_there_is_no_page_of_people(client: httpx.Client) -> None:
    answer = client.get("/people")
    assert answer.status_code == 404
    assert "berryeval serve --users" in answer.text


@needs_browser
def test_a_link_with_a_token_signs_in_and_leaves_no_trace(
    browser: Any, team: tuple[Served, str]
) -> None:
    """The token stands after #, which no server sees, and is gone from the address at once."""
    served, admin = team
    context = browser.new_context()
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{served.address}/sign-in#{admin}")
    page.wait_for_url("**/runs")
    assert page.locator(".who").inner_text() == "Ann"
    page.go_back()
    assert admin not in page.url
    assert not [url for url in asked if admin in url.partition("#")[0]]
    context.close()


@needs_browser
def test_pages_fit_every_window_and_are_legible(browser: Any, team: tuple[Served, str]) -> None:
    """Signing in, and people with an open question, on phone and desktop, light and dark."""
    served, admin = team
    context = browser.new_context()
    page = context.new_page()
    page.goto(served.address)
    check_looks(page, ["/sign-in"])
    page.goto(f"{served.address}/sign-in#{admin}")
    page.wait_for_url("**/runs")

    def open_questions() -> None:
        for summary in page.locator("summary").all()[:2]:
            summary.click()

    check_looks(page, ["/people"], open_questions)
    context.close()


@needs_browser
def test_names_of_people_never_run(browser: Any, team: tuple[Served, str]) -> None:
    """Names are the injection corpus of the report; forms work with them as they are."""
    served, admin = team
    shown = []
    for text in NASTY:
        with suppress(ConfigurationError):  # control characters are refused
            shown.append(accounts(served).add(text, "look")[0])
    assert len(shown) >= 6
    context = browser.new_context()
    page = context.new_page()
    noise: list[str] = []
    page.on("dialog", lambda dialog: noise.append(dialog.message))
    page.on("console", lambda message: noise.append(message.text))
    page.goto(f"{served.address}/sign-in#{admin}")
    page.wait_for_url("**/runs")
    for name in shown:
        page.goto(f"{served.address}/people")
        row = page.locator(".people > li").filter(
            has=page.locator(f"input[value={json.dumps(name, ensure_ascii=False)}]")
        )
        row.locator("summary").nth(1).click()
        row.locator("button.danger").click()
        page.wait_for_load_state()
    assert noise == []
    assert not {one.name for one in accounts(served).people()} & set(shown)
    context.close()
