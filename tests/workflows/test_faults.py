"""Faults: each is the outcome of its query, and the other queries are right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import tests.workflows.scripted  # noqa: F401 - registers the provider
from berryeval.errors import RunFailedError
from berryeval.workflows.evaluation import evaluate
from berryeval.workflows.run_folder import RunFolder
from tests.workflows.worlds import LATE, benchmark, plan_of, results_of

if TYPE_CHECKING:
    from pathlib import Path

ERRORS = {
    "raise": "ValueError: no such index",
    "exit": "RuntimeError: SystemExit: 3",
    "stop": "RuntimeError: StopIteration",
    "refuse": "ConnectionRefusedError: nobody there",
    "busy": "ProviderError: busy",
    "none": "ProviderError: expected a list of hits, found NoneType None",
    "text": "ProviderError: expected a list of hits, found str 'garbage'",
    "number": "ProviderError: expected a list of hits, found int 7",
    "objects": "ProviderError: hit 1: expected a hit with an id, found object <object",
    "nan": "ProviderError: hit 1 ('a'): the score must be finite, found nan",
    "infinite": "ProviderError: hit 1 ('a'): the score must be finite, found inf",
    "huge": "ProviderError: hit 1 ('a'): the score must be finite, found 1000",
    "odd text": "ProviderError: hit 1 ('a'): expected text as a string, found NoneType None",
    "odd section": "DataError: section[0]: expected a string, found number 1",
    "odd extra": "ProviderError: hit 1 ('a'): extra holds 'id', which is a field of Hit itself",
    "odd id": "ProviderError: hit 1",
    "no id": "ProviderError: hit 1: expected a hit with an id",
}
TIMEOUTS = {
    "late": "TimeoutError: the socket was too slow",
    "hang": f"no answer within {LATE:g} s",
}
FINE = ("twice", "many", "odd metadata", "lazy", "endless")


def rankings(folder: Path) -> dict[str, Any]:
    """Read the rankings of the only journal below a folder."""
    from berryeval.runner.journal import read_journal

    (journal,) = folder.rglob("results.jsonl")
    return {ranking.query_id: ranking for ranking in read_journal(journal)}


def test_every_fault_is_the_outcome_of_its_query(tmp_path: Path) -> None:
    source = benchmark(tmp_path, 40)
    kinds = [*ERRORS, *TIMEOUTS, *FINE, "empty"]
    faults = {f"q{number}": kind for number, kind in enumerate(kinds)}
    spec = {"type": "scripted", "options": {"faults": faults}}
    plan = plan_of(source, spec, run={"timeout": LATE, "attempts": 2}, metrics=["RR", "R@5"])
    done = evaluate(plan, RunFolder(tmp_path / "run"))
    (result,) = done.results[0].providers
    assert done.count_failed() == len(ERRORS) + len(TIMEOUTS)
    assert done.failures == []
    found = rankings(tmp_path / "run")
    for query, kind in faults.items():
        expected = "error" if kind in ERRORS else "timeout" if kind in TIMEOUTS else "ok"
        assert found[query].outcome == ("empty" if kind == "empty" else expected), kind
        assert found[query].error.startswith({**ERRORS, **TIMEOUTS}.get(kind, "")), kind
    bad = len(ERRORS) + len(TIMEOUTS)
    assert result.outcomes == {"ok": 39 - bad, "error": len(ERRORS), "timeout": 2, "empty": 1}
    assert not result.failure
    values = result.scores.per_query("RR")
    assert {query for query, value in values.items() if value == 0.0} == {
        query for query, kind in faults.items() if kind not in FINE
    }
    assert all(value == 1.0 for query, value in values.items() if query not in faults)


def test_too_many_too_few_and_repeated_hits_are_warnings(tmp_path: Path) -> None:
    faults = {"q0": "twice", "q1": "many", "q2": "empty", "q3": "raise"}
    plan = plan_of(benchmark(tmp_path, 6), {"type": "scripted", "options": {"faults": faults}})
    result = results_of(plan, tmp_path / "run")["scripted:whole"]
    assert result.warnings == (
        (
            "2 of 14 retrieved ids are not in the benchmark, and cannot be relevant: 'more 0', "
            "'more 1' returned; the benchmark has 'd0', 'd1', 'd2'; is it a search over other "
            "documents? If not, map the ids (id_map)"
        ),
        "returned more than the 5 hits asked for in 1 query; cut to 5",
        "returned fewer than the 5 hits asked for in 4 queries",
        "returned 3 hits more than once; the first counts",
        "1 query failed and scores 0; the last: ValueError: no such index",
        result.warnings[-1],
    )
    assert result.warnings[-1].startswith(
        "run.trec was not written: a TREC file cannot hold the document id 'more 0', which is"
    )
    assert max(len(one.hits) for one in rankings(tmp_path / "run").values()) == 5


def test_a_temporary_error_is_retried(tmp_path: Path) -> None:
    faults = {"q1": "refuse", "q2": "busy", "q3": "late"}
    options = {"faults": faults, "passing": 2}
    plan = plan_of(benchmark(tmp_path, 5), {"type": "scripted", "options": options})
    result = results_of(plan, tmp_path / "run")["scripted:whole"]
    assert result.outcomes == {"ok": 5}
    assert {q: one.attempts for q, one in rankings(tmp_path / "run").items()} == {
        "q0": 1, "q1": 3, "q2": 3, "q3": 3, "q4": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("raise", "the index could not be built (ValueError: no such index)"),
        ("exit", "the index could not be built (RuntimeError: SystemExit: 3)"),
        ("hang", f"the index was not built within {LATE:g} s"),
        ("busy", "busy (tried 2 times)"),
        ("refuse", "the index could not be built (ConnectionRefusedError: nobody there) (tried 2"),
    ],
)
def test_an_index_that_cannot_be_built_fails_its_provider_only(
    tmp_path: Path, fault: str, message: str
) -> None:
    bad = {"type": "scripted", "name": "bad", "options": {"index_fault": fault}}
    good = {"type": "scripted", "name": "good"}
    run = {"index_timeout": LATE, "attempts": 2}
    plan = plan_of(benchmark(tmp_path, 3), bad, good, run=run)
    done = evaluate(plan, RunFolder(tmp_path / "run"))
    by_name = {one.name: one for one in done.results[0].providers}
    assert by_name["bad"].failure.startswith(message)
    with pytest.raises(RunFailedError, match="bad failed and has no scores: "):
        _ = by_name["bad"].scores
    assert by_name["bad"].record.scores is None
    assert by_name["good"].outcomes == {"ok": 3}
    assert done.failures == [f"bad on fruit: {by_name['bad'].failure}"]


@pytest.mark.parametrize("fault", ["raise", "exit", "hang"])
def test_a_provider_that_fails_to_close_keeps_its_answers(tmp_path: Path, fault: str) -> None:
    spec = {"type": "scripted", "options": {"close_fault": fault}}
    made = plan_of(benchmark(tmp_path, 3), spec, run={"timeout": LATE})
    result = results_of(made, tmp_path / "run")["scripted:whole"]
    assert result.outcomes == {"ok": 3}
    assert not result.failure
