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

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from berryeval.records import SECTION_SEPARATOR
from berryeval.relevance.paths import (
    Segments,
    Words,
    Written,
    contains,
    segments,
    slug_words,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from berryeval.records import Hit

__all__ = ["IdMatch", "IdMatcher"]

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
