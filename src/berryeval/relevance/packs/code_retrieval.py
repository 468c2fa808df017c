"""Code retrieval: the ground truth is files or lines of files.

A query's metadata has `locations`, an array of `{"path", "start_line", "end_line"}` (lines from 1,
the last included; without lines the whole file), or `files`, an array of paths. A hit covers lines
if it shares one with them, as in RepoEval, and a file if it is a piece of it.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval._internal.serial import type_mismatch
from berryeval.data import Span
from berryeval.relevance.matching import describe_tie
from berryeval.relevance.packs.base import Labels, PackCorpus, SealedPack, texts_of

if TYPE_CHECKING:
    from berryeval.data import Hit, Query

LABEL_FIELDS: Final = ("locations", "ground_truth", "files", "modified_files")
PATH_FIELDS: Final = ("path", "file", "filepath", "file_path", "source")
_LINES: Final = re.compile(r"(?<=[^:#])(?::|#L)(\d{1,9})(?:-L?(\d{1,9}))?\Z")
_FIRST: Final = ("start_line", "startLine")
_LAST: Final = ("end_line", "endLine")


class Location(NamedTuple):
    """Lines of a file, the last included; None for the whole file."""

    path: str
    lines: tuple[int, int] | None

    @property
    def label(self) -> str:
        """Textual form, such as `src/app.py:10-25`."""
        return self.path if self.lines is None else f"{self.path}:{self.lines[0]}-{self.lines[1]}"


def file_of(hit: Hit) -> str:
    """Return the file of a hit: a path in its metadata, its document, or the path in its id."""
    for name in PATH_FIELDS:
        for path in texts_of(hit.metadata.get(name)):
            return path
    return hit.doc_id or parse_location(hit.id).path


def parse_location(identity: str) -> Location:
    """Parse an id such as `src/app.py:10-25` or `src/app.py#L10-L25`.

    >>> parse_location("src/app.py#L10"), parse_location("src/app.py")
    (Location(path='src/app.py', lines=(10, 10)), Location(path='src/app.py', lines=None))
    """
    found = _LINES.search(identity)
    if found is None:
        return Location(identity, None)
    first, last = int(found[1]), int(found[2] or found[1])
    lines = (first, last) if 1 <= first <= last else None
    return Location(identity[: found.start()], lines)


def is_same_file(one: str, other: str) -> bool:
    """Return whether two paths are equal or one ends with the other.

    >>> is_same_file("repo/src/auth.py", "src/auth.py"), is_same_file("src/oauth.py", "auth.py")
    (True, False)
    """
    longer, shorter = sorted((split_folders(one), split_folders(other)), key=len, reverse=True)
    return bool(shorter) and longer[len(longer) - len(shorter) :] == shorter


def split_folders(path: str) -> list[str]:
    """Split a path into folders and the file name."""
    return [part for part in path.replace("\\", "/").split("/") if part not in {"", "."}]


def locations_of(query: Query) -> list[Location]:
    """Return the distinct files and lines in a query's metadata."""
    for name in LABEL_FIELDS:
        value = query.metadata.get(name)
        if value is None or (name == "ground_truth" and isinstance(value, str)):
            continue  # a textual ground truth is an expected answer
        where = f"metadata.{name} of query {query.id!r}"
        if not isinstance(value, list | tuple | Mapping):
            raise type_mismatch(where, "an array of paths or locations", value)
        items = [value] if isinstance(value, Mapping) else value
        found = (_read_location(item, f"{where}, place {n}") for n, item in enumerate(items))
        return list(dict.fromkeys(found))
    return []


def _read_location(value: Any, where: str) -> Location:
    if isinstance(value, str) and value:
        return Location(value, None)
    if isinstance(value, Mapping):
        path = next((value[name] for name in PATH_FIELDS if name in value), None)
        if isinstance(path, str) and path:
            return Location(path, read_lines(value, where))
    raise type_mismatch(where, "a path, or an object with path, start_line and end_line", value)


