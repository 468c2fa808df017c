"""How long a provider took, in percentiles."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Latency"]


@dataclass(frozen=True)
class Latency:
    """Percentiles of the seconds per answered query; all 0 if none was."""

    p50: float = 0.0
    p95: float = 0.0
    p99: float = 0.0
    max: float = 0.0

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Latency:
        """Those of these times."""
        if not seconds:
            return cls()
        p50, p95, p99 = np.percentile(seconds, [50, 95, 99]).tolist()
        return cls(p50, p95, p99, max(seconds))

    def to_dict(self) -> dict[str, float]:
        """Ready for JSON."""
        return asdict(self)
