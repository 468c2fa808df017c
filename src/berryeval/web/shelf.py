"""The runs of a site: those of the store, and run folders that the store does not have."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from berryeval.errors import DataError
from berryeval.runs import NoStoreError
from berryeval.workflows import choose_store, locate_run, open_history

if TYPE_CHECKING:
    from markupsafe import Markup

    from berryeval.runs import RunRecord, Store
    from berryeval.workflows import LocatedRun

T = TypeVar("T")
_RECORDS: Final = 16  # in memory
_BODIES: Final = 64  # rendered pages in memory


class Kept(Generic[T]):
    """A cache of recent values; each is made once, also if several threads ask for it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._found: OrderedDict[Hashable, T] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key, made now unless it is cached."""
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._found:
                    self._found.move_to_end(key)
                    return self._found[key]
            try:
                found = make()
                with self._lock:
                    self._found[key] = found
                    while len(self._found) > self._most:
                        self._found.popitem(last=False)
            finally:
                with self._lock:
                    self._making.pop(key, None)
            return found


class RunShelf:
    """Finds runs; records and rendered pages are kept in memory until their run changes."""

    def __init__(self, store: str | None = None) -> None:
        self._place = store
        self._records: Kept[RunRecord] = Kept(_RECORDS)
        self.bodies: Kept[dict[str, Markup]] = Kept(_BODIES)

    def open_store(self) -> AbstractContextManager[Store]:
        """Open the store for a block; a store that is turned off is a `NoStoreError`."""
        if choose_store(self._place) is None:
            raise NoStoreError("the store is turned off: only run folders are shown")
        return open_history(self._place)

    def locate(self, name: str) -> LocatedRun:
        """Find a run by its name or a beginning of it, or `latest`."""
        return locate_run(name, self._place)

    def holds(self, name: str) -> bool:
        """Return whether a run has this name, or a name that begins with it."""
        try:
            self.locate(name)
        except DataError:
            return False
        return True

    def get(self, name: str) -> RunRecord:
        """Return the record of a run."""
        found = self.locate(name)
        return self._records.get(found, found.read)

    def get_judged(self, name: str) -> RunRecord:
        """Return the record of a run, with a gate whose baseline is a run or in this folder.

        A record may come from somebody else: its baseline must not name any other file.
        """
        record = self.get(name)
        baseline = name_baseline(record)
        if not baseline or is_inside(baseline):
            return record
        return replace(record, plan={**record.plan, "gate": {}})


def name_baseline(record: RunRecord) -> str:
    """Return the baseline of the gate that a run was made with; "" without one."""
    gate = record.plan.get("gate")
    return str(gate.get("baseline") or "") if isinstance(gate, Mapping) else ""


def is_inside(text: str) -> bool:
    """Return whether a path is below the current folder, also behind links."""
    try:
        return Path(text).resolve().is_relative_to(Path.cwd().resolve())
    except (OSError, ValueError, RuntimeError):
        return False
