"""The page of values over time."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.workflows import open_history
from tests.browser import needs_browser
from tests.reports.html_records import changed, run_record
from tests.web.looks import check_looks
from tests.web.serving import Served, serve_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx

    from berryeval.runs import RunRecord

GATE = {
    "baseline": "run-0",
    "rules": [
        {"metric": "nDCG@10", "at_least": 0.55, "providers": ["system-1"]},
        {"latency": "p95", "at_most": 0.5},
        {"metric": "RR", "at_least": 0.9, "where": {"category": "factual"}},
    ],
}


def record_of(number: int) -> RunRecord:
    """Return a run of a day; the data change on day 4, and a provider fails on day 6."""
    run = run_record(8, (0.3 + number / 20, 0.6), seed=number)
    run = replace(run, id=f"run-{number}", created=f"2026-01-{number + 1:02}T09:00:00+00:00")
    run = replace(run, plan={"gate": GATE, "tags": {"model": "small" if number < 3 else "large"}})
    if number > 3:
        run = changed(run, content_hash="sha256:" + "f" * 64)
    if number == 6:
        first, second = run.benchmarks[0].providers
        run = changed(run, providers=(first, replace(second, scores=None, failure="no disk")))
    return run


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fill a store with seven runs."""
    store = tmp_path_factory.mktemp("trend") / "runs.db"
    with open_history(str(store), make=True) as opened:
        for number in range(7):
            opened.add(record_of(number))
    return store


@pytest.fixture(scope="module")
def served(place: Path) -> Iterator[Served]:
    """Serve that store."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERRYEVAL_STORE", str(place))
        patch.chdir(place.parent)
        with serve_site(store=str(place), judge="ann") as found:
            yield found


def test_lines_limits_and_changes_of_the_data_are_shown(client: httpx.Client) -> None:
    shown = client.get("/trends").text
    assert '<option selected value="nDCG@10">' in shown
    assert "gate: nDCG@10 &gt;= 0.55" in shown
    assert "baseline run-0: system-0" in shown
    assert "gate 0.550" in shown  # in the chart
    assert "the benchmark changed" in shown
    assert 'href="/runs/run-6"' in shown
    assert "system-1</bdi> on <bdi>manual</bdi> failed: <bdi>no disk" in shown


def test_rules_about_some_queries_have_no_line(client: httpx.Client) -> None:
    assert "gate: RR" not in client.get("/trends", params={"what": "RR"}).text


def test_latency_tag_provider_and_number_of_runs_can_be_chosen(client: httpx.Client) -> None:
    shown = client.get("/trends", params={"what": "latency p95", "provider": "system-0"}).text
    assert "gate: latency p95 &lt;= 500 ms" in shown
    assert "system-1" not in shown.partition('id="trends"')[2].partition("Without a value")[0]
    split = client.get("/trends", params={"split": "model"}).text
    assert "system-0 (model=large)" in split
    few = client.get("/trends", params={"last": "2"}).text
    assert "run-5" in few
    assert "run-4" not in few


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"what": "nDCG@77"}, "No run has nDCG@77."),
        ({"tag": "model=huge"}, "with these filters"),
    ],
)
def test_an_empty_trend_is_explained(client: httpx.Client, asked: Any, words: str) -> None:
    answer = client.get("/trends", params=asked)
    assert answer.status_code == 200
    assert words in answer.text


def test_a_wrong_percentile_is_reported(client: httpx.Client) -> None:
    answer = client.get("/trends", params={"what": "latency p12"})
    assert answer.status_code == 400
    assert "one of p50, p95, p99, max" in answer.text


def test_a_baseline_outside_the_folder_is_never_read(served: Served, tmp_path: Path) -> None:
    """The record of a run may come from somebody else."""
    outside = tmp_path / "baseline.json"
    outside.write_text(json.dumps({"schema_version": 1, "run": "secret", "created": "x"}))
    run = replace(record_of(0), id="pushed", plan={"gate": {"baseline": str(outside)}})
    shelf = served.site.shelf
    with shelf.open_store() as store:
        store.add(run)
        try:
            assert shelf.get_judged("pushed").plan["gate"] == {}
            assert shelf.get_judged("run-1").plan["gate"] == GATE
        finally:
            store.delete(["pushed"])


@needs_browser
def test_the_chart_follows_what_is_chosen_and_looks_right(page: Any) -> None:
    from playwright.sync_api import expect

    page.click("text=Trends")
    page.wait_for_url("**/trends")  # loaded: before that, no script hears of a choice
    expect(page.locator("figure.chart:visible").first).to_be_visible()
    page.select_option("select[name=what]", "RR")
    page.wait_for_url("**/trends?what=RR")
    expect(page.locator("figcaption:visible").first).to_contain_text("RR")
    assert page.locator("header.bar").count() == 1
    check_looks(page, ["/trends"])
