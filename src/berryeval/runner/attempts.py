"""One attempt at a search, with a time limit, and the policy for repeating it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import logging
import math
import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval._internal.aio import DaemonThreads, settle
from berryeval._internal.masking import cut
from berryeval._internal.plain import describe_error, make_plain
from berryeval._internal.text import pluralize
from berryeval._internal.validate import is_number, require, require_whole
from berryeval.errors import ProviderError
from berryeval.providers import WrongBatchError, check_batch
from berryeval.runner.outcome import read_answer

if TYPE_CHECKING:
    from berryeval.data import Query
    from berryeval.providers import Provider
    from berryeval.runner.outcome import PlainAnswer


log = logging.getLogger("berryeval")
_LONGEST_ERROR: Final = 2000  # characters; some errors include a whole web page


class TooSlowError(TimeoutError):
    """An attempt that exceeded the timeout of the run."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")


def explain_error(error: Exception) -> str:
    """Return an error of any provider as text."""
    if type(error) is TooSlowError:
        return str(error)
    if type(error) is WrongBatchError:
        return f"{ProviderError.__name__}: {error}"
    return cut(describe_error(error), _LONGEST_ERROR)


def add_attempts(text: str, attempts: int, *, even_once: bool = False) -> str:
    """Append the number of attempts to a message if there was more than one."""
    return f"{text} (tried {pluralize(attempts, 'time')})" if attempts > 1 or even_once else text


class Reply(NamedTuple):
    """What a provider answered, as plain data, and when (by `time.perf_counter`)."""

    time: float
    content: Any


def _try_to_read(answer: Any, k: int) -> PlainAnswer | Exception:
    try:
        return read_answer(answer, k)
    except Exception as error:  # noqa: BLE001 - a bad answer fails only its own query
        return error


class Attempts:
    """Attempts at searching one provider: ordinary functions run in threads, coroutines here."""

    def __init__(self, provider: Provider, k: int, timeout: float) -> None:
        self._search: Callable[..., Any] = provider.search
        self._search_many: Any = getattr(provider, "search_many", None)
        self._k = k
        self._timeout = timeout
        self._threads = DaemonThreads()
        self.takes_batches = callable(self._search_many)

    async def close(self) -> None:
        """Let the threads end, and tell how many cannot be stopped."""
        try:
            interrupted = sys.exc_info()[0] is not None  # nobody waits then
            if not interrupted and (count := await self._threads.wait_for_stuck()):
                log.warning(
                    "%s that timed out still run%s, because Python cannot stop a function",
                    pluralize(count, "search", "searches"), "s" * (count == 1),
                )  # fmt: skip
        finally:
            self._threads.close()

    async def search(self, query: Query) -> Reply:
        """Ask one query; the content of the reply is an answer."""

        def receive(answer: Any) -> Reply:
            return Reply(time.perf_counter(), read_answer(answer, self._k))

        return await self._call_in_time(self._search, query, receive)

    async def search_many(self, queries: Sequence[Query]) -> Reply:
        """Ask several queries; the content of the reply is an answer or an error for each."""

        def receive(answers: Any) -> Reply:
            given = check_batch(answers, len(queries))
            return Reply(time.perf_counter(), [_try_to_read(one, self._k) for one in given])

        return await self._call_in_time(self._search_many, queries, receive)

    async def _call_in_time(
        self, search: Callable[..., Any], asked: Any, receive: Callable[[Any], Reply]
    ) -> Reply:
        """Call the provider and read what it returns, in a thread: reading may raise or hang."""
        import anyio

        def call() -> Reply | Awaitable[Any]:
            answer = search(asked, self._k)
            return answer if isinstance(answer, Awaitable) else receive(answer)

        with anyio.move_on_after(self._timeout):
            try:
                if inspect.iscoroutinefunction(search):
                    await asyncio.sleep(0)  # one that never waits would block all other queries
                    waiting = search(asked, self._k)
                elif isinstance(waiting := await self._threads.call(call, self._timeout), Reply):
                    return waiting
                answer = await settle(waiting)
                return await self._threads.call(lambda: receive(answer), self._timeout)
            except asyncio.CancelledError:
                if anyio.current_effective_deadline() == -math.inf:  # the run was cancelled
                    raise
                raise ProviderError("the provider cancelled its own search") from None
        raise TooSlowError(self._timeout)


