"""How long a provider took, in percentiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Latency"]


@dataclass(frozen=True)
class Latency:
    """Percentiles of the seconds per answered query; None if none was.

    Attributes:
        p50: half of the queries took no longer.
        p95: nor did 95 %.
        p99: nor did 99 %.
        max: nor did any.
        batch: the most queries that were asked together. If it is more than 1, the seconds of a
            query are those of its batch, divided by the size.
    """

    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None
    batch: int = 1

    @classmethod
    def of(cls, seconds: Sequence[float], batch: int = 1) -> Latency:
        """Those of these times."""
        if not seconds:
            return cls(batch=batch)
        p50, p95, p99 = np.percentile(seconds, [50, 95, 99]).tolist()
        return cls(p50, p95, p99, max(seconds), batch)

    def to_dict(self) -> dict[str, float | None]:
        """The seconds, ready for JSON."""
        return {name: getattr(self, name) for name in ("p50", "p95", "p99", "max")}
