"""Characters of many documents, each counted once however often it is named."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from berryeval.anchors import Span
from berryeval.errors import MeasureError

__all__ = ["Size", "Territory", "TokenCounter", "characters", "count_tokens"]

# Words, and every other sign by itself: a rough count that needs no model and never changes.
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
Size: TypeAlias = Callable[[str, int, int], int]


def count_tokens(text: str) -> int:
    """How many tokens a text has: its words, and each sign that is none.

    >>> count_tokens("Don't panic!")
    5
    """
    return sum(1 for _ in _TOKEN.finditer(text))


def characters(document: str, start: int, end: int) -> int:  # noqa: ARG001 - the same in all
    """How many characters a span has."""
    return end - start


class TokenCounter:
    """How many tokens begin in a span; the texts are read once."""

    def __init__(self, text_of: Callable[[str], str | None]) -> None:
        self._text_of = text_of
        self._starts: dict[str, list[int]] = {}

    def __call__(self, document: str, start: int, end: int) -> int:
        """How many tokens of the document begin in the span."""
        starts = self._starts.get(document)
        if starts is None:
            text = self._text_of(document)
            if text is None:
                msg = f"tokens cannot be counted: the text of document {document!r} is not known"
                raise MeasureError(msg)
            starts = self._starts[document] = [token.start() for token in _TOKEN.finditer(text)]
        return bisect_left(starts, end) - bisect_left(starts, start)


class Territory:
    """A set of characters, held as spans that neither overlap nor touch."""

    def __init__(self, spans: Iterable[Span]) -> None:
        grouped: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for document, start, end in spans:
            if start < end:
                grouped[document].append((start, end))
        self._spans = {document: _merged(parts) for document, parts in grouped.items()}

    def size(self, size_of: Size) -> int:
        """How much it holds, by characters or by tokens."""
        return sum(size_of(*span) for span in self)

    def __iter__(self) -> Iterator[Span]:
        for document, parts in self._spans.items():
            for start, end in parts:
                yield Span(document, start, end)

    def __and__(self, other: Territory) -> Territory:
        """What both hold."""
        shared = []
        for document, start, end in self:
            shared.extend(other.within(Span(document, start, end)))
        return Territory(shared)

    def within(self, span: Span) -> list[Span]:
        """The parts of it that lie in a span."""
        parts = self._spans.get(span.document, [])
        first = bisect_left(parts, (span.start,))
        if first and parts[first - 1][1] > span.start:
            first -= 1
        found = []
        for start, end in parts[first:]:
            if start >= span.end:
                break
            found.append(Span(span.document, max(start, span.start), min(end, span.end)))
        return found

    def best_of(self, choices: Iterable[Span]) -> Span:
        """The span that holds most of it; of equals the first."""
        return max(choices, key=lambda span: sum(map(_length, self.within(span))))


def _length(span: Span) -> int:
    return span.end - span.start


def _merged(parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
