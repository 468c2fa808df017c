"""Pages of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.browser import needs_browser

if TYPE_CHECKING:
    import httpx


def test_the_list_links_to_every_run(client: httpx.Client) -> None:
    shown = client.get("/runs").text
    [name] = [part.partition('"')[0] for part in shown.split('href="/runs/')[1:]]
    assert "Best provider" in client.get(f"/runs/{name}").text


@needs_browser
def test_the_report_of_a_run_shows_within_the_site(page: Any) -> None:
    page.click("main a")
    assert page.locator("header.bar").is_visible()
    assert page.locator(".verdict").first.is_visible()
