"""`run-file` in a run: files of other data, with gaps, and next to the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from berryeval.data.run import Run
from berryeval.errors import ConfigurationError
from berryeval.workflows.settings import build_plan
from tests.workflows.worlds import benchmark, plan_of, results_of


def run_file(path: Path, *queries: str) -> dict[str, Any]:
    """Return a provider with the rankings of these queries."""
    Run.from_dict({query: {"d0": 1.0} for query in queries}).to_trec(path)
    return {"type": "run", "name": "r", "options": {"path": str(path)}}


def test_a_file_of_other_queries_fails(tmp_path: Path) -> None:
    """The message has ids of both sides: zeros would look like a bad system."""
    source = benchmark(tmp_path, 5)
    other = run_file(tmp_path / "other.trec", "101", "102", "103", "104")
    child = {"type": "run-file", "options": other["options"]}
    hybrid = {"type": "hybrid", "name": "h", "options": {"providers": ["bm25", child]}}
    found = results_of(plan_of(source, other, hybrid), tmp_path / "run")
    for one in found.values():
        assert one.record.scores is None
        assert one.failure == (
            f"{tmp_path / 'other.trec'}: has no ranking for any of 5 queries; the file has "
            "'101', '102', '103', the benchmark has 'q0', 'q1', 'q2'"
        )


def test_a_query_missing_in_the_file_is_a_gap(tmp_path: Path) -> None:
    source = benchmark(tmp_path, 3)
    plan = plan_of(source, run_file(tmp_path / "r.trec", "q0", "q1"), filter={"id": "q2"})
    one = results_of(plan, tmp_path / "run")["r"]
    assert one.failure == ""
    assert "1 of 1 query has no hits in the run file and scores 0" in one.warnings


def test_one_query_is_singular(tmp_path: Path) -> None:
    plan = plan_of(benchmark(tmp_path, 1), run_file(tmp_path / "r.trec", "z"))
    failure = results_of(plan, tmp_path / "run")["r"].failure
    assert "has no ranking for any of 1 query; the file has 'z', the benchmark has 'q0'" in failure


def test_queries_missing_in_the_file_are_a_warning(tmp_path: Path) -> None:
    source = benchmark(tmp_path, 4)
    plan = plan_of(source, run_file(tmp_path / "some.trec", "q0", "q3", "other"))
    for _ in range(2):
        told = results_of(plan, tmp_path / "run")["r"].warnings
        assert "2 of 4 queries have no hits in the run file and score 0" in told
    whole = plan_of(source, run_file(tmp_path / "whole.trec", "q0", "q1", "q2", "q3"))
    told = results_of(whole, tmp_path / "whole")["r"].warnings
    assert [text for text in told if "run file" in text] == []


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("runs/a.trec", "conf/runs/a.trec"),
        ("../a.trec", "conf/../a.trec"),
        ("/runs/a.trec", "/runs/a.trec"),
        ("${RUNS}/a.trec", "${RUNS}/a.trec"),
    ],
)
def test_a_path_starts_at_the_folder_of_the_configuration(
    written: str, read: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUNS", "/runs")
    Path("conf").mkdir()
    Path("conf/berryeval.yaml").write_text(
        "benchmarks: [technical-docs]\nproviders:\n"
        f"  - {{type: run-file, options: {{path: '{written}'}}}}\n"
        "  - type: hybrid\n    options:\n      providers:\n        - bm25\n        - run-file\n"
        f"        - {{type: run, options: {{path: '{written}'}}}}\n"
        f"      options: {{run-file: {{path: '{written}'}}, bm25: {{k1: 1.0}}}}\n",
        encoding="utf-8",
    )
    first, second = build_plan({}, "conf/berryeval.yaml").providers
    assert first.options == {"path": read}
    assert second.options["providers"][2]["options"] == {"path": read}
    assert second.options["options"] == {"run-file": {"path": read}, "bm25": {"k1": 1.0}}


@pytest.mark.parametrize(
    "providers",
    ["bm25", "[{type: run-file, options: [a]}]", "[{type: 3, options: {path: a}}]", "[[bm25]]"],
)
def test_an_invalid_provider_is_rejected_with_its_place(
    providers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = f"benchmarks: [technical-docs]\nproviders: {providers}\n"
    Path("berryeval.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"berryeval\.yaml:2"):
        build_plan({})


def test_a_missing_file_is_named_by_its_full_path(tmp_path: Path) -> None:
    spec = {"type": "run-file", "name": "r", "options": {"path": str(tmp_path / "no.trec")}}
    failure = results_of(plan_of(benchmark(tmp_path, 2), spec), tmp_path / "run")["r"].failure
    assert f"{tmp_path / 'no.trec'}: no such file" in failure
