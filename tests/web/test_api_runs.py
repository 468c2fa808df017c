"""The API of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from berryeval.workflows import open_history
from tests.reports.html_records import nasty_run
from tests.web.serving import Served, serve_site
from tests.web.test_trend_pages import record_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve four runs, one of them with texts that break careless programs."""
    store = tmp_path_factory.mktemp("api") / "runs.db"
    with open_history(str(store), make=True) as opened:
        for number in range(3):
            opened.add(record_of(number))
        opened.add(nasty_run())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERRYEVAL_STORE", str(store))
        patch.chdir(store.parent)
        with serve_site(store=str(store), judge="ann") as found:
            yield found


def test_the_list_is_searched_sorted_and_paged(client: httpx.Client) -> None:
    found = client.get("/api/v1/runs?tag=model=small&sort=nDCG@10&size=2").json()
    assert (found["total"], found["page"], found["pages"]) == (3, 1, 2)
    values = [
        max(one["value"] for part in run["results"] for one in part["values"][:1])
        for run in found["runs"]
    ]
    assert values == sorted(values, reverse=True)
    first = found["runs"][0]["results"][0]
    assert first["provider"] == "system-0"
    assert set(first["values"][0]) == {"metric", "value", "low", "high", "n"}


def test_one_run_has_its_values_and_verdicts(client: httpx.Client) -> None:
    found = client.get("/api/v1/runs/run-1").json()
    assert (found["id"], found["tags"]) == ("run-1", {"model": "small"})
    assert {one["metric"] for one in found["results"][0]["values"]} == {"nDCG@10", "P@5", "RR"}
    rules = {(one["rule"], one["provider"]) for one in found["verdicts"]}
    assert ("nDCG@10 >= 0.55", "system-1") in rules
    missing = client.get("/api/v1/runs/run-77")
    assert missing.status_code == 404
    assert "no run 'run-77'" in missing.json()["error"]


def test_runs_are_compared(client: httpx.Client) -> None:
    found = client.get("/api/v1/compare?run=run-0&run=run-2&provider=system-0&moved=2").json()
    assert found["runs"] == ["run-0", "run-2"]
    [one] = found["comparisons"]
    assert one["baseline"] == "system-0 (run-0)"
    assert one["differences"][0]["system"] == "system-0 (run-2)"
    assert one["differences"][0]["n"] == 8
    assert set(one["groups"]) == {"factual", "procedural", "conceptual"}
    assert len(one["moved"]) == 2


def test_a_trend_has_lines_and_limits(client: httpx.Client) -> None:
    found = client.get("/api/v1/trend?what=ndcg_at_10&benchmark=manual").json()
    assert [line["provider"] for line in found["lines"]] == ["system-0", "system-1"]
    assert [point["run"] for point in found["lines"][0]["points"]] == ["run-0", "run-1", "run-2"]
    assert {one["kind"] for one in found["limits"]} == {"gate", "baseline"}


def test_any_text_is_answered(client: httpx.Client) -> None:
    [name] = [
        one["id"]
        for one in client.get("/api/v1/runs").json()["runs"]
        if not one["id"].startswith("run-")
    ]
    answer = client.get(f"/api/v1/runs/{name.replace('/', '%2F')}")
    assert answer.status_code == 200
    assert answer.json()["id"] == name
    assert client.get("/runs", params={"q": name}).status_code == 200
    assert client.get(f"/runs/{name}").status_code == 200
    assert client.get("/compare", params={"run": name}).status_code == 200


def test_the_description_names_every_address(client: httpx.Client) -> None:
    found = client.get("/api/v1/openapi.json").json()["paths"]
    assert {"/api/v1/runs", "/api/v1/compare", "/api/v1/trend"} <= set(found)
    names = {one["name"] for one in found["/api/v1/runs"]["get"]["parameters"]}
    assert {"q", "tag", "sort", "page"} <= names


def test_an_empty_site_has_an_empty_list(tmp_path: Path) -> None:
    with serve_site(store=str(tmp_path / "none.db"), judge="ann") as found, found.sign_in() as own:
        assert own.get("/api/v1/runs").json()["runs"] == []


@pytest.mark.parametrize(
    "path",
    [f"/api/v1/runs?page={'9' * 20}", "/api/v1/runs?page=0", "/api/v1/compare?run=run-0&moved=x"],
)
def test_wrong_parameters_are_reported(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 422
    assert list(answer.json()) == ["error"]
