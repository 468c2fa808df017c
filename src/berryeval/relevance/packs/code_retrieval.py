"""Code retrieval: the ground truth is files, or lines of files.

A query's metadata holds `locations`, an array of `{"path", "start_line", "end_line"}` (lines from
1, the last included; without lines the file as a whole), or `files`, an array of paths. A hit
covers lines when it shares one with them, as RepoEval has it, and a file when it is a piece of it.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from berryeval.anchors import Span
from berryeval.relevance.packs.base import Labels, PackCorpus
from berryeval.relevance.packs.locations import (
    file_of,
    lines_named,
    location_named,
    locations_of,
    path_parts,
    same_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval.records import Hit, Query
    from berryeval.relevance.packs.base import Part
    from berryeval.relevance.packs.locations import Location

__all__ = ["PACK", "CodeRetrievalPack"]


class _Files:
    """The files of the corpus."""

    def __init__(self, corpus: PackCorpus) -> None:
        self.corpus = corpus
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for document in corpus.documents:
            parts = path_parts(document)
            self._by_name[parts[-1] if parts else ""].append(document)

    def documents_of(self, path: str) -> list[str]:
        """The documents that may be this file; of those with fewer folders, the nearest."""
        if path in self.corpus.documents:
            return [path]
        parts = path_parts(path)
        named = self._by_name.get(parts[-1], []) if parts else []
        found = {one: len(path_parts(one)) for one in named if same_file(one, path)}
        nearest = max((size for size in found.values() if size <= len(parts)), default=0)
        return sorted(one for one, size in found.items() if not nearest or size == nearest)

    def are_one(self, label: str, path: str) -> bool:
        """Whether a label and a hit name one file, as far as the corpus knows them."""
        if not same_file(label, path):
            return False
        wanted, found = self.documents_of(label), self.documents_of(path)
        return len(wanted) <= 1 and (wanted == found or not wanted or not found)

    def rules_for(self, query: Query) -> _Rules:
        """The files and lines that answer a query."""
        locations = locations_of(query)
        notes = []
        places = {}
        for location in locations:
            choices = self.documents_of(location.path)
            place = self._place(location, choices)
            if len(choices) > 1:
                could_be = " or ".join(choices)
                notes.append(f"{location.label} could be of {could_be}; it is taken for none")
                continue
            if place is not None:
                places[location.label] = place
            elif self.corpus.documents:
                notes.append(f"the corpus has no {location.label}, which answers it")
        grades = dict.fromkeys((location.label for location in locations), 1.0)
        files = {location.label: location.path for location in locations}
        return _Rules(self, tuple(locations), Labels(grades, places, files, notes))

    def _place(self, location: Location, choices: list[str]) -> Span | None:
        document = choices[0] if len(choices) == 1 else ""
        text = self.corpus.texts.text(document) if document else None
        if text is None:
            return None
        if location.lines is None:
            return Span(document, 0, len(text.text))
        first, last = location.lines
        if first > text.line_count:
            return None
        return Span(document, *text.lines(first, min(last, text.line_count)))

    def lines_of(self, hit: Hit) -> list[tuple[int, int]]:
        """The lines of a hit: its metadata say, or its place in its document, or its id."""
        given = lines_named(hit.metadata, f"metadata of hit {hit.id!r}")
        if given is not None:
            return [given]
        places = [(span, self.corpus.texts.text(span.document)) for span in self.corpus.place(hit)]
        known = [text.lines_of(span.start, span.end) for span, text in places if text is not None]
        named = location_named(hit.id).lines
        return known or ([named] if named else [])


@dataclass(frozen=True)
class _Rules:
    files: _Files
    locations: tuple[Location, ...]
    labels: Labels
    doubts: list[str] = field(default_factory=list)

    def covered(self, hit: Hit) -> Mapping[str, float]:
        """The files and lines that a hit holds a piece of."""
        path = file_of(hit)
        could_be = self.files.documents_of(path)
        if len(could_be) > 1 and any(same_file(one.path, path) for one in self.locations):
            self._doubt(hit, could_be)
        same = [one for one in self.locations if self.files.are_one(one.path, path)]
        choices = sorted({one.path for one in same})
        if not all(same_file(one, other) for one, other in itertools.combinations(choices, 2)):
            same = [one for one in same if one.path == path]
            if not same:
                self._doubt(hit, choices)
        ranges = self.files.lines_of(hit) if any(one.lines for one in same) else []
        return {one.label: 1.0 for one in same if _shares_a_line(one.lines, ranges)}

    def _doubt(self, hit: Hit, choices: Iterable[str]) -> None:
        could_be = " or ".join(choices)
        self.doubts.append(f"hit {hit.id!r} could be of {could_be}; it is taken for none")

    def file_of(self, hit: Hit) -> str:
        """The path of the hit, as the ground truth writes it, if it is one of its files."""
        path = file_of(hit)
        return next(
            (one.path for one in self.locations if self.files.are_one(one.path, path)), path
        )


def _shares_a_line(wanted: tuple[int, int] | None, found: Iterable[tuple[int, int]]) -> bool:
    return wanted is None or any(first <= wanted[1] and wanted[0] <= last for first, last in found)


_RULES: Final = {
    "labels": "metadata.locations: lines of files, or files; or else metadata.files; grade 1",
    "total": "the number of labels",
    "lines": "counted from 1, the last included",
    "covers": [
        "lines: a hit of the file that shares at least one line with them",
        "a file: any hit of it",
    ],
    "same file": "equal paths, or one of them with more folders in front",
    "lines of a hit": "metadata start_line and end_line, or its place in its document, "
    "or its id: path:2-3, path#L2-L3",
    "a path that could be two files of the corpus": "is none of them, and reported",
    "a hit whose lines nobody knows": "covers no lines",
}


class CodeRetrievalPack:
    """Shared lines of a file decide what is relevant."""

    name = "code-retrieval"
    version = "2"
    seals: frozenset[Part] = frozenset({"relevance"})
    rules: Mapping[str, Any] = _RULES

    def bound(self, corpus: PackCorpus) -> _Files:
        """The pack for a corpus of files."""
        return _Files(corpus)


PACK: Final = CodeRetrievalPack()
