"""Asynchronous work from ordinary code, also where a loop runs already."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

__all__ = ["run_async"]

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
