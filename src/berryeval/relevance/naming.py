"""Hits of foreign systems under the names that the judgments use."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from berryeval.relevance.ids import IdMatcher

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from berryeval.anchors import Corpus, Targets
    from berryeval.records import Hit, Judgment, Section

__all__ = ["Naming"]


class _Place(NamedTuple):
    """A document or section that judgments name."""

    document: str
    section: Section


class Naming:
    """Finds out which judged chunk, section or document a hit is, if it does not say so itself.

    Judged chunks go by their ids; sections and documents by `document#section` and `document`. A
    hit of a document that the corpus has needs no other name for that. One that is found to be in a
    judged section or document by its address is taken for a piece of it, at no known place.
    """

    def __init__(self, judgments: Iterable[Judgment], targets: Targets) -> None:
        self._corpus: Corpus = targets.corpus
        self._places: dict[str, set[_Place]] = defaultdict(set)
        chunks = set()
        for judgment in judgments:
            anchor = judgment.target
            if anchor.chunk:
                chunks.add(anchor.chunk)
            elif anchor.document:
                path = targets.where(anchor).path if anchor.section else ()
                place = _Place(anchor.document, path or anchor.section)
                name = "#".join((anchor.document, *anchor.section[-1:]))
                self._places[name].add(place)
                alias = judgment.extra.get("chunk_id")
                if isinstance(alias, str) and alias:
                    self._places[alias].add(place)
        self._chunk_ids = IdMatcher(chunks) if chunks else None
        self._place_ids = IdMatcher(self._places) if self._places else None

    def named(self, hits: Sequence[Hit]) -> tuple[list[Hit], list[str]]:
        """The hits under judged names, and what could not be decided, a line each."""
        notes: list[str] = []
        return [self._named(hit, notes) for hit in hits], notes

    def _named(self, hit: Hit, notes: list[str]) -> Hit:
        if self._chunk_ids is not None:
            match = self._chunk_ids.match(hit)
            if match.choices:
                notes.append(_tie(hit, match.choices))
            if match.id:
                return hit if match.id == hit.id else replace(hit, id=match.id)
        if self._place_ids is None or (hit.doc_id or hit.id) in self._corpus:
            return hit
        match = self._place_ids.match(hit)
        places = sorted({place for name in match.choices or (match.id,) if name
                         for place in self._places[name]})  # fmt: skip
        if len(places) > 1:
            notes.append(_tie(hit, [" > ".join((place[0], *place[1])) for place in places]))
        if len(places) != 1:
            return hit
        document, section = places[0]
        return replace(hit, doc_id=document, section=section, start=None, end=None)


def _tie(hit: Hit, choices: Iterable[str]) -> str:
    return f"hit {hit.id!r} could be {' or '.join(choices)}; it is taken for none of them"
