"""One attempt at a search: called where it must run, and never for ever."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import math
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval._internal.aio import DaemonThreads
from berryeval._internal.text import counted
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers import WrongBatchError, one_for_each

if TYPE_CHECKING:
    from berryeval.data import Query
    from berryeval.providers import Provider


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


# How patient a run is: time per attempt, attempts per query, errors per run.

# What the world outside raises when it may be better in a moment.
_PASSING: Final = ConnectionError
_SURE_AFTER: Final = 20  # so many queries before a share of them says anything


class Progress(NamedTuple):
    """How many queries of a run have an outcome, and how many of these failed."""

    done: int = 0
    failed: int = 0


NOTHING_YET: Final = Progress()


@dataclass(frozen=True)
class Policy:
    """How patient a run is.

    Attributes:
        concurrency: how many queries, or batches of them, are asked at once.
        batch: how many queries go into one call of a provider that takes several; 1 asks one by
            one, which alone shows how long a query takes.
        timeout: seconds an attempt may take, that of a whole batch too.
        index_timeout: seconds a provider may take to index; closing it has `timeout`.
        attempts: how often a query is asked when errors that can pass come up.
        first_wait: seconds before the second attempt; each wait is twice the last, at most
            `longest_wait`, and shortened by chance so that many do not come back at once.
        longest_wait: seconds. A provider that asks for more in `Retry-After` is heard up to it.
        error_budget: the share of all queries of a run that may fail, in however many goes they
            are asked; a run that has used it up is stopped.
        warm_up: how many queries are asked once before anything is measured.
        seed: of the chance in the waits.
    """

    concurrency: int = 4
    batch: int = 1
    timeout: float = 30.0
    index_timeout: float = 3600.0
    attempts: int = 3
    first_wait: float = 0.5
    longest_wait: float = 30.0
    error_budget: float = 0.5
    warm_up: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be followed."""
        for name, least in (("concurrency", 1), ("batch", 1), ("attempts", 1), ("warm_up", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                msg = f"{name} must be a whole number from {least} up, found {value!r}"
                raise ConfigurationError(msg)
        for name in ("timeout", "index_timeout", "longest_wait"):
            if not getattr(self, name) > 0:
                msg = f"{name} must be more than 0 seconds, found {getattr(self, name)!r}"
                raise ConfigurationError(msg)
        if not self.first_wait >= 0:
            msg = f"first_wait must be 0 seconds or more, found {self.first_wait!r}"
            raise ConfigurationError(msg)
        if not 0 <= self.error_budget <= 1:
            msg = f"error_budget must lie between 0 and 1, found {self.error_budget!r}"
            raise ConfigurationError(msg)

    def wait_before(self, attempt: int, error: Exception, what: str) -> float | None:
        """Seconds to wait before this attempt; None if another would not help."""
        if attempt > self.attempts or not _may_pass(error):
            return None
        asked_for = getattr(error, "retry_after", None)
        if isinstance(asked_for, int | float) and asked_for >= 0:
            return min(asked_for, self.longest_wait)
        chance = random.Random(f"{self.seed}:{what}:{attempt}").uniform(0.5, 1.0)  # noqa: S311 - spreads retries, no secret
        longest: float = min(self.first_wait * 2 ** (attempt - 2), self.longest_wait)
        return longest * chance

    def is_hopeless(self, failed: int, done: int, total: int) -> bool:
        """Whether so many queries have failed that the rest is not worth asking."""
        if self.error_budget >= 1:
            return False
        if failed > self.error_budget * total:
            return True
        return done >= _SURE_AFTER and failed == done  # nothing has ever worked


def _may_pass(error: Exception) -> bool:
    if isinstance(error, ProviderError):
        return error.passing
    return isinstance(error, _PASSING) or is_timeout(error)


def is_timeout(error: BaseException) -> bool:
    """Whether an error says that something took too long."""
    import asyncio
    import concurrent.futures

    # The latter two are the first under other names from Python 3.11 on.
    return isinstance(error, TimeoutError | asyncio.TimeoutError | concurrent.futures.TimeoutError)
