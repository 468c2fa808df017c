"""Providers are closed even if entering or leaving fails."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data.records import Chunk, Query
from berryeval.errors import ProviderError, RunFailedError
from berryeval.providers.answers import Answer
from berryeval.providers.base import Provider
from berryeval.providers.catalogue import build_provider
from berryeval.providers.hybrid import Hybrid
from berryeval.runner.asking import index_and_ask
from berryeval.runner.attempts import Policy

if TYPE_CHECKING:
    from typing_extensions import Self

    from berryeval.runner.outcome import Ranking

PATIENT = Policy(attempts=3, first_wait=0.001, warm_up=0)
SHORT = Policy(index_timeout=0.3, attempts=3, first_wait=0.001, warm_up=0)


class Part:
    """An asynchronous context manager that can be searched; `wrong` names the call that fails."""

    def __init__(self, wrong: str = "") -> None:
        self.wrong = wrong
        self.calls: list[str] = []

    async def done(self, what: str) -> None:
        self.calls.append(what)
        if what in self.wrong:
            msg = f"no {what}"
            raise ProviderError(msg, passing=True)

    async def __aenter__(self) -> Self:
        await self.done("enter")
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        await self.done(f"leave {getattr(kind, '__name__', '')}".strip())

    async def search(self, query: Query, k: int) -> Any:
        return Answer([query.id, "b"][:k], {"tokens": 2, "model": "small"})


class Slow(Part):
    """A part whose `__aenter__` never returns."""

    async def __aenter__(self) -> Self:
        await asyncio.sleep(3600)
        return self


class Given(Part, Provider):  # type: ignore[misc] # its search is asynchronous
    """The same as a provider."""


def run_provider(provider: Provider, policy: Policy = PATIENT) -> list[Ranking]:
    rankings: list[Ranking] = []
    chunks = [Chunk("a", "d", "text")]
    index_and_ask(provider, chunks, [Query("q", "text")], 5, rankings.append, policy)
    return rankings


def loops() -> set[threading.Thread]:
    found = {one for one in threading.enumerate() if one.name == "berryeval loop"}
    for one in found:
        one.join(timeout=30.0)
    return {one for one in found if one.is_alive()}


@pytest.mark.parametrize("kind", [Part, Given])
def test_entered_providers_are_left_if_the_next_cannot_be_entered(kind: type[Part]) -> None:
    first, second = kind(), kind("enter")
    with pytest.raises(RunFailedError, match=r"no enter \(tried 3 times\)"):
        run_provider(Hybrid([first, second]))
    assert first.calls == ["enter", "leave ProviderError"] * 3
    assert second.calls == ["enter"] * 3
    assert not loops()


@pytest.mark.parametrize("kind", [Part, Given])
def test_an_error_while_leaving_does_not_keep_others_open(kind: type[Part]) -> None:
    parts = [kind("leave"), kind("leave"), kind()]
    fused = Hybrid(parts)
    with pytest.raises(ProviderError, match="no leave"), fused:
        assert not any("leave" in part.calls for part in parts)
    assert [part.calls for part in parts] == [["enter", "leave"]] * 3
    assert not loops()


@pytest.mark.parametrize(("part", "policy"), [(Part("enter"), PATIENT), (Slow(), SHORT)])
@pytest.mark.parametrize("fused", [False, True])
def test_a_failed_enter_leaves_no_thread(part: Part, policy: Policy, fused: bool) -> None:
    with pytest.raises(RunFailedError, match="enter"):
        run_provider(Hybrid([part]) if fused else build_provider(part), policy)
    assert "leave" not in part.calls
    assert not loops()


def test_a_wrapped_object_receives_the_error() -> None:
    class Unindexed(Part):
        async def index(self, chunks: object) -> None:
            assert chunks
            await self.done("index")

    for wrap in (build_provider, lambda part: Hybrid([part])):
        part = Unindexed("index")
        with pytest.raises(RunFailedError):
            run_provider(wrap(part))
        assert part.calls[-1] == "leave RunFailedError"


def test_the_cost_of_a_fused_answer_is_the_sum_of_its_parts() -> None:
    (ranking,) = run_provider(Hybrid([Part(), Part(), lambda _, k: ["b"][:k]]))
    assert ranking.cost == {"tokens": 4, "model": "small"}
