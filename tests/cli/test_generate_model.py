"""`berryeval generate --model`, against a scripted server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from berryeval.benchmarks import load_benchmark
from tests.cli.eval_world import berryeval
from tests.judging.chat_server import chat_server
from tests.judging.test_questions import build_documents, script, write_well

PRICES = ("--price-in", "1", "--price-out", "2")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    Path("docs").mkdir()
    for document in build_documents(4):
        Path("docs", f"{document.id}.txt").write_text(document.text)


def test_a_model_writes_a_benchmark_that_eval_takes(capsys: pytest.CaptureFixture[str]) -> None:
    with chat_server(script()) as server:
        flags = ("--model", "tiny", "--base-url", server.url, *PRICES)
        assert berryeval("generate", "docs", "--count", "3", *flags) == 0
    out = capsys.readouterr().out
    assert out.startswith("written: docs-generated (3 queries, 4 documents)\n")
    assert "cost: $0.0008, earlier calls for this corpus included\n" in out
    made = load_benchmark("docs-generated")
    assert made.remarks == ("docs-generated: generated (questions), not reviewed",)
    assert {one.metadata["expected_answer"] for one in made.queries} == {
        "At intervals of some days, before sunrise."
    }
    assert all(one.target.quote for one in made.judgments)
    sheet = Path("docs-generated/datasheet.md").read_text().replace("\\", "")
    assert "| model | tiny |" in sheet
    assert "| cost_usd | 0.00081 |" in sheet
    assert "| factual | 3 |" in sheet
    assert berryeval("eval", "docs-generated", "--providers", "bm25") == 0
    assert "generated (questions), not reviewed" in capsys.readouterr().out


def test_a_second_call_pays_for_nothing_twice(capsys: pytest.CaptureFixture[str]) -> None:
    """A second call continues after one that did not find enough queries."""

    def write(passage: str) -> dict[str, Any]:
        return {**write_well(passage), "quotes": ["not there"]}

    with chat_server(script(write)) as server:
        flags = ("--model", "tiny", "--base-url", server.url, "--count", "2", *PRICES)
        assert berryeval("generate", "docs", *flags) == 2
        err = capsys.readouterr().err
        assert "docs: 0 of 2 queries could be made from 4 passages; rejected: 12 quote not" in err
        assert not Path("docs-generated").exists()
        asked = len(server.asked)
        assert berryeval("generate", "docs", *flags) == 2
        assert len(server.asked) == asked


def test_the_price_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ("--model", "tiny", "--base-url", "http://127.0.0.1:9/v1", "--dry-run")
    before = sorted(map(str, Path().rglob("*")))
    assert berryeval("generate", "docs", "--count", "3", *flags, *PRICES) == 0
    out = capsys.readouterr().out
    assert out.startswith("9 requests: a question, and two checks of each\nat most ")
    assert "cost: at most $0.0" in out
    assert berryeval("generate", "docs", "--count", "3", *flags, "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert (data["questions"], data["cost"]) == (9, None)
    assert sorted(map(str, Path().rglob("*"))) == before


def test_another_output_pays_only_for_what_is_new() -> None:
    with chat_server(script()) as server:
        flags = ("--model", "tiny", "--base-url", server.url, *PRICES)
        assert berryeval("generate", "docs", "--count", "2", "-o", "two", *flags) == 0
        assert berryeval("generate", "docs", "--count", "4", "-o", "four", *flags) == 0
        assert len(server.asked) == 12
    assert load_benchmark("two").queries[:2] == load_benchmark("four").queries[:2]


def test_the_cost_limit_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with chat_server(script()) as server:
        flags = ("--model", "tiny", "--base-url", server.url, *PRICES, "--max-cost", "0")
        assert berryeval("generate", "docs", "--count", "3", *flags) == 2
    assert server.asked == []
    err = capsys.readouterr().err
    assert "0 of 3 queries could be made from 4 passages; the limit of the cost is reached" in err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--model", "tiny"], "OPENAI_API_KEY is not set"),
        (["--model", "tiny", "--base-url", ""], "must look like http://host:port/path"),
        (["--dry-run"], "without a model nothing is asked, so there is nothing to price"),
        (["--model", "tiny", "--base-url", "{url}", "--max-cost", "1"], "needs the prices"),
        (["--model", "huge", "--base-url", "{url}"], "does not know the model 'huge'"),
        (["--model", "tiny", "--base-url", "{url}", "-o", "docs"], "docs: is not empty"),
        (
            ["--model", "tiny", "--base-url", "{url}", "--count", "0"],
            "count must be a whole number",
        ),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    flags: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(map(str, Path().rglob("*")))
    with chat_server(script()) as server:
        given = [flag.format(url=server.url) for flag in flags]
        assert berryeval("generate", "docs", *given) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert sorted(map(str, Path().rglob("*"))) == before
