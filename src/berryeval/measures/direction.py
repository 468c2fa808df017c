"""Which way is better."""

from __future__ import annotations

from typing import Final

__all__ = ["smaller_is_better"]

_SMALLER: Final = frozenset({"TokensToHit"})


def smaller_is_better(name: str) -> bool:
    """Whether a smaller value of the measure with this canonical name is the better one."""
    return name.partition("@")[0].partition("(")[0] in _SMALLER
