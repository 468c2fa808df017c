"""Ask every query of a provider: bounded concurrency, retries, batches, an error budget."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from berryeval.errors import RunFailedError
from berryeval.harness.attempts import Attempts, TooSlowError, said_by, with_attempts
from berryeval.harness.loops import run_async
from berryeval.harness.outcomes import FAILED
from berryeval.harness.policy import NOTHING_YET, Policy, Progress, is_timeout
from berryeval.harness.ranking import Ranking, fair_ranking
from berryeval.providers.answers import WrongBatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anyio import CancelScope

    from berryeval.harness.outcomes import Outcome
    from berryeval.providers.base import Provider
    from berryeval.records import Query

__all__ = ["Asking", "ask_all"]


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
