"""Pages of runs."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.runs import ProviderRecord
from berryeval.workflows import open_history
from tests.browser import needs_browser
from tests.reports.html_records import run_record
from tests.web.looks import check_looks
from tests.web.many_runs import fill_store
from tests.web.serving import Served, serve_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a store of 60 runs."""
    store = tmp_path_factory.mktemp("many") / "runs.db"
    fill_store(store, 60)
    with serve_site(store=str(store), judge="ann") as found:
        yield found


def names(page: str) -> list[str]:
    """Return the runs of a list, in its order."""
    return re.findall(r'name="run" value="([^"]+)"', page)


def test_the_list_has_the_newest_runs_first_in_pages(client: httpx.Client) -> None:
    first = client.get("/runs?size=25").text
    assert names(first) == [f"run-{number:05}" for number in range(60, 35, -1)]
    assert "60 runs, 1\N{EN DASH}25 shown" in first
    last = client.get("/runs?size=25&page=3").text
    assert names(last) == [f"run-{number:05}" for number in range(10, 0, -1)]
    assert 'rel="next"' not in last


def test_runs_are_searched_filtered_and_sorted(client: httpx.Client) -> None:
    assert names(client.get("/runs", params={"q": "00042"}).text) == ["run-00042"]
    tagged = client.get("/runs", params={"tag": "branch=topic-1"}).text
    assert names(tagged) == [f"run-{number:05}" for number in range(60, 39, -1)]
    assert "21 runs found" in tagged
    assert names(client.get("/runs", params={"benchmark": "other"}).text) == []
    early = client.get("/runs", params={"until": "2025-10-10"}).text
    assert names(early) == [f"run-{number:05}" for number in range(len(names(early)), 0, -1)]
    best = client.get("/runs", params={"sort": "RR", "size": 60}).text
    worst = client.get("/runs", params={"sort": "RR", "size": 60, "reverse": "true"}).text
    assert set(names(best)) == set(names(worst))
    shown = re.findall(r'data-name="RR"><span class="v">([\d.]+)', best)
    assert shown == sorted(shown, reverse=True)
    assert 'aria-sort="descending"' in best
    assert 'aria-sort="ascending"' in worst


def test_rows_show_the_provider_that_they_are_sorted_by(tmp_path: Path) -> None:
    """It is the one whose value decides the place, whatever the first column is."""
    fill_store(tmp_path / "runs.db", 1)
    with closing(sqlite3.connect(tmp_path / "runs.db")) as store, store:
        worst, name = store.execute(
            "SELECT result, provider FROM berryeval_measured m "
            "JOIN berryeval_results r ON r.key = m.result WHERE metric = 'nDCG@10' ORDER BY value"
        ).fetchone()
        store.execute("UPDATE berryeval_results SET p95 = 1e-9 WHERE key = ?", (worst,))
        store.execute(
            "UPDATE berryeval_measured SET value = 1 WHERE result = ? AND metric = 'RR'", (worst,)
        )
    with serve_site(store=str(tmp_path / "runs.db")) as served, served.sign_in() as client:
        for sort, is_shown in (("nDCG@10", False), ("RR", True), ("latency", True)):
            page = client.get("/runs", params={"metric": "nDCG@10", "sort": sort}).text
            assert (f'class="what"><bdi>{name}<' in page) == is_shown, sort


def test_one_provider_with_scores_is_not_compared(tmp_path: Path) -> None:
    """A failed provider beside it has nothing to compare."""
    record = run_record(4, (0.2,))
    (part,) = record.benchmarks
    failed = ProviderRecord("broken", "http", failure="no connection")
    both = replace(part, providers=(*part.providers, failed))
    with open_history(str(tmp_path / "runs.db"), make=True) as store:
        store.add(replace(record, benchmarks=(both,)))
    with serve_site(store=str(tmp_path / "runs.db")) as served, served.sign_in() as client:
        page = client.get(f"/runs/{record.id}").text
    assert "All queries" in page
    assert "Compare its providers" not in page


