"""The provider `scripted`: right answers after a delay, and faults on chosen queries."""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from berryeval.data.records import Hit
from berryeval.errors import ProviderError
from berryeval.providers.base import Provider, build_hit
from berryeval.providers.catalogue import PROVIDERS
from tests.workflows.bad_answers import BAD_ANSWERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.data.records import Chunk, Query


def _raise(error: BaseException) -> Any:
    raise error


_ODD: Any = {1: {2}, "x": float("nan")}
FAULTS: Mapping[str, Any] = {
    "raise": lambda _: _raise(ValueError("no such index")),
    "exit": lambda _: _raise(SystemExit(3)),
    "stop": lambda _: _raise(StopIteration()),
    "refuse": lambda _: _raise(ConnectionRefusedError("nobody there")),
    "busy": lambda _: _raise(ProviderError("busy", passing=True, retry_after=0.01)),
    "late": lambda _: _raise(TimeoutError("the socket was too slow")),
    "hang": lambda _: time.sleep(3600),
    "none": lambda _: None,
    "text": lambda _: "garbage",
    "number": lambda _: 7,
    "objects": lambda _: [object()],
    "nan": lambda _: [Hit("a", float("nan"))],
    "infinite": lambda _: [Hit("a", float("inf"))],
    "huge": lambda _: [Hit("a", 10**400)],
    "odd text": lambda _: [Hit("a", 1.0, text=None)],  # type: ignore[arg-type]
    "odd section": lambda _: [Hit("a", 1.0, section=(1, 2))],  # type: ignore[arg-type]
    "odd extra": lambda _: [Hit("a", 1.0, extra={"id": "b"})],
    "odd id": lambda _: [Hit("\ud800", 1.0)],
    "no id": lambda _: [Hit("", 1.0)],
    "endless": lambda hits: iter(lambda: hits[0], None),
    "twice": lambda hits: [*hits, *hits],
    "many": lambda hits: [*hits, *(Hit(f"more {n}", -1.0 - n) for n in range(50))],
    "odd metadata": lambda hits: [Hit(hits[0].id, 1.0, metadata=_ODD)],
    "lazy": lambda hits: (hit for hit in hits),
    "empty": lambda _: [],
    **{name: answer for name, (answer, _) in BAD_ANSWERS.items()},
}


@dataclass
class Scripted(Provider):
    """A provider that finds the chunk with the number of the query first, and two more.

    Attributes:
        log: File that gets the id of each query when it is asked.
        delay: Seconds per answer.
        until: File for which every answer waits.
        faults: Faults by query.
        passing: Number of failing attempts of a query before one succeeds.
        index_fault: Fault during indexing.
        index_fault_if: File without which indexing has no fault.
        close_fault: Fault during closing.
        password: A secret that must never be shown.
    """

    log: str = ""
    delay: float = 0.0
    until: str = ""
    faults: Mapping[str, str] = field(default_factory=dict)
    passing: int = 1_000_000
    index_fault: str = ""
    index_fault_if: str = ""
    close_fault: str = ""
    password: Any = field(default="", repr=False)
    says: str = field(default="", repr=False)
    _chunks: Sequence[Chunk] = field(default=(), init=False, repr=False)
    _asked: Counter[str] = field(default_factory=Counter, init=False, repr=False)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Keep the chunks."""
        self._chunks = chunks
        if self.index_fault and (not self.index_fault_if or os.path.exists(self.index_fault_if)):  # noqa: PTH110
            FAULTS[self.index_fault]([])

    def search(self, query: Query, k: int) -> Any:
        """Follow the script."""
        if self.log:
            line = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(line, f"{query.id}\n".encode())
            os.close(line)
        self._asked[query.id] += 1
        time.sleep(self.delay)
        while self.until and not os.path.exists(self.until):  # noqa: PTH110 - as cheap as can be
            time.sleep(0.005)
        if self.says:
            raise ProviderError(self.says)
        number = int(query.id[1:])
        places = [(number + step) % len(self._chunks) for step in range(min(3, k))]
        hits = [build_hit(self._chunks[p], 3.0 - n, n + 1) for n, p in enumerate(places)]
        fault = self.faults.get(query.id)
        if fault and self._asked[query.id] <= self.passing:
            return FAULTS[fault](hits)
        return hits

    def close(self) -> None:
        """Close, or fail."""
        if self.close_fault:
            FAULTS[self.close_fault]([])


if "scripted" not in PROVIDERS:
    PROVIDERS.register("scripted")(Scripted)
