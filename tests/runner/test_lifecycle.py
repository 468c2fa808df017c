"""The life of a provider in a run: one event loop, and always closed."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data.records import Chunk, Hit, Query
from berryeval.errors import (
    ConfigurationError,
    MissingDependencyError,
    ProviderError,
    RunFailedError,
)
from berryeval.providers.base import Provider
from berryeval.runner.asking import index_and_ask
from berryeval.runner.attempts import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.runner.outcome import Ranking

CHUNKS = [Chunk("a", "d", "text")]
QUERIES = [Query(f"q{n}", "text") for n in range(6)]
QUICK = Policy(attempts=3, first_wait=0.001)
CLOSED = inspect.CORO_CLOSED


class Recorder(Provider):
    """A provider that records the calls it gets."""

    def __init__(self, fails: int = 0) -> None:
        self.fails = fails
        self.calls: list[str] = []

    def index(self, chunks: Sequence[Chunk]) -> None:
        self.calls.append(f"index {len(chunks)}")
        if len(self.calls) <= self.fails:
            msg = "not yet"
            raise ProviderError(msg, passing=True)

    def search(self, query: Query, k: int) -> Any:
        self.calls.append("search")
        return [Hit(query.id, 1.0)][:k]

    def close(self) -> None:
        self.calls.append("close")


def run_provider(provider: Provider, policy: Policy = QUICK) -> list[Ranking]:
    rankings: list[Ranking] = []
    index_and_ask(provider, CHUNKS, QUERIES, 5, rankings.append, policy)
    return rankings


def test_a_provider_is_indexed_asked_and_closed_once() -> None:
    provider = Recorder()
    assert len(run_provider(provider)) == 6
    assert provider.calls == ["index 1", *["search"] * 7, "close"]


def test_an_index_is_retried_after_a_temporary_error() -> None:
    provider = Recorder(fails=2)
    assert len(run_provider(provider)) == 6
    assert provider.calls[:3] == ["index 1"] * 3


def test_a_provider_whose_index_fails_is_closed() -> None:
    provider = Recorder(fails=9)
    with pytest.raises(RunFailedError, match=r"not yet \(tried 3 times\)"):
        run_provider(provider)
    assert provider.calls == [*["index 1"] * 3, "close"]


@pytest.mark.parametrize("kind", [ConfigurationError, MissingDependencyError])
def test_configuration_errors_are_raised_unchanged(kind: type[Exception]) -> None:
    class Unfinished(Recorder):
        def index(self, chunks: Sequence[Chunk]) -> None:
            raise kind(len(chunks))

    provider = Unfinished()
    with pytest.raises(kind):
        run_provider(provider)
    assert provider.calls == ["close"]


def test_a_provider_is_closed_after_a_hopeless_run() -> None:
    class Broken(Recorder):
        def search(self, query: Query, k: int) -> Any:
            raise ValueError(query.id, k)

    provider = Broken()
    with pytest.raises(RunFailedError, match="stopped after"):
        run_provider(provider)
    assert provider.calls[-1] == "close"


def test_coroutines_share_one_loop() -> None:
    class Awaited(Provider):
        def __init__(self) -> None:
            self.loops: list[asyncio.AbstractEventLoop] = []

        async def _note(self) -> None:
            await asyncio.sleep(0)
            self.loops.append(asyncio.get_running_loop())

        async def index(self, chunks: Sequence[Chunk]) -> None:  # type: ignore[override]
            assert chunks
            await self._note()

        async def search(self, query: Query, k: int) -> list[Hit]:  # type: ignore[override]
            await self._note()
            return [Hit(query.id, 1.0)][:k]

        async def close(self) -> None:  # type: ignore[override]
            await self._note()

    provider = Awaited()
    assert {ranking.outcome for ranking in run_provider(provider)} == {"ok"}
    assert len(provider.loops) == 9
    assert len(set(map(id, provider.loops))) == 1


def test_a_coroutine_returned_after_the_timeout_is_closed() -> None:
    late: list[Any] = []
    release = threading.Event()

    class Late(Provider):
        def index(self, chunks: Sequence[Chunk]) -> Any:
            async def work() -> int:
                return len(chunks)

            release.wait(20)
            late.append(work())
            return late[0]

        def search(self, query: Query, k: int) -> list[Hit]:
            return [Hit(query.id, 1.0)][:k]

        async def close(self) -> None:  # type: ignore[override]
            release.set()
            while not late or inspect.getcoroutinestate(late[0]) != CLOSED:  # noqa: ASYNC110 - no event to await
                await asyncio.sleep(0.01)

    with pytest.raises(RunFailedError, match=r"not built within 0\.01 s"):
        run_provider(Late(), Policy(index_timeout=0.01))
    assert inspect.getcoroutinestate(late[0]) == CLOSED


def test_an_error_while_closing_is_logged_without_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Clinging(Recorder):
        def close(self) -> None:
            msg = "secret"
            raise OSError(msg)

    with caplog.at_level(logging.WARNING):
        assert len(run_provider(Clinging())) == 6
    assert "could not be closed (OSError)" in caplog.text
    assert "secret" not in caplog.text
