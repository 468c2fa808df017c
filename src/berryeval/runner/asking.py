"""Ask every query of a provider: bounded concurrency, retries, batches, an error budget."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.aio import DaemonThreads, run_async
from berryeval.errors import (
    BerryEvalError,
    ConfigurationError,
    MissingDependencyError,
    ProviderError,
    RunFailedError,
)
from berryeval.providers import WrongBatchError, entering, leaving
from berryeval.runner.attempts import (
    NOTHING_YET,
    Attempts,
    Policy,
    Progress,
    TooSlowError,
    is_timeout,
    said_by,
    with_attempts,
)
from berryeval.runner.ranking import FAILED, Ranking, fair_ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anyio import CancelScope

    from berryeval.data import Chunk, Query
    from berryeval.providers import Provider
    from berryeval.runner.ranking import Outcome


def ask_all(
    provider: Provider,
    queries: Sequence[Query],
    k: int,
    record: Callable[[Ranking], None],
    policy: Policy | None = None,
    before: Progress = NOTHING_YET,
) -> None:
    """Ask every query; `record` gets each ranking as it comes, in the order in which they end.

    What goes wrong with a query is its outcome. When the error budget is used up, the run is given
    up with a `RunFailedError`; what `record` got until then stays.

    Args:
        provider: who is asked.
        queries: that are left to be asked.
        k: how many hits are wanted.
        record: gets the rankings.
        policy: how patient the run is.
        before: queries of the same run that are not asked again; they are part of its budget.
    """
    run_async(Asking(provider, queries, k, record, policy or Policy(), before).all)


@dataclass
class Asking:
    """All queries of a run, and how far it is."""

    provider: Provider
    queries: Sequence[Query]
    k: int
    record: Callable[[Ranking], None]
    policy: Policy
    before: Progress = NOTHING_YET
    attempts: Attempts = field(init=False)
    done: int = field(init=False)
    failed: int = field(init=False)
    failure: Exception | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Get ready."""
        self.done, self.failed = self.before
        self.attempts = Attempts(self.provider, self.k, self.policy.timeout)

    @property
    def _size(self) -> int:
        """How many queries are asked together."""
        return self.policy.batch if self.attempts.takes_batches else 1

    async def all(self) -> None:
        """Ask them all."""
        import anyio

        waiting = _parts(self.queries, self._size)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._warm_up)
            async with anyio.create_task_group() as group:
                for _ in range(min(self.policy.concurrency, len(self.queries))):
                    group.start_soon(self._work_off, waiting, group.cancel_scope)
        finally:
            self.attempts.close()
        if self.failure:
            raise self.failure

    async def _warm_up(self) -> None:
        """What goes wrong here goes wrong again when it counts."""
        import contextlib

        for queries in _parts(self.queries[: self.policy.warm_up], self._size):
            with contextlib.suppress(Exception):
                if self._size > 1:
                    await self.attempts.many(queries)
                else:
                    await self.attempts.one(queries[0])

    async def _work_off(self, waiting: Iterator[Sequence[Query]], scope: CancelScope) -> None:
        for queries in waiting:
            together, tried = await self._ask_together(queries) if len(queries) > 1 else ([], 0)
            for query, answered in zip_longest(queries, together):
                ranking = answered or await self._ask(query, tried)
                try:
                    self._count(ranking)
                except Exception as error:  # noqa: BLE001 - it is raised when the others have stopped
                    self.failure = self.failure or error
                    scope.cancel()
                    return

    def _count(self, ranking: Ranking) -> None:
        self.record(ranking)
        self.done += 1
        self.failed += ranking.outcome in FAILED
        total = self.before.done + len(self.queries)
        if self.policy.is_hopeless(self.failed, self.done, total):
            msg = (
                f"given up after {self.failed} of {self.done} queries failed (of {total}; the "
                f"error budget is {self.policy.error_budget:g}); the last: {ranking.error}"
            )
            raise RunFailedError(msg)

    async def _ask(self, query: Query, tried: int = 0) -> Ranking:
        """Ask one query, which was asked `tried` times together with others."""
        import anyio

        attempt = 1
        while True:
            start = time.perf_counter()
            try:
                answer = await self.attempts.one(query)
                latency = time.perf_counter() - start
                return fair_ranking(query.id, answer, self.k, latency, tried + attempt)
            except Exception as caught:  # noqa: BLE001 - whatever a provider raises is the query's outcome
                error = caught
            latency = time.perf_counter() - start
            wait = self.policy.wait_before(attempt + 1, error, query.id)
            if wait is None:
                return _failed(query.id, error, latency, tried + attempt)
            await anyio.sleep(wait)
            attempt += 1

    async def _ask_together(self, queries: Sequence[Query]) -> tuple[list[Ranking], int]:
        """The rankings of several queries that are asked at once, and how often they were.

        There are none if that failed: then each is asked alone, so that a bad one costs only
        itself. A batch that was too slow is not tried again: who holds it up would do so again.
        """
        import anyio

        attempt = 1
        while True:
            start = time.perf_counter()
            try:
                answers = await self.attempts.many(queries)
                share = (time.perf_counter() - start) / len(queries)
                return self._rankings(queries, answers, share, attempt), attempt
            except WrongBatchError as wrong:
                share, batch = (time.perf_counter() - start) / len(queries), len(queries)
                return [_failed(one.id, wrong, share, attempt, batch) for one in queries], attempt
            except TooSlowError:
                return [], attempt
            except Exception as caught:  # noqa: BLE001 - whatever a provider raises, each query gets its chance
                error = caught
            wait = self.policy.wait_before(attempt + 1, error, queries[0].id)
            if wait is None:
                return [], attempt
            await anyio.sleep(wait)
            attempt += 1

    def _rankings(
        self, queries: Sequence[Query], answers: list[Any], share: float, attempts: int
    ) -> list[Ranking]:
        batch = len(queries)
        found = []
        for query, answer in zip(queries, answers, strict=True):
            try:
                ranking = fair_ranking(query.id, answer, self.k, share, attempts, batch)
            except Exception as error:  # noqa: BLE001 - garbage in one answer is the outcome of its query
                ranking = _failed(query.id, error, share, attempts, batch)
            found.append(ranking)
        return found


