"""What queries cost: shown where a provider says so, and kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import berryeval as be
from berryeval.pipeline.folder import RunFolder
from berryeval.providers import Answer
from tests.cli.eval_world import berryeval

if TYPE_CHECKING:
    from berryeval.records import Query

MODULE = """
from berryeval.providers import Answer

def paid(text, k):
    return Answer(["nothing"], {"tokens": 812, "usd": 0.0004, "model": "small"})
"""
CONFIG = """
benchmarks: [rag-template]
providers:
  - bm25
  - {name: paid, type: callable, options: {function: "paying:paid"}}
measures: [RR]
"""


@pytest.fixture(autouse=True)
def _paying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("paying.py").write_text(MODULE, encoding="utf-8")
    Path("berryeval.yaml").write_text(CONFIG, encoding="utf-8")


@pytest.mark.parametrize("width", ["40", "200"])
def test_the_table_has_what_a_query_costs(
    width: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column for each number that somebody reports; a dash for who does not."""
    monkeypatch.setenv("COLUMNS", width)
    assert berryeval("eval", "--quiet") == 0
    shown = capsys.readouterr().out.split()
    assert {"812", "0.0004"} <= set(shown)
    if width == "200":  # else titles are in pieces
        assert {"tokens/query", "usd/query"} <= set(shown)
        assert "model/query" not in shown


def test_the_json_and_the_record_have_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The mean per answered query."""
    assert berryeval("eval", "--json", "--output", "run") == 0
    providers = json.loads(capsys.readouterr().out)["data"]["benchmarks"][0]["providers"]
    assert [one["cost_per_query"] for one in providers] == [{}, {"tokens": 812.0, "usd": 0.0004}]
    (part,) = RunFolder("run").read_record().benchmarks
    assert [one.cost for one in part.providers] == [{}, {"tokens": 812.0, "usd": 0.0004}]


def test_the_mean_is_over_answered_queries() -> None:
    """One that failed is left out, one that says nothing cost nothing."""
    seen: list[str] = []

    def search(query: Query, k: int) -> Answer:
        seen.append(query.id)
        if len(seen) == 1:
            raise ValueError(query.text)
        return Answer(["x"][:k], {"tokens": 30} if len(seen) % 3 == 0 else None)

    result = be.run_benchmark("rag-template", search, ["RR"], concurrency=1, warm_up=0, attempts=1)
    assert result["search"].outcomes == {"error": 1, "ok": 9}
    assert result["search"].cost == {"tokens": 10.0}
    assert result["search"].record.cost == {"tokens": 10.0}
