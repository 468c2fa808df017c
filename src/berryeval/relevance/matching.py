"""Match hits of other systems to judged ids, by id or by source and section.

Judged ids look like `spring-boot/web/rest-controllers#creating-rest-controller`: a path and a
section after the #. A hit matches by the first of these that gives a result:

1. its id, unchanged;
2. its address (`source_url`, `url`, `source` or `path` in its metadata, or its document if it is a
   URL) and its section (the fragment of the address, or its `section` or `section_path` from the
   innermost heading out), both equal up to case, punctuation, host and file extension; or its
   document; or its document and section;
3. containment: the address contains the whole path (the longest one counts), and the section is
   equal to the judged section or contains its words in sequence.

If two judged ids match equally well, the hit matches neither, and the tie is reported.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import unquote

from berryeval.data import SECTION_SEPARATOR, split_section

if TYPE_CHECKING:
    from berryeval.anchors import Targets
    from berryeval.data import Hit, Judgment, Section

Segments: TypeAlias = tuple[str, ...]
Words: TypeAlias = tuple[str, ...]

_HOST: Final = re.compile(r"[a-z][a-z0-9+.-]{0,29}://[^/?#]*", re.IGNORECASE)
_EXTENSION: Final = re.compile(r"(?<=.)\.(?:html?|xhtml|mdx?|markdown|adoc|rst|txt)$")
_NOT_A_WORD: Final = re.compile(r"[\W_]+")
_REMEMBERED: Final = 1 << 16  # cache size; many hits are of few pages


class Address(NamedTuple):
    """The path and section words of an id or address."""

    path: Segments
    section: Words


def split_path(path: str) -> Segments:
    """Split a path or URL into normalized segments.

    >>> split_path("https://docs.example.org/Guide/REST.html?v=3")
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
def split_heading(heading: str) -> Words:
    """Split a heading, slug or fragment into words.

    >>> split_heading("Creating a REST controller") == split_heading("creating-a-rest-controller")
    True
    """
    return tuple(word for word in _NOT_A_WORD.split(unquote(heading).lower()) if word)


@lru_cache(_REMEMBERED)
def parse_address(identity: str) -> Address:
    """Split an id or address into the path before the # and the words after it."""
    path, _, section = identity.partition("#")
    return Address(split_path(path), split_heading(section))


def contains(outer: tuple[str, ...], inner: tuple[str, ...]) -> bool:
    """Return whether `outer` contains `inner` as a contiguous sequence."""
    size = len(inner)
    return any(outer[place : place + size] == inner for place in range(len(outer) - size + 1))


How: TypeAlias = Literal["id", "exact", "contained", "tie", "none"]

ADDRESS_FIELDS: Final = ("source_url", "url", "source", "path")
SECTION_FIELDS: Final = ("section", "section_path", "sectionPath", "heading", "anchor")


@dataclass(frozen=True)
class IdMatch:
    """The judged id that a hit was matched to; empty without a match and for a tie."""

    id: str = ""
    how: How = "none"  # by id, by equal path and section, by containment, a tie, or none
    choices: tuple[str, ...] = ()  # ids of a tie


