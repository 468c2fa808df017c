"""Which way is better: of most measures up, of some down, and of counts neither."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

__all__ = ["Direction", "direction_of"]

Direction: TypeAlias = Literal["up", "down", "neither"]

_DOWN: Final = frozenset({"NumNonrelJudgedRet", "RBPResidual", "TokensToHit", "Unjudged"})
_NEITHER: Final = frozenset({"IDCG", "Judged", "NumQ", "NumRel", "NumRet"})


def direction_of(measure: str) -> Direction:
    """Which way a measure gets better, by its canonical name; one of your own is taken for "up".

    >>> direction_of("nDCG@10"), direction_of("TokensToHit(budget=500)"), direction_of("NumRet")
    ('up', 'down', 'neither')
    """
    name = re.split(r"[(@]", measure, maxsplit=1)[0]
    if name in _DOWN:
        return "down"
    return "neither" if name in _NEITHER else "up"