def read_lines(data: Mapping[str, Any], where: str) -> tuple[int, int] | None:
    """Return the lines in the metadata of a location or a hit."""
    first = next((data[name] for name in _FIRST if data.get(name) is not None), None)
    last = next((data[name] for name in _LAST if data.get(name) is not None), first)
    if first is None and last is None:
        return None
    if type(first) is not int or type(last) is not int or not 1 <= first <= last:
        raise type_mismatch(where, "lines with 1 <= start_line <= end_line", dict(data))
    return first, last


class _Files:
    def __init__(self, corpus: PackCorpus) -> None:
        self.corpus = corpus
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for document in corpus.documents:
            parts = split_folders(document)
            self._by_name[parts[-1] if parts else ""].append(document)

    def documents_of(self, path: str) -> list[str]:
        """Return the documents that may be this file; of shorter paths, the longest."""
        if path in self.corpus.documents:
            return [path]
        parts = split_folders(path)
        named = self._by_name.get(parts[-1], []) if parts else []
        found = {one: len(split_folders(one)) for one in named if is_same_file(one, path)}
        nearest = max((size for size in found.values() if size <= len(parts)), default=0)
        return sorted(one for one, size in found.items() if not nearest or size == nearest)

    def is_same_document(self, label: str, path: str) -> bool:
        """Return whether a label and a hit have the same file, given the corpus."""
        if not is_same_file(label, path):
            return False
        wanted, found = self.documents_of(label), self.documents_of(path)
        return len(wanted) <= 1 and (wanted == found or not wanted or not found)

    def rules_for(self, query: Query) -> _Rules:
        locations = locations_of(query)
        notes = []
        places = {}
        for location in locations:
            choices = self.documents_of(location.path)
            place = self._place(location, choices)
            if len(choices) > 1:
                could_be = " or ".join(choices)
                notes.append(
                    f"{location.label} is ambiguous: {could_be}; it counts as none of them"
                )
                continue
            if place is not None:
                places[location.label] = place
            elif self.corpus.documents:
                notes.append(f"the corpus has no {location.label}, which is labelled relevant")
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
        """Return the lines of a hit, from its metadata, its place in its document, or its id."""
        given = read_lines(hit.metadata, f"metadata of hit {hit.id!r}")
        if given is not None:
            return [given]
        places = [(span, self.corpus.texts.text(span.document)) for span in self.corpus.place(hit)]
        known = [text.lines_of(span.start, span.end) for span, text in places if text is not None]
        named = parse_location(hit.id).lines
        return known or ([named] if named else [])


@dataclass(frozen=True)
class _Rules:
    files: _Files
    locations: tuple[Location, ...]
    labels: Labels
    doubts: list[str] = field(default_factory=list)

    def covered(self, hit: Hit) -> Mapping[str, float]:
        path = file_of(hit)
        could_be = self.files.documents_of(path)
        if len(could_be) > 1 and any(is_same_file(one.path, path) for one in self.locations):
            self.doubts.append(describe_tie(hit, could_be))
        same = [one for one in self.locations if self.files.is_same_document(one.path, path)]
        choices = sorted({one.path for one in same})
        if not all(is_same_file(one, other) for one, other in itertools.combinations(choices, 2)):
            same = [one for one in same if one.path == path]
            if not same:
                self.doubts.append(describe_tie(hit, choices))
        ranges = self.files.lines_of(hit) if any(one.lines for one in same) else []
        return {one.label: 1.0 for one in same if _shares_a_line(one.lines, ranges)}

    def file_of(self, hit: Hit) -> str:
        """Return the path of a hit, as written in the ground truth if it is one of its files."""
        path, same = file_of(hit), self.files.is_same_document
        return next((one.path for one in self.locations if same(one.path, path)), path)


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

PACK: Final = SealedPack("code-retrieval", "2", _RULES, _Files)
