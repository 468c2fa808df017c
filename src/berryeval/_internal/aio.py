"""Asynchronous work from ordinary code, also where a loop runs already."""

from __future__ import annotations

import asyncio
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from concurrent.futures import Future


T = TypeVar("T")
_A_MOMENT: Final = 0.1  # seconds; a wait without end cannot be interrupted everywhere


def run_async(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run asynchronous work to its end, also where a loop runs already, as in a notebook.

    The loop that runs is left alone: the work gets one of its own in a thread of its own. When the
    wait for it is interrupted, the work is cancelled, and has ended when the interrupt is raised.
    """
    if _is_loop_running():
        outcome: T = _InThread(work).result()
        return outcome
    return _run_here(work)


def _is_loop_running() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run_here(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    import asyncio

    import anyio

    try:
        return anyio.run(work)
    except asyncio.CancelledError:  # by Ctrl-C alone; before Python 3.11 it comes as what it caused
        raise KeyboardInterrupt from None


def _hear_interrupt() -> None:
    """Raise what the loop that runs here cannot, as long as we hold it up.

    From Python 3.11 on `asyncio.run` turns Ctrl-C into a request to cancel its task.
    """
    import asyncio

    task = asyncio.current_task()
    if task is not None and hasattr(task, "cancelling") and task.cancelling() > 0:
        raise KeyboardInterrupt


class _InThread:
    def __init__(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self._work = work
        self._cancel: Callable[[], object] = lambda: None
        self._started = threading.Event()
        self._ended = threading.Event()
        self._outcome: Any = None
        self._error: BaseException | None = None

    def result(self) -> Any:
        threading.Thread(target=self._run, name="berryeval run", daemon=True).start()
        try:
            while not self._ended.wait(_A_MOMENT):
                _hear_interrupt()
        except BaseException:
            self._started.wait()
            self._cancel()
            self._ended.wait()
            raise
        if self._error is not None:
            raise self._error
        return self._outcome

    def _run(self) -> None:
        import anyio

        try:
            anyio.run(self._cancellable)
        except BaseException as error:  # noqa: BLE001 - it is raised again where the work was asked for
            self._error = error
        finally:
            self._started.set()
            self._ended.set()

    async def _cancellable(self) -> None:
        import asyncio
        from contextlib import suppress

        import anyio

        loop = asyncio.get_running_loop()
        with anyio.CancelScope() as scope:

            def cancel() -> None:
                with suppress(RuntimeError):  # it has ended by itself
                    loop.call_soon_threadsafe(scope.cancel)

            self._cancel = cancel
            self._started.set()
            self._outcome = await self._work()


# Calls of ordinary functions from asynchronous code, in threads that nobody has to wait for.


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


# An event loop of its own for asynchronous code that is called from threads.


class OwnLoop:
    """One loop in one thread, begun when it is first needed.

    All calls share the loop, so a client that belongs to a loop, as those of asyncio do, serves
    every one of them; and a loop that runs already, as in a notebook, is not touched.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def result(self, work: Awaitable[Any]) -> Any:
        """What the work comes to; other threads may wait for theirs at the same time."""
        result: Future[Any] = asyncio.run_coroutine_threadsafe(_awaited(work), self._running())
        return result.result()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=_run, args=(self._loop,), name="berryeval loop", daemon=True
                ).start()
            return self._loop

    def close(self) -> None:
        """Stop the loop; what still runs in it is cancelled."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result()
            loop.call_soon_threadsafe(loop.stop)


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work


async def _cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.close()
