"""Texts that are nearly the same, found without comparing each with each.

Two texts are alike by the share of runs of words (shingles) that both have, of those that one of
them has. If two share enough, they share one of the rarest few of each, so only texts with a rare
shingle in common are compared. Texts like one that was seen before are not compared any further.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from berryeval.benchmarks.checks.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["ALIKE", "Alike", "alike", "how_alike"]

ALIKE: Final = 0.8  # the share from which on queries, and documents, are alike
MOST: Final = 50  # texts looked at for each shingle; if there are more, it is boilerplate
CLOSEST: Final = 20  # texts that one is compared with: those that share the most rare shingles
_BITS: Final = 21  # for a word of a shingle: beyond two million words, some shingles would be one
_EXACT: Final = 3  # words that fit so; of more, the number of a shingle is a hash of 64 bits
_FACTOR: Final = 6_364_136_223_846_793_005  # odd, so that no word is lost by the multiplication

Shingles: TypeAlias = NDArray[np.int64]  # of one text: sorted, each once


class Alike(NamedTuple):
    """A text, an earlier one that is like it, and how much."""

    place: int
    earlier: int
    share: float


def alike(texts: Sequence[str], length: int, least: float) -> Iterator[Alike]:
    """The texts that are like an earlier one, in order; blank texts are like nothing.

    >>> list(alike(["a b c d", "e f", "A b, c d!", "", ""], length=2, least=0.8))
    [Alike(place=2, earlier=0, share=1.0)]

    Args:
        texts: what to compare.
        length: of a shingle, in words.
        least: the share from which on two are alike.
    """
    sets, shared = _by_rarity(_shingles(texts, length))
    same: dict[bytes, int] = {}
    holders: dict[int, list[int]] = defaultdict(list)  # by shingle, texts that are unlike
    for place, found in enumerate(sets):
        if not len(found):
            continue
        first = same.setdefault(found.tobytes(), place)
        if first != place:
            yield Alike(place, first, 1.0)
            continue
        rare = _rarest(found, shared, least)
        pairs = [_compared(place, other, sets) for other in _candidates(rare, holders)]
        best = max(pairs, key=lambda pair: pair.share, default=None)
        if best is not None and best.share >= least:
            yield best
            continue
        for shingle in rare:
            holders[shingle].append(place)


def how_alike(one: str, other: str, share: float) -> str:
    """How much alike two texts are, in words that go between their names."""
    if one == other:
        return "the same as"
    return "the same words as" if share == 1 else f"nearly the same ({share:.2f}) as"


def _shingles(texts: Sequence[str], length: int) -> list[Shingles]:
    """The shingles of each text; a text of fewer words is one shingle."""
    numbers: defaultdict[str, int] = defaultdict(itertools.count(1).__next__)
    found = []
    for text in texts:
        ids = np.fromiter(map(numbers.__getitem__, words_of(text)), dtype=np.int64)
        size = min(length, len(ids))
        runs = np.zeros(len(ids) - size + 1 if size else 0, dtype=np.int64)
        factor = 1 << _BITS if length <= _EXACT else _FACTOR
        for at in range(size):
            runs = runs * factor + ids[at : at + len(runs)]
        found.append(np.unique(runs))
    return found


def _by_rarity(sets: list[Shingles]) -> tuple[list[Shingles], int]:
    """The shingles renumbered, the rarest first, and the first number that two texts share."""
    if not sets:
        return [], 0
    sizes = np.cumsum([len(one) for one in sets])[:-1]
    _, where, often = np.unique(np.concatenate(sets), return_inverse=True, return_counts=True)
    order = np.argsort(often, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    ranked = np.split(rank[where.reshape(-1)], sizes)
    return [np.sort(one) for one in ranked], int((often == 1).sum())


def _rarest(found: Shingles, shared: int, least: float) -> list[int]:
    """So many of the rarest shingles that a text alike must have one, without those of one text."""
    count = len(found) - math.ceil(least * len(found)) + 1
    few = found[:count]
    return [int(one) for one in few[few >= shared]]


def _candidates(rare: list[int], holders: dict[int, list[int]]) -> list[int]:
    """The texts that share the most of the rare shingles."""
    shared = Counter(one for shingle in rare for one in holders.get(shingle, [])[:MOST])
    return [one for one, _ in shared.most_common(CLOSEST)]


def _compared(place: int, other: int, sets: list[Shingles]) -> Alike:
    both = len(np.intersect1d(sets[place], sets[other], assume_unique=True))
    return Alike(place, other, both / (len(sets[place]) + len(sets[other]) - both))
