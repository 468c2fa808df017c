"""The measures that every run has, whatever was asked for: any two runs can be exported alike."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from berryeval.measures import parse_measures

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["CURVE", "RECALL_LEVELS", "STANDARD", "deeper_than", "depth_note", "standard_of"]

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


def deeper_than(k: int, measures: Iterable[str]) -> tuple[str, ...]:
    """Those of these measures that look further down than the `k` hits that were asked for.

    >>> deeper_than(10, ["P@10", "R@20", "RR"])
    ('R@20',)
    """
    return tuple(
        name
        for name in measures
        if any((one.params.get("cutoff") or 0) > k for one in parse_measures([name]))
    )


@cache
def standard_of(k: int) -> tuple[str, ...]:
    """The standard measures of a run of `k` hits: what looks deeper would be of another cutoff."""
    deeper = deeper_than(k, STANDARD)
    return tuple(name for name in STANDARD if name not in deeper)


def depth_note(k: int, measures: Iterable[str]) -> str:
    """What to say of measures that look deeper than was asked for; empty if none does."""
    deeper = deeper_than(k, measures)
    if not deeper:
        return ""
    looks = "looks" if len(deeper) == 1 else "look"
    hits = "hit" if k == 1 else "hits"
    return f"{', '.join(deeper)} {looks} deeper than the {k} {hits} asked for: no more could count"