class IdMatcher:
    """An index of the judged ids of a query."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = frozenset(ids)
        self._equal: dict[Address, list[str]] = defaultdict(list)
        self._paths: dict[Segments, dict[Words, list[str]]] = defaultdict(dict)
        for identity in sorted(self._ids):
            parts = parse_address(identity) if _is_path(identity) else Address((), ())
            if parts.path:
                self._equal[parts].append(identity)
                self._paths[parts.path].setdefault(parts.section, []).append(identity)
        self._lengths = sorted({len(path) for path in self._paths}, reverse=True)

    def match(self, hit: Hit, *, contained: bool = True) -> IdMatch:
        """Match a hit to a judged id; `contained` allows ids that its address contains."""
        if hit.id in self._ids:
            return IdMatch(hit.id, "id")
        if hit.doc_id in self._ids and _is_path(hit.doc_id):
            return IdMatch(hit.doc_id, "exact")
        if not self._equal:
            return IdMatch()
        headings = tuple(_headings(hit))
        addresses = [parse_address(one) for one in _addresses(hit)]
        equal = self._find_equal(addresses, hit.doc_id, headings)
        if equal:
            return _make_match(equal, "exact")
        for path, fragment in addresses if contained else ():
            found = self._find_contained(path, list(filter(None, (fragment, *headings))))
            if found:
                return _make_match(found, "contained")
        return IdMatch()

    def _find_equal(
        self, addresses: list[Address], document: str, headings: Iterable[Words]
    ) -> list[str]:
        """Return the ids with the same path and section; a document alone is only an id."""
        wanted = [
            Address(path, section)
            for path, fragment in addresses
            for section in (*filter(None, (fragment, *headings)), ())
        ]
        if document:
            wanted += [Address(split_path(document), section) for section in headings]
        return next((self._equal[one] for one in wanted if one in self._equal), [])

    def _find_contained(self, path: Segments, sections: list[Words]) -> list[str]:
        """Return the ids whose path is part of this one, by the best section."""
        inside = self._find_inner_paths(path)
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

    def _find_inner_paths(self, path: Segments) -> list[Segments]:
        for length in self._lengths:
            starts = range(len(path) - length + 1)
            found = {path[start : start + length] for start in starts} & self._paths.keys()
            if found:
                return sorted(found)
        return []


def _is_path(identity: str) -> bool:
    return "/" in identity or "#" in identity


def _make_match(ids: list[str], how: How) -> IdMatch:
    distinct = tuple(dict.fromkeys(ids))
    return IdMatch(distinct[0], how) if len(distinct) == 1 else IdMatch("", "tie", distinct)


def _addresses(hit: Hit) -> Iterator[str]:
    """Yield the addresses of a hit; a document id counts only if it is a URL."""
    for field in ADDRESS_FIELDS:
        value = hit.metadata.get(field)
        if isinstance(value, str) and value:
            yield value
    if "://" in hit.doc_id:
        yield hit.doc_id


def _headings(hit: Hit) -> Iterator[Words]:
    """Return the sections around a hit, innermost first."""
    headings = list(reversed(hit.section))
    for field in SECTION_FIELDS:
        value = hit.metadata.get(field)
        if isinstance(value, str):
            path = split_section(value) if "path" in field.lower() else ()
            headings += reversed(path or value.split(SECTION_SEPARATOR))
        elif isinstance(value, list | tuple):
            headings += [one for one in reversed(value) if isinstance(one, str)]
    return filter(None, map(split_heading, headings))


_KEPT: Final = 1000  # queries whose names are cached for the next system; each takes kilobytes


class _Place(NamedTuple):
    document: str
    section: Section


class Naming:
    """Renames hits to the judged chunk, section or document that they are.

    A hit is compared only with the judgments of its own query.
    """

    def __init__(self, judgments: Iterable[Judgment], targets: Targets) -> None:
        self._targets = targets
        self._judgments: dict[str, list[Judgment]] = defaultdict(list)
        self._names: dict[str, _Names] = {}
        for judgment in judgments:
            self._judgments[judgment.query_id].append(judgment)

    def rename_hits(self, query_id: str, hits: Sequence[Hit]) -> tuple[list[Hit], list[str]]:
        """Return the hits with judged names, and remarks on ties."""
        names = self._names.get(query_id)
        if names is None:
            names = _Names(self._judgments.get(query_id, ()), self._targets)
            if len(self._names) < _KEPT:
                self._names[query_id] = names
        notes: list[str] = []
        return [names.rename_hit(hit, notes) for hit in hits], notes


class _Names:
    """The names of chunks, sections and documents in the judgments of one query.

    Judged chunks are named by their ids, sections and documents by `document#section` and
    `document`. Hits of documents in the corpus are not renamed. A hit that is in a judged section
    or document by its address becomes a piece of it without offsets.
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
        # A judged chunk that the system has is matched by this id only.
        self._chunk_ids = IdMatcher(one for one in self._chunks if one not in targets.chunks)
        self._place_ids = IdMatcher(self._places)

    def _add(self, judgment: Judgment, path: Section) -> None:
        anchor = judgment.target
        place = _Place(anchor.document, path or anchor.section)
        self._places["#".join((anchor.document, *anchor.section[-1:]))].add(place)
        for heading in anchor.section[-1:] or ("",):
            self._sections[anchor.document, split_heading(heading)].add(place)
        alias = judgment.extra.get("chunk_id")
        if isinstance(alias, str) and alias:
            self._places[alias].add(place)

    def rename_hit(self, hit: Hit, notes: list[str]) -> Hit:
        if hit.id in self._chunks:
            return hit
        foreign = not self._is_known(hit.id)
        match = self._chunk_ids.match(hit, contained=foreign)
        if match.choices:
            notes.append(describe_tie(hit, match.choices))
        if match.id:
            return replace(hit, id=match.id)
        if (hit.doc_id or hit.id) in self._targets.corpus:
            return hit
        places = sorted(self._places_of(hit, contained=foreign))
        if len(places) > 1:
            notes.append(describe_tie(hit, [" > ".join((one[0], *one[1])) for one in places]))
        if len(places) != 1:
            return hit
        document, section = places[0]
        return replace(hit, doc_id=document, section=section, start=None, end=None)

    def _places_of(self, hit: Hit, *, contained: bool) -> set[_Place]:
        document, _, fragment = hit.id.partition("#")
        for words in (split_heading(fragment), ()):  # any section of a judged document matches
            if (document, words) in self._sections:
                return self._sections[document, words]
        match = self._place_ids.match(hit, contained=contained)
        names = match.choices or (match.id,)
        return {place for name in names if name for place in self._places[name]}

    def _is_known(self, identity: str) -> bool:
        """Return whether this is the id of an existing chunk, document or section."""
        if identity in self._targets.chunks or identity in self._targets.corpus:
            return True
        document, _, fragment = identity.partition("#")
        text = self._targets.corpus.text(document) if fragment else None
        return text is not None and bool(text.sections.find((fragment,)))


def describe_tie(hit: Hit, choices: Iterable[str]) -> str:
    """Describe a hit that could be one of several."""
    return f"hit {hit.id!r} is ambiguous: {' or '.join(choices)}; it counts as none of them"
