"""The page of compared runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.workflows import open_history
from tests.browser import needs_browser
from tests.reports.html_records import run_record
from tests.web.looks import check_looks
from tests.web.serving import Served, serve_site

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve two runs of two providers each; the second finds more."""
    store = tmp_path_factory.mktemp("compared") / "runs.db"
    old = run_record(20, (0.2, 0.3), hits=6, plan={"tags": {"model": "small"}})
    new = replace(run_record(20, (0.6, 0.3), hits=6, seed=1), id="2026-01-03-run")
    with open_history(str(store), make=True) as opened:
        opened.add(old)
        opened.add(new)
    with serve_site(store=str(store), judge="ann") as found:
        yield found


BOTH = "/compare?run=2026-01-02-run&run=2026-01-03-run"


def test_the_verdict_comes_first_then_table_charts_and_queries(client: httpx.Client) -> None:
    shown = client.get(BOTH).text
    places = [
        shown.index(one)
        for one in ("At a glance", 'class="verdict certain', "<figure", "moved-h", "Provenance")
    ]
    assert places == sorted(places)
    assert "system-0 (2026-01-03-run) is better than system-0 (2026-01-02-run)" in shown
    link = "/query?run=2026-01-02-run&amp;run=2026-01-03-run&amp;benchmark=manual&amp;id=q-"
    assert link in shown
    query = shown.partition(link)[2].partition('"')[0]
    assert client.get(f"{link.replace('amp;', '')}{query}").status_code == 200


def test_baseline_metric_groups_and_providers_can_be_chosen(client: httpx.Client) -> None:
    chosen = "baseline=2026-01-03-run&metric=RR&by=none&provider=system-0"
    shown = client.get(f"{BOTH}&{chosen}").text
    assert "system-0 (2026-01-02-run) is worse than system-0 (2026-01-03-run)" in shown
    assert "At a glance" not in shown
    assert "RR by category" not in shown
    assert "nDCG@10 by category" in client.get(BOTH).text


def test_one_run_compares_its_providers_and_a_provider_can_be_named(client: httpx.Client) -> None:
    alone = client.get("/compare?run=2026-01-03-run").text
    assert "system-1 is worse than system-0" in alone
    named = {"run": ["2026-01-02-run#system-0", "2026-01-03-run#system-1"]}
    assert "left out" not in client.get("/compare", params=named).text
    assert "system-1 against system-0, 20 queries" in client.get("/compare", params=named).text


def test_systems_that_are_not_compared_are_counted_at_the_top(client: httpx.Client) -> None:
    """Of runs that share a provider, the others are left out."""
    named = {"run": ["2026-01-02-run", "2026-01-03-run#system-1"]}
    top = client.get("/compare", params=named).text.partition("<details")[0]
    assert "1 system left out, for reasons at the end" in top


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/compare?run=nothing", 404, "no run &#39;nothing&#39;"),
        (f"{BOTH}&by=colour", 400, "no query of these runs has the property"),
        (f"{BOTH}&provider=gone", 400, "has no provider gone"),
        (f"{BOTH}&moved=many", 400, "moved: "),
        (f"{BOTH}&metric=nDCG@99", 422, "nDCG@99"),
        ("/runs/%2E%2E", 404, "no run"),
        ("/runs/..%2F..%2Fetc%2Fpasswd", 404, "no run"),
    ],
)
def test_runs_that_cannot_be_compared_are_reported(
    client: httpx.Client, path: str, status: int, words: str
) -> None:
    answer = client.get(path)
    assert (answer.status_code, words in answer.text) == (status, True), answer.text[-600:]


def test_a_run_that_was_replaced_is_drawn_again(served: Served, client: httpx.Client) -> None:
    before = client.get("/runs/2026-01-03-run").text
    assert "/queries?run=2026-01-03-run" in before
    assert 'class="ranking"' not in before
    record = served.site.shelf.get("2026-01-03-run")
    with served.site.shelf.open_store() as store:
        store.add(replace(record, versions={"berryeval": "9.9.9"}), replace_content=True)
        assert "berryeval 9.9.9" in client.get("/runs/2026-01-03-run").text
        store.add(record, replace_content=True)
    assert client.get("/runs/2026-01-03-run").text == before


@needs_browser
def test_runs_that_are_ticked_are_compared(page: Any) -> None:
    for box in page.locator("table.runs input").all():
        box.check()
    page.click(".dock button")
    page.wait_for_url("**/compare?run=*&run=*")
    assert page.locator(".verdict").count() == 2
    page.click("summary:has-text('Change the comparison')")
    page.uncheck("input[value=system-1]")
    page.click("button.main")
    page.wait_for_url("**provider=system-0*")
    assert page.locator(".verdict").count() == 1


@needs_browser
def test_pages_of_one_run_and_of_compared_runs_look_right(page: Any) -> None:
    check_looks(page, ["/runs/2026-01-03-run", f"{BOTH}&moved=1"])
