"""The life of a provider: one loop for all of it, and an end whatever happens."""

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


class Recorded(Provider):
    """Writes down what is done with it."""

    def __init__(self, fails: int = 0) -> None:
        self.fails = fails
        self.calls: list[str] = []

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Fail as often as told."""
        self.calls.append(f"index {len(chunks)}")
        if len(self.calls) <= self.fails:
            msg = "not yet"
            raise ProviderError(msg, passing=True)

    def search(self, query: Query, k: int) -> Any:
        """A hit."""
        self.calls.append("search")
        return [Hit(query.id, 1.0)][:k]

    def close(self) -> None:
        """Write it down."""
        self.calls.append("close")


def asked(provider: Provider, policy: Policy = QUICK) -> list[Ranking]:
    """The rankings of a whole life."""
    rankings: list[Ranking] = []
    index_and_ask(provider, CHUNKS, QUERIES, 5, rankings.append, policy)
    return rankings


def test_a_provider_indexes_answers_and_is_closed() -> None:
    """Once each, in this order."""
    provider = Recorded()
    assert len(asked(provider)) == 6
    assert provider.calls == ["index 1", *["search"] * 7, "close"]


def test_an_index_that_fails_for_a_moment_is_made() -> None:
    """As often as the policy says."""
    provider = Recorded(fails=2)
    assert len(asked(provider)) == 6
    assert provider.calls[:3] == ["index 1"] * 3


def test_a_provider_whose_index_fails_is_closed() -> None:
    """And nothing is asked."""
    provider = Recorded(fails=9)
    with pytest.raises(RunFailedError, match=r"not yet \(tried 3 times\)"):
        asked(provider)
    assert provider.calls == [*["index 1"] * 3, "close"]


@pytest.mark.parametrize("kind", [ConfigurationError, MissingDependencyError])
def test_what_the_user_must_change_is_said_as_it_is(kind: type[Exception]) -> None:
    """It is raised at once, and the provider is closed."""

    class Unfinished(Recorded):
        def index(self, chunks: Sequence[Chunk]) -> None:
            raise kind(len(chunks))

    provider = Unfinished()
    with pytest.raises(kind):
        asked(provider)
    assert provider.calls == ["close"]


def test_a_hopeless_run_is_closed_too() -> None:
    """After it was given up."""

    class Broken(Recorded):
        def search(self, query: Query, k: int) -> Any:
            raise ValueError(query.id, k)

    provider = Broken()
    with pytest.raises(RunFailedError, match="stopped after"):
        asked(provider)
    assert provider.calls[-1] == "close"


def test_coroutines_share_one_loop() -> None:
    """A client that is opened for the index is there for the searches and the end."""

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
    assert {ranking.outcome for ranking in asked(provider)} == {"ok"}
    assert len(provider.loops) == 9
    assert len(set(map(id, provider.loops))) == 1


def test_a_coroutine_that_comes_too_late_is_closed() -> None:
    """An index that is given up before its coroutine was made leaves none that nobody awaits."""
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
            while not late or inspect.getcoroutinestate(late[0]) != CLOSED:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)

    with pytest.raises(RunFailedError, match=r"not built within 0\.01 s"):
        asked(Late(), Policy(index_timeout=0.01))
    assert inspect.getcoroutinestate(late[0]) == CLOSED


def test_an_end_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """By the name of the error alone: its text may hold secrets."""

    class Clinging(Recorded):
        def close(self) -> None:
            msg = "secret"
            raise OSError(msg)

    with caplog.at_level(logging.WARNING):
        assert len(asked(Clinging())) == 6
    assert "could not be closed (OSError)" in caplog.text
    assert "secret" not in caplog.text
