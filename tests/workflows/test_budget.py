"""The error budget is that of the whole run, however often it is resumed."""

from __future__ import annotations

import itertools
import threading
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
    """Build a plan that asks one query at a time; some of them fail."""
    spec = {"type": "scripted", "name": "s", "options": {"log": str(log), "faults": faults}}
    return plan_of(source, spec, run={**ONE_BY_ONE, **run})


def cut_off(folder: Path, count: int) -> None:
    """Truncate the journal after the first answers, as if the process had been killed."""
    (file,) = folder.rglob("results.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[: 1 + count]))


@pytest.mark.parametrize("kept", [1, 5, 6, 9])
def test_a_resumed_run_ends_like_an_uninterrupted_one(tmp_path: Path, kept: int) -> None:
    """4 of 10 errors are within the budget, even if most remaining queries fail."""
    source, faults = benchmark(tmp_path, 10), dict.fromkeys(["q6", "q7", "q8", "q9"], "raise")
    asking = plan(source, tmp_path / "asked.txt", faults)
    whole = results_of(asking, tmp_path / "run")["s"]
    assert whole.failure == ""
    cut_off(tmp_path / "run", kept)
    again = results_of(asking, tmp_path / "run")["s"]
    assert (again.failure, again.outcomes) == ("", whole.outcomes)


def test_earlier_errors_count_against_the_budget(tmp_path: Path) -> None:
    source = benchmark(tmp_path, 10)
    faults = dict.fromkeys(["q0", "q1", "q2", "q5", "q6", "q7"], "raise")
    asking = plan(source, tmp_path / "asked.txt", faults)
    whole = results_of(asking, tmp_path / "run")["s"]
    assert "stopped after 6 of 8 queries failed (of 10; the error budget is 0.5)" in whole.failure
    cut_off(tmp_path / "run", 4)
    again = results_of(asking, tmp_path / "run")["s"]
    assert (again.failure, again.outcomes) == (whole.failure, whole.outcomes)


def test_retried_errors_count_only_if_they_fail_again(tmp_path: Path) -> None:
    source, log = benchmark(tmp_path, 4), tmp_path / "asked.txt"
    asking = plan(source, log, {"q0": "raise", "q3": "raise"})
    assert results_of(asking, tmp_path / "run")["s"].failure == ""
    again = results_of(asking, tmp_path / "run", retry_errors=True)["s"]
    assert (again.failure, again.outcomes) == ("", {"ok": 2, "error": 2})
    assert asked(log)[4:] == ["q0", "q3"]


def test_a_run_without_budget_asks_nothing_more(tmp_path: Path) -> None:
    """The message names what helps, and that does help."""
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


def test_an_earlier_answer_keeps_a_run_going() -> None:
    """20 errors in a row end a run, unless a query was answered before."""

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


class InOrder(Provider):
    """A provider that is asked all queries at once and answers in an order; all but one fail."""

    def __init__(self, order: list[str], good: str = "") -> None:
        self._order, self._good = order, good
        self._started = threading.Barrier(len(order))
        self._may_end = {query: threading.Event() for query in order}

    def search(self, query: Query, k: int) -> list[Hit]:
        self._started.wait()
        if query.id == self._order[0]:
            self._may_end[query.id].set()
        self._may_end[query.id].wait()
        if query.id == self._good:
            return [Hit("d0", 1.0)][:k]
        raise ValueError(query.id)

    def let_next_end(self, ranking: Ranking) -> None:
        """Let the next query of the order end: the one before it was recorded."""
        for query in self._order[self._order.index(ranking.query_id) + 1 :][:1]:
            self._may_end[query].set()


@pytest.mark.parametrize("order", list(itertools.permutations(["q0", "q1", "q2"])))
@pytest.mark.parametrize(("good", "failed"), [("", 3), ("q1", 2)])
def test_queries_in_flight_are_counted_whatever_their_order(
    order: tuple[str, ...], good: str, failed: int
) -> None:
    provider = InOrder(list(order), good)
    found: list[Ranking] = []

    def record(ranking: Ranking) -> None:
        found.append(ranking)
        provider.let_next_end(ranking)

    queries = [Query(query, "") for query in sorted(order)]
    message = rf"stopped after {failed} of 3 queries failed \(of 3; .* 0.5\); last error: ValueErr"
    with pytest.raises(RunFailedError, match=message):
        ask_all(provider, queries, 5, record, Policy(concurrency=4, warm_up=0, attempts=1))
    assert [ranking.query_id for ranking in found] == list(order)


def test_a_query_in_flight_may_save_a_run() -> None:
    """20 errors in a row stop a run, unless one of the queries in flight is answered."""
    hopeless = threading.Event()

    class Slow(Provider):
        def search(self, query: Query, k: int) -> list[Hit]:
            if query.id != "q0":
                raise ValueError(query.id)
            hopeless.wait()
            return [Hit("d0", 1.0)][:k]

    found: list[str] = []

    def record(ranking: Ranking) -> None:
        found.append(ranking.query_id)
        if len(found) == 20:
            hopeless.set()

    queries = [Query(f"q{number}", "") for number in range(30)]
    ask_all(Slow(), queries, 5, record, Policy(concurrency=2, error_budget=0.99, warm_up=0))
    assert found[20] == "q0"
    assert sorted(found) == sorted(query.id for query in queries)


@pytest.mark.parametrize("concurrency", [1, 2, 4])
def test_a_run_in_which_every_query_failed_has_no_scores(tmp_path: Path, concurrency: int) -> None:
    """The sentence agrees with what was recorded, and the same holds when it is resumed."""
    source, log = benchmark(tmp_path, 3), tmp_path / "asked.txt"
    faults = dict.fromkeys(["q0", "q1", "q2"], "raise")
    asking = plan(source, log, faults, concurrency=concurrency)
    found = results_of(asking, tmp_path / "run")["s"]
    count = found.outcomes["error"]
    assert count == min(3, concurrency + 1)
    assert found.failure.startswith(f"stopped after {count} of {count} queries failed (of 3; ")
    assert found.record.scores is None
    again = results_of(asking, tmp_path / "run")["s"]
    assert again.failure.startswith(f"nothing was asked: {count} of {count} queries failed before")
    assert again.record.scores is None
    assert len(asked(log)) == count
