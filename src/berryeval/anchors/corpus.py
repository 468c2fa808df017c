"""`Corpus`: the texts of the documents, with what is computed of each no more than once."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval.anchors.markdown import SectionIndex
from berryeval.anchors.quotes import Normalised
from berryeval.data import content_hash
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from berryeval.data import Chunk, Document


# Which of many normalised texts hold a needle, by the words they are made of.

# Words stand between spaces; a letter of a script that writes none is a word of its own.
_WORD: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^ \u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
_RAREST: Final = 3  # this many of a needle's words, the rarest, are enough to tell texts apart


def _words(text: str) -> list[str]:
    return text.split(" ") if text.isascii() else _WORD.findall(text)


class TextIndex:
    """Normalised texts by their words.

    >>> TextIndex(["the cat sat", "a dog sat", "the cats sat"]).holding("he cat")
    [0, 2]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    @cached_property
    def _homes(self) -> dict[str, list[int]]:
        """The texts each word stands in."""
        homes: dict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(self._texts):
            for word in set(_words(text)):
                homes[word].append(number)
        return homes

    def holding(self, needle: str) -> list[int]:
        """The numbers of the texts that hold the needle, in order."""
        return [number for number in sorted(self._maybe(needle)) if needle in self._texts[number]]

    def most_alike(self, needle: str, count: int = 5) -> list[int]:
        """The numbers of the texts that share most of the needle's rarer words, best first."""
        known = [self._homes[word] for word in set(_words(needle)) if word in self._homes]
        rarest = sorted(known, key=len)[: 4 * _RAREST]
        shared = Counter(number for homes in rarest for number in homes)
        return sorted(shared, key=lambda number: (-shared[number], number))[:count]

    def _maybe(self, needle: str) -> Iterable[int]:
        """The texts that may hold the needle, and perhaps some that do not."""
        words = _words(needle)
        inner = words[1:-1]  # the first and last may be parts of words
        if not inner:
            return self._texts_with_parts(words)
        if any(word not in self._homes for word in inner):
            return ()
        rarest = sorted((self._homes[word] for word in set(inner)), key=len)[:_RAREST]
        return set(rarest[0]).intersection(*rarest[1:])

    def _texts_with_parts(self, parts: list[str]) -> Iterable[int]:
        """For needles of a word or two: the texts with words that hold each of them."""
        found: set[int] | None = None
        for part in parts:
            here = {
                number for word, homes in self._homes.items() if part in word for number in homes
            }
            found = here if found is None else found & here
        return found or ()


# The text of a document from its chunks, as far as they tell it.

_SPACE: Final = 4  # a hole up to this long is taken for white space that the chunker left out
_UNKNOWN: Final = "\ufffd"
_LARGEST: Final = 4  # a text this many times as long as its chunks together is not put together


class Rebuilt(NamedTuple):
    """A text, and whether it has no holes."""

    text: str
    complete: bool


def rebuilt(chunks: Iterable[Chunk]) -> Rebuilt | None:
    """The text that the chunks are pieces of; None if they have no places, or contradict.

    Holes are filled: short ones with line ends, as chunkers leave out white space, long ones with a
    character that stands in no text.
    """
    pieces = sorted(
        (chunk.start, -chunk.end, chunk.text)
        for chunk in chunks
        if chunk.start is not None
        and chunk.end is not None
        and chunk.end - chunk.start == len(chunk.text)
    )
    known = sum(len(text) for _, _, text in pieces)
    if not pieces or max(-end for _, end, _ in pieces) > _LARGEST * known:
        return None
    parts: list[str] = []
    at = 0
    complete = True
    for start, end, text in pieces:
        if start > at:
            parts.append(_hole(start - at))
            complete = False
        if -end > at:
            parts.append(text[max(at - start, 0) :])
            at = -end
    whole = "".join(parts)
    if any(whole[start:-end] != text for start, end, text in pieces):
        return None
    return Rebuilt(whole, complete)


def _hole(length: int) -> str:
    if length <= _SPACE:
        return "\n" * length
    return f"\n{_UNKNOWN * (length - 2)}\n"


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
