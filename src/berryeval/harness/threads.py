"""Calls of ordinary functions from asynchronous code, in threads that nobody has to wait for.

A call that hangs for ever must not keep the process alive, and the threads of `asyncio` and `anyio`
would: both are waited for at the end. These are not.
"""

from __future__ import annotations

import asyncio
import threading
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
    """As many threads as calls are under way; idle ones are used again.

    Everything but the calls themselves happens in the thread of the event loop.
    """

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._closed = False

    async def call(self, function: Callable[[], T]) -> T:
        """The result of the function; when cancelled, the call is left alone and forgotten."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        worker = self._idle.pop() if self._idle else _Worker(self)
        worker.calls.put(_Call(function, future, loop))
        return await future

    def give_back(self, worker: _Worker) -> None:
        """Keep a worker whose call has ended for the next one."""
        if self._closed:
            worker.calls.put(None)
        else:
            self._idle.append(worker)

    def close(self) -> None:
        """Let threads end: idle ones now, the others when their calls do."""
        self._closed = True
        while self._idle:
            self._idle.pop().calls.put(None)


class _Worker:
    def __init__(self, threads: DaemonThreads) -> None:
        self.calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._threads = threads
        threading.Thread(target=self._work, name="berryeval worker", daemon=True).start()

    def _work(self) -> None:
        while (call := self.calls.get()) is not None:
            result, error = None, None
            try:
                result = call.function()
            except BaseException as caught:  # noqa: BLE001 - it is raised where the call was made
                error = caught
            try:
                call.loop.call_soon_threadsafe(self._deliver, call.future, result, error)
            except RuntimeError:  # the loop has ended: nobody will call again
                return
            del call, result, error  # an idle thread holds on to nothing

    def _deliver(
        self, future: asyncio.Future[Any], result: Any, error: BaseException | None
    ) -> None:
        self._threads.give_back(self)
        if future.done():
            if asyncio.iscoroutine(result):  # nobody is left to await it
                result.close()
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(_harmless(error))


def _harmless(error: BaseException) -> Exception:
    """The error, if a future can hold it; what would end a process or a task, as a plain one."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"{type(error).__name__}: {error}".rstrip(": "))
