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

QUICK = Policy(timeout=5.0, index_timeout=0.2, attempts=2, first_wait=0.001, warm_up=0)


class Written(Provider):
    """Writes down what is done with it; `wrong` says what fails."""

    def __init__(self, wrong: str = "") -> None:
        self.wrong = wrong
        self.calls: list[str] = []

    def done(self, what: str) -> None:
        """Write it down."""
        self.calls.append(what)
        if what == self.wrong:
            msg = f"no {what}"
            raise ProviderError(msg)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Nothing to do."""
        assert chunks
        self.done("index")

    def search(self, query: Query, k: int) -> Any:
        """A hit."""
        self.done("search")
        return [Hit(query.id, 1.0)][:k]


class Plain(Written):
    """A plain context manager."""

    def __enter__(self) -> Self:
        self.done("enter")
        return self

    def __exit__(self, kind: object, *_: object) -> bool:  # type: ignore[override]
        self.done(f"leave {getattr(kind, '__name__', '')}".strip())
        return True  # holds nothing up


class Asynchronous(Written):
    """An asynchronous one; all is in one loop."""

    async def __aenter__(self) -> Self:
        self.loop = asyncio.get_running_loop()
        self.done("enter")
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        assert asyncio.get_running_loop() is self.loop
        self.done(f"leave {getattr(kind, '__name__', '')}".strip())


class OnlyEntered(Written):
    """One that says how to begin, and ends with an asynchronous `close`."""

    def __enter__(self) -> Self:
        self.done("enter")
        return self

    async def close(self) -> None:  # type: ignore[override]
        """Write it down."""
        await asyncio.sleep(0)
        self.done("leave")


def lived(provider: Provider) -> None:
    """Let it live a whole life."""
    rankings: list[Ranking] = []
    queries = [Query("q", "text")]
    index_and_ask(provider, [Chunk("a", "d", "text")], queries, 5, rankings.append, QUICK)
    assert [one.outcome for one in rankings] == ["ok"]


@pytest.mark.parametrize("kind", [Plain, Asynchronous, OnlyEntered])
def test_it_is_entered_and_left(kind: type[Written]) -> None:
    """Once, around all the rest."""
    provider = kind()
    lived(provider)
    assert provider.calls == ["enter", "index", "search", "leave"]


@pytest.mark.parametrize("kind", [Plain, Asynchronous])
def test_it_hears_what_went_wrong(kind: type[Written]) -> None:
    """And cannot hold it up."""
    provider = kind("index")
    with pytest.raises(RunFailedError, match="no index"):
        lived(provider)
    assert provider.calls == ["enter", "index", "leave RunFailedError"]


@pytest.mark.parametrize("kind", [Plain, Asynchronous])
def test_one_that_cannot_be_entered_is_not_left(kind: type[Written]) -> None:
    """Nothing was taken that could be given back."""
    provider = kind("enter")
    with pytest.raises(RunFailedError, match="no enter"):
        lived(provider)
    assert provider.calls == ["enter"]


def test_one_that_is_never_entered_is_given_up() -> None:
    """After as long as an index may take."""

    class Hanging(Written):
        async def __aenter__(self) -> Self:
            await asyncio.sleep(3600)
            return self

        async def __aexit__(self, *_: object) -> None:
            self.done("leave")

    provider = Hanging()
    with pytest.raises(RunFailedError, match=r"the provider was not entered within 0\.2 s"):
        lived(provider)
    assert provider.calls == []
