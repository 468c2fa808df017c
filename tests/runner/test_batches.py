"""Several queries in one call, each with an outcome of its own."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data.records import Hit, Query
from berryeval.errors import ConfigurationError, RunFailedError
from berryeval.providers.base import Provider
from berryeval.runner.asking import ask_all
from berryeval.runner.attempts import Policy

if TYPE_CHECKING:
    from berryeval.runner.outcome import Ranking

Script = Callable[[Sequence[str], int], Any]
LATE = 2.0  # seconds; a provider that does not hang answers sooner, even on a busy machine


def quick(**changes: Any) -> Policy:
    settings = {
        "batch": 4, "first_wait": 0.001, "error_budget": 1.0, "warm_up": 0,
        "concurrency": 1,
    }  # fmt: skip
    return Policy(**{**settings, **changes})


def hits_of(name: str) -> list[Hit]:
    return [Hit(f"d-{name}", 1.0)]


@dataclass
class Several(Provider):
    """A provider whose answers to batches are scripted; single queries get the right hits."""

    script: Script
    alone: Callable[[str], Any] = hits_of
    together: list[list[str]] = field(default_factory=list)
    single: Counter[str] = field(default_factory=Counter)

    def search(self, query: Query, k: int) -> Any:
        assert k > 0
        self.single[query.id] += 1
        return self.alone(query.id)

    def search_many(self, queries: Sequence[Query], k: int) -> Any:
        assert k > 0
        names = [query.id for query in queries]
        self.together.append(names)
        return self.script(names, len(self.together))


def right(names: Sequence[str], _: int = 0) -> list[list[Hit]]:
    return [hits_of(name) for name in names]


def ask(provider: Provider, count: int = 10, policy: Policy | None = None) -> dict[str, Ranking]:
    rankings: list[Ranking] = []
    queries = [Query(f"q{number}", "text") for number in range(count)]
    ask_all(provider, queries, 2, rankings.append, policy or quick())
    assert sorted(r.query_id for r in rankings) == sorted(q.id for q in queries)
    return {ranking.query_id: ranking for ranking in rankings}


def test_queries_are_batched_in_their_order() -> None:
    provider = Several(right)
    rankings = ask(provider, 9)
    assert provider.together == [["q0", "q1", "q2", "q3"], ["q4", "q5", "q6", "q7"]]
    assert provider.single == {"q8": 1}
    assert {name: r.hits[0].id for name, r in rankings.items()} == {
        f"q{number}": f"d-q{number}" for number in range(9)
    }
    assert [rankings[name].batch for name in ("q0", "q7", "q8")] == [4, 4, 1]


def test_queries_are_asked_singly_by_default() -> None:
    provider = Several(right)
    rankings = ask(provider, 3, quick(batch=1))
    assert provider.together == []
    assert {r.batch for r in rankings.values()} == {1}


def test_a_provider_without_search_many_is_asked_singly() -> None:
    class Single(Provider):
        def search(self, query: Query, k: int) -> list[Hit]:
            return hits_of(query.id)[:k]

    assert {r.outcome for r in ask(Single()).values()} == {"ok"}


def test_the_latency_of_a_query_is_its_share_of_the_batch() -> None:
    def slow(names: Sequence[str], _: int) -> Any:
        time.sleep(0.1)
        return right(names)

    rankings = ask(Several(slow), 4)
    assert len({r.latency for r in rankings.values()}) == 1
    assert sum(r.latency for r in rankings.values()) >= 0.1
    assert rankings["q0"].to_json()["batch"] == 4


def test_asynchronous_batches_are_awaited() -> None:
    class Awaited(Several):
        async def search_many(self, queries: Sequence[Query], k: int) -> Any:
            return super().search_many(queries, k)

    class Later(Several):
        def search_many(self, queries: Sequence[Query], k: int) -> Any:
            async def answer() -> Any:
                return super(Later, self).search_many(queries, k)

            return answer()

    for kind in (Awaited, Later):
        rankings = ask(kind(right), 8)
        assert {(r.outcome, r.batch) for r in rankings.values()} == {("ok", 4)}


def test_answers_may_be_generators() -> None:
    lazy = Several(lambda names, _: (iter(hits_of(name)) for name in names))
    assert {r.outcome for r in ask(lazy, 8).values()} == {"ok"}


def raising(error: Exception) -> Any:
    raise error


def test_a_batch_is_retried_after_a_temporary_error() -> None:
    provider = Several(lambda names, n: raising(ConnectionError()) if n < 3 else right(names))
    rankings = ask(provider, 4)
    assert {(r.outcome, r.attempts, r.batch) for r in rankings.values()} == {("ok", 3, 4)}
    assert provider.single == {}


def test_a_bad_query_costs_only_itself() -> None:
    provider = Several(
        lambda names, _: raising(ValueError("no")) if "q5" in names else right(names),
        lambda name: raising(ValueError("no q5")) if name == "q5" else hits_of(name),
    )
    rankings = ask(provider, 12)
    assert [name for name, r in rankings.items() if r.outcome != "ok"] == ["q5"]
    assert (rankings["q5"].error, rankings["q5"].attempts) == (
        "ValueError: no q5 (tried 2 times)",
        2,
    )
    assert [rankings[name].batch for name in ("q0", "q4", "q8")] == [4, 1, 4]
    assert set(provider.single) == {"q4", "q5", "q6", "q7"}


def test_the_queries_of_a_batch_that_hangs_are_asked_singly() -> None:
    provider = Several(
        lambda *_: time.sleep(60), lambda name: time.sleep(60) if name == "q1" else hits_of(name)
    )
    rankings = ask(provider, 4, quick(attempts=1, timeout=LATE))
    assert len(provider.together) == 1
    assert {name: r.outcome for name, r in rankings.items()} == {
        "q0": "ok", "q1": "timeout", "q2": "ok", "q3": "ok",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ([[], []], "2"),
        ([[]] * 5, "5"),
        (iter([[]] * 100), "5"),
        (None, "NoneType None"),
        ("text", "str 'text'"),
        ({"q0": []}, "dict {'q0': []}"),
    ],
)
def test_a_wrong_number_of_answers_fails_the_whole_batch(answer: Any, found: str) -> None:
    rankings = ask(Several(lambda names, n: answer if n == 1 else right(names)), 8)
    said = f"ProviderError: expected 4 lists of hits, one per query, found {found}"
    assert {rankings[f"q{n}"].error for n in range(4)} == {said}
    assert {rankings[f"q{n}"].outcome for n in range(4, 8)} == {"ok"}


def test_an_invalid_answer_fails_only_its_own_query() -> None:
    bad = [[Hit("a", float("nan"))], "garbage", [], hits_of("q3")]
    rankings = ask(Several(lambda *_: bad), 4)
    assert [rankings[f"q{n}"].outcome for n in range(4)] == ["error", "error", "empty", "ok"]


def test_a_hopeless_run_is_stopped_within_a_batch() -> None:
    rankings: list[Ranking] = []
    provider = Several(lambda *_: raising(ValueError()), lambda _: raising(ValueError()))
    queries = [Query(str(number), "") for number in range(100)]
    with pytest.raises(RunFailedError, match="stopped after 11 of 11 queries failed"):
        ask_all(provider, queries, 5, rankings.append, quick(batch=50, error_budget=0.1))
    assert len(rankings) == 11


def test_the_warm_up_uses_a_batch_too() -> None:
    provider = Several(right)
    ask(provider, 4, quick(warm_up=1))
    assert provider.together == [["q0"], ["q0", "q1", "q2", "q3"]]


def test_a_batch_size_of_0_is_rejected() -> None:
    with pytest.raises(
        ConfigurationError, match="batch must be a whole number of at least 1, found 0"
    ):
        Policy(batch=0)
