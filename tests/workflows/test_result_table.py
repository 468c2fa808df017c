"""The result of a benchmark in a notebook: a table, a frame, and few warnings."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import pytest

import berryeval as be
from tests._internal.test_notebook import Reader

if TYPE_CHECKING:
    from berryeval.data import Query


@pytest.fixture(scope="module")
def result() -> be.BenchmarkResult:
    def broken(query: Query, k: int) -> list[str]:
        raise ValueError(f"<no> {query.id} {k}")

    return be.run_benchmark(
        "rag-template",
        {"bm25": "bm25", "<i>pieces": "bm25:fixed-400", "broken": broken},
        ["nDCG@5", "RR"],
        thresholds={"nDCG@5": 0.99},
        attempts=1,
    )


def test_the_table_shows_providers_verdicts_failures_and_the_worst_queries(
    result: be.BenchmarkResult,
) -> None:
    shown = Reader(result._repr_html_()).texts
    assert shown[0] == "Benchmark rag-template"
    assert "10 queries · 20 hits per query" in shown[1]
    start = shown.index("bm25")
    assert shown[start + 1] == f"{result['bm25'].scores.mean['nDCG@5']:.3f}"
    assert any(text.startswith("fail: nDCG@5 is 0.8") for text in shown)
    assert any(text.startswith("broken: ") for text in shown)
    assert "<i>pieces" in shown
    first = shown[shown.index("Worst queries by nDCG@5") + 5]
    values = [result[name].scores.per_query("nDCG@5") for name in ("bm25", "<i>pieces")]
    means = {query: sum(one[query] for one in values) for query in values[0]}
    assert means[first] == min(means.values())
    assert repr(result).startswith("BenchmarkResult('rag-template', 10 queries, 'bm25' nDCG@5=0.8")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_has_a_row_per_provider_and_query(
    result: be.BenchmarkResult, library: Literal["pandas", "polars"]
) -> None:
    frame = result.to_frame(library)
    assert list(frame.columns) == [
        "provider", "query", "text", "category", "difficulty", "outcome", "seconds", "nDCG@5", "RR",
    ]  # fmt: skip
    assert list(frame["provider"]) == ["bm25"] * 10 + ["<i>pieces"] * 10 + ["broken"] * 10
    assert list(frame["RR"])[:10] == [
        result["bm25"].scores.per_query("RR")[query.id] for query in result.queries
    ]
    missing = frame["RR"].is_null() if library == "polars" else frame["RR"].isna()
    assert list(missing) == [False] * 20 + [True] * 10
    assert list(frame["outcome"]) == ["ok"] * 20 + ["failed"] * 10


def test_a_thousand_odd_queries_give_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    loaded = be.load_benchmark("rag-template")
    odd = tuple(replace(loaded.queries[0], id=f"q{place}") for place in range(1000))

    def search(_query: Query, _k: int) -> list[Any]:
        return []

    with caplog.at_level(logging.WARNING):
        be.run_benchmark(replace(loaded, queries=odd), {"nothing": search}, ["RR"])
    (line,) = caplog.messages
    assert line.startswith("nothing: Query q0 returned no relevant results (and 999 more like it:")
    assert len(line) < 120


def test_a_thousand_odd_queries_give_one_warning_when_a_run_is_scored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    qrels = {f"q{place}": {"a": 1.0} for place in range(1000)}
    run = {f"Q{place}": {"a": 1.0, "b": 1.0} for place in range(1000)}
    with caplog.at_level(logging.WARNING):
        be.evaluate(qrels, run, ["nDCG@10"])
        be.evaluate(qrels, {query.lower(): {"x": 1.0} for query in run}, ["nDCG@10"])
    assert len(caplog.messages) == 2
    assert all(len(line) < 400 for line in caplog.messages)
