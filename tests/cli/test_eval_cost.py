"""Costs of queries: shown if a provider reports them, and recorded."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import berryeval as be
from berryeval.benchmarks import write_benchmark
from berryeval.data.records import Document
from berryeval.errors import ProviderError
from berryeval.providers.answers import Answer
from berryeval.providers.base import read_cost
from berryeval.runner.outcome import Ranking
from berryeval.workflows.recording import Tally
from berryeval.workflows.run_folder import RunFolder
from tests.cli.eval_world import DRINKS, berryeval

if TYPE_CHECKING:
    from berryeval.data.records import Query

MODULE = """
from berryeval.providers import Answer

def paid(text, k):
    return Answer(["context-ba4eb09efc234e4f"], {"tokens": 812, "usd": 0.0004, "model": "small"})

def drink(text, k):
    return Answer(["tea"], {"tokens": 812, "usd": 0.0004})
"""
CONFIG = """
benchmarks: [rag-template]
providers:
  - bm25
  - {name: paid, type: callable, options: {function: "paying:paid"}}
metrics: [RR]
"""


@pytest.fixture(autouse=True)
def _paying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("paying.py").write_text(MODULE, encoding="utf-8")
    Path("berryeval.yaml").write_text(CONFIG, encoding="utf-8")


@pytest.mark.parametrize("width", ["40", "200"])
def test_the_table_shows_costs(
    width: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column per reported cost; a dash for providers without it."""
    monkeypatch.setenv("COLUMNS", width)
    assert berryeval("eval", "--quiet") == 0
    shown = capsys.readouterr().out.split()
    assert {"812", "0.0004"} <= set(shown)
    if width == "200":  # else titles are in pieces
        assert {"tokens/query", "usd/query"} <= set(shown)
        assert "model/query" not in shown


