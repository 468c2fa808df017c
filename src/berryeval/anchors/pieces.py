"""`Pieces`: chunks or hits, indexed so that those covering a target are found without a search."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from berryeval.anchors.drift import Ambiguity
from berryeval.anchors.normalised import normalise
from berryeval.anchors.paths import slugs
from berryeval.anchors.place import Placed, place
from berryeval.anchors.spans import SpanIndex
from berryeval.anchors.text_index import TextIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from berryeval.anchors.corpus import Corpus
    from berryeval.anchors.coverage import CoverageRule
    from berryeval.anchors.located import Located
    from berryeval.anchors.place import Piece
    from berryeval.records import Anchor
    from berryeval.records import Section as Path

__all__ = ["Pieces"]


class Pieces:
    """Chunks or hits, numbered from 0, and which of them cover a target."""

    def __init__(self, pieces: Sequence[Piece], corpus: Corpus, rule: CoverageRule) -> None:
        self._pieces = pieces
        self._rule = rule
        self._placed = [place(piece, corpus) for piece in pieces]
        self._indexes: dict[str, SpanIndex] = {}

    def covering(self, target: Located) -> list[int]:
        """The numbers of the pieces that cover the target, in order."""
        anchor = target.anchor
        if not target.resolves and not target.is_document:
            return []  # a document that the corpus lacks can still be named by its id
        if anchor.chunk:
            return self._by_id.get(anchor.chunk, [])
        if target.is_document:
            return self._of_document(anchor.document)
        found = {
            number
            for document, start, end in target.spans
            for number in self._overlapping(document, start, end)
        }
        if self.unplaced:
            found.update(self._by_what_they_say(target))
        return sorted(found)

    def _of_document(self, document: str) -> list[int]:
        """The pieces of a document; one that names none may be the document itself."""
        itself = self._by_id.get(document, ())
        more = [number for number in itself if not self._placed[number].document]
        return sorted([*self._by_document.get(document, ()), *more])

    @cached_property
    def unplaced(self) -> list[int]:
        """The numbers of the pieces of which nobody knows where they stand."""
        return [number for number, placed in enumerate(self._placed) if not placed.spans]

    @property
    def ambiguous(self) -> tuple[Ambiguity, ...]:
        """The pieces whose text stands at several places of its document."""
        return tuple(
            Ambiguity("chunk", self._pieces[number].id, _choices(placed))
            for number, placed in enumerate(self._placed)
            if len(placed.spans) > 1
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

    def _by_what_they_say(self, target: Located) -> Iterable[int]:
        """Of the pieces without a place, those with the quote, or in the section."""
        anchor = target.anchor
        if anchor.quote:
            holding = self._unplaced_texts.holding(normalise(anchor.quote))
            candidates = (self.unplaced[place] for place in holding)
            return [number for number in candidates if self._may_be_in(number, anchor)]
        if target.path:
            wanted = slugs(target.path)
            numbers = self._unplaced_by_path.get((anchor.document, wanted), ())
            if anchor.subsections:
                return numbers
            return [n for n in numbers if slugs(self._pieces[n].section) == wanted]
        return ()

    def _may_be_in(self, number: int, anchor: Anchor) -> bool:
        return not anchor.document or self._placed[number].document in {"", anchor.document}

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
        """By document and section, and by each section above it."""
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


def _choices(placed: Placed) -> tuple[str, ...]:
    return tuple(f"{placed.document}, characters {start} to {end}" for start, end in placed.spans)
