"""Asynchronous code called from synchronous code, and the reverse."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import math
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from queue import SimpleQueue
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from berryeval._internal.limits import STUCK_THREADS
from berryeval._internal.plain import describe_error

if TYPE_CHECKING:
    from concurrent.futures import Future


T = TypeVar("T")
_POLL_SECONDS: Final = 0.1  # a wait without a timeout cannot be interrupted on every platform


def run_async(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function to completion, even inside a running loop such as a notebook's.

    Inside a running loop the work gets its own loop in its own thread. When the wait is
    interrupted, the work is cancelled and has ended before the interrupt is raised.
    """
    if _is_loop_running():
        outcome: T = _ThreadedWork(work).result()
        return outcome
    return _run_here(work)


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run_here(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    import anyio

    try:
        return anyio.run(work)
    except asyncio.CancelledError:  # Python 3.10 raises this after Ctrl-C
        raise KeyboardInterrupt from None


def _raise_interrupt() -> None:
    """Raise the interrupt that the blocked loop of this thread cannot deliver.

    Since Python 3.11 `asyncio.run` turns Ctrl-C into a request to cancel its task.
    """
    task = asyncio.current_task()
    if task is not None and hasattr(task, "cancelling") and task.cancelling() > 0:
        raise KeyboardInterrupt


class _ThreadedWork:
    """A coroutine that runs in a loop and thread of its own."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self._work = work
        self._cancel: Callable[[], object] = lambda: None
        self._started = threading.Event()
        self._ended = threading.Event()
        self._outcome: Any = None
        self._error: BaseException | None = None

    def result(self) -> Any:
        run = contextvars.copy_context().run  # a trace that is current here stays so
        threading.Thread(target=run, args=(self._run,), name="berryeval run", daemon=True).start()
        try:
            while not self._ended.wait(_POLL_SECONDS):
                _raise_interrupt()
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
        except BaseException as error:  # noqa: BLE001 - raised again by result()
            self._error = error
        finally:
            self._started.set()
            self._ended.set()

    async def _cancellable(self) -> None:
        import anyio

        loop = asyncio.get_running_loop()
        with anyio.CancelScope() as scope:

            def cancel() -> None:
                with suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(scope.cancel)

            self._cancel = cancel
            self._started.set()
            self._outcome = await self._work()


_GRACE: Final = 0.25  # seconds; the caller gives up first, so that it is a timeout for it
_own: Final = threading.local()


def time_left() -> float:
    """Return the seconds left for the call in this thread; may be infinite.

    Code that can stop by itself stops when none are left.
    """
    end: float = getattr(_own, "end", math.inf)
    return end - time.monotonic()


def time_given() -> float:
    """Return the time limit of the call in this thread, in seconds; may be infinite."""
    given: float = getattr(_own, "seconds", math.inf)
    return given


@contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Limit the block to these seconds, unless this thread has fewer left."""
    before = getattr(_own, "end", math.inf), getattr(_own, "seconds", math.inf)
    _own.end, _own.seconds = min(before[0], time.monotonic() + seconds), min(before[1], seconds)
    try:
        yield
    finally:
        _own.end, _own.seconds = before


class _Call(NamedTuple):
    function: Callable[[], Any]
    seconds: float
    end: float
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class DaemonThreads:
    """A pool of daemon threads; a process can exit while calls still run.

    Python cannot stop a thread. A cancelled call keeps running unless it watches `time_left`,
    and counts as stuck; with too many of those, further calls wait for one to end.

    All methods run in the thread of the event loop; only the calls themselves run elsewhere.
    """

    def __init__(self) -> None:
        self.stuck = 0
        self._idle: list[_Worker] = []
        self._closed = False

    async def call(self, function: Callable[[], T], seconds: float = math.inf) -> T:
        """Call a function in a thread; the result of a cancelled call is dropped.

        The call sees that it has these seconds, and a little more, and the context variables here.
        """
        seconds += _GRACE
        end = time.monotonic() + seconds
        while self.stuck >= STUCK_THREADS.value:  # noqa: ASYNC110 - any of several may end
            await asyncio.sleep(_POLL_SECONDS)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        worker = self._idle.pop() if self._idle else _Worker(self)
        here = contextvars.copy_context()
        worker.calls.put(_Call(partial(here.run, function), seconds, end, future, loop))
        try:
            return await future
        finally:
            self.stuck += future.cancelled()

    async def wait_for_stuck(self) -> int:
        """Wait a moment for calls that stop by themselves; return the number of the others."""
        end = time.monotonic() + 2 * _GRACE
        while self.stuck and time.monotonic() < end:  # noqa: ASYNC110 - all of several
            await asyncio.sleep(_GRACE / 10)
        return self.stuck

    def give_back(self, worker: _Worker) -> None:
        """Make a worker available for the next call."""
        if self._closed:
            worker.calls.put(None)
        else:
            self._idle.append(worker)

    def close(self) -> None:
        """End the threads: idle ones now, the others after their calls."""
        self._closed = True
        while self._idle:
            self._idle.pop().calls.put(None)


class _Worker:
    """A daemon thread that runs calls from a queue."""

    def __init__(self, threads: DaemonThreads) -> None:
        self.calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._threads = threads
        threading.Thread(target=self._work, name="berryeval worker", daemon=True).start()

    def _work(self) -> None:
        while (call := self.calls.get()) is not None:
            result: Any = None
            error: Exception | None = None
            _own.seconds, _own.end = call.seconds, call.end
            try:
                result = call.function()
            except BaseException as caught:  # noqa: BLE001 - raised again by the caller
                error = to_exception(caught)
            try:
                call.loop.call_soon_threadsafe(self._deliver, call.future, result, error)
            except RuntimeError:  # the loop has ended: there are no more calls
                return
            del call, result, error  # release the objects while idle

    def _deliver(self, future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
        self._threads.give_back(self)
        if future.done():
            self._threads.stuck -= 1
            if type(result) is CoroutineType:  # the caller was cancelled
                result.close()
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)


def to_exception(error: BaseException) -> Exception:
    """Convert errors that a future cannot hold, or that would end a process, to RuntimeError."""
    kind = type(error)  # isinstance would trust what the error says about its class
    if issubclass(kind, Exception) and not issubclass(kind, StopIteration):
        return error  # type: ignore[return-value]
    return RuntimeError(describe_error(error))


class BackgroundLoop:
    """An event loop in a thread of its own, started on first use.

    All calls share the loop, so one asyncio client serves them all. A loop that already runs, such
    as a notebook's, is not involved.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def wait_for(self, answer: Any) -> Any:
        """Wait for an awaitable and return its result; return any other value unchanged."""
        if not isinstance(answer, Awaitable):
            return answer
        result: Future[Any] = asyncio.run_coroutine_threadsafe(settle(answer), self._start())
        left = time_left()
        try:
            return result.result(None if left == math.inf else max(left, 0.0))
        except concurrent.futures.TimeoutError:
            result.cancel()
            raise

    def _start(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=_run_loop, args=(self._loop,), name="berryeval loop", daemon=True
                ).start()
            return self._loop

    def close(self) -> None:
        """Cancel all running work and stop the loop."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result()
            loop.call_soon_threadsafe(loop.stop)


async def settle(work: Awaitable[Any]) -> Any:
    """Wait for an awaitable of the user's; none of its errors ends the loop."""
    try:
        return await work
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - an exit would end the loop of all other calls
        raise to_exception(error) from None


async def _cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    while True:
        try:
            loop.run_forever()
            break
        except (KeyboardInterrupt, SystemExit):  # of a task that the user's code has started
            continue
    loop.close()
