"""`Corpus`: the texts of the documents, with what is computed of each no more than once."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

from berryeval.anchors.normalised import Normalised
from berryeval.anchors.paths import SectionIndex
from berryeval.anchors.rebuild import rebuilt
from berryeval.anchors.text_index import TextIndex
from berryeval.errors import DataError
from berryeval.records import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from berryeval.records import Chunk, Document

__all__ = ["Corpus", "Text", "as_hash"]

_LINE_END: Final = re.compile(r"\r\n|\r|\n")


class Text:
    """The text of a document.

    Attributes:
        document: the id of the document.
        text: its characters.
        complete: whether this is the very text, and no reconstruction with holes in it.
    """

    def __init__(
        self, document: str, text: str, *, given: bool = True, complete: bool = True
    ) -> None:
        self.document = document
        self.text = text
        self.complete = complete
        self._given = given

    @cached_property
    def normalised(self) -> Normalised:
        """The text without the accidents of case and white space."""
        return Normalised(self.text)

    @cached_property
    def sections(self) -> SectionIndex:
        """The sections of the text, read as Markdown."""
        return SectionIndex(self.text)

    @cached_property
    def hash(self) -> str:
        """The content hash; empty if the text was put together from chunks, which may lack some."""
        return content_hash(self.text) if self._given else ""

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0, *(end.end() for end in _LINE_END.finditer(self.text))]
        return starts if starts[-1] < len(self.text) else starts[:-1]

    @property
    def line_count(self) -> int:
        """How many lines there are; a line end at the end of the text begins no other line."""
        return len(self._line_starts)

    def lines(self, first: int, last: int) -> tuple[int, int]:
        """The span of these lines, counted from 1, both included, with their line ends."""
        starts = self._line_starts
        return starts[first - 1], starts[last] if last < len(starts) else len(self.text)

    def lines_of(self, start: int, end: int) -> tuple[int, int]:
        """The first and last line of a span."""
        starts = self._line_starts
        return bisect_right(starts, start), bisect_right(starts, end - 1)


class Corpus:
    """The documents that there are, by id.

    Attributes:
        closed: whether a document that is not here does not exist. Where there is none at all,
            nobody knows.
    """

    def __init__(
        self, documents: Iterable[Document] | None, chunks: Iterable[Chunk] | None = None
    ) -> None:
        self._texts: dict[str, Text | None] = {}
        for document in documents or ():
            if document.id in self._texts:
                msg = f"the document id {document.id!r} stands twice"
                raise DataError(msg)
            self._texts[document.id] = Text(document.id, document.text)
        self._rebuild(chunks or ())
        self.closed = bool(self._texts)

    def _rebuild(self, chunks: Iterable[Chunk]) -> None:
        """Add documents of which only chunks are known."""
        pieces: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in chunks:
            if chunk.doc_id and chunk.doc_id not in self._texts:
                pieces[chunk.doc_id].append(chunk)
        for document, parts in pieces.items():
            found = rebuilt(parts)
            self._texts[document] = found and Text(
                document, found.text, given=False, complete=found.complete
            )

    def __contains__(self, document: str) -> bool:
        return document in self._texts

    def __iter__(self) -> Iterator[Text]:
        return (text for text in self._texts.values() if text is not None)

    def text(self, document: str) -> Text | None:
        """The text of a document, or None if nobody knows it."""
        return self._texts.get(document)

    @cached_property
    def _all(self) -> tuple[list[Text], TextIndex]:
        texts = list(self)
        return texts, TextIndex([text.normalised.text for text in texts])

    def holding(self, needle: str) -> list[Text]:
        """The texts that hold a normalised needle."""
        texts, index = self._all
        return [texts[number] for number in index.holding(needle)]

    def most_alike(self, needle: str) -> list[Text]:
        """A few texts that share rare words with a normalised needle, best first."""
        texts, index = self._all
        return [texts[number] for number in index.most_alike(needle)]

    @cached_property
    def _by_hash(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for text in self:
            found[text.hash].append(text.document)
        return found

    def with_hash(self, wanted: str) -> list[str]:
        """The documents with this content hash."""
        return self._by_hash.get(as_hash(wanted), []) if wanted else []


def as_hash(written: str) -> str:
    """A content hash as we write it, whether or not it names its method."""
    return f"sha256:{written.lower().removeprefix('sha256:')}"
