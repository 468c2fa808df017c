"""One attempt at a search: called where it must run, and never for ever."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ProviderError
from berryeval.harness.threads import DaemonThreads
from berryeval.io.words import counted
from berryeval.providers.answers import WrongBatchError, one_for_each

if TYPE_CHECKING:
    from berryeval.providers.base import Provider
    from berryeval.records import Query

__all__ = ["Attempts", "TooSlowError", "said_by", "with_attempts"]

_FAR_TOO_MANY: Final = 1000  # times as many hits as asked for: a generator may never end


class TooSlowError(TimeoutError):
    """Our own patience has ended."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")


def said_by(error: Exception) -> str:
    """An error in one line of text."""
    if isinstance(error, TooSlowError):
        return str(error)
    if isinstance(error, WrongBatchError):
        return f"{ProviderError.__name__}: {error}"
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def with_attempts(text: str, attempts: int, *, even_once: bool = False) -> str:
    """What went wrong, and how often it was tried if that was more than once."""
    return f"{text} (tried {counted(attempts, 'time')})" if attempts > 1 or even_once else text


class Attempts:
    """Attempts at searching one provider; ordinary functions run in threads, coroutines here.

    Attributes:
        takes_batches: whether the provider can be asked several queries at once.
    """

    def __init__(self, provider: Provider, k: int, timeout: float) -> None:
        self._search: Callable[..., Any] = provider.search
        self._search_many = getattr(provider, "search_many", None)
        self._k = k
        self._timeout = timeout
        self._threads = DaemonThreads()
        self.takes_batches = callable(self._search_many)

    def close(self) -> None:
        """Let the threads end."""
        self._threads.close()

    async def one(self, query: Query) -> Any:
        """What the provider says to a query."""
        return await self._within_patience(self._search, query, self._with_an_end)

    async def many(self, queries: Sequence[Query]) -> list[Any]:
        """What it says to each of several queries."""
        several = self._search_many
        if several is None:
            msg = "the provider takes no batches"
            raise ProviderError(msg)

        def with_an_end(answers: Any) -> Any:
            if isinstance(answers, Awaitable):
                return answers
            return [self._with_an_end(answer) for answer in one_for_each(answers, len(queries))]

        answers = await self._within_patience(several, queries, with_an_end)
        return one_for_each(answers, len(queries))

    async def _within_patience(
        self, search: Callable[..., Any], asked: Any, with_an_end: Callable[[Any], Any]
    ) -> Any:
        import anyio

        with anyio.move_on_after(self._timeout):
            try:
                return await self._called(search, asked, with_an_end)
            except asyncio.CancelledError:
                if anyio.current_effective_deadline() == -math.inf:  # by us
                    raise
                msg = "the provider has cancelled its own search"
                raise ProviderError(msg) from None
            except SystemExit as error:
                msg = f"the provider wanted to end the process (SystemExit: {error})"
                raise ProviderError(msg) from None
        raise TooSlowError(self._timeout)

    async def _called(
        self, search: Callable[..., Any], asked: Any, with_an_end: Callable[[Any], Any]
    ) -> Any:
        if inspect.iscoroutinefunction(search):
            await asyncio.sleep(0)  # one that never waits would leave nobody else a turn
            return await search(asked, self._k)
        answer = await self._threads.call(lambda: with_an_end(search(asked, self._k)))
        return await answer if isinstance(answer, Awaitable) else answer

    def _with_an_end(self, answer: Any) -> Any:
        if isinstance(answer, Iterator):
            return list(itertools.islice(answer, _FAR_TOO_MANY * self._k))
        return answer
