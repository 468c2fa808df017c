"""What a measure sees: one ranking after the join with its judgments."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["JudgedHit", "JudgedRanking"]


class JudgedHit(NamedTuple):
    """A document of the ranking that has a line in the judgments."""

    rank: int
    grade: float


@dataclass(frozen=True)
class JudgedRanking:
    """One ranking after the join with its judgments; the only thing a measure sees.

    Attributes:
        hits: the documents of the ranking that the judgments know, best rank first. A negative
            grade means: in the pool, but not judged.
        retrieved: how many documents the ranking holds.
        grades: the grades of all documents in the query's judgments, found or not, highest first.
        also: where judgments name passages rather than ids, one hit may be the first to cover
            several. It is worth the best of them, and that is in `hits`; the others are here. They
            count as found, and gain nothing.
    """

    hits: Sequence[JudgedHit]
    retrieved: int
    grades: Sequence[float]
    also: Sequence[JudgedHit] = ()

    def relevant_ranks(self, rel: float, cutoff: int | None = None) -> list[int]:
        """The ranks, up to `cutoff`, of the documents whose grade reaches `rel`."""
        return [
            hit.rank
            for hit in self.hits
            if hit.grade >= rel and (cutoff is None or hit.rank <= cutoff)
        ]

    def relevant_found(self, rel: float, cutoff: int | None = None) -> int:
        """How many of the relevant judgments the ranking up to `cutoff` covers."""
        also = sum(hit.grade >= rel and (cutoff is None or hit.rank <= cutoff) for hit in self.also)
        return len(self.relevant_ranks(rel, cutoff)) + also

    def found_at(self, rel: float, cutoff: int | None = None) -> list[tuple[int, int]]:
        """The ranks of `relevant_ranks`, each with how many relevant judgments it covers first."""
        also = Counter(hit.rank for hit in self.also if hit.grade >= rel)
        return [(rank, 1 + also[rank]) for rank in self.relevant_ranks(rel, cutoff)]

    def relevant_total(self, rel: float) -> int:
        """How many relevant documents the judgments know."""
        return sum(grade >= rel for grade in self.grades)

    def cut(self, depth: int) -> JudgedRanking:
        """The ranking without what stands below `depth`."""
        hits = [hit for hit in self.hits if hit.rank <= depth]
        also = [hit for hit in self.also if hit.rank <= depth]
        return JudgedRanking(hits, min(self.retrieved, depth), self.grades, also)

    def condensed(self) -> JudgedRanking:
        """The ranking without its unjudged documents, the others moved up."""
        judged = [hit for hit in self.hits if hit.grade >= 0]
        hits = [JudgedHit(rank, hit.grade) for rank, hit in enumerate(judged, start=1)]
        place_of = {hit.rank: rank for rank, hit in enumerate(judged, start=1)}
        also = [JudgedHit(place_of[hit.rank], hit.grade) for hit in self.also if hit.grade >= 0]
        return JudgedRanking(hits, len(hits), self.grades, also)
