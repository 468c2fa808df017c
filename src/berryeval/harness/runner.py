"""Ask every query of a provider: bounded concurrency, timeouts, retries, an error budget."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from berryeval.errors import BerryEvalError, RunFailedError
from berryeval.harness.policy import Policy
from berryeval.harness.ranking import Ranking, fair_ranking
from berryeval.harness.threads import DaemonThreads

if TYPE_CHECKING:
    from anyio import CancelScope

    from berryeval.providers.base import Provider
    from berryeval.records import Query

__all__ = ["ask_all", "run_async"]

T = TypeVar("T")


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
    asking = _Asking(provider, queries, k, record, policy or Policy())
    run_async(asking.all)


def run_async(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run asynchronous work to its end, also where a loop runs already, as in a notebook.

    The loop that runs is left alone: the work gets one of its own in a thread of its own.
    """
    import asyncio

    import anyio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return anyio.run(work)
    outcome: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(anyio.run(work))
        except BaseException as error:  # noqa: BLE001 - it is raised again where the work was asked for
            errors.append(error)

    thread = threading.Thread(target=run, name="berryeval run")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return outcome[0]


@dataclass
class _Asking:
    provider: Provider
    queries: Sequence[Query]
    k: int
    record: Callable[[Ranking], None]
    policy: Policy
    threads: DaemonThreads = field(default_factory=DaemonThreads)
    done: int = 0
    failed: int = 0
    failure: BerryEvalError | None = None

    async def all(self) -> None:
        import anyio

        for query in self.queries[: self.policy.warm_up]:
            await self._attempt_quietly(query)
        waiting = iter(self.queries)
        try:
            async with anyio.create_task_group() as group:
                for _ in range(min(self.policy.concurrency, len(self.queries))):
                    group.start_soon(self._work_off, waiting, group.cancel_scope)
        finally:
            self.threads.close()
        if self.failure:
            raise self.failure

    async def _work_off(self, waiting: Iterator[Query], scope: CancelScope) -> None:
        for query in waiting:
            ranking = await self._ask(query)
            try:
                self._count(ranking)
            except BerryEvalError as error:
                self.failure = error
                scope.cancel()

    def _count(self, ranking: Ranking) -> None:
        self.record(ranking)
        self.done += 1
        self.failed += ranking.outcome in {"error", "timeout"}
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

        try:
            with anyio.fail_after(self.policy.timeout):
                if inspect.iscoroutinefunction(self.provider.search):
                    return await self.provider.search(query, self.k)
                answer = await self.threads.call(partial(self.provider.search, query, self.k))
                return await answer if isinstance(answer, Awaitable) else answer
        except TimeoutError as error:
            raise _TooSlowError(self.policy.timeout) from error

    async def _attempt_quietly(self, query: Query) -> None:
        """A warm-up: what goes wrong here goes wrong again when it counts."""
        import contextlib

        with contextlib.suppress(Exception):
            await self._attempt(query)


class _TooSlowError(TimeoutError):
    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")


def _failed(query_id: str, error: Exception, latency: float, attempts: int) -> Ranking:
    timeout = isinstance(error, TimeoutError)
    text = str(error) if timeout else f"{type(error).__name__}: {error}"
    outcome = "timeout" if timeout else "error"
    return Ranking(query_id, outcome, latency=latency, attempts=attempts, error=text)  # type: ignore[arg-type]
