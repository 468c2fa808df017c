"""Hits of foreign systems under the names that the judgments use."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval.relevance.ids import IdMatcher
from berryeval.relevance.paths import slug_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from berryeval.anchors import Targets
    from berryeval.records import Hit, Judgment, Section
    from berryeval.relevance.paths import Words

__all__ = ["Naming"]

_KEPT: Final = 1000  # queries whose names are kept for the next system; each takes kilobytes


class _Place(NamedTuple):
    """A document or section that judgments name."""

    document: str
    section: Section


class Naming:
    """Finds out which judged chunk, section or document a hit is, if it does not say so itself.

    Only what is judged for the query of the hit is asked: what others ask takes nothing away.
    """

    def __init__(self, judgments: Iterable[Judgment], targets: Targets) -> None:
        self._targets = targets
        self._judgments: dict[str, list[Judgment]] = defaultdict(list)
        self._names: dict[str, _Names] = {}
        for judgment in judgments:
            self._judgments[judgment.query_id].append(judgment)

    def named(self, query_id: str, hits: Sequence[Hit]) -> tuple[list[Hit], list[str]]:
        """The hits under judged names, and what could not be decided, a line each."""
        names = self._names.get(query_id)
        if names is None:
            judged = self._judgments.get(query_id, ())
            names = _Names(judged, self._targets)
            if len(self._names) < _KEPT:
                self._names[query_id] = names
        notes: list[str] = []
        return [names.named(hit, notes) for hit in hits], notes


class _Names:
    """What the judgments of one query call chunks, sections and documents.

    Judged chunks go by their ids; sections and documents by `document#section` and `document`. A
    hit of a document that the corpus has needs no other name for that. One that is found to be in a
    judged section or document by its address is taken for a piece of it, at no known place.
    """

    def __init__(self, judgments: Iterable[Judgment], targets: Targets) -> None:
        self._targets = targets
        self._places: dict[str, set[_Place]] = defaultdict(set)
        self._sections: dict[tuple[str, Words], set[_Place]] = defaultdict(set)
        self._chunks: set[str] = set()
        for judgment in judgments:
            anchor = judgment.target
            if anchor.chunk:
                self._chunks.add(anchor.chunk)
            elif anchor.document:
                self._add(judgment, targets.where(anchor).path if anchor.section else ())
        # A judged chunk that the system has is known to it by this id, and by no other.
        self._chunk_ids = IdMatcher(one for one in self._chunks if not targets.has_chunk(one))
        self._place_ids = IdMatcher(self._places)

    def _add(self, judgment: Judgment, path: Section) -> None:
        anchor = judgment.target
        place = _Place(anchor.document, path or anchor.section)
        self._places["#".join((anchor.document, *anchor.section[-1:]))].add(place)
        for heading in anchor.section[-1:] or ("",):
            self._sections[anchor.document, slug_words(heading)].add(place)
        alias = judgment.extra.get("chunk_id")
        if isinstance(alias, str) and alias:
            self._places[alias].add(place)

    def named(self, hit: Hit, notes: list[str]) -> Hit:
        """The hit under its judged name, if it has one."""
        if hit.id in self._chunks:
            return hit
        foreign = not self._is_known(hit.id)
        match = self._chunk_ids.match(hit, contained=foreign)
        if match.choices:
            notes.append(_tie(hit, match.choices))
        if match.id:
            return replace(hit, id=match.id)
        if (hit.doc_id or hit.id) in self._targets.corpus:
            return hit
        places = sorted(self._places_of(hit, contained=foreign))
        if len(places) > 1:
            notes.append(_tie(hit, [" > ".join((place[0], *place[1])) for place in places]))
        if len(places) != 1:
            return hit
        document, section = places[0]
        return replace(hit, doc_id=document, section=section, start=None, end=None)

    def _places_of(self, hit: Hit, *, contained: bool) -> set[_Place]:
        """The judged places that a hit may be."""
        document, _, fragment = hit.id.partition("#")
        for words in (slug_words(fragment), ()):  # of a judged document, any section will do
            if (document, words) in self._sections:
                return self._sections[document, words]
        match = self._place_ids.match(hit, contained=contained)
        names = match.choices or (match.id,)
        return {place for name in names if name for place in self._places[name]}

    def _is_known(self, identity: str) -> bool:
        """Whether this is the id of a chunk, document or section that is there."""
        if self._targets.has_chunk(identity) or identity in self._targets.corpus:
            return True
        document, _, fragment = identity.partition("#")
        text = self._targets.corpus.text(document) if fragment else None
        return text is not None and bool(text.sections.find((fragment,)))


def _tie(hit: Hit, choices: Iterable[str]) -> str:
    return f"hit {hit.id!r} could be {' or '.join(choices)}; it is taken for none of them"
