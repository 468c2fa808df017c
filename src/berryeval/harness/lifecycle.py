"""The life of a provider in a run: index, ask, end, in one event loop and never for ever."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import (
    BerryEvalError,
    ConfigurationError,
    MissingDependencyError,
    ProviderError,
    RunFailedError,
)
from berryeval.harness.attempts import TooSlowError, said_by, with_attempts
from berryeval.harness.loops import run_async
from berryeval.harness.policy import NOTHING_YET, Policy, Progress
from berryeval.harness.runner import Asking
from berryeval.harness.threads import DaemonThreads
from berryeval.providers.lifetime import entering, leaving

if TYPE_CHECKING:
    from berryeval.harness.ranking import Ranking
    from berryeval.providers.base import Provider
    from berryeval.records import Chunk, Query

__all__ = ["index_and_ask"]

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
