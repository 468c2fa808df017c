"""Calls of ordinary functions from asynchronous code, in threads that nobody has to wait for.

A call that hangs for ever must not keep the process alive, and the threads of `asyncio` and `anyio`
would: both are waited for at the end. These are not.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DaemonThreads"]

T = TypeVar("T")


class _Call(NamedTuple):
    function: Callable[[], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class DaemonThreads:
    """As many threads as calls are under way; idle ones are used again."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []

    async def call(self, function: Callable[[], T]) -> T:
        """The result of the function; when cancelled, the call is left alone and forgotten."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        worker = self._idle.pop() if self._idle else _Worker(self._idle)
        worker.calls.put(_Call(function, future, loop))
        return await future

    def close(self) -> None:
        """Let idle threads end."""
        for worker in self._idle:
            worker.calls.put(None)
        self._idle.clear()


class _Worker:
    def __init__(self, idle: list[_Worker]) -> None:
        self.calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._idle = idle
        threading.Thread(target=self._work, name="berryeval worker", daemon=True).start()

    def _work(self) -> None:
        while (call := self.calls.get()) is not None:
            result, error = None, None
            try:
                result = call.function()
            except BaseException as caught:  # noqa: BLE001 - it is raised where the call was made
                error = caught
            with suppress(
                RuntimeError
            ):  # the loop has ended; so does this thread, with the process
                call.loop.call_soon_threadsafe(self._deliver, call.future, result, error)

    def _deliver(
        self, future: asyncio.Future[Any], result: Any, error: BaseException | None
    ) -> None:
        self._idle.append(self)
        if future.cancelled():
            return
        if isinstance(error, StopIteration):  # a future cannot hold one
            error = RuntimeError(f"StopIteration: {error}")
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)
