"""Coverage: which chunks or hits cover a target."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from berryeval.anchors.corpus import TextIndex
from berryeval.anchors.location import Ambiguity
from berryeval.anchors.markdown import slugs
from berryeval.anchors.quotes import find_same, normalise
from berryeval.data import Anchor, Chunk, Hit, SpanIndex
from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from berryeval.anchors.corpus import Corpus, Text
    from berryeval.anchors.location import Location
    from berryeval.data import Document
    from berryeval.data import Section as Path


@dataclass(frozen=True)
class CoverageRule:
    """A chunk covers a target if they share at least `share` of the shorter of the two.

    A chunk within a long target covers it, and so does a chunk that contains a short target.

        >>> rule = CoverageRule()
        >>> rule.covers((0, 100), (50, 250)), rule.covers((0, 100), (51, 250))
        (True, False)
        >>> rule.covers((0, 100), (100, 101))
        False
    """

    share: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ConfigurationError(
                f"the coverage share must be above 0 and at most 1, found {self.share}"
            )

    def covers(self, chunk: tuple[int, int], target: tuple[int, int]) -> bool:
        """Return whether a chunk covers a target, both given as `(start, end)`."""
        shared = min(chunk[1], target[1]) - max(chunk[0], target[0])
        shorter = min(chunk[1] - chunk[0], target[1] - target[0])
        return shared > 0 and shared / shorter >= self.share  # a product may be rounded up


Piece: TypeAlias = Hit | Chunk


class Placement(NamedTuple):
    """The document of a piece and its possible spans."""

    document: str
    spans: tuple[tuple[int, int], ...] = ()


def place_piece(piece: Piece, corpus: Corpus) -> Placement:
    """Locate a piece by its offsets, or else by its text in its document.

    A piece without a document is the document with the same id, if there is one. Offsets that
    contradict the text of the document are ignored: the piece comes from another version.
    """
    document = piece.doc_id or (piece.id if piece.id in corpus else "")
    text = corpus.text(document)
    offsets = (piece.start, piece.end or 0) if piece.start is not None else None
    if text is None:
        return Placement(document, (offsets,) if offsets and document else ())
    if offsets and _fits(piece.text, text, *offsets):
        return Placement(document, (offsets,))
    if piece.text:
        found = find_same(piece.text, text)
        return Placement(document, found.places if found else ())
    whole = piece.id == document and offsets is None and text.text
    return Placement(document, ((0, len(text.text)),) if whole else ())


def _fits(claimed: str, text: Text, start: int, end: int) -> bool:
    if end > len(text.text):
        return False
    passage = text.text[start:end]
    if not claimed or claimed == passage:
        return True
    ours, theirs = normalise(claimed), normalise(passage)
    return bool(ours and theirs) and (ours in theirs or theirs in ours)


def make_anchor(chunk: Chunk, document: Document | None = None) -> Anchor:
    """Create an anchor at the text of a chunk, which resolves in other chunkings too.

    >>> from berryeval.data import Chunk
    >>> make_anchor(Chunk("c1", "d1", "Cats purr.", 11, 21)).to_json()
    {'document': 'd1', 'start': 11, 'end': 21, 'quote': 'Cats purr.'}
    """
    if not chunk.text and chunk.start is None:
        raise DataError(f"the chunk {chunk.id!r} has neither text nor offsets to make an anchor of")
    return Anchor(
        document=chunk.doc_id,
        start=chunk.start,
        end=chunk.end,
        quote=chunk.text,
        document_hash=document.content_hash if document else "",
    )


class Pieces:
    """An index of chunks or hits, numbered from 0, by what they cover."""

    def __init__(self, pieces: Sequence[Piece], corpus: Corpus, rule: CoverageRule) -> None:
        self._pieces = pieces
        self._rule = rule
        self._corpus = corpus
        self._lists_documents = corpus.listed
        self._placed = [place_piece(piece, corpus) for piece in pieces]
        self._indexes: dict[str, SpanIndex] = {}

    def covering(self, target: Location) -> list[int]:
        """Return the numbers of the pieces that cover a target, in order."""
        anchor = target.anchor
        if not target.resolves and (self._lists_documents or not target.is_document):
            return []  # only among chunks can a missing document still be found by its id
        if anchor.chunk:
            return self._by_id.get(anchor.chunk, [])
        if target.is_document:
            itself = self._by_id.get(anchor.document, ())
            more = [number for number in itself if not self._placed[number].document]
            return sorted([*self._by_document.get(anchor.document, ()), *more])
        found = {
            number
            for document, start, end in target.spans
            for number in self._overlapping(document, start, end)
        }
        if self.unplaced:
            found.update(self._find_unplaced(target))
        return sorted(found)

    def is_at(self, number: int, target: Location) -> bool:
        """Return whether a piece is exactly the text of a target, but for white space around it."""
        document, spans = self._placed[number]
        strip = self._corpus.strip_span
        found = {strip(document, start, end) for start, end in spans}
        return any(one.document == document and strip(*one) in found for one in target.spans)

    @cached_property
    def unplaced(self) -> list[int]:
        """Numbers of the pieces without a known span."""
        return [number for number, placed in enumerate(self._placed) if not placed.spans]

    @property
    def ambiguous(self) -> tuple[Ambiguity, ...]:
        """Pieces whose text occurs several times in its document."""
        return tuple(
            Ambiguity("chunk", piece.id, tuple(f"{home}, characters {a} to {b}" for a, b in spans))
            for piece, (home, spans) in zip(self._pieces, self._placed, strict=True)
            if len(spans) > 1
        )

    def _overlapping(self, document: str, start: int, end: int) -> Iterable[int]:
        index = self._indexes.get(document)
        if index is None:
            index = self._indexes[document] = SpanIndex(
                (*span, number)
                for number in self._by_document.get(document, ())
                for span in self._placed[number].spans
            )
        for first, last, number in index.overlapping(start, end):
            if self._rule.covers((first, last), (start, end)):
                yield number

    def _find_unplaced(self, target: Location) -> Iterable[int]:
        anchor = target.anchor
        if anchor.quote:
            containing = self._unplaced_texts.find_containing(normalise(anchor.quote))
            candidates = (self.unplaced[place] for place in containing)
            homes = {"", anchor.document}
            return [
                number
                for number in candidates
                if not anchor.document or self._placed[number].document in homes
            ]
        if target.path:
            wanted = slugs(target.path)
            numbers = self._unplaced_by_path.get((anchor.document, wanted), ())
            if anchor.subsections:
                return numbers
            return [n for n in numbers if slugs(self._pieces[n].section) == wanted]
        return ()

    @cached_property
    def _by_id(self) -> dict[str, list[int]]:
        return _numbers_by(piece.id for piece in self._pieces)

    @cached_property
    def _by_document(self) -> dict[str, list[int]]:
        return _numbers_by(placed.document for placed in self._placed)

    @cached_property
    def _unplaced_texts(self) -> TextIndex:
        return TextIndex([normalise(self._pieces[number].text) for number in self.unplaced])

    @cached_property
    def _unplaced_by_path(self) -> dict[tuple[str, Path], list[int]]:
        """Pieces without a span by document, section and every section above."""
        found: dict[tuple[str, Path], list[int]] = defaultdict(list)
        for number in self.unplaced:
            path = slugs(self._pieces[number].section)
            for depth in range(1, len(path) + 1):
                found[self._placed[number].document, path[:depth]].append(number)
        return found


def _numbers_by(names: Iterable[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(names):
        found[name].append(number)
    return found
