"""Run a provider: index, ask every query with bounded concurrency and retries, close."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.aio import DaemonThreads, run_async, settle
from berryeval._internal.limits import HITS, most_hits
from berryeval._internal.plain import write_text
from berryeval.errors import (
    BerryEvalError,
    ConfigurationError,
    MissingDependencyError,
    ProviderError,
    RunFailedError,
)
from berryeval.providers import WrongBatchError, find_enter, find_exit
from berryeval.runner.attempts import (
    NOTHING_YET,
    Attempts,
    Policy,
    Progress,
    TooSlowError,
    add_attempts,
    explain_error,
    is_temporary,
    is_timeout,
)
from berryeval.runner.outcome import FAILED, Ranking, build_ranking, read_stages

if TYPE_CHECKING:
    from anyio import CancelScope

    from berryeval.data import Chunk, Query
    from berryeval.providers import Provider
    from berryeval.runner.outcome import Outcome, StageRanking
    from berryeval.runner.telemetry import Spans


_CLOSE_SECONDS: Final = 5.0  # to close a provider after a failure or an interrupt
log = logging.getLogger("berryeval")


def index_and_ask(
    provider: Provider,
    chunks: Sequence[Chunk],
    queries: Sequence[Query],
    k: int,
    record: Callable[[Ranking], None],
    policy: Policy | None = None,
    before: Progress = NOTHING_YET,
    spans: Spans | None = None,
) -> None:
    """Index the chunks, ask every query as `ask_all` does, and close the provider.

    A context manager, plain or `async`, is entered first and left at the end. A failed index raises
    `RunFailedError` after the attempts that the policy allows for temporary errors; configuration
    errors and missing packages are raised unchanged; errors while closing are only logged.
    """
    try:
        asker = _Asker(provider, queries, k, record, policy or Policy(), before, spans)
    except Exception as error:
        raise RunFailedError(_explain("the provider cannot be searched", error, 1)) from error
    run_async(_Session(provider, chunks, asker, asker.policy).run)


def ask_all(
    provider: Provider,
    queries: Sequence[Query],
    k: int,
    record: Callable[[Ranking], None],
    policy: Policy | None = None,
    before: Progress = NOTHING_YET,
) -> None:
    """Ask every query and pass each ranking to `record`, in the order in which they finish.

    An error becomes the outcome of its query. A run that exceeds its error budget is stopped with a
    `RunFailedError` once the queries in flight have ended; all that was recorded is kept. The
    progress `before`, of earlier parts of the same run, counts towards its budget.
    """
    run_async(_Asker(provider, queries, k, record, policy or Policy(), before).run)


@dataclass
class _Session:
    """The life of a provider in a run: enter, index, ask, leave, in one event loop."""

    provider: Provider
    chunks: Sequence[Chunk]
    asker: _Asker
    policy: Policy

    async def run(self) -> None:
        seconds, entered = _CLOSE_SECONDS, False
        try:
            if enter := find_enter(self.provider):
                await self._start("the provider", "entered", enter)
            entered = True
            exists = bool(getattr(self.provider, "existing_indexes", dict)())
            done = "opened" if exists else "built"
            await self._start("the index", done, lambda: self.provider.index(self.chunks))
            await self.asker.run()
            seconds = self.policy.timeout
        finally:
            try:
                leave = find_exit(self.provider, entered=entered)
            except Exception as error:  # noqa: BLE001 - as an error of the function itself
                leave = partial(_raise, error)
            if leave is not None:
                await self._close(min(seconds, self.policy.timeout), leave)

    async def _start(self, what: str, done: str, function: Callable[[], Any]) -> None:
        """Call a function that must succeed before the first query."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._call(self.policy.index_timeout, function)
            except TooSlowError:
                raise RunFailedError(
                    f"{what} was not {done} within {self.policy.index_timeout:g} s"
                ) from None
            except (ConfigurationError, MissingDependencyError):
                raise  # the user's to fix, not a failure of the provider
            except Exception as error:  # any error of a provider fails only its own run
                if not await self.policy.wait_to_retry(attempt, error, "index"):
                    raise RunFailedError(
                        _explain(f"{what} could not be {done}", error, attempt)
                    ) from error

    async def _close(self, seconds: float, leave: Callable[[], Any]) -> None:
        import anyio

        with anyio.CancelScope(shield=True):
            try:
                await self._call(seconds, leave)
            except TooSlowError:
                log.warning("a provider did not close within %g s and was abandoned", seconds)
            except Exception as error:  # noqa: BLE001 - the answers are recorded and must be kept
                name = type(error).__name__
                log.warning("a provider could not be closed (%s); its answers are kept", name)

    async def _call(self, seconds: float, function: Callable[[], Any]) -> None:
        import anyio

        threads = DaemonThreads()
        try:
            with anyio.move_on_after(seconds):
                answer = await threads.call(function, seconds)
                if isinstance(answer, Awaitable):
                    await settle(answer)
                return
        finally:
            threads.close()
        raise TooSlowError(seconds)