def test_a_page_that_is_not_there_leads_back(client: httpx.Client) -> None:
    page = client.get("/runs", params={"size": 25, "page": 9}).text
    assert "There are only 3 pages" in page
    assert 'href="/runs?page=3&amp;size=25"' in page


def test_a_wrong_date_is_reported(client: httpx.Client) -> None:
    answer = client.get("/runs", params={"since": "yesterday"})
    assert answer.status_code == 400
    assert "expected a date (2026-02-21)" in answer.text


def test_a_problem_takes_the_place_of_the_table_and_keeps_its_id(client: httpx.Client) -> None:
    headers = {"hx-request-type": "partial", "hx-target": "div#runs"}
    answer = client.get("/runs?since=yesterday", headers=headers)
    assert answer.text.lstrip().startswith('<div id="runs">')
    assert "expected a date" in answer.text
    assert "header" not in answer.text


def test_htmx_gets_the_table_only_and_a_short_address(client: httpx.Client) -> None:
    answer = client.get("/runs?q=00042&provider=", headers={"hx-request-type": "partial"})
    assert answer.text.lstrip().startswith('<div id="runs">')
    assert answer.headers["hx-push-url"] == "/runs?q=00042"


def test_without_a_store_the_page_says_how_to_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the folder of a clone may have runs, such as those of make demo
    with serve_site(store=str(tmp_path / "none.db"), judge="ann") as found, found.sign_in() as own:
        answer = own.get("/runs")
    assert answer.status_code == 200
    assert "There are no runs yet" in answer.text


def test_run_folders_that_the_store_lacks_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fill_store(tmp_path / "runs.db", 2)
    for name in ("run-00001", "only-a-folder"):
        folder = tmp_path / ".berryeval" / "runs" / name
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(replace(run_record(4, (0.5,)), id=name).dumps())
    for store in (str(tmp_path / "runs.db"), "none"):
        with serve_site(store=store, judge="ann") as found, found.sign_in() as own:
            listed = own.get("/runs").text.partition('id="folders"')[2]
            assert ("run-00001" in listed) == (store == "none")
            assert '<a href="/runs/only-a-folder">' in listed
            assert "How good is" in own.get("/runs/only-a-folder").text


def test_a_damaged_run_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / ".berryeval" / "runs" / "torn"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text('{"id": "torn"')
    with serve_site(store="none", judge="ann") as found, found.sign_in() as own:
        answer = own.get("/runs/torn")
    assert answer.status_code == 422
    assert "run.json" in answer.text


@needs_browser
def test_runs_are_found_sorted_and_ticked_in_the_browser(page: Any) -> None:
    from playwright.sync_api import expect

    rows = page.locator("table.runs tbody")
    page.click("text=Next")
    page.wait_for_url("**/runs?page=2")
    assert rows.count() == 10
    page.click("th a:has-text('RR')")
    page.wait_for_url("**/runs?sort=RR")
    assert page.locator("th[aria-sort]").inner_text().startswith("RR")
    page.locator("table.runs input").nth(3).check()
    ticked = page.locator("table.runs input").nth(3).get_attribute("value")
    page.fill("input[type=search]", "run-00042")
    expect(rows).to_have_count(1)
    assert "sort=RR" in page.url
    page.locator("table.runs input").check()
    assert page.locator(".ticked").inner_text() == "2 runs ticked."
    asked = page.evaluate("new FormData(document.querySelector('#compare')).getAll('run')")
    assert sorted(asked) == sorted(["run-00042", ticked])
    page.go_back()
    expect(rows).to_have_count(50)
    assert page.locator("header.bar").count() == 1


@needs_browser
def test_pages_of_runs_look_right(page: Any) -> None:
    check_looks(page, ["/runs?size=5"], page.locator("table.runs input").first.check)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(page.url.replace("size=5", "q=run-00001"))
    assert not page.locator("td.trend").is_visible()  # one run has no trend, so it takes no room
