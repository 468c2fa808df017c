"""The API of queries, and the pages that show whole passages and take votes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from berryeval.judging import Ledger
from berryeval.web.accounts import UserAccounts
from tests.browser import needs_browser
from tests.web.looks import check_looks
from tests.web.query_world import ADDRESS, RUN, TEXTS, write_world
from tests.web.serving import Served, serve_site

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Work in a folder with a benchmark and a run of two systems."""
    place, before = tmp_path_factory.mktemp("relay"), os.getcwd()  # noqa: PTH109 - goes to chdir
    os.chdir(place)
    try:
        write_world(place)
        yield place
    finally:
        os.chdir(before)


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    """Serve that folder to one person."""
    assert folder.is_dir()
    with serve_site(judge="ann") as found:
        yield found


def test_the_table_is_a_list_of_rows_with_a_value_per_system(client: httpx.Client) -> None:
    found = client.get("/api/v1/queries", params={"run": RUN, "sort": "-spread"}).json()
    assert [one["label"] for one in found["systems"]] == ["old", "new"]
    assert (found["metric"], found["total"], found["pages"]) == ("nDCG@5", 2, 1)
    assert [(row["id"], row["found"], row["wanted"]) for row in found["rows"]] == [
        ("q1", [0, 1], 1),
        ("q2", [0, 1], 2),
    ]
    assert found["rows"][0]["values"] == [0.0, 1.0]
    assert found["rows"][0]["spread"] == 1.0
    only = client.get("/api/v1/queries", params={"run": RUN, "show": "unjudged"}).json()
    assert only["matching"] == 2
    error = client.get("/api/v1/queries", params={"run": RUN, "metric": "AP"})
    assert (error.status_code, "nDCG@5" in error.json()["error"]) == (400, True)


def test_a_query_has_its_targets_and_rankings(client: httpx.Client) -> None:
    asked: dict[str, str | int] = {"run": RUN, "id": "q2"}
    found = client.get("/api/v1/query", params={**asked, "whole": "true"}).json()
    lamps, quote = found["wanted"]
    assert [one["rank"] for one in lamps["ranks"]] == [None, 1]
    assert (quote["text"], quote["address"]) == ("The last word is lantern.", ADDRESS)
    assert [hit["grade"] for hit in found["rankings"][0]["hits"]] == [None]
    other = client.get("/api/v1/query", params={**asked, "id": "q1"}).json()["rankings"][1]
    assert [(hit["id"], hit["first"]) for hit in other["hits"]] == [("keys", None), ("doors", 2)]
    alone = client.get("/api/v1/query", params={**asked, "run": f"{RUN}#new"}).json()
    assert [one["label"] for one in alone["rankings"]] == ["new"]
    passage = {**asked, "id": "q1", "system": "new", "rank": 1}
    assert client.get("/api/v1/passage", params=passage).json() == {
        "text": TEXTS["keys"][0], "address": ADDRESS, "is_whole": True,
    }  # fmt: skip
    deep = client.get("/api/v1/passage", params={**passage, "rank": 7})
    assert (deep.status_code, deep.json()["error"][:17]) == (404, "no hit at rank 7 ")


def test_a_source_is_a_link_only_if_it_is_on_the_web(client: httpx.Client) -> None:
    asked = {"run": RUN, "id": "q1", "system": "old"}
    for rank in (1, 2):
        shown = client.get("/passage", params={**asked, "rank": rank}).text
        assert "Open the source" not in shown
        assert "javascript" not in shown
    shown = client.get("/passage", params={**asked, "system": "new", "rank": 1}).text
    assert f'href="{ADDRESS}" rel="noreferrer noopener"' in shown
    assert "<mark>relay</mark>" in shown


def test_the_description_of_the_api_has_the_endpoints(client: httpx.Client) -> None:
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    assert {"/api/v1/queries", "/api/v1/query", "/api/v1/passage", "/api/v1/hits/vote"} <= set(
        paths
    )


def test_a_vote_that_cannot_count_is_refused(client: httpx.Client, folder: Path) -> None:
    vote = {"run": [RUN], "id": "q1", "system": "old", "rank": 1, "grade": 9, "request": "r1"}
    for change, status in (({}, 422), ({"rank": 7}, 422), ({"id": "q9"}, 404), ({"run": []}, 422)):
        answer = client.post("/api/v1/hits/vote", json=vote | change)
        assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert Ledger(folder / "relay.judged").current() == []


def test_only_judges_vote_with_their_token(folder: Path) -> None:
    store = folder / "team.db"
    shutil.copy(folder / ".berryeval" / "results.db", store)
    vote = {"run": [RUN], "id": "q1", "system": "old", "rank": 1, "grade": 1, "request": "r1"}
    with serve_site(store=str(store), users=True) as team, httpx.Client(timeout=60) as client:
        own = team.site.accounts
        assert isinstance(own, UserAccounts)
        own.add_first("Ann")
        answers = {}
        for role in ("look", "judge"):
            headers = {"authorization": f"Bearer {own.add(role, role)[1]}"}
            address = f"{team.address}/api/v1"
            table = client.get(f"{address}/queries", params={"run": RUN}, headers=headers)
            assert table.json()["total"] == 2
            answers[role] = [
                client.post(f"{address}/hits/vote", json=vote, headers=headers) for _ in range(2)
            ]
        assert [one.status_code for one in answers["look"]] == [403, 403]
        first, second = (one.json() for one in answers["judge"])
        assert (first["judge"], first["grade"]) == ("judge", 1)
        assert first == second  # sent twice, it counts once


@needs_browser
def test_one_key_judges_a_hit(page: Any, served: Served, folder: Path) -> None:
    page.goto(f"{served.address}/query?run={RUN}&id=q1")
    page.keyboard.press("j")
    chosen = page.locator(".hit:focus")
    assert chosen.get_attribute("data-id") == "lamps"
    page.keyboard.press("2")
    page.wait_for_selector("text=Your vote is stored: 2.")
    (vote,) = Ledger(folder / "relay.judged").current()
    assert (vote.query_id, vote.target.document, vote.grade, vote.judge) == (
        "q1",
        "lamps",
        2,
        "ann",
    )
    page.reload()
    assert page.locator(".hit.voted b").inner_text() == "2"
    page.locator(".hit.voted").focus()
    page.keyboard.press("u")
    page.wait_for_selector("text=Your vote is taken back.")
    assert page.locator(".hit.voted").count() == 0
    page.click(".hit:focus .give >> text=1")
    page.wait_for_selector("text=Your vote is stored: 1.")
    page.keyboard.press("u")
    page.wait_for_selector("text=Your vote is taken back.")
    assert Ledger(folder / "relay.judged").current() == []


@needs_browser
def test_a_hit_unfolds_to_its_whole_passage(page: Any, served: Served) -> None:
    page.goto(f"{served.address}/query?run={RUN}&id=q1")
    page.locator(".column:nth-child(2) .hit").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit:focus >> text=The last word is lantern.")
    assert page.locator(".hit:focus a[target=_blank]").get_attribute("href") == ADDRESS


@needs_browser
def test_the_pages_fit_and_are_legible_for_everybody(page: Any) -> None:
    def unfold() -> None:
        page.evaluate("[...document.querySelectorAll('details')].forEach(one => one.open = true)")
        page.wait_for_load_state("networkidle")

    check_looks(page, [f"/queries?run={RUN}", f"/query?run={RUN}&id=q1"], unfold)
