"""The measures that every run has, whatever was asked for: any two runs can be exported alike."""

from __future__ import annotations

from typing import Final

__all__ = ["CURVE", "RECALL_LEVELS", "STANDARD"]

_CUTOFFS: Final = (5, 10, 20)

# The names are the columns of the aggregate CSV, in their order.
STANDARD: Final = (
    *(f"recall_at_{k}" for k in _CUTOFFS),
    *(f"precision_at_{k}" for k in _CUTOFFS),
    "mrr",
    *(f"ndcg_at_{k}" for k in _CUTOFFS),
    "map",
    *(f"hit_rate_at_{k}" for k in _CUTOFFS),
)
RECALL_LEVELS: Final = tuple(step / 10 for step in range(11))
CURVE: Final = tuple(f"IPrec@{level:g}" for level in RECALL_LEVELS)
