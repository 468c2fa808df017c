"""The runs of a site: those of the store, and run folders that the store does not have."""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from berryeval.workflows import find_run, open_history

if TYPE_CHECKING:
    from berryeval.runs import RunRecord, Store

_KEPT: Final = 16  # records in memory


class RunShelf:
    """Finds runs; records that were read lately are kept in memory."""

    def __init__(self, store: str | None = None) -> None:
        self._place = store
        self._records: OrderedDict[str, RunRecord] = OrderedDict()
        self._lock = threading.Lock()

    def open_store(self) -> AbstractContextManager[Store]:
        """Open the store for a block."""
        return open_history(self._place)

    def get(self, name: str) -> RunRecord:
        """Return the record of a run."""
        with self._lock:
            if name in self._records:
                self._records.move_to_end(name)
                return self._records[name]
        record = find_run(name, self._place).record
        with self._lock:
            self._records[name] = record
            while len(self._records) > _KEPT:
                self._records.popitem(last=False)
        return record
