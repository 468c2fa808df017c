"""An event loop of its own for asynchronous code that is called from threads."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from concurrent.futures import Future

__all__ = ["OwnLoop"]


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
