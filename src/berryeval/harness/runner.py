"""Ask every query of a provider: bounded concurrency, timeouts, retries, an error budget."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import math
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ProviderError, RunFailedError
from berryeval.harness.loops import run_async
from berryeval.harness.policy import Policy, is_timeout
from berryeval.harness.ranking import FAILED, Ranking, fair_ranking
from berryeval.harness.threads import DaemonThreads

if TYPE_CHECKING:
    from anyio import CancelScope

    from berryeval.harness.ranking import Outcome
    from berryeval.providers.base import Provider
    from berryeval.records import Query

__all__ = ["Asking", "ask_all", "run_async", "said_by"]

_FAR_TOO_MANY: Final = 1000  # times as many hits as asked for: a generator may never end


def ask_all(
    provider: Provider,
    queries: Sequence[Query],
    k: int,
    record: Callable[[Ranking], None],
    policy: Policy | None = None,
) -> None:
    """Ask every query; `record` gets each ranking as it comes, in the order in which they end.

    What goes wrong with a query is its outcome. When the error budget is used up, the run is given
    up with a `RunFailedError`; what `record` got until then stays.
    """
    run_async(Asking(provider, queries, k, record, policy or Policy()).all)


@dataclass
class Asking:
    """All queries of a run, and how far it is."""

    provider: Provider
    queries: Sequence[Query]
    k: int
    record: Callable[[Ranking], None]
    policy: Policy
    threads: DaemonThreads = field(default_factory=DaemonThreads)
    done: int = 0
    failed: int = 0
    failure: Exception | None = None

    async def all(self) -> None:
        """Ask them all."""
        import anyio

        waiting = iter(self.queries)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._warm_up)
            async with anyio.create_task_group() as group:
                for _ in range(min(self.policy.concurrency, len(self.queries))):
                    group.start_soon(self._work_off, waiting, group.cancel_scope)
        finally:
            self.threads.close()
        if self.failure:
            raise self.failure

    async def _warm_up(self) -> None:
        """What goes wrong here goes wrong again when it counts."""
        import contextlib

        for query in self.queries[: self.policy.warm_up]:
            with contextlib.suppress(Exception):
                await self._attempt(query)

    async def _work_off(self, waiting: Iterator[Query], scope: CancelScope) -> None:
        for query in waiting:
            ranking = await self._ask(query)
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
        if self.policy.is_hopeless(self.failed, self.done, len(self.queries)):
            msg = (
                f"given up after {self.failed} of {self.done} queries failed (of "
                f"{len(self.queries)}; the error budget is {self.policy.error_budget:g}); "
                f"the last: {ranking.error}"
            )
            raise RunFailedError(msg)

    async def _ask(self, query: Query) -> Ranking:
        import anyio

        attempt = 1
        while True:
            start = time.perf_counter()
            try:
                answer = await self._attempt(query)
                latency = time.perf_counter() - start
                return fair_ranking(query.id, answer, self.k, latency, attempt)
            except Exception as caught:  # noqa: BLE001 - whatever a provider raises is the query's outcome
                error = caught
            latency = time.perf_counter() - start
            wait = self.policy.wait_before(attempt + 1, error, query.id)
            if wait is None:
                return _failed(query.id, error, latency, attempt)
            await anyio.sleep(wait)
            attempt += 1

    async def _attempt(self, query: Query) -> Any:
        import anyio

        with anyio.move_on_after(self.policy.timeout):
            try:
                return await self._search(query)
            except asyncio.CancelledError:
                if anyio.current_effective_deadline() == -math.inf:  # by us
                    raise
                msg = "the provider has cancelled its own search"
                raise ProviderError(msg) from None
            except SystemExit as error:
                msg = f"the provider wanted to end the process (SystemExit: {error})"
                raise ProviderError(msg) from None
        raise TooSlowError(self.policy.timeout)

    async def _search(self, query: Query) -> Any:
        if inspect.iscoroutinefunction(self.provider.search):
            await asyncio.sleep(0)  # one that never waits would leave nobody else a turn
            return await self.provider.search(query, self.k)

        def search() -> Any:
            answer: Any = self.provider.search(query, self.k)
            if isinstance(answer, Iterator):
                return list(itertools.islice(answer, _FAR_TOO_MANY * self.k))
            return answer

        answer = await self.threads.call(search)
        return await answer if isinstance(answer, Awaitable) else answer


class TooSlowError(TimeoutError):
    """Our own patience has ended."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")


def said_by(error: Exception) -> str:
    """An error in one line of text."""
    if isinstance(error, TooSlowError):
        return str(error)
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def _failed(query_id: str, error: Exception, latency: float, attempts: int) -> Ranking:
    outcome: Outcome = "timeout" if is_timeout(error) else "error"
    return Ranking(
        query_id,
        outcome,
        latency=latency,
        attempts=attempts,
        error=said_by(error),
    )
