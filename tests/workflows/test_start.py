"""`run_benchmark`: thresholds, rules, and settings of the run."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.data.records import Query


def test_thresholds_are_judged(caplog: pytest.LogCaptureFixture) -> None:
    """A missed threshold is logged and raises nothing."""
    limits = {"nDCG@10": 0.01, "P@5": 0.99}
    with caplog.at_level(logging.ERROR, "berryeval"):
        result = be.run_benchmark("rag-template", "bm25", ["RR"], thresholds=limits)
    assert {one.metric: one.status for one in result.verdicts} == {
        "nDCG@10": "pass",
        "P@5": "fail",
    }
    (line,) = caplog.messages
    assert line.startswith("Quality threshold not met: P@5=")


def test_rules_are_judged_against_a_baseline(tmp_path: Path) -> None:
    first = be.run_benchmark("rag-template", "bm25", ["RR"], folder=tmp_path / "one")
    assert first.verdicts == ()
    gate: dict[str, Any] = {
        "rules": [{"metric": "RR", "max_drop": 0.1}],
        "baseline": str(tmp_path / "one"),
    }
    second = be.run_benchmark("rag-template", "bm25", ["RR"], gate=gate, folder=tmp_path / "two")
    assert [one.status for one in second.verdicts] == ["pass"]


def test_rules_that_cannot_be_judged_are_rejected_before_the_run(tmp_path: Path) -> None:
    gate = {"rules": [{"metric": "RR", "at_least": 0.1, "providers": ["bm52"]}]}
    with pytest.raises(ConfigurationError, match="bm52"):
        be.run_benchmark("rag-template", "bm25", ["RR"], gate=gate, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_settings_of_run_can_be_given_as_arguments(tmp_path: Path) -> None:
    def fails(text: str, k: int) -> list[str]:
        raise ValueError(text[:k])

    folder = tmp_path / "run"
    result = be.run_benchmark(
        "rag-template", fails, ["RR"], folder=folder, error_budget=1.0, warm_up=0, attempts=1
    )
    assert result["fails"].outcomes == {"error": 10}
    assert result["fails"].failure == ""
    with pytest.raises(ConfigurationError, match="error_budget"):
        be.run_benchmark("rag-template", fails, ["RR"], error_budget=2.0)


LINE = re.compile(r"search: Query (\S+) returned no relevant results(.*)")


@pytest.mark.parametrize(
    ("benchmark", "asked"),
    [("rag-template", range(10)), ("technical-docs", range(6))],
)
def test_the_log_names_answered_queries_without_a_relevant_hit(
    benchmark: str, asked: range, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning counts them, with examples; failed queries are not among them."""
    loaded = be.load_benchmark(benchmark)
    ids = [loaded.queries[place].id for place in asked]
    judged = {(one.query_id, one.target.document or one.target.chunk) for one in loaded.judgments}

    def search(query: Query, k: int) -> list[str]:
        if query.id == ids[0]:
            raise ValueError(query.id)
        others = [one.id for one in loaded.documents if (query.id, one.id) not in judged]
        return [] if query.id == ids[1] else others[: min(k, 1)]

    with caplog.at_level(logging.DEBUG, "berryeval"):
        be.run_benchmark(
            loaded, search, ["nDCG@10"], limit=len(asked), error_budget=1.0, attempts=1
        )
    said = [
        (record.levelname, found[1], found[2])
        for record in caplog.records
        if (found := LINE.fullmatch(record.getMessage()))
    ]
    first, *others = ids[1:]
    rest = f" (and {len(others)} more like it: {others[0]}, {others[1]}, …)"
    assert said == [("WARNING", first, rest), *(("DEBUG", query, "") for query in others)]
