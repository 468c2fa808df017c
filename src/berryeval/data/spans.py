"""What metrics of text see: the passages that were wanted, and those that were retrieved.

A passage that may stand at several places (its text is repeated) is taken to stand where it shares
most with what is wanted, and a wanted passage where it shares most with what was retrieved; of
equals, the first place. Every character counts once.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from berryeval.errors import MetricError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from berryeval.data.judged import JudgedRanking


# Characters of many documents, each counted once however often it is named.

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
                raise MetricError(msg)
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


Unit: TypeAlias = Literal["characters", "tokens"]


@dataclass(frozen=True)
class Passage:
    """One hit as a piece of text.

    Attributes:
        id: of the hit.
        spans: where it stands, or may stand. Empty if nobody knows, and it has no text either.
        files: the names of the file it is of, the best known first.
    """

    id: str
    spans: tuple[Span, ...]
    files: tuple[str, ...]


@dataclass(frozen=True)
class Wanted:
    """A passage that should be found; a target of several that are all needed is several.

    Attributes:
        name: for messages.
        grade: what it is worth.
        spans: where it stands; several, if any of them will do. Empty if nobody knows.
        files: the files it may be found in.
    """

    name: str
    grade: float
    spans: tuple[Span, ...]
    files: frozenset[str]


class Shared(NamedTuple):
    """How much was wanted, how much was retrieved, and how much of it is the same."""

    found: int
    wanted: int
    retrieved: int


@dataclass(frozen=True)
class SpanRanking:
    """One ranking as text, after the join with its targets.

    Attributes:
        judged: the ranking as other metrics see it.
        passages: the hits, best first.
        wanted: what should be found.
        tokens: counts the tokens of a span.
        chunks: by document, how the system cut the corpus; None if that is not known.
    """

    judged: JudgedRanking
    passages: Sequence[Passage]
    wanted: Sequence[Wanted]
    tokens: Size
    chunks: Mapping[str, SpanIndex] | None = None

    def shared(self, rel: float, cutoff: int | None = None, unit: Unit = "characters") -> Shared:
        """What the top k and the wanted passages have in common."""
        top = self.passages[:cutoff]
        for passage in top:
            if not passage.spans:
                msg = f"hit {passage.id!r} has neither a text nor a place in a known document"
                raise MetricError(msg)
        return self._shared((passage.spans for passage in top), rel, unit)

    def shared_by_chunks(self, rel: float, unit: Unit = "characters") -> Shared:
        """The same, if exactly the chunks that hold some of what is wanted were retrieved."""
        if self.chunks is None:
            msg = "it is not known how the corpus was cut: give the system's chunks, as chunks=..."
            raise MetricError(msg)
        holding = {
            Span(span.document, start, end)
            for wanted in self._relevant(rel)
            for span in wanted.spans[:1]
            if span.document in self.chunks
            for start, end, _ in self.chunks[span.document].overlapping(span.start, span.end)
        }
        return self._shared(((span,) for span in sorted(holding)), rel, unit)

    def _shared(self, choices: Iterable[Sequence[Span]], rel: float, unit: Unit) -> Shared:
        parts = self._relevant(rel)
        anywhere = Territory(span for part in parts for span in part.spans)
        retrieved = Territory(anywhere.best_of(spans) for spans in choices)
        wanted = Territory(retrieved.best_of(part.spans) for part in parts)
        size: Size = self.tokens if unit == "tokens" else characters
        both = wanted & retrieved
        return Shared(both.size(size), wanted.size(size), retrieved.size(size))

    def _relevant(self, rel: float) -> list[Wanted]:
        parts = [part for part in self.wanted if part.grade >= rel]
        for part in parts:
            if not part.spans:
                msg = (
                    f"nobody knows where {part.name} stands, so its characters cannot be counted: "
                    "give the documents or chunks it stands in, or repair its judgment"
                )
                raise MetricError(msg)
        return parts

    def wanted_files(self, rel: float) -> list[frozenset[str]]:
        """The files to be found; each is a set of names, of which any will do."""
        return list(dict.fromkeys(part.files for part in self.wanted if part.grade >= rel))

    def ranked_files(self) -> list[set[str]]:
        """The files of the hits with all their names, each where its first hit stands."""
        names: dict[str, set[str]] = {}
        for passage in self.passages:
            names.setdefault(passage.files[0], set()).update(passage.files)
        return list(names.values())

    def tokens_read(self, rank: int) -> int:
        """How many tokens the hits down to a rank have, each in its own right."""
        total = 0
        for passage in self.passages[:rank]:
            if not passage.spans:
                msg = f"hit {passage.id!r} has neither a text nor a place in a known document"
                raise MetricError(msg)
            total += self.tokens(*passage.spans[0])
        return total

    def condensed(self) -> SpanRanking:
        """The ranking without its unjudged hits, the others moved up."""
        judged = [hit.rank for hit in self.judged.hits if hit.grade >= 0]
        kept = [self.passages[rank - 1] for rank in judged]
        return replace(self, judged=self.judged.condensed(), passages=kept)


# Spans of a document, and an index that finds those overlapping another.


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
