"""The error budget is that of the whole run, in however many goes it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import tests.workflows.scripted  # noqa: F401 - registers the provider
from berryeval.data.records import Hit, Query
from berryeval.errors import RunFailedError
from berryeval.providers.base import Provider
from berryeval.runner.asking import ask_all
from berryeval.runner.attempts import Policy, Progress
from tests.workflows.worlds import asked, benchmark, plan_of, results_of

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.runner.outcome import Ranking
    from berryeval.workflows.plan import Plan

ONE_BY_ONE = {"concurrency": 1, "attempts": 1, "error_budget": 0.5}


def plan(source: str, log: Path, faults: dict[str, str], **run: Any) -> Plan:
    """A plan that asks one query after the other; some of them fail."""
    spec = {"type": "scripted", "name": "s", "options": {"log": str(log), "faults": faults}}
    return plan_of(source, spec, run={**ONE_BY_ONE, **run})


def cut_off(folder: Path, count: int) -> None:
    """Leave only the first answers of the journal, as if the process had been killed then."""
    (file,) = folder.rglob("results.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[: 1 + count]))


@pytest.mark.parametrize("kept", [1, 5, 6, 9])
def test_a_resumed_run_ends_as_one_that_was_not(tmp_path: Path, kept: int) -> None:
    """4 of 10 errors are within the budget, also if most of what is left fails."""
    source, faults = benchmark(tmp_path, 10), dict.fromkeys(["q6", "q7", "q8", "q9"], "raise")
    asking = plan(source, tmp_path / "asked.txt", faults)
    whole = results_of(asking, tmp_path / "run")["s"]
    assert whole.failure == ""
    cut_off(tmp_path / "run", kept)
    again = results_of(asking, tmp_path / "run")["s"]
    assert (again.failure, again.outcomes) == ("", whole.outcomes)


def test_errors_of_before_are_part_of_the_budget(tmp_path: Path) -> None:
    """It is used up by the same query, and the message counts all that was asked."""
    source = benchmark(tmp_path, 10)
    faults = dict.fromkeys(["q0", "q1", "q2", "q5", "q6", "q7"], "raise")
    asking = plan(source, tmp_path / "asked.txt", faults)
    whole = results_of(asking, tmp_path / "run")["s"]
    assert "stopped after 6 of 8 queries failed (of 10; the error budget is 0.5)" in whole.failure
    cut_off(tmp_path / "run", 4)
    again = results_of(asking, tmp_path / "run")["s"]
    assert (again.failure, again.outcomes) == (whole.failure, whole.outcomes)


def test_errors_that_are_asked_again_count_when_they_fail_again(tmp_path: Path) -> None:
    """A run in which half of the queries failed may fail in them once more."""
    source, log = benchmark(tmp_path, 4), tmp_path / "asked.txt"
    asking = plan(source, log, {"q0": "raise", "q3": "raise"})
    assert results_of(asking, tmp_path / "run")["s"].failure == ""
    again = results_of(asking, tmp_path / "run", retry_errors=True)["s"]
    assert (again.failure, again.outcomes) == ("", {"ok": 2, "error": 2})
    assert asked(log)[4:] == ["q0", "q3"]


def test_a_run_whose_budget_is_used_up_asks_nothing_more(tmp_path: Path) -> None:
    """Resumed as it is, it is given up at once, and says what helps; that does help."""
    source, log = benchmark(tmp_path, 6), tmp_path / "asked.txt"
    faults = dict.fromkeys(["q0", "q1", "q2", "q3"], "raise")
    results_of(plan(source, log, faults), tmp_path / "run")
    assert len(asked(log)) == 4
    failure = results_of(plan(source, log, faults), tmp_path / "run")["s"].failure
    assert failure.startswith("nothing was asked: 4 of 4 queries failed before (of 6; ")
    assert "--retry-errors" in failure
    assert len(asked(log)) == 4
    patient = plan(source, log, faults, error_budget=0.7)
    again = results_of(patient, tmp_path / "run", retry_errors=True)["s"]
    assert (again.failure, again.outcomes) == ("", {"ok": 2, "error": 4})
    assert len(asked(log)) == 10


def test_one_good_answer_of_before_shows_that_something_works() -> None:
    """After 20 errors alone a run is given up, but not where a query was answered earlier."""

    class Broken(Provider):
        def search(self, query: Query, k: int) -> list[Hit]:
            raise ValueError(query.id, k)

    queries = [Query(f"q{number}", "") for number in range(30)]
    patience = Policy(concurrency=1, error_budget=0.99, warm_up=0)
    found: list[Ranking] = []
    with pytest.raises(RunFailedError, match=r"stopped after 20 of 20 queries failed \(of 30;"):
        ask_all(Broken(), queries, 5, found.append, patience)
    found.clear()
    ask_all(Broken(), queries[1:], 5, found.append, patience, Progress(done=1))
    assert len(found) == 29
