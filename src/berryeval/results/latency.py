"""How long a provider took, in percentiles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from berryeval.json_record import JsonRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Latency"]


@dataclass(frozen=True)
class Latency(JsonRecord):
    """Percentiles of the seconds per answered query.

    Attributes:
        p50: half of the queries took no longer.
        p95: nor did 95 %.
        p99: nor did 99 %.
        max: nor did any.
        batch: the most queries that were asked together. If it is more than 1, the seconds of a
            query are those of its batch, divided by the size.
    """

    p50: float
    p95: float
    p99: float
    max: float
    batch: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    @classmethod
    def of(cls, seconds: Sequence[float], batch: int = 1) -> Latency | None:
        """Those of these times; None if there is none."""
        if not seconds:
            return None
        import numpy as np

        p50, p95, p99 = np.percentile(seconds, [50, 95, 99]).tolist()
        return cls(p50, p95, p99, max(seconds), batch)
