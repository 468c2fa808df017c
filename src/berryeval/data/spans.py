"""Spans of text: the input of metrics that compare wanted with retrieved passages.

A passage whose text occurs at several places counts at the place with the largest overlap with the
wanted passages, and a wanted passage at the place with the largest overlap with the retrieved ones;
ties go to the first place. Every character counts once.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from berryeval.errors import MetricError

if TYPE_CHECKING:
    from berryeval.data.judged import JudgedRanking


# Words and single punctuation marks: an approximation that needs no model and never changes.
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
Size: TypeAlias = Callable[[str, int, int], int]


def count_tokens(text: str) -> int:
    """Count the words and punctuation marks of a text."""
    return sum(1 for _ in _TOKEN.finditer(text))


def count_characters(document: str, start: int, end: int) -> int:  # noqa: ARG001 - a `Size`
    """Return the number of characters of a span."""
    return end - start


class TokenCounter:
    """Counts the tokens of spans; each document is tokenized once."""

    def __init__(self, text_of: Callable[[str], str | None]) -> None:
        self._text_of = text_of
        self._starts: dict[str, list[int]] = {}

    def __call__(self, document: str, start: int, end: int) -> int:
        """Return the number of tokens that start in the span."""
        starts = self._starts.get(document)
        if starts is None:
            text = self._text_of(document)
            if text is None:
                raise MetricError(
                    f"cannot count tokens: the text of document {document!r} is unknown"
                )
            starts = self._starts[document] = [token.start() for token in _TOKEN.finditer(text)]
        return bisect_left(starts, end) - bisect_left(starts, start)


class Territory:
    """A set of characters of documents, stored as disjoint spans."""

    def __init__(self, spans: Iterable[Span]) -> None:
        grouped: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for document, start, end in spans:
            if start < end:
                grouped[document].append((start, end))
        self._spans = {document: _merge(parts) for document, parts in grouped.items()}

    def size(self, size_of: Size) -> int:
        """Return the size in characters or tokens."""
        return sum(size_of(*span) for span in self)

    def __iter__(self) -> Iterator[Span]:
        for document, parts in self._spans.items():
            for start, end in parts:
                yield Span(document, start, end)

    def __and__(self, other: Territory) -> Territory:
        """Return the intersection."""
        return Territory(part for span in self for part in other.within(span))

    def within(self, span: Span) -> list[Span]:
        """Return the parts inside a span."""
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
        """Return the span with the largest overlap; ties go to the first."""
        return max(
            choices, key=lambda span: sum(end - start for _, start, end in self.within(span))
        )


def _merge(parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


Unit: TypeAlias = Literal["characters", "tokens"]


@dataclass(frozen=True)
class Passage:
    """A hit as a piece of text, with its possible places and the names of its file.

    The places are empty if they are unknown and the hit has no text; the most common name is first.
    """

    id: str
    spans: tuple[Span, ...]
    files: tuple[str, ...]


@dataclass(frozen=True)
class Wanted:
    """A passage that should be found; a target that needs several passages gives several.

    The alternative places are empty if they are unknown. `name` is for messages, and `files` are
    the names of the files that it may be found in.
    """

    name: str
    grade: float
    spans: tuple[Span, ...]
    files: frozenset[str]


class Shared(NamedTuple):
    """Sizes of the wanted and retrieved text and of their intersection."""

    found: int
    wanted: int
    retrieved: int


@dataclass(frozen=True)
class SpanRanking:
    """One ranking as text, joined with its targets and the system's chunks by document."""

    judged: JudgedRanking
    passages: Sequence[Passage]
    wanted: Sequence[Wanted]
    tokens: Size
    chunks: Mapping[str, SpanIndex] | None = None

    def shared(self, rel: float, cutoff: int | None = None, unit: Unit = "characters") -> Shared:
        """Return the overlap of the top hits with the wanted passages."""
        return self._shared(list(self._top_spans(cutoff)), rel, unit)

    def _top_spans(self, cutoff: int | None) -> Iterator[tuple[Span, ...]]:
        for passage in self.passages[:cutoff]:
            if not passage.spans:
                raise MetricError(
                    f"hit {passage.id!r} has neither text nor a position in a known document"
                )
            yield passage.spans

    def shared_by_chunks(self, rel: float) -> Shared:
        """Return the overlap in characters if exactly the chunks with wanted text came back."""
        if self.chunks is None:
            raise MetricError("the chunks of the corpus are unknown: pass them as chunks=...")
        holding = {
            Span(span.document, start, end)
            for wanted in self._relevant(rel)
            for span in wanted.spans[:1]
            if span.document in self.chunks
            for start, end, _ in self.chunks[span.document].overlapping(span.start, span.end)
        }
        return self._shared(((span,) for span in sorted(holding)), rel, "characters")

    def _shared(self, choices: Iterable[Sequence[Span]], rel: float, unit: Unit) -> Shared:
        parts = self._relevant(rel)
        anywhere = Territory(span for part in parts for span in part.spans)
        retrieved = Territory(anywhere.best_of(spans) for spans in choices)
        wanted = Territory(retrieved.best_of(part.spans) for part in parts)
        size: Size = self.tokens if unit == "tokens" else count_characters
        both = wanted & retrieved
        return Shared(both.size(size), wanted.size(size), retrieved.size(size))

    def _relevant(self, rel: float) -> list[Wanted]:
        parts = [part for part in self.wanted if part.grade >= rel]
        for part in parts:
            if not part.spans:
                raise MetricError(
                    f"the position of {part.name} is unknown, so its characters cannot be counted: "
                    "pass its documents or chunks, or repair its judgment"
                )
        return parts

    def wanted_files(self, rel: float) -> list[frozenset[str]]:
        """Return the relevant files, each as a set of alternative names."""
        return list(dict.fromkeys(part.files for part in self.wanted if part.grade >= rel))

    def ranked_files(self) -> list[set[str]]:
        """Return the files of the hits with all their names, in order of their first hits."""
        names: dict[str, set[str]] = {}
        for passage in self.passages:
            names.setdefault(passage.files[0], set()).update(passage.files)
        return list(names.values())

    def tokens_read(self, rank: int) -> int:
        """Return the total number of tokens of the hits up to a rank, repeats included."""
        return sum(self.tokens(*spans[0]) for spans in self._top_spans(rank))

    def condensed(self) -> SpanRanking:
        """Return the ranking without its unjudged hits."""
        judged = [hit.rank for hit in self.judged.hits if hit.grade >= 0]
        kept = [self.passages[rank - 1] for rank in judged]
        return replace(self, judged=self.judged.condensed(), passages=kept)


class Span(NamedTuple):
    """Characters of a document from `start` to `end`, with the end excluded."""

    document: str
    start: int
    end: int


class SpanIndex:
    """An index of numbered spans of one document that finds those overlapping another span.

    Spans are grouped by length into classes whose bounds double. Spans of a class have similar
    lengths, so those that overlap a place are neighbors when sorted by start.

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
        """Yield the spans `(start, end, number)` that share a character with this one."""
        for longest, members, starts in self._classes:
            first = bisect_left(starts, start - longest)
            for place in range(first, bisect_left(starts, end)):
                if members[place][1] > start:
                    yield members[place]
