"""Every query has an outcome, and a bad query is one bad outcome."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from berryeval.data.records import Hit, Query
from berryeval.errors import ConfigurationError, DataError, ProviderError, RunFailedError
from berryeval.providers.base import Provider
from berryeval.runner.asking import ask_all
from berryeval.runner.attempts import Policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from berryeval.runner.outcome import Ranking

QUICK = Policy(attempts=3, first_wait=0.001, error_budget=1.0)
# Seconds; a provider that does not hang answers sooner, even on a busy machine.
LATE = Policy(timeout=2.0, attempts=2, first_wait=0.001, error_budget=1.0)
GOOD = [Hit("a", 2.0), Hit("b", 1.0)]


@dataclass
class Scripted(Provider):
    """A provider that answers by a function of the query id and the attempt."""

    script: Callable[[str, int], Any]
    asked: Counter[str] = field(default_factory=Counter)
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def search(self, query: Query, k: int) -> Any:
        assert k > 0
        with self.lock:
            self.asked[query.id] += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return self.script(query.id, self.asked[query.id])
        finally:
            with self.lock:
                self.at_once -= 1


def ask(
    script: Callable[[str, int], Any], count: int = 5, policy: Policy = QUICK, k: int = 2
) -> tuple[dict[str, Ranking], Scripted]:
    provider = Scripted(script)
    rankings: list[Ranking] = []
    queries = [Query(f"q{number}", "text") for number in range(count)]
    ask_all(provider, queries, k, rankings.append, policy)
    assert sorted(r.query_id for r in rankings) == sorted(q.id for q in queries)
    return {ranking.query_id: ranking for ranking in rankings}, provider


def raising(error: Exception) -> Any:
    raise error


def test_every_query_is_asked_once_after_the_warm_up() -> None:
    rankings, provider = ask(lambda *_: GOOD)
    assert {r.outcome for r in rankings.values()} == {"ok"}
    assert provider.asked == {"q0": 2, "q1": 1, "q2": 1, "q3": 1, "q4": 1}
    assert [hit.rank for hit in rankings["q1"].hits] == [1, 2]


def test_an_error_is_the_outcome_of_its_query() -> None:
    answers: dict[str, Callable[[], Any]] = {
        "q1": lambda: raising(ValueError("no such index")),
        "q2": lambda: time.sleep(60),
        "q3": lambda: "garbage",
        "q4": lambda: [Hit("a", float("nan"))],
        "q5": list,
        "q6": lambda: [object()],
        "q7": lambda: None,
        "q8": lambda: [("a", "high")],
    }
    rankings, _ = ask(lambda name, _: answers.get(name, lambda: GOOD)(), 10, LATE)
    found = {name: (r.outcome, r.error) for name, r in rankings.items()}
    assert found.pop("q6")[1].startswith("ProviderError: hit 1: expected a hit with an id, found o")
    assert found.pop("q8")[1].startswith("ProviderError: hit 1 is not valid: could not convert")
    assert found == {
        "q0": ("ok", ""),
        "q1": ("error", "ValueError: no such index"),
        "q2": ("timeout", "no answer within 2 s (tried 2 times)"),
        "q3": ("error", "ProviderError: expected a list of hits, found str 'garbage'"),
        "q4": ("error", "ProviderError: hit 1 ('a'): the score must be finite, found nan"),
        "q5": ("empty", ""),
        "q7": ("error", "ProviderError: expected a list of hits, found NoneType None"),
        "q9": ("ok", ""),
    }


@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        (ConnectionError("refused"), 3),
        (ProviderError("busy", passing=True), 3),
        (ProviderError("busy", passing=True, retry_after=0.01), 3),
        (ProviderError("wrong password"), 1),
        (ValueError("bug"), 1),
    ],
)
def test_only_temporary_errors_are_retried(error: Exception, attempts: int) -> None:
    rankings, provider = ask(lambda *_: raising(error), 2)
    assert {(r.outcome, r.attempts) for r in rankings.values()} == {("error", attempts)}
    assert provider.asked["q1"] == attempts


def test_a_query_succeeds_after_a_temporary_error() -> None:
    rankings, _ = ask(
        lambda name, n: raising(ConnectionError()) if name == "q3" and n < 3 else GOOD
    )
    assert (rankings["q3"].outcome, rankings["q3"].attempts) == ("ok", 3)


def test_retry_after_is_respected_up_to_the_longest_wait() -> None:
    policy = Policy(first_wait=1.0, longest_wait=5.0, attempts=9)
    assert policy.wait_before(2, ProviderError("", passing=True, retry_after=3), "q") == 3
    assert policy.wait_before(2, ProviderError("", passing=True, retry_after=60), "q") == 5
    waits = [policy.wait_before(n, ConnectionError(), "q") or 0 for n in range(2, 10)]
    for place, wait in enumerate(waits):
        longest = min(2.0**place, 5.0)
        assert longest / 2 <= wait <= longest
    assert waits == [policy.wait_before(n, ConnectionError(), "q") for n in range(2, 10)]
    assert policy.wait_before(10, ConnectionError(), "q") is None


def test_repeats_and_hits_beyond_k_are_dropped_and_counted() -> None:
    many = [Hit(f"d{number % 20}", 50.0 - number) for number in range(40)]
    rankings, _ = ask(lambda *_: many, 1, k=5)
    ranking = rankings["q0"]
    assert [hit.id for hit in ranking.hits] == ["d0", "d1", "d2", "d3", "d4"]
    assert (ranking.returned, ranking.repeated) == (40, 20)


def test_hits_are_ordered_by_score_and_id() -> None:
    mixed = [Hit("a", 1.0), Hit("c", 2.0), Hit("b", 2.0)]
    rankings, _ = ask(lambda name, _: mixed if name == "q0" else ["x", "z", "y"], 2, k=3)
    assert [hit.id for hit in rankings["q0"].hits] == ["c", "b", "a"]
    assert [(hit.id, hit.rank) for hit in rankings["q1"].hits] == [("x", 1), ("z", 2), ("y", 3)]


@pytest.mark.parametrize("answer", [{"a": 2.0, "b": 1.0}, [("a", 2), ("b", 1)], [{"id": "a"}, "b"]])
def test_ids_pairs_and_dicts_are_hits(answer: Any) -> None:
    rankings, _ = ask(lambda *_: answer, 1)
    assert [hit.id for hit in rankings["q0"].hits] == ["a", "b"]


def test_numpy_scores_are_numbers() -> None:
    answer = [Hit("a", np.float32(0.5)), Hit("b", np.int64(2)), Hit("c", np.float64(1.5))]  # type: ignore[arg-type]
    rankings, _ = ask(lambda *_: answer, 1, k=3)
    assert [(hit.id, hit.score) for hit in rankings["q0"].hits] == [
        ("b", 2),
        ("c", 1.5),
        ("a", 0.5),
    ]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_concurrency_is_reached_but_not_exceeded(concurrency: int) -> None:
    enough = threading.Barrier(concurrency)

    def together(*_: object) -> list[Hit]:
        enough.wait(20)
        time.sleep(0.02)  # long enough for one more to start
        return GOOD

    rankings, provider = ask(together, 12, Policy(concurrency=concurrency, warm_up=0))
    assert {ranking.outcome for ranking in rankings.values()} == {"ok"}
    assert provider.most_at_once == concurrency


def test_a_run_beyond_its_error_budget_is_stopped() -> None:
    rankings: list[Ranking] = []
    provider = Scripted(lambda *_: raising(ValueError("no")))
    queries = [Query(str(number), "") for number in range(1000)]
    with pytest.raises(RunFailedError, match=r"stopped after 11 of 11 queries failed \(of 1000; "):
        ask_all(provider, queries, 5, rankings.append, Policy(concurrency=1, error_budget=0.01))
    assert len(rankings) == 11


def test_a_journal_that_cannot_be_written_ends_the_run() -> None:
    def full_disk(_: Ranking) -> None:
        raise DataError("the disk is full")

    with pytest.raises(DataError, match="disk"):
        ask_all(
            Scripted(lambda *_: GOOD), [Query("q", "")], 5, lambda _: raising(DataError("disk"))
        )


def test_asynchronous_providers_are_awaited() -> None:
    class Awaited(Provider):
        async def search(self, query: Query, k: int) -> list[Hit]:  # type: ignore[override]
            await asyncio.sleep(0.01)
            return [Hit(query.id, 1.0)][:k]

    rankings: list[Ranking] = []
    ask_all(Awaited(), [Query(str(n), "") for n in range(8)], 5, rankings.append)
    assert sorted(r.hits[0].id for r in rankings) == sorted(str(n) for n in range(8))


def test_a_run_works_inside_a_running_loop() -> None:
    async def notebook_cell() -> int:
        rankings: list[Ranking] = []
        ask_all(Scripted(lambda *_: GOOD), [Query("q", "")], 5, rankings.append)
        await asyncio.sleep(0)
        return len(rankings)

    assert asyncio.run(notebook_cell()) == 1


def test_a_hanging_provider_does_not_keep_the_process_alive() -> None:
    script = (
        "import time\n"
        "from berryeval.runner.attempts import Policy\n"
        "from berryeval.runner.asking import ask_all\n"
        "from berryeval.data import Query\n"
        "class Hanging:\n"
        "    def search(self, query, k): time.sleep(3600)\n"
        "policy = Policy(timeout=0.1, attempts=1, warm_up=0, error_budget=1.0)\n"
        "ask_all(Hanging(), [Query('q', '')], 5, lambda r: print(r.outcome), policy)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "timeout\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"concurrency": 0}, "concurrency must be a whole number of at least 1, found 0"),
        ({"attempts": True}, "attempts must be a whole number of at least 1, found True"),
        ({"timeout": 0}, "timeout must be more than 0 seconds, found 0"),
        ({"error_budget": 1.5}, "error_budget must be between 0 and 1, found 1.5"),
        ({"first_wait": -1}, "first_wait must be 0 seconds or more, found -1"),
    ],
)
def test_an_invalid_policy_is_rejected(options: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Policy(**options)


@pytest.mark.parametrize("error", [asyncio.CancelledError(), SystemExit(1), asyncio.TimeoutError()])
def test_cancellation_and_exit_end_only_one_query(error: BaseException) -> None:
    class Awaited(Provider):
        async def search(self, query: Query, k: int) -> list[Hit]:  # type: ignore[override]
            await asyncio.sleep(0)
            if query.id == "3":
                raise error
            return [Hit(query.id, 1.0)][:k]

    rankings: list[Ranking] = []
    ask_all(Awaited(), [Query(str(n), "") for n in range(8)], 5, rankings.append, QUICK)
    expected = "timeout" if isinstance(error, asyncio.TimeoutError) else "error"
    outcomes = {ranking.query_id: ranking.outcome for ranking in rankings}
    assert outcomes == {**{str(n): "ok" for n in range(8)}, "3": expected}


def test_coroutines_that_never_wait_stop_when_recording_fails() -> None:
    """Each of the other workers ends the query that it has begun, and begins no other."""
    asked: list[str] = []
    until_failure: list[str] = []

    class Eager(Provider):
        async def search(self, query: Query, k: int) -> list[Hit]:  # type: ignore[override]
            asked.append(query.id)
            return [][:k]

    def full_disk(ranking: Ranking) -> None:
        if ranking.query_id == "5":
            until_failure.extend(asked)
            msg = "disk"
            raise OSError(msg)

    queries = [Query(str(n), "") for n in range(1000)]
    with pytest.raises(OSError, match="disk"):
        ask_all(Eager(), queries, 5, full_disk, Policy(warm_up=0, concurrency=4))
    assert len(asked) - len(until_failure) <= 3


def test_threads_end_with_the_run() -> None:
    before = threading.active_count()
    release = threading.Event()
    ask(lambda name, _: release.wait(10) and GOOD if name == "q1" else GOOD, 6, Policy(
        timeout=0.05, attempts=1, error_budget=1.0, warm_up=0
    ))  # fmt: skip
    release.set()
    end = time.monotonic() + 30
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() <= before


@pytest.mark.parametrize("retry_after", ["Wed, 21 Oct 2026", float("nan"), -5, None])
def test_an_invalid_retry_after_is_ignored(retry_after: Any) -> None:
    error = ConnectionError()
    error.retry_after = retry_after  # type: ignore[attr-defined]
    wait = Policy(first_wait=1.0).wait_before(2, error, "q")
    assert wait is not None
    assert 0.5 <= wait <= 1.0


def test_searches_that_cannot_be_stopped_are_counted_and_bounded(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Queries that come later wait for a thread, and time out like the others."""
    monkeypatch.setenv("BERRYEVAL_MAX_STUCK_THREADS", "3")
    end, most = threading.Event(), 0

    def hang(*_: Any) -> Any:
        nonlocal most
        most = max(most, sum(one.name == "berryeval worker" for one in threading.enumerate()))
        end.wait()
        return GOOD

    before = sum(one.name == "berryeval worker" for one in threading.enumerate())
    policy = Policy(timeout=0.2, attempts=1, error_budget=1.0, warm_up=0, concurrency=2)
    try:
        rankings, _ = ask(hang, 12, policy)
    finally:
        end.set()
    assert {ranking.outcome for ranking in rankings.values()} == {"timeout"}
    assert most - before <= 4  # the third and fourth were asked at once
    said = [record.getMessage() for record in caplog.records]
    assert said == ["4 searches that timed out still run, because Python cannot stop a function"]