def _parts(queries: Sequence[Query], size: int) -> Iterator[Sequence[Query]]:
    return (queries[start : start + size] for start in range(0, len(queries), size))


def _failed(
    query_id: str, error: Exception, latency: float, attempts: int, batch: int = 1
) -> Ranking:
    outcome: Outcome = "timeout" if is_timeout(error) else "error"
    return Ranking(
        query_id,
        outcome,
        latency=latency,
        attempts=attempts,
        error=with_attempts(said_by(error), attempts),
        batch=batch,
    )


# The life of a provider in a run: index, ask, end, in one event loop and never for ever.

_A_QUICK_END: Final = 5.0  # seconds for closing what has failed or was interrupted
log = logging.getLogger("berryeval")


def index_and_ask(
    provider: Provider,
    chunks: Sequence[Chunk],
    queries: Sequence[Query],
    k: int,
    record: Callable[[Ranking], None],
    policy: Policy | None = None,
    before: Progress = NOTHING_YET,
) -> None:
    """Let the provider index, ask it every query as `ask_all` does, and end it.

    One that is a context manager, plain or `async`, is entered first and left at the end; another
    one is closed, if it has `close`, as is one that could not be entered.

    An index that cannot be made is a `RunFailedError`, after as many attempts as the policy gives
    to errors that can pass; a setting that is wrong or a package that is missing stays what it is.
    What goes wrong at the end is logged: all was answered by then.
    """
    run_async(_Life(provider, chunks, queries, k, record, policy or Policy(), before).all)


@dataclass
class _Life:
    provider: Provider
    chunks: Sequence[Chunk]
    queries: Sequence[Query]
    k: int
    record: Callable[[Ranking], None]
    policy: Policy
    before: Progress

    async def all(self) -> None:
        seconds, entered = _A_QUICK_END, False
        try:
            if enter := entering(self.provider):
                await self._begin("the provider", "entered", enter)
            entered = True
            await self._begin("the index", "made", self.provider.index, self.chunks)
            await self._asking().all()
            seconds = self.policy.timeout
        finally:
            if leave := leaving(self.provider, entered=entered):
                await self._end(min(seconds, self.policy.timeout), leave)

    def _asking(self) -> Asking:
        return Asking(self.provider, self.queries, self.k, self.record, self.policy, self.before)

    async def _begin(self, what: str, done: str, function: Callable[..., Any], *args: Any) -> None:
        """Call what must be done before anything can be asked."""
        import anyio

        attempt = 1
        while True:
            try:
                return await self._call(self.policy.index_timeout, function, *args)
            except TooSlowError:
                msg = f"{what} was not {done} within {self.policy.index_timeout:g} s"
                raise RunFailedError(msg) from None
            except (ConfigurationError, MissingDependencyError):
                raise  # it is not the provider that must change
            except Exception as caught:  # noqa: BLE001 - whatever a provider raises fails its run, not others
                error = caught
            wait = self.policy.wait_before(attempt + 1, error, "index")
            if wait is None:
                raise RunFailedError(_why(f"{what} could not be {done}", error, attempt)) from error
            await anyio.sleep(wait)
            attempt += 1

    async def _end(self, seconds: float, leave: Callable[[], Any]) -> None:
        import anyio

        with anyio.CancelScope(shield=True):
            try:
                await self._call(seconds, leave)
            except TooSlowError:
                log.warning("a provider was not closed within %g s and is left alone", seconds)
            except Exception as error:  # noqa: BLE001 - the answers are there; this must not lose them
                name = type(error).__name__
                log.warning("a provider could not be closed (%s); its answers are kept", name)

    async def _call(self, seconds: float, function: Callable[..., Any], *args: Any) -> None:
        import anyio

        threads = DaemonThreads()
        try:
            with anyio.move_on_after(seconds):
                answer = await threads.call(partial(function, *args))
                if isinstance(answer, Awaitable):
                    await answer
                return
        finally:
            threads.close()
        raise TooSlowError(seconds)


def _why(failed: str, error: Exception, attempts: int) -> str:
    """What went wrong, and how often it was tried if it could have passed."""
    ours = isinstance(error, BerryEvalError)
    text = str(error) if ours else f"{failed} ({said_by(error)})"
    can_pass = isinstance(error, ProviderError) and error.passing
    return with_attempts(text, attempts, even_once=can_pass)
