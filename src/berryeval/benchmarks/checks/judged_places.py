"""`JudgedPlaces`: which queries have something relevant at a place of a text."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeAlias

from berryeval.anchors import CoverageRule
from berryeval.io.words import counted
from berryeval.relevance.packs import Labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.benchmarks.checks.subject import Subject
    from berryeval.records import Anchor, Query

__all__ = ["JudgedPlaces", "Place"]

Place: TypeAlias = tuple[str, int, int]  # a document, and from where to where in it
_RULE: Final = CoverageRule()


class JudgedPlaces:
    """The places of everything that is relevant to a query, by judgments or by labels."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._found: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for query in subject.benchmark.queries:
            for document, start, end in self._places(query):
                self._found[document].append((start, end, query.id))

    def only_one(self, one: Place, other: Place) -> str:
        """For which query one of two places is relevant and the other is not; empty if for none.

        It goes on with a sentence: "; to query 'q1' only the first is relevant".
        """
        here, there = self._queries(one), self._queries(other)
        apart = sorted(here ^ there)
        if not apart:
            return ""
        owner = one if apart[0] in here else other
        more = ""
        if len(apart) > 1:
            others = counted(len(apart) - 1, "more query tells", "more queries tell")
            more = f", and {others} them apart"
        which = "the first" if owner is one else "the second"
        return f"; to query {apart[0]!r} only {which} is relevant{more}"

    def _queries(self, place: Place) -> set[str]:
        document, *span = place
        return {
            query
            for start, end, query in self._found.get(document, ())
            if _RULE.covers((span[0], span[1]), (start, end))
        }

    def _places(self, query: Query) -> Iterator[Place]:
        judged = self._subject.judged.get(query.id)
        if judged:
            for one in judged:
                if one.grade > 0:
                    yield from self._places_of(one.target)
            return
        labels = self._subject.labels(query)
        if isinstance(labels, Labels):
            for label, grade in (labels.grades or {}).items():
                span = labels.places.get(label)
                if grade > 0 and span:
                    yield span.document, span.start, span.end

    def _places_of(self, anchor: Anchor) -> Iterator[Place]:
        if anchor.chunk:
            named = self._subject.named(anchor.chunk)
            if named is not None:
                yield from self._places_of(named)
            return
        found = self._subject.located(anchor)
        for span in found.spans:
            yield span.document, span.start, span.end
        known = self._subject.benchmark.document_of.get(anchor.document)
        if known and found.is_document and found.lost is None:
            yield known.id, 0, len(known.text)
