"""Find the documents of the benchmark that hits of other frameworks come from.

Frameworks give their pieces ids of their own, or none, and name the source: a path, a file name or
a URL. `Origins` matches a hit by the first of these that gives exactly one document:

1. its id, or a source that is the id of a document;
2. a source that ends like the id of a document: folders, hosts, file extensions, queries and
   fragments that only one of the two has are ignored, as are upper and lower case; the name of a
   file is not enough if several documents have it;
3. its text, if it is the text of a chunk;
4. its text, if only one document contains it.

A hit with exactly the text of a chunk becomes that chunk. A hit that matches nothing, or several
documents equally well, stays as it is.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from unicodedata import normalize

from berryeval._internal.text import pluralize
from berryeval.anchors import Corpus, normalise
from berryeval.data import Document
from berryeval.providers.answers import KnownChunks
from berryeval.relevance import PASSAGE, STRIPPED, split_path

if TYPE_CHECKING:
    from berryeval.data import Chunk, Hit

# Names of sources in the metadata of frameworks, best first.
SOURCES: Final = (
    "source", "file_path", "source_url", "url", "path", "file_name", "filename", "doc_id",
    "document_id",
)  # fmt: skip
_QUOTE: Final = 20  # characters of a text that is searched in documents: shorter ones are anywhere
_LEVELS: Final = tuple(f"{name}{level}" for level in range(1, 7) for name in ("Header ", "h", "H"))


class Origins(KnownChunks):
    """The chunks of a benchmark, found by ids, sources and texts."""

    def __init__(self, chunks: Sequence[Chunk] = ()) -> None:
        super().__init__(chunks)
        self._all = chunks
        self._sources: dict[str, str] = {}  # the document, or "", by source
        self._unclear: dict[str, list[str]] = {}  # the possible documents, by source
        self._passages: dict[str, list[str]] = {}  # the possible documents, by text

    def has_document(self, name: str) -> bool:
        """Whether the benchmark has a document with this id."""
        return name in self._documents

    def settle(self, hit: Hit, sources: Iterable[Any] = ()) -> Hit:
        """Return a hit with its document and chunk, if they are found; complete it from them."""
        given = [one for one in sources if isinstance(one, str) and one]
        document = self._find_by_source(given)
        chunk = self._chunks.get(hit.id)
        if chunk is not None and document in {"", chunk.doc_id}:
            return self.complete(replace(hit, doc_id=""))
        if chunk is None and not document and hit.id in self._documents:
            return replace(hit, doc_id=hit.id)
        if not document:
            found = self.find_by_text(hit.text)
            document = found[0] if len(found) == 1 else ""
        if not document:
            return replace(hit, doc_id=hit.doc_id or next(iter(given), ""))
        same = [one for one in self._same_text(hit.text) if one.doc_id == document]
        if len(same) == 1:
            kept = {"id": hit.id, **hit.metadata} if hit.id else hit.metadata
            return self.complete(replace(hit, id=same[0].id, doc_id=document, metadata=kept))
        return replace(hit, doc_id=document)

    def _find_by_source(self, sources: list[str]) -> str:
        exact = next((one for one in sources if one in self._documents), "")
        if exact or not self._documents:
            return exact
        for source in sources:
            if source not in self._sources:
                self._sources[source] = self._find_path(source)
        return next(filter(None, map(self._sources.__getitem__, sources)), "")

    def _find_path(self, source: str) -> str:
        """Return the only document whose path ends the source, or that the source ends."""
        for path in _spell(source):
            if found := self._list_candidates(path, source):
                names = sorted(name for name in found if not _contradict(name, source))
                if len(names) > 1:
                    self._unclear[source] = names
                return names[0] if len(names) == 1 else ""
        return ""

    def _list_candidates(self, path: tuple[str, ...], source: str) -> set[str]:
        """Return the documents that a path may name; a file name alone names all that share it."""
        whole, tails = self._paths
        ends = (whole.get(path[start:]) for start in range(len(path) - 1))
        if found := next(filter(None, ends), None) or tails.get(path) if path[1:] else None:
            return found
        named = whole.get(path[-1:], set())
        own = normalize("NFC", source.removeprefix("./")).lower()
        same = {name for name in named if normalize("NFC", name).lower() == own}
        if same or (path[1:] and not named):
            return same
        return named | tails.get(path[-1:], set())

    @cached_property
    def _paths(self) -> tuple[Mapping[tuple[str, ...], set[str]], ...]:
        """The documents by their paths, and by the ends of their paths."""
        whole: dict[tuple[str, ...], set[str]] = defaultdict(set)
        tails: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for name in self._documents:
            for path in _spell(name):
                whole[path].add(name)
                for start in range(1, len(path)):
                    tails[path[start:]].add(name)
        return whole, tails

    def find_by_text(self, text: str) -> list[str]:
        """Return the documents with a chunk of this text, or else all that contain it."""
        if not text or not self._documents:
            return []
        if text not in self._passages:
            self._passages[text] = self._find_text(text)
        return self._passages[text]

    def _find_text(self, text: str) -> list[str]:
        if same := self._same_text(text):
            return list(dict.fromkeys(chunk.doc_id for chunk in same))
        needle = normalise(text).strip()
        if len(needle) < _QUOTE:
            return []
        return [one.document for one in self._corpus.find_containing(needle)]

    def _same_text(self, text: str) -> list[Chunk]:
        """Return the chunks with this text."""
        words = normalise(text).strip()
        places = self._by_text.get(hash(words), ()) if words else ()
        found = map(self._all.__getitem__, places)
        return [chunk for chunk in found if normalise(chunk.text).strip() == words]

    @cached_property
    def _by_text(self) -> dict[int, list[int]]:
        """The places of chunks by a hash of their texts, which takes less memory than the texts."""
        found: dict[int, list[int]] = defaultdict(list)
        for place, chunk in enumerate(self._all):
            found[hash(normalise(chunk.text).strip())].append(place)
        return found

    @cached_property
    def _corpus(self) -> Corpus:
        """The documents rebuilt from their chunks; joined chunks where these have no offsets."""
        rebuilt = Corpus(None, self._all)
        parts: dict[str, list[str]] = defaultdict(list)
        for chunk in self._all:
            if rebuilt.text(chunk.doc_id) is None:
                parts[chunk.doc_id].append(chunk.text)
        if not parts:
            return rebuilt
        joined = [Document(name, "\n".join(texts)) for name, texts in parts.items()]
        return Corpus(joined, self._all)

    def notes(self) -> Iterator[str]:
        """Describe the matches so far that were not by id, and sources that claim one document."""
        matched = {source: name for source, name in self._sources.items() if name}
        if matched:
            source, name = next(iter(matched.items()))
            count = pluralize(len(matched), "source")
            yield f"matched {count} to documents by their paths, such as {source!r} to {name!r}"
        if self._unclear:
            source, names = next(iter(self._unclear.items()))
            count = pluralize(len(self._unclear), "source fits", "sources fit")
            yield (
                f"{count} several documents and matched none by name, such as {source!r}: "
                f"{names[0]!r} or {names[1]!r}; map them (id_map)"
            )
        if texts := sum(len(found) == 1 for found in self._passages.values()):
            yield f"matched {pluralize(texts, 'text')} without a known id or source to documents"
        claims: dict[str, dict[tuple[str, ...], str]] = defaultdict(dict)
        for source, name in matched.items():
            claims[name].setdefault(next(iter(_spell(source))), source)
        for name, rivals in claims.items():
            longest = max(rivals, key=len)
            others = [one for one in rivals if longest[len(longest) - len(one) :] != one]
            if others:
                yield (
                    f"the sources {rivals[longest]!r} and {rivals[others[0]]!r} both matched the "
                    f"document {name!r}; if they are different, map them (id_map)"
                )


def _spell(name: str) -> Iterator[tuple[str, ...]]:
    """Yield the segments of a path, with its extension and without."""
    path = split_path(normalize("NFC", name.partition("#")[0]))
    if not path:
        return
    yield path
    plain = STRIPPED["extension"](path[-1])
    if plain != path[-1]:
        yield (*path[:-1], plain)


def _contradict(*names: str) -> bool:
    """Whether two names differ in a part that both have: host, extension, query or fragment."""
    one, other = map(_list_extras, names)
    return any(a and b and a != b for a, b in zip(one, other, strict=True))


def _list_extras(name: str) -> tuple[str, ...]:
    plain, _, fragment = name.lower().partition("#")
    address, _, query = plain.partition("?")
    scheme, _, rest = address.partition("://")
    path = split_path(address)
    last = path[-1] if path else ""
    extension = last[len(STRIPPED["extension"](last)) :]
    host = rest.partition("/")[0].removeprefix("www.") if scheme != "file" else ""
    return host, extension, query, fragment


def build_id(hit: Hit) -> str:
    """Return an id for a hit that has none: its document and position, or its text.

    Empty if the hit has neither a document nor a text.
    """
    digest = hashlib.sha256(hit.text.encode(errors="surrogatepass")).hexdigest()[:12]
    if not hit.doc_id:
        return f"{PASSAGE}{digest}" if hit.text else ""
    if hit.start is not None:
        return f"{hit.doc_id}@{hit.start}-{hit.end}"
    return f"{hit.doc_id}@{digest}" if hit.text else hit.doc_id


def list_sources(metadata: Mapping[str, Any], *first: str) -> list[str]:
    """Return the sources in the metadata of a hit, best first."""
    names = dict.fromkeys((*first, *SOURCES))
    return [str(one) for one in map(metadata.get, names) if one and isinstance(one, (str, int))]


def read_headings(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the headings above a piece, as the splitters of the frameworks write them.

    >>> read_headings({"Header 1": "Tea", "Header 2": "Green tea"})
    ('Tea', 'Green tea')
    >>> read_headings({"header_path": "/Tea/Green tea/"})
    ('Tea', 'Green tea')
    """
    found = [metadata[name] for name in _LEVELS if name in metadata]
    if not found and isinstance(parents := metadata.get("parent_headers"), list):
        found = [*parents, metadata.get("header")]
    if not found and isinstance(path := metadata.get("header_path"), str):
        found = re.split("/", path)
    return tuple(one for one in found if isinstance(one, str) and one)


def read_span(start: Any, text: str) -> tuple[int, int] | tuple[None, None]:
    """Return the span of a text that starts here; none if the start is no position."""
    if isinstance(start, bool) or not isinstance(start, int) or start < 0 or not text:
        return None, None
    return start, start + len(text)
