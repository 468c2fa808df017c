"""What measures of text see: the passages that were wanted, and those that were retrieved.

A passage that may stand at several places (its text is repeated) is taken to stand where it shares
most with what is wanted, and a wanted passage where it shares most with what was retrieved; of
equals, the first place. Every character counts once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from berryeval.anchors import Span
from berryeval.errors import MeasureError
from berryeval.relevance.territory import Size, Territory, characters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from berryeval.anchors import SpanIndex
    from berryeval.judged import JudgedRanking

__all__ = ["Passage", "Shared", "SpanRanking", "Unit", "Wanted"]

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
        judged: the ranking as other measures see it.
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
                raise MeasureError(msg)
        return self._shared((passage.spans for passage in top), rel, unit)

    def shared_by_chunks(self, rel: float, unit: Unit = "characters") -> Shared:
        """The same, if exactly the chunks that hold some of what is wanted were retrieved."""
        if self.chunks is None:
            msg = "it is not known how the corpus was cut: give the system's chunks, as chunks=..."
            raise MeasureError(msg)
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
                raise MeasureError(msg)
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
                raise MeasureError(msg)
            total += self.tokens(*passage.spans[0])
        return total

    def condensed(self) -> SpanRanking:
        """The ranking without its unjudged hits, the others moved up."""
        judged = [hit.rank for hit in self.judged.hits if hit.grade >= 0]
        kept = [self.passages[rank - 1] for rank in judged]
        return replace(self, judged=self.judged.condensed(), passages=kept)