# A run in which no query has worked is stopped after this many queries.
_MIN_QUERIES: Final = 20


class Progress(NamedTuple):
    """Number of queries of a run that have an outcome, and of those that failed."""

    done: int = 0
    failed: int = 0


NOTHING_YET: Final = Progress()


@dataclass(frozen=True)
class Policy:
    """Concurrency, timeouts, retries and error budget of a run.

    Attributes:
        concurrency: Number of queries, or batches, asked at once.
        batch: Queries per call of a provider that accepts several; only 1 measures the latency of
            single queries.
        timeout: Seconds per attempt, also for a whole batch.
        index_timeout: Seconds for indexing; closing a provider has `timeout`.
        attempts: Maximum number of attempts per query after temporary errors.
        first_wait: Seconds before the second attempt. Each wait is twice the previous one, at most
            `longest_wait`, with random jitter so that clients do not retry in step.
        longest_wait: Maximum wait in seconds, also for a `Retry-After` that asks for more.
        error_budget: Fraction of all queries of a run that may fail, over all resumed parts; a run
            that exceeds it is stopped.
        warm_up: Number of queries asked once before anything is measured.
        seed: Random seed of the jitter.
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
        for name in ("concurrency", "batch", "attempts"):
            require_whole(name, getattr(self, name))
        require_whole("warm_up", self.warm_up, least=0)
        for name in ("timeout", "index_timeout", "longest_wait"):
            value = getattr(self, name)
            require(value > 0, name, "more than 0 seconds", value)
        require(self.first_wait >= 0, "first_wait", "0 seconds or more", self.first_wait)
        require(0 <= self.error_budget <= 1, "error_budget", "between 0 and 1", self.error_budget)

    def wait_before(self, attempt: int, error: Exception, key: str) -> float | None:
        """Return the seconds to wait before an attempt after an error; None if it would not help.

        The key, such as a query id, decides the jitter together with the seed.
        """
        if attempt > self.attempts or not is_temporary(error):
            return None
        asked_for = _read_wait(error)
        if asked_for is not None:
            return min(asked_for, self.longest_wait)
        jitter = random.Random(f"{self.seed}:{key}:{attempt}").uniform(0.5, 1.0)  # noqa: S311 - spreads retries, no secret
        longest: float = min(self.first_wait * 2 ** (attempt - 2), self.longest_wait)
        return longest * jitter

    async def wait_to_retry(self, attempt: int, error: Exception, key: str) -> bool:
        """Wait after a failed attempt; return whether to try again."""
        import anyio

        wait = self.wait_before(attempt + 1, error, key)
        if wait is None:
            return False
        await anyio.sleep(wait)
        return True

    def is_hopeless(self, failed: int, done: int, total: int) -> bool:
        """Whether too many queries have failed to ask the rest."""
        all_failed = done >= _MIN_QUERIES and failed == done
        return self.error_budget < 1 and (failed > self.error_budget * total or all_failed)


# Errors of a provider are not trusted: their class decides, and their attributes may raise.


def is_temporary(error: Exception) -> bool:
    """Whether another attempt may succeed."""
    if not issubclass(type(error), ProviderError):
        return issubclass(type(error), ConnectionError) or is_timeout(error)
    try:
        return bool(error.passing)  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001 - an attribute that cannot be read
        return False


def _read_wait(error: Exception) -> float | None:
    """Return the seconds that an error asks to wait, if it does."""
    try:
        asked_for = make_plain(getattr(error, "retry_after", None))
    except Exception:  # noqa: BLE001 - an attribute that cannot be read
        return None
    return asked_for if is_number(asked_for) and asked_for >= 0 else None


def is_timeout(error: BaseException) -> bool:
    """Whether an error reports a timeout."""
    # From Python 3.11 on, all three are the same class.
    kinds = (TimeoutError, asyncio.TimeoutError, concurrent.futures.TimeoutError)
    return issubclass(type(error), kinds)
