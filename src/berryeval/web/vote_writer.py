"""The writer of votes: votes that arrive at the same time share one transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeAlias

from berryeval.errors import NotWrittenError

if TYPE_CHECKING:
    from berryeval.judging import Vote

_Waiting: TypeAlias = "tuple[Sequence[Vote], Future[list[Vote]]]"


class VoteWriter:
    """Stores votes in a thread of its own; all pending votes share one transaction."""

    def __init__(self, store: Callable[[Sequence[Vote]], Sequence[Vote]]) -> None:
        self._store = store
        self._waiting: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._lock, self._is_open = threading.Lock(), True
        self._thread = threading.Thread(target=self._work, name="votes", daemon=True)
        self._thread.start()

    def submit(self, votes: Sequence[Vote]) -> Future[list[Vote]]:
        """Return a future that ends when the votes are on the disk."""
        future: Future[list[Vote]] = Future()
        with self._lock:
            if not self._is_open:
                raise NotWrittenError("the pool is being opened again; send the votes once more")
            self._waiting.put((votes, future))
        return future

    def close(self) -> None:
        """Store the pending votes, and end."""
        with self._lock:
            self._is_open = False
            self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch, ended = [first], False
            try:
                while (more := self._waiting.get_nowait()) is not None:
                    batch.append(more)
                ended = True
            except Empty:
                pass
            # Votes of a sender who is gone are dropped: the result could not be reported.
            self._write([one for one in batch if one[1].set_running_or_notify_cancel()])
            if ended:
                return

    def _write(self, batch: Sequence[_Waiting]) -> None:
        try:
            stored = iter(self._store([vote for votes, _ in batch for vote in votes]))
        except Exception as error:  # noqa: BLE001 - passed to the senders
            if len(batch) > 1 and not isinstance(error, NotWrittenError):
                for one in batch:  # report a vote that cannot be stored to its sender only
                    self._write([one])
                return
            for _, future in batch:
                future.set_exception(error)
            return
        for votes, future in batch:
            future.set_result(list(islice(stored, len(votes))))
