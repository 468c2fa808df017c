"""Spans of a document, and an index that finds those overlapping another."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Span", "SpanIndex"]


class Span(NamedTuple):
    """Characters of a document, from `start` up to, and without, `end`."""

    document: str
    start: int
    end: int


class SpanIndex:
    """Numbered spans of one document; those overlapping a span are found without looking at all.

    Spans are kept by length, in classes that double: all spans of a class are about equally long,
    so those overlapping a place stand side by side when sorted by their start, however short or
    long the spans of other classes are.

        >>> index = SpanIndex([(0, 4, 0), (4, 9, 1), (0, 20, 2)])
        >>> sorted(number for _, _, number in index.overlapping(3, 4))
        [0, 2]
    """

    def __init__(self, spans: Iterable[tuple[int, int, int]]) -> None:
        classes: dict[int, list[tuple[int, int, int]]] = {}
        for span in spans:
            classes.setdefault((span[1] - span[0]).bit_length(), []).append(span)
        self._classes = []
        for bits, members in classes.items():
            members.sort()
            self._classes.append((1 << bits, members, [start for start, _, _ in members]))

    def overlapping(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """The spans `(start, end, number)` that share a character with this one."""
        for longest, members, starts in self._classes:
            first = bisect_left(starts, start - longest)
            for place in range(first, bisect_left(starts, end)):
                if members[place][1] > start:
                    yield members[place]
