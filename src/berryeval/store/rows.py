"""What lists and trends show of a run, without its answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from berryeval.harness.outcomes import failed_of
from berryeval.results import Asked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.results import Latency

__all__ = ["FailedResult", "StoredResult", "StoredRun", "StoredValue", "TrendPoint"]


@dataclass(frozen=True)
class StoredValue:
    """One measure of one result.

    Attributes:
        measure: its canonical name.
        value: over all queries.
        low: where its 95 % interval begins; None for measures that nobody asked for.
        high: where it ends.
        n: of how many queries.
    """

    measure: str
    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class StoredResult:
    """What a provider did on a benchmark."""

    benchmark: str
    content_hash: str
    k: int
    queries: int
    provider: str
    type: str
    chunker: str
    failure: str
    outcomes: Mapping[str, Any]
    latency: Latency | None
    values: tuple[StoredValue, ...] = ()

    @property
    def failed(self) -> int:
        """How many queries ended without an answer, and count as 0."""
        return failed_of(self.outcomes)


@dataclass(frozen=True)
class StoredRun:
    """A run: its name, when it was started, and what each provider reached."""

    id: str
    created: str
    config_hash: str
    results: tuple[StoredResult, ...] = ()


@dataclass(frozen=True)
class FailedResult:
    """A provider that has no value in a run, for it failed altogether.

    Attributes:
        run: which run.
        created: when it was started, as its record says.
        benchmark: on what.
        provider: who.
        failure: why.
    """

    run: str
    created: str
    benchmark: str
    provider: str
    failure: str


@dataclass(frozen=True)
class TrendPoint:
    """The value of a measure in one run.

    Attributes:
        run: which run.
        created: when it was started, as its record says.
        moment: the same in seconds since 1970, for axes.
        benchmark: of what.
        provider: by whom.
        value: what was reached.
        content_hash: of the benchmark at that time.
        sample: a hash of the queries that were asked.
        k: how many hits were asked for.
        failed: how many queries ended without an answer, and count as 0.
    """

    run: str
    created: str
    moment: float
    benchmark: str
    provider: str
    value: StoredValue
    content_hash: str
    sample: str
    k: int
    failed: int = 0

    def differs_from(self, before: TrendPoint) -> str:
        """Why the two values cannot be compared; empty if they can."""
        return self.asked.differs_from(before.asked)

    @property
    def asked(self) -> Asked:
        """What the value depends on besides the provider."""
        return Asked(self.content_hash, self.sample, self.k)