def _raise(error: Exception) -> None:
    raise error


def _explain(failed: str, error: Exception, attempts: int) -> str:
    kind = type(error)
    ours = issubclass(kind, BerryEvalError)
    text = write_text(error) if ours else f"{failed} ({explain_error(error)})"
    temporary = issubclass(kind, ProviderError) and is_temporary(error)
    return add_attempts(text, attempts, even_once=temporary)


@dataclass
class _Asker:
    """The queries of a run and its progress."""

    provider: Provider
    queries: Sequence[Query]
    k: int
    record: Callable[[Ranking], None]
    policy: Policy
    before: Progress = NOTHING_YET
    spans: Spans | None = None
    attempts: Attempts = field(init=False)
    done: int = field(init=False)
    failed: int = field(init=False)
    failure: Exception | None = field(default=None, init=False)
    warned: bool = field(default=False, init=False)
    stopping: bool = field(default=False, init=False)  # until the queries in flight have ended
    recorded: set[str] = field(default_factory=set, init=False)
    last_error: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self.done, self.failed = self.before
        self.attempts = Attempts(self.provider, self.k, self.policy.timeout)

    @property
    def _batch_size(self) -> int:
        return self.policy.batch if self.attempts.takes_batches else 1

    async def run(self) -> None:
        import anyio

        left = self.queries
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._warm_up)
            while left and not self.failure:
                waiting = _split(left, self._batch_size)
                async with anyio.create_task_group() as group:
                    for _ in range(min(self.policy.concurrency, len(left))):
                        group.start_soon(self._work, waiting, group.cancel_scope)
                left = self._find_left(left)
        finally:
            await self.attempts.close()
        if self.failure:
            raise self.failure

    def _find_left(self, asked: Sequence[Query]) -> Sequence[Query]:
        """Return the queries still to ask: those in flight may have saved the run, or not."""
        if not self.stopping:
            return ()
        self.stopping = False
        if self._is_hopeless():
            self.failure = self.failure or RunFailedError(
                f"stopped after {self.failed} of {self.done} queries failed (of {self._total}; the "
                f"error budget is {self.policy.error_budget:g}); last error: {self.last_error}"
            )
        return [query for query in asked if query.id not in self.recorded]

    @property
    def _total(self) -> int:
        return self.before.done + len(self.queries)

    def _is_hopeless(self) -> bool:
        return self.policy.is_hopeless(self.failed, self.done, self._total)

    async def _warm_up(self) -> None:
        """Ask a few queries unmeasured; an error here is reported when the query counts."""
        for queries in _split(self.queries[: self.policy.warm_up], self._batch_size):
            with suppress(Exception):
                if self._batch_size > 1:
                    await self.attempts.search_many(queries)
                else:
                    await self.attempts.search(queries[0])

    async def _work(self, waiting: Iterator[Sequence[Query]], scope: CancelScope) -> None:
        for queries in waiting:
            together, tried = await self._ask_together(queries) if len(queries) > 1 else ([], 0)
            for query, answered in zip_longest(queries, together):
                if self.stopping and answered is None:
                    return
                ranking = answered or await self._ask_alone(query, tried)
                try:
                    self._count(ranking)
                except Exception as error:  # noqa: BLE001 - raised once the other workers have stopped
                    self.failure = self.failure or error
                    scope.cancel()
                    return
            if self.stopping:
                return

    def _count(self, ranking: Ranking) -> None:
        self.record(ranking)
        self._warn_of_many(ranking)
        self.recorded.add(ranking.query_id)
        self.done += 1
        if ranking.outcome in FAILED:
            self.failed += 1
            self.last_error = ranking.error
        self.stopping = self.stopping or self._is_hopeless()

    def _warn_of_many(self, ranking: Ranking) -> None:
        """Tell once that an answer was not read to its end."""
        most = most_hits(self.k)
        if ranking.returned >= most and not self.warned:
            self.warned = True
            log.warning(
                "the answer to the query %r has at least %s hits; the rest was not read; %s",
                ranking.query_id, f"{most:,}", HITS.advice,
            )  # fmt: skip

    async def _ask_alone(self, query: Query, tried: int) -> Ranking:
        """Ask one query, in a span if the run is traced."""
        if self.spans is None:
            return await self._ask(query, tried)
        with self.spans.query(query) as finish:
            ranking = await self._ask(query, tried)
            finish(ranking)
        return ranking

    async def _ask_together(self, queries: Sequence[Query]) -> tuple[list[Ranking], int]:
        """Ask several queries at once, in a span if the run is traced."""
        if self.spans is None:
            return await self._ask_batch(queries)
        with self.spans.batch(queries) as finish:
            rankings, tried = await self._ask_batch(queries)
            finish(rankings)
        return rankings, tried

    async def _ask(self, query: Query, tried: int = 0) -> Ranking:
        """Ask one query, which was already asked `tried` times as part of a batch."""
        attempt = 0
        while True:
            attempt += 1
            start = time.perf_counter()
            try:
                reply = await self.attempts.search(query)
                latency = reply.time - start
                return build_ranking(query.id, reply.content, self.k, latency, tried + attempt)
            except Exception as error:  # noqa: BLE001 - any error of a provider is the query's outcome
                latency = time.perf_counter() - start
                if not await self.policy.wait_to_retry(attempt, error, query.id):
                    failure = _build_failure(query.id, error, latency, tried + attempt)
                    return replace(failure, stages=_read_stages(error, self.k))

    async def _ask_batch(self, queries: Sequence[Query]) -> tuple[list[Ranking], int]:
        """Ask several queries at once; return their rankings and the number of attempts.

        There are no rankings if the batch failed: each query is then asked alone, so that a bad
        query costs only itself. A batch that was too slow would be slow again.
        """
        batch = len(queries)
        attempt = 0
        while True:
            attempt += 1
            start = time.perf_counter()
            try:
                reply = await self.attempts.search_many(queries)
                share = (reply.time - start) / batch
                return self._rankings(queries, reply.content, share, attempt), attempt
            except WrongBatchError as error:
                share = (time.perf_counter() - start) / batch
                failures = [_build_failure(q.id, error, share, attempt, batch) for q in queries]
                return failures, attempt
            except TooSlowError:
                return [], attempt
            except Exception as error:  # noqa: BLE001 - each query is still asked alone
                if not await self.policy.wait_to_retry(attempt, error, queries[0].id):
                    return [], attempt

    def _rankings(
        self, queries: Sequence[Query], answers: list[Any], share: float, attempts: int
    ) -> list[Ranking]:
        batch = len(queries)
        found = []
        for query, answer in zip(queries, answers, strict=True):
            if isinstance(answer, Exception):
                ranking = _build_failure(query.id, answer, share, attempts, batch)
            else:
                ranking = build_ranking(query.id, answer, self.k, share, attempts, batch)
            found.append(ranking)
        return found


def _split(queries: Sequence[Query], size: int) -> Iterator[Sequence[Query]]:
    return (queries[start : start + size] for start in range(0, len(queries), size))


def _read_stages(error: Exception, k: int) -> tuple[StageRanking, ...]:
    """Return the stages before the one that failed, if the error tells them."""
    with suppress(Exception):  # of a provider: reading them may raise
        return read_stages(error, k)
    return ()


def _build_failure(
    query_id: str, error: Exception, latency: float, attempts: int, batch: int = 1
) -> Ranking:
    outcome: Outcome = "timeout" if is_timeout(error) else "error"
    words = add_attempts(explain_error(error), attempts)
    return Ranking(query_id, outcome, latency=latency, attempts=attempts, error=words, batch=batch)
