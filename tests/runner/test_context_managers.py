"""Providers that are context managers: entered before the index, left after the last answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data.records import Chunk, Hit, Query
from berryeval.errors import ProviderError, RunFailedError
from berryeval.providers.base import Provider
from berryeval.runner.asking import index_and_ask
from berryeval.runner.attempts import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from berryeval.runner.outcome import Ranking

PATIENT = Policy(attempts=2, first_wait=0.001, warm_up=0)
SHORT = Policy(index_timeout=0.2, attempts=2, first_wait=0.001, warm_up=0)


class Recorder(Provider):
    """A provider that records the calls it gets; `wrong` names the one that fails."""

    def __init__(self, wrong: str = "") -> None:
        self.wrong = wrong
        self.calls: list[str] = []

    def done(self, what: str) -> None:
        self.calls.append(what)
        if what == self.wrong:
            msg = f"no {what}"
            raise ProviderError(msg)

    def index(self, chunks: Sequence[Chunk]) -> None:
        assert chunks
        self.done("index")

    def search(self, query: Query, k: int) -> Any:
        self.done("search")
        return [Hit(query.id, 1.0)][:k]


class Plain(Recorder):
    """A plain context manager."""

    def __enter__(self) -> Self:
        self.done("enter")
        return self

    def __exit__(self, kind: object, *_: object) -> bool:  # type: ignore[override]
        self.done(f"leave {getattr(kind, '__name__', '')}".strip())
        return True  # must not suppress the error


class Asynchronous(Recorder):
    """An asynchronous context manager; everything runs in one loop."""

    async def __aenter__(self) -> Self:
        self.loop = asyncio.get_running_loop()
        self.done("enter")
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        assert asyncio.get_running_loop() is self.loop
        self.done(f"leave {getattr(kind, '__name__', '')}".strip())


class OnlyEntered(Recorder):
    """A provider with `__aenter__` and an asynchronous `close`."""

    def __enter__(self) -> Self:
        self.done("enter")
        return self

    async def close(self) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        self.done("leave")


def run_provider(provider: Provider, policy: Policy = PATIENT) -> None:
    rankings: list[Ranking] = []
    queries = [Query("q", "text")]
    index_and_ask(provider, [Chunk("a", "d", "text")], queries, 5, rankings.append, policy)
    assert [one.outcome for one in rankings] == ["ok"]


@pytest.mark.parametrize("kind", [Plain, Asynchronous, OnlyEntered])
def test_a_context_manager_is_entered_and_left_once(kind: type[Recorder]) -> None:
    provider = kind()
    run_provider(provider)
    assert provider.calls == ["enter", "index", "search", "leave"]


@pytest.mark.parametrize("kind", [Plain, Asynchronous])
def test_a_context_manager_receives_the_error_and_cannot_suppress_it(kind: type[Recorder]) -> None:
    provider = kind("index")
    with pytest.raises(RunFailedError, match="no index"):
        run_provider(provider)
    assert provider.calls == ["enter", "index", "leave RunFailedError"]


@pytest.mark.parametrize("kind", [Plain, Asynchronous])
def test_a_provider_that_cannot_be_entered_is_not_left(kind: type[Recorder]) -> None:
    provider = kind("enter")
    with pytest.raises(RunFailedError, match="no enter"):
        run_provider(provider)
    assert provider.calls == ["enter"]


def test_a_provider_that_hangs_while_entering_fails_the_run() -> None:
    class Hanging(Recorder):
        async def __aenter__(self) -> Self:
            await asyncio.sleep(3600)
            return self

        async def __aexit__(self, *_: object) -> None:
            self.done("leave")

    provider = Hanging()
    with pytest.raises(RunFailedError, match=r"the provider was not entered within 0\.2 s"):
        run_provider(provider, SHORT)
    assert provider.calls == []
