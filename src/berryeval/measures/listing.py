"""Names of measures as people list them: with commas between them, and one by several names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from berryeval.measures.grammar import parse_measures

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.measures.base import Measure

__all__ = ["distinct_names", "split_names"]


def split_names(texts: Iterable[str]) -> list[str]:
    """Names of measures that were given one by one or with commas between them.

    A comma inside of parentheses or before a bare number belongs to the name, as in
    nDCG(gains={1:1,2:3}) and P.5,10.
    """
    names: list[str] = []
    for text in texts:
        for part in re.split(r",(?![^(]*\))", text):
            if names and re.fullmatch(r"[0-9.]+", part):
                names[-1] += f",{part}"
            elif part.strip():
                names.append(part.strip())
    return names


def distinct_names(names: Iterable[str]) -> list[str]:
    """The names without those that mean what an earlier one does: nDCG@10 is ndcg_cut_10."""
    seen: set[Measure] = set()
    kept: list[str] = []
    for name in names:
        named = parse_measures([name])
        new = [measure for measure in named if measure not in seen]
        kept += [name] if len(new) == len(named) else map(str, new)
        seen.update(new)
    return kept
