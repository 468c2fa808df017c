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
    """Percentiles of the seconds per answered query."""

    p50: float
    p95: float
    p99: float
    max: float
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Latency | None:
        """Those of these times; None if there is none."""
        if not seconds:
            return None
        import numpy as np

        p50, p95, p99 = np.percentile(seconds, [50, 95, 99]).tolist()
        return cls(p50, p95, p99, max(seconds))
