"""Which judged id a hit of a foreign system is: by its id, or by its source and section.

Judged ids look like `spring-boot/web/rest-controllers#creating-rest-controller`: a path and, behind
a #, a section. A hit matches by, first that gives an answer:

1. its own id, as it is, and in no other way;
2. its address (`source_url`, `url`, `source` or `path` of its metadata, its document if that is a
   URL) and its section (the fragment of the address, its `section` path from the innermost heading
   out): both equal, apart from case, punctuation, host and file extension; or its document as it
   is, or its document and section;
3. containment: the address contains the whole path (the longest that does), and the section is
   equal, or contains the words of the judged one in one piece.

Where two judged ids fit equally well, none is taken, and the tie is reported.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import unquote

from berryeval.data import SECTION_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from berryeval.anchors import Targets
    from berryeval.data import Hit, Judgment, Section


# Paths and section names as they are compared: without host, extension, case and punctuation.

Segments: TypeAlias = tuple[str, ...]
Words: TypeAlias = tuple[str, ...]

_HOST: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#]*", re.IGNORECASE)
_EXTENSION: Final = re.compile(r"(?<=.)\.(?:html?|xhtml|mdx?|markdown|adoc|rst|txt)$")
_NOT_A_WORD: Final = re.compile(r"[\W_]+")
_REMEMBERED: Final = 1 << 16  # many hits are of few pages


class Written(NamedTuple):
    """An id or address, taken apart."""

    path: Segments
    section: Words


def segments(path: str) -> Segments:
    """The parts of a path or URL between slashes.

    >>> segments("https://docs.example.org/Guide/REST.html?v=3")
    ('guide', 'rest')
    """
    plain = unquote(_HOST.sub("", path)).partition("?")[0].replace("\\", "/").lower()
    parts = [part for part in plain.split("/") if part not in {"", "."}]
    if parts:
        parts[-1] = _EXTENSION.sub("", parts[-1])
        if parts[-1] == "index" and len(parts) > 1:
            parts.pop()
    return tuple(parts)


@lru_cache(_REMEMBERED)
def slug_words(heading: str) -> Words:
    """The words of a heading, slug or fragment.

    >>> slug_words("Creating a REST controller") == slug_words("creating-a-rest-controller")
    True
    """
    return tuple(word for word in _NOT_A_WORD.split(unquote(heading).lower()) if word)


@lru_cache(_REMEMBERED)
def written(identity: str) -> Written:
    """An id or address as the path before the # and the words behind it."""
    path, _, section = identity.partition("#")
    return Written(segments(path), slug_words(section))


def contains(outer: tuple[str, ...], inner: tuple[str, ...]) -> bool:
    """Whether `inner` stands in `outer` in one piece."""
    size = len(inner)
    return any(outer[place : place + size] == inner for place in range(len(outer) - size + 1))


How: TypeAlias = Literal["id", "exact", "contained", "tie", "none"]

ADDRESS_FIELDS: Final = ("source_url", "url", "source", "path")
SECTION_FIELDS: Final = ("section", "heading", "anchor")


@dataclass(frozen=True)
class IdMatch:
    """What a hit was found to be.

    Attributes:
        id: the judged id; "" if there is none, or more than one.
        how: by its own id, by equal path and section, by containment; or a tie, or not at all.
        choices: the ids of a tie.
    """

    id: str = ""
    how: How = "none"
    choices: tuple[str, ...] = ()


class IdMatcher:
    """The judged ids of a query, indexed; built once."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = frozenset(ids)
        self._equal: dict[Written, list[str]] = defaultdict(list)
        self._paths: dict[Segments, dict[Words, list[str]]] = defaultdict(dict)
        for identity in sorted(self._ids):
            if _is_path(identity):
                self._add(identity, written(identity))
        self._lengths = sorted({len(path) for path in self._paths}, reverse=True)

    def _add(self, identity: str, parts: Written) -> None:
        if not parts.path:
            return
        self._equal[parts].append(identity)
        self._paths[parts.path].setdefault(parts.section, []).append(identity)

    def match(self, hit: Hit, *, contained: bool = True) -> IdMatch:
        """The judged id that this hit is.

        Args:
            hit: what was found.
            contained: whether to look for judged ids that its address only contains.
        """
        if hit.id in self._ids:
            return IdMatch(hit.id, "id")
        if hit.doc_id in self._ids and _is_path(hit.doc_id):
            return IdMatch(hit.doc_id, "exact")
        if not self._equal:
            return IdMatch()
        headings = tuple(_headings(hit))
        addresses = [written(one) for one in _addresses(hit)]
        equal = self._same(addresses, hit.doc_id, headings)
        if equal:
            return _one_of(equal, "exact")
        for path, fragment in addresses if contained else ():
            found = self._contained(path, _known(fragment, *headings))
            if found:
                return _one_of(found, "contained")
        return IdMatch()

    def _same(
        self, addresses: list[Written], document: str, headings: Iterable[Words]
    ) -> list[str]:
        """The ids of the same path and section; a document alone is no more than an id."""
        wanted = [
            Written(path, section)
            for path, fragment in addresses
            for section in (*_known(fragment, *headings), ())
        ]
        if document:
            wanted += [Written(segments(document), section) for section in headings]
        return next((self._equal[one] for one in wanted if one in self._equal), [])

    def _contained(self, path: Segments, sections: list[Words]) -> list[str]:
        """The ids whose path is a part of this one, by the best of its sections."""
        inside = self._paths_inside(path)
        for section in sections:
            equal = [one for inner in inside for one in self._paths[inner].get(section, [])]
            if equal:
                return equal
        for section in sections:
            around = [
                (len(words), ids)
                for inner in inside
                for words, ids in self._paths[inner].items()
                if words and contains(section, words)
            ]
            if around:
                longest = max(size for size, _ in around)
                return [one for size, ids in around if size == longest for one in ids]
        return [one for inner in inside for one in self._paths[inner].get((), [])]

    def _paths_inside(self, path: Segments) -> list[Segments]:
        """The longest judged paths that stand in this path in one piece."""
        for length in self._lengths:
            starts = range(len(path) - length + 1)
            found = {path[start : start + length] for start in starts} & self._paths.keys()
            if found:
                return sorted(found)
        return []


def _is_path(identity: str) -> bool:
    return "/" in identity or "#" in identity


def _one_of(ids: list[str], how: How) -> IdMatch:
    distinct = tuple(dict.fromkeys(ids))
    return IdMatch(distinct[0], how) if len(distinct) == 1 else IdMatch("", "tie", distinct)


def _known(*sections: Words) -> list[Words]:
    return [section for section in sections if section]


def _addresses(hit: Hit) -> Iterator[str]:
    """Where a hit says it comes from; ids are no addresses, unless a document's is a URL."""
    for field in ADDRESS_FIELDS:
        value = hit.metadata.get(field)
        if isinstance(value, str) and value:
            yield value
    if "://" in hit.doc_id:
        yield hit.doc_id


def _headings(hit: Hit) -> Iterator[Words]:
    """The sections a hit stands in, the innermost first."""
    headings = list(reversed(hit.section))
    for field in SECTION_FIELDS:
        value = hit.metadata.get(field)
        if isinstance(value, str):
            headings.extend(reversed(value.split(SECTION_SEPARATOR)))
    for heading in headings:
        words = slug_words(heading)
        if words:
            yield words


# Hits of foreign systems under the names that the judgments use.

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
                self._add(judgment, targets.location_of(anchor).path if anchor.section else ())
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