def test_the_json_and_the_record_have_mean_costs(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("eval", "--json", "--output", "run") == 0
    providers = json.loads(capsys.readouterr().out)["data"]["benchmarks"][0]["providers"]
    assert [one["cost_per_query"] for one in providers] == [{}, {"tokens": 812.0, "usd": 0.0004}]
    (part,) = RunFolder("run").read_record().benchmarks
    assert [one.cost for one in part.providers] == [{}, {"tokens": 812.0, "usd": 0.0004}]


def test_mean_costs_are_over_answered_queries() -> None:
    """A failed query is left out; a query without a cost counts as 0."""
    seen: list[str] = []

    def search(query: Query, k: int) -> Answer:
        seen.append(query.id)
        if len(seen) == 1:
            raise ValueError(query.text)
        return Answer(
            ["context-ba4eb09efc234e4f"][:k], {"tokens": 30} if len(seen) % 3 == 0 else None
        )

    result = be.run_benchmark("rag-template", search, ["RR"], concurrency=1, warm_up=0, attempts=1)
    assert result["search"].outcomes == {"error": 1, "ok": 9}
    assert result["search"].cost == {"tokens": 10.0}
    assert result["search"].record.cost == {"tokens": 10.0}


def test_costs_whose_sum_overflows_have_a_mean() -> None:
    amount = 1e308
    result = be.run_benchmark(
        "rag-template", lambda _, k: Answer(["context-ba4eb09efc234e4f"][:k], {"t": amount}), ["RR"]
    )
    assert result.providers[0].cost == {"t": amount}


@pytest.mark.parametrize(
    ("amount", "found"),
    [
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (Decimal("NaN"), "NaN"),
        (Decimal("1e999"), "1E+999"),
        pytest.param(10**400, "a number too large for a float", id="beyond-floats"),
        pytest.param(10**5000, "a number too large for a float", id="beyond-text"),
        (Fraction(10**400), "a number too large for a float"),
        (np.float32("inf"), "inf"),
    ],
)
def test_a_cost_that_is_not_finite_fails_its_query(amount: Any, found: str) -> None:
    asked: list[str] = []

    def search(text: str, k: int) -> Answer:
        asked.append(text)
        return Answer(
            ["context-ba4eb09efc234e4f"][:k],
            {"usd": 1, "t": amount} if len(asked) == 1 else {"usd": 1},
        )

    result = be.run_benchmark("rag-template", search, ["RR"], concurrency=1, warm_up=0)
    assert result["search"].outcomes == {"error": 1, "ok": 9}
    assert f"cost 't' must be a finite number, found {found}" in " ".join(result["search"].warnings)
    assert result["search"].cost == {"usd": 1.0}


@pytest.mark.parametrize("amount", [Decimal("0.5"), np.float32(0.5), Fraction(1, 2), np.array(0.5)])
def test_costs_may_be_any_kind_of_number(amount: Any) -> None:
    result = be.run_benchmark(
        "rag-template", lambda _, k: Answer(["context-ba4eb09efc234e4f"][:k], {"t": amount}), ["RR"]
    )
    assert result.providers[0].cost == {"t": 0.5}


def test_a_journal_with_a_huge_cost_can_be_scored() -> None:
    """Older journals have such costs; a warning says that there is no mean."""
    tally = Tally()
    for amount in (10**400, 3):
        tally.add(Ranking("q", "ok", cost={"t": amount, "u": 2}))
    assert tally.cost == {"u": 2.0}
    assert tally.warnings(10) == ["reported a cost 't' too large for a number; it has no mean"]


def test_a_cost_must_be_a_mapping() -> None:
    with pytest.raises(ProviderError, match="cost: expected a mapping from names to numbers"):
        read_cost(3)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("NaN", "NaN is not valid JSON"),
        ("-Infinity", "-Infinity is not valid JSON"),
        ("1e999", "benchmarks[0].providers[1].cost.usd: expected a finite number"),
        ("[1]", "benchmarks[0].providers[1].cost.usd: expected a finite number"),
        ("1e999", "benchmarks[0].providers[1].answers[0].cost.usd: expected a finite number"),
    ],
)
def test_a_record_with_an_invalid_cost_is_rejected(
    value: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert berryeval("eval", "--quiet", "--output", "run") == 0
    file = Path("run/run.json")
    text = file.read_text(encoding="utf-8")
    there = text.index('"usd": 0.0004') if "answers" in message else text.rindex('"usd": 0.0004')
    changed = text[:there] + text[there:].replace("0.0004", value, 1)
    file.write_text(changed, encoding="utf-8")
    capsys.readouterr()
    assert berryeval("report", "run") != 0
    said = capsys.readouterr().err
    assert "bug" not in said
    assert message in " ".join(said.split())


@pytest.fixture
def paid_run(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the folder of a run with costs."""
    assert berryeval("eval", "--quiet", "--output", "run") == 0
    capsys.readouterr()
    return "run"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("markdown", "| tokens/query | usd/query |"),
        ("latex", "RR & tokens/query & usd/query"),
        ("junit", "usd/query 0.0004"),
        ("html", "812 tokens per query"),
    ],
)
def test_a_report_has_the_mean_cost_of_a_query(
    paid_run: str, name: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert berryeval("report", paid_run, "--format", name, "--output", "-") == 0
    assert words in capsys.readouterr().out


def test_the_csv_files_end_with_the_costs(paid_run: str) -> None:
    assert berryeval("report", paid_run, "--format", "csv", "--output", "out/") == 0
    (means,) = Path("out").glob("eval-aggregate-*-paid.csv")
    (hits,) = Path("out").glob("eval-detailed-*-paid.csv")
    for path in (means, hits):
        first, *rows = path.read_text(encoding="utf-8").splitlines()
        assert first.endswith(",cost_tokens,cost_usd")
        assert all(row.endswith(",812,0.0004") for row in rows)
    (free,) = Path("out").glob("eval-aggregate-*-bm25.csv")
    assert "cost" not in free.read_text(encoding="utf-8")


def test_compare_shows_times_and_costs(paid_run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("compare", paid_run) == 0
    out = capsys.readouterr().out
    assert "rag-template: times and costs" in out
    assert {"tokens/query", "usd/query", "812", "0.0004"} <= set(out.split())


@pytest.mark.parametrize("case", ["tags", "data", "same name"])
def test_compare_shows_times_and_costs_of_several_runs(
    case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever else differs between the runs: their tags, their data, or only their folders."""
    more = (*DRINKS.documents, Document("milk", "# Milk\n\nMilk is white.\n"))
    other = replace(DRINKS, documents=more) if case == "data" else DRINKS
    folders = ("a/run", "b/run" if case == "same name" else "b/other")
    for folder, benchmark in zip(folders, (DRINKS, other), strict=True):
        write_benchmark(benchmark, Path(folder).parent / "drinks")
        config = CONFIG.replace("rag-template", str(Path(folder).parent / "drinks"))
        config = config.replace("paying:paid", "paying:drink")
        Path("berryeval.yaml").write_text(config, encoding="utf-8")
        tags = ("--tag", f"model={folder[0]}") if case == "tags" else ()
        assert berryeval("eval", "--quiet", "--output", folder, *tags) == 0
    capsys.readouterr()
    assert berryeval("compare", *folders) == 0
    out = capsys.readouterr().out
    assert out.count("drinks: times and costs") == 1
    assert out.partition("times and costs")[2].split().count("812") == 2
    assert berryeval("compare", *folders, "--json") == 0
    systems = json.loads(capsys.readouterr().out)["data"]["systems"]["drinks"]
    costs = [one["cost_per_query"].get("tokens") for one in systems.values()]
    assert costs == [None, None, 812, 812]
    assert all(one["latency_seconds"]["p50"] > 0 for one in systems.values())


def test_a_gate_limits_the_cost(capsys: pytest.CaptureFixture[str]) -> None:
    rule = "gate: {rules: [{cost: usd, at_most: 0.0003, providers: [paid]}]}"
    Path("berryeval.yaml").write_text(f"{CONFIG}{rule}\n", encoding="utf-8")
    assert berryeval("eval") == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "cost in usd is 0.0004 per query; the gate allows at most 0.0003 usd per query" in out


def test_a_cost_above_its_limit_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    rule = "gate: {rules: [{cost: usd, at_most: 0.0003, providers: [paid]}]}"
    Path("berryeval.yaml").write_text(f"{CONFIG}{rule}\n", encoding="utf-8")
    assert berryeval("eval", "--quiet") == 1
    err = " ".join(capsys.readouterr().err.split())
    assert "error: Rule not met: cost in usd is 0.0004 per query; the gate allows at most" in err
    assert "(paid on rag-template)" in err


UNCLEAR = "[{metric: RR, at_least: 0.7, confidence: 0.95, providers: [bm25]}]"


@pytest.mark.parametrize(
    ("policy", "flags", "code", "failures"),
    [("fail", (), 1, "1"), ("pass", ("--strict",), 1, "1"), ("pass", (), 0, "0")],
)
def test_an_inconclusive_rule_that_fails_the_gate_is_marked(
    policy: str, flags: tuple[str, ...], code: int, failures: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """On stderr, in JUnit and as an annotation, from `eval` and from `gate`."""
    gate = f"gate: {{on_inconclusive: {policy}, rules: {UNCLEAR}}}"
    Path("berryeval.yaml").write_text(f"{CONFIG}{gate}\n", encoding="utf-8")
    command = ("eval", "--quiet", "--export", "junit", "--output", "run")
    assert berryeval(*command, *flags) == code
    err = " ".join(capsys.readouterr().err.split())
    assert ("error: Rule inconclusive, which fails the gate: RR is" in err) == bool(code)
    counts = f'failures="{failures}" errors="0" skipped="{1 - int(failures)}"'
    assert counts in Path("run/junit.xml").read_text(encoding="utf-8")
    assert (
        berryeval("gate", "run", "--export", "junit", "github", "--output", "out", *flags) == code
    )
    (summary,) = Path("out").glob("*.md")
    assert ("::error" in summary.read_text(encoding="utf-8")) == bool(code)
    assert counts in Path("out/junit.xml").read_text(encoding="utf-8")
    assert berryeval("report", "run", "--format", "junit", "--output", "again.xml") == 0
    assert counts in Path("again.xml").read_text(encoding="utf-8")  # the run remembers its gate


def test_a_unit_that_no_provider_reports_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt unit must not be inconclusive, since that passes."""
    rule = "gate: {rules: [{cost: usdd, at_most: 0.1}]}"
    Path("berryeval.yaml").write_text(f"{CONFIG}{rule}\n", encoding="utf-8")
    assert berryeval("eval", "--quiet", "--output", "run") == 2
    err = " ".join(capsys.readouterr().err.split())
    assert "the rule 'cost in usdd <= 0.1' names a unit that no provider reports" in err
    assert "they report tokens, usd; did you mean 'usd'?" in err
    assert Path("run/run.json").exists()  # the answers are kept
