"""Answers that never end, or are very long: read as far as is needed, in bounded memory."""

from __future__ import annotations

import asyncio
import itertools
import threading
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data.records import Hit, Query
from berryeval.providers.answers import Answer
from berryeval.providers.callable import Function
from berryeval.runner.asking import ask_all
from berryeval.runner.attempts import Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from berryeval.runner.outcome import Ranking

ONCE = Policy(attempts=1, error_budget=1.0, warm_up=0)
CUT = (
    "the answer to the query 'q0' has at least 10,000 hits; the rest was not read; "
    "set BERRYEVAL_MAX_HITS to allow more"
)


def ask(search: Any, policy: Policy = ONCE, k: int = 5, *, batch: bool = False) -> list[Ranking]:
    found: list[Ranking] = []
    with Function(search, batch=batch) as provider:
        ask_all(provider, [Query("q0", "tea"), Query("q1", "tea")], k, found.append, policy)
    return sorted(found, key=lambda one: one.query_id)


def count_up() -> Iterator[Any]:
    return ({"id": f"d{number}", "text": "x" * 1000} for number in itertools.count())


async def find_endless(*_: Any) -> Any:
    await asyncio.sleep(0)
    return count_up()


ENDLESS: dict[str, Callable[[str, int], Any]] = {
    "generator": lambda *_: count_up(),
    "async function": find_endless,
    "list": lambda *_: [f"d{number}" for number in range(300_000)],
    "scores": lambda *_: {f"d{number}": 300_000 - number for number in range(300_000)},
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_as_many_hits_are_read_as_may_be_needed(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    for ranking in ask(ENDLESS[kind], Policy(concurrency=1, warm_up=0)):
        assert ranking.returned == 10_000
        assert [hit.id for hit in ranking.hits] == ["d0", "d1", "d2", "d3", "d4"]
    assert [record.getMessage() for record in caplog.records] == [CUT]


def test_an_answer_of_an_endless_generator_is_an_error() -> None:
    """It does not know how many are wanted: cutting it could lose some."""
    found = "ProviderError: Answer: expected at most 10,000 hits of a generator, found more; "
    for ranking in ask(lambda *_: Answer(count_up())):
        assert ranking.error == (f"{found}give it a list, or set BERRYEVAL_MAX_HITS to allow more")
    assert len(Answer(f"d{number}" for number in range(10_000))) == 10_000


def test_batches_are_cut_too() -> None:
    policy = Policy(batch=2, warm_up=0)
    rankings = ask(lambda texts, _: [count_up() for _ in texts], policy, batch=True)
    assert [(one.returned, one.batch) for one in rankings] == [(10_000, 2)] * 2


def test_ten_times_the_wanted_hits_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(*_: Any) -> Any:
        return ((f"d{number}", number) for number in range(40))

    monkeypatch.setenv("BERRYEVAL_MAX_HITS", "8")
    assert [one.returned for one in ask(search, k=3)] == [30, 30]
    assert [hit.id for hit in ask(search, k=3)[0].hits] == ["d29", "d28", "d27"]
    assert [one.returned for one in ask(search, k=5)] == [40, 40]


def test_very_long_texts_are_an_error_of_their_query() -> None:
    text = "x" * 1_000_000
    rankings = ask(lambda *_: (Hit(f"d{number}", text=text) for number in itertools.count()))
    long = "ProviderError: the first 32 hits have more than 32 MB of text"
    assert {one.error for one in rankings} == {f"{long}; set BERRYEVAL_MAX_ANSWER_MB to allow more"}


def test_a_very_long_error_is_cut() -> None:
    def fail(*_: Any) -> Any:
        raise OSError("äöü" * 10_000_000)

    for ranking in ask(fail):
        assert len(ranking.error) <= 10_000
        assert ranking.error.startswith("OSError: äöüäöü")


def test_a_generator_and_a_coroutine_stop_at_the_timeout(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A thread that only waits for more hits, or for an async function, ends."""
    stopped = []

    def drip(*_: Any) -> Any:
        pause = threading.Event()
        for number in itertools.count():
            pause.wait(0.02)
            yield f"d{number}"

    async def hang(text: str, *_: Any) -> Any:
        try:
            await asyncio.sleep(1000)
        finally:
            stopped.append(text)

    policy = Policy(timeout=0.5, attempts=1, error_budget=1.0, warm_up=0)
    for search in (drip, hang):
        assert {one.error for one in ask(search, policy)} == {"no answer within 0.5 s"}
    assert stopped == ["tea", "tea"]
    assert not caplog.records
