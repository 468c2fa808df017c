"""Hits from an engine that cuts a ranking anywhere among equal scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.providers.base import ranked_hits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from berryeval.records import Chunk, Hit

__all__ = ["hits_with_ties"]

_MORE: Final = 10  # seldom more than this tie for the last place
_GROWTH: Final = 4


def hits_with_ties(
    chunks: Sequence[Chunk], k: int, fetch: Callable[[int], Sequence[tuple[int, float]]]
) -> list[Hit]:
    """The `k` best hits in THE order of rankings.

    Args:
        chunks: what was indexed.
        k: how many hits are wanted.
        fetch: asks the engine for so many: places of chunks with scores, the highest first. It is
            asked for more until all that tie for the last place are there.
    """
    count = k + _MORE
    found = fetch(count)
    while len(found) == count and found[k - 1][1] == found[-1][1]:
        count *= _GROWTH
        found = fetch(count)
    return ranked_hits([chunks[place] for place, _ in found], [score for _, score in found], k)
