"""`berryeval runs trend` of latencies and costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from berryeval.benchmarks import write_benchmark
from tests.cli.eval_world import DRINKS, berryeval, data_of, fill_store, write_drinks
from tests.runs.kept import run_of

if TYPE_CHECKING:
    from berryeval.runs.record import RunRecord

SEARCH = """
import os
from berryeval.providers import Answer

def search(query, k):
    return Answer(["water"], {"tokens": int(os.environ["TOKENS"]) * (1 + query.startswith("How"))})
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_drinks(tmp_path)


def spending(number: int, usd: float, model: str = "", **outcomes: int) -> RunRecord:
    """Return a run of bm25 in which an answered query costs this much."""
    record = run_of(number, providers=("bm25",))
    (part,) = record.benchmarks
    (provider,) = part.providers
    cost = {"usd": usd, "tokens": 1000 * usd}
    paid = replace(provider, cost=cost, outcomes=outcomes or provider.outcomes)
    plan = {**record.plan, "tags": {"model": model}} if model else record.plan
    return replace(record, plan=plan, benchmarks=(replace(part, providers=(paid,)),))


def test_costs_have_a_trend(capsys: pytest.CaptureFixture[str]) -> None:
    fill_store(spending(1, 0.004), spending(2, 0.001), spending(3, 0.002, ok=4, error=1))
    assert berryeval("runs", "trend", "--cost", "usd", "--json") == 0
    (line,) = data_of(capsys, "runs trend")["lines"]
    assert (line["about"], line["metric"]) == ("cost", "cost in usd")
    assert [point["value"] for point in line["points"]] == [0.004, 0.001, 0.002]
    assert [point["low"] for point in line["points"]] == [None] * 3
    assert line["change"] == 0.001
    assert berryeval("runs", "trend", "--cost", "usd") == 0
    printed = capsys.readouterr().out
    assert "bm25 on fruit: cost in usd" in printed
    assert "3 runs, lowest 0.001, highest 0.004, last 0.002, 1 of 5 failed, +0.001" in printed
    fill_store(spending(4, 0.003))
    assert berryeval("runs", "trend", "--cost", "tokens") == 0
    printed = capsys.readouterr().out
    assert "lowest 1, highest 4, last 3, +1 against" in printed
    assert "run-0003 (1 of 5): queries failed and do not count" in printed


@pytest.mark.parametrize("name", ["p50", "p95", "p99", "max"])
def test_latencies_have_a_trend(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    records = [run_of(number, providers=("bm25",)) for number in (1, 2)]
    fill_store(*records)
    times = [getattr(record["fruit"]["bm25"].latency, name) for record in records]
    assert berryeval("runs", "trend", "--latency", name, "--json") == 0
    (line,) = data_of(capsys, "runs trend")["lines"]
    assert (line["about"], line["metric"]) == ("latency", f"latency {name}")
    assert [point["value"] for point in line["points"]] == times
    assert berryeval("runs", "trend", "--latency", name) == 0
    printed = capsys.readouterr().out
    assert f"bm25 on fruit: latency {name}" in printed
    assert f"last {1000 * times[1]:.1f} ms, " in printed


def test_trends_of_costs_are_grouped_by_tag(capsys: pytest.CaptureFixture[str]) -> None:
    fill_store(spending(1, 4, "large"), spending(2, 1, "small"), spending(3, 3, "large"))
    assert berryeval("runs", "trend", "--cost", "usd", "--tag", "model", "--json") == 0
    found = {
        line["provider"]: [point["value"] for point in line["points"]]
        for line in data_of(capsys, "runs trend")["lines"]
    }
    assert found == {"bm25 (model=large)": [4, 3], "bm25 (model=small)": [1]}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--cost", "usdd"), "has a cost in 'usdd'; did you mean 'usd'?"),
        (("--cost", "joule"), "has a cost in 'joule'; there are tokens, usd"),
        (("--latency", "p90"), "p90"),
        ((), "one of a metric, --latency and --cost, found none"),
        (("RR", "--cost", "usd"), "one of a metric, --latency and --cost, found RR and --cost"),
    ],
)
def test_names_that_no_run_has_are_rejected(
    asked: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fill_store(spending(1, 0.5))
    assert berryeval("runs", "trend", *asked) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_store_without_costs_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    fill_store(run_of(1))
    assert berryeval("runs", "trend", "--cost", "usd") == 2
    assert "no run in the store" in (err := capsys.readouterr().err)
    assert "no provider reported a cost" in " ".join(err.split())


def test_the_change_of_a_cost_is_over_the_same_queries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new query, which costs twice as much, is no change of the cost."""
    Path("asking.py").write_text(SEARCH, encoding="utf-8")
    Path("berryeval.yaml").write_text(
        "providers: [{type: callable, options: {function: 'asking:search'}, name: own}]\n"
    )
    monkeypatch.setenv("TOKENS", "100")
    fewer = replace(DRINKS, queries=DRINKS.queries[1:], judgments=DRINKS.judgments[2:])
    write_benchmark(fewer, tmp_path / "fewer" / "drinks")
    for folder in ("fewer/drinks", "drinks"):
        assert berryeval("eval", folder, "-m", "RR", "--quiet") == 0
    capsys.readouterr()
    assert berryeval("runs", "trend", "--cost", "tokens", "--json") == 0
    (line,) = data_of(capsys, "runs trend")["lines"]
    assert [point["value"] for point in line["points"]] == [100, 125]
    assert (line["change"], line["change_over"]) == (0, 3)
    assert berryeval("runs", "trend", "--latency", "max", "--json") == 0
    (line,) = data_of(capsys, "runs trend")["lines"]
    assert line["change_over"] == 3


@pytest.mark.parametrize("ending", ["svg", "html", "csv"])
def test_costs_and_latencies_are_drawn(ending: str) -> None:
    fill_store(spending(1, 250.0), spending(2, 130.5))
    assert berryeval("runs", "trend", "--cost", "usd", "-o", f"t.{ending}") == 0
    text = Path(f"t.{ending}").read_text("utf-8")
    assert "cost in usd" in text
    if ending != "svg":
        assert "130.5" in text or ">130<" in text
    assert berryeval("runs", "trend", "--latency", "p95", "-o", f"l.{ending}") == 0
    text = Path(f"l.{ending}").read_text("utf-8")
    assert "latency p95" in text
    assert "confidence interval" not in text
