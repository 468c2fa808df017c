"""`run-file` in a run: files of other data, with gaps, and beside the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from berryeval.data.run import Run
from berryeval.errors import ConfigurationError
from berryeval.workflows.settings import build_plan
from tests.workflows.worlds import benchmark, plan_of, results_of


def run_file(path: Path, *queries: str) -> dict[str, Any]:
    """A provider with the rankings of these queries."""
    Run.from_dict({query: {"d0": 1.0} for query in queries}).to_trec(path)
    return {"type": "run", "name": "r", "options": {"path": str(path)}}


def test_a_file_of_other_queries_fails(tmp_path: Path) -> None:
    """With some ids of both sides: zeros would say that the system is bad."""
    source = benchmark(tmp_path, 5)
    other = run_file(tmp_path / "other.trec", "101", "102", "103", "104")
    child = {"type": "run-file", "options": other["options"]}
    hybrid = {"type": "hybrid", "name": "h", "options": {"providers": ["bm25", child]}}
    found = results_of(plan_of(source, other, hybrid), tmp_path / "run")
    for one in found.values():
        assert one.scores is None
        assert one.failure == (
            f"{tmp_path / 'other.trec'}: has no ranking for any of 5 queries; the file has "
            "'101', '102', '103', the benchmark has 'q0', 'q1', 'q2'"
        )


def test_a_query_alone_that_a_file_does_not_have_is_a_gap(tmp_path: Path) -> None:
    """The file is of the same data, for it has other queries of the benchmark."""
    source = benchmark(tmp_path, 3)
    plan = plan_of(source, run_file(tmp_path / "r.trec", "q0", "q1"), filter={"id": "q2"})
    one = results_of(plan, tmp_path / "run")["r"]
    assert one.failure == ""
    assert "1 of 1 query has no hits in the run file and scores 0" in one.warnings


def test_a_benchmark_of_one_query_is_said_so(tmp_path: Path) -> None:
    """Not "1 queries"."""
    plan = plan_of(benchmark(tmp_path, 1), run_file(tmp_path / "r.trec", "z"))
    failure = results_of(plan, tmp_path / "run")["r"].failure
    assert "has no ranking for any of 1 query; the file has 'z', the benchmark has 'q0'" in failure


def test_queries_that_a_file_does_not_have_are_counted(tmp_path: Path) -> None:
    """Also when the run is made again from its journal; a whole file has nothing to be said of."""
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
def test_a_path_begins_where_the_configuration_lies(
    written: str, read: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of benchmarks do; also below a hybrid one."""
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
def test_what_is_no_provider_is_refused_as_ever(
    providers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its place in the file."""
    monkeypatch.chdir(tmp_path)
    text = f"benchmarks: [technical-docs]\nproviders: {providers}\n"
    Path("berryeval.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"berryeval\.yaml:2"):
        build_plan({})


def test_the_path_that_was_tried_is_named(tmp_path: Path) -> None:
    """So that a wrong folder is seen at once."""
    spec = {"type": "run-file", "name": "r", "options": {"path": str(tmp_path / "no.trec")}}
    failure = results_of(plan_of(benchmark(tmp_path, 2), spec), tmp_path / "run")["r"].failure
    assert f"{tmp_path / 'no.trec'}: no such file" in failure
