"""Pages of queries: the table of all, and one query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.browser import needs_browser

if TYPE_CHECKING:
    import httpx

RUN = "2026-01-02-run"
TABLE = f"/queries?run={RUN}"


def names(text: str) -> list[str]:
    """Return the ids of the queries that a page links to, in order."""
    return [
        part.partition('"')[0].rpartition("id=")[2] for part in text.split('class="row" href="')[1:]
    ]


def test_the_table_of_a_run_links_to_every_query(client: httpx.Client) -> None:
    shown = client.get(f"/runs/{RUN}/queries").text
    assert names(shown) == [f"q-{place:03}" for place in range(8)]


def test_a_filter_keeps_only_matching_queries(client: httpx.Client) -> None:
    assert names(client.get(f"{TABLE}&words=Q-003").text) == ["q-003"]
    assert len(names(client.get(f"{TABLE}&category=factual").text)) == 3
    empty = client.get(f"{TABLE}&words=nowhere").text
    assert "No query passes this filter" in empty


def test_a_query_links_to_the_next_one_of_the_same_filter(client: httpx.Client) -> None:
    page = client.get(f"/query?run={RUN}&category=factual&id=q-000").text
    assert "1 of 3" in page
    follow = page.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    assert "2 of 3" in client.get(follow).text
    assert "category=factual" in follow
    assert follow.endswith("id=q-003")


def test_a_query_shows_what_is_wanted_and_every_ranking(client: httpx.Client) -> None:
    page = client.get(f"/query?run={RUN}&id=q-002").text
    assert page.count('class="hit ') == 4 * 12
    assert page.count("missed-by") == 4  # the one target that no system found
    assert "<mark>token</mark>" in page


def test_bad_requests_say_what_is_wrong(client: httpx.Client) -> None:
    for address, status, text in (
        ("/queries", 422, "run: "),
        ("/queries?run=nowhere", 404, "no run "),
        (f"{TABLE}&benchmark=other", 404, "no run has the benchmark"),
        (f"{TABLE}&metric=nDCG", 400, "no run has the metric"),
        (f"{TABLE}&sort=taste", 400, "cannot sort by"),
        (f"/query?run={RUN}&id=none", 404, "no query "),
    ):
        answer = client.get(address)
        assert (answer.status_code, text in answer.text) == (status, True), address


@needs_browser
def test_arrows_choose_a_query_and_enter_opens_it(page: Any, served: Any) -> None:
    page.goto(f"{served.address}{TABLE}")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url("**/query?**id=q-001")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**id=q-002")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator(".hit:focus details[open] .whole").is_visible()
    page.keyboard.press("Escape")
    page.wait_for_url("**/queries?**")


@needs_browser
def test_the_filter_changes_the_table_only_and_the_address(page: Any, served: Any) -> None:
    page.goto(f"{served.address}{TABLE}")
    page.evaluate("window.same = true")
    page.keyboard.press("/")
    page.keyboard.type("q-00 procedural")
    page.wait_for_url("**words=q-00**")
    rows = page.locator("a.row")
    page.wait_for_function("document.querySelectorAll('a.row').length === 3")
    page.keyboard.press("Escape")
    page.click(".sort >> nth=1")
    page.wait_for_url("**sort=value**")
    assert rows.count() == 3
    page.fill("input[type=search]", "q-00 conceptual")
    page.wait_for_url("**words=q-00+conceptual**sort=value**")
    assert page.evaluate("window.same")
    page.go_back()
    page.wait_for_selector("[type=search][value$=procedural]")
    assert page.locator("header.bar").is_visible()
    assert "sort=value" in page.url
