"""`Corpus`: the texts of documents, with cached indexes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval.anchors.markdown import SectionIndex
from berryeval.anchors.quotes import Normalised
from berryeval.data import as_sequence, content_hash, find_repeated, index_records
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval.data import Chunk, Document, Span


# Words are separated by spaces; in scripts without spaces every letter is a word.
_WORD: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^ \u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
_RAREST: Final = 3  # rarest words of a needle that suffice to select texts


def _split_words(text: str) -> list[str]:
    return text.split(" ") if text.isascii() else _WORD.findall(text)


class TextIndex:
    """An index of normalized texts by their words.

    >>> TextIndex(["the cat sat", "a dog sat", "the cats sat"]).find_containing("he cat")
    [0, 2]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    @cached_property
    def _homes(self) -> dict[str, list[int]]:
        homes: dict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(self._texts):
            for word in set(_split_words(text)):
                homes[word].append(number)
        return homes

    def find_containing(self, needle: str) -> list[int]:
        """Return the numbers of the texts that contain the needle, in order."""
        return [
            number
            for number in sorted(self._find_candidates(needle))
            if needle in self._texts[number]
        ]

    def find_similar(self, needle: str, count: int = 5) -> list[int]:
        """Return the numbers of the texts with most of the needle's rare words, best first."""
        known = [self._homes[word] for word in set(_split_words(needle)) if word in self._homes]
        rarest = sorted(known, key=len)[: 4 * _RAREST]
        shared = Counter(number for homes in rarest for number in homes)
        return sorted(shared, key=lambda number: (-shared[number], number))[:count]

    def _find_candidates(self, needle: str) -> Iterable[int]:
        """Return a superset of the texts that contain the needle."""
        words = _split_words(needle)
        inner = words[1:-1]  # the first and last may be parts of words
        if not inner:
            homes = self._homes.items()
            return set.intersection(
                *({n for word, at in homes if part in word for n in at} for part in words)
            )
        if any(word not in self._homes for word in inner):
            return ()
        rarest = sorted((self._homes[word] for word in set(inner)), key=len)[:_RAREST]
        return set(rarest[0]).intersection(*rarest[1:])


_SPACE: Final = 4  # gaps up to this length are white space omitted by the chunker
_UNKNOWN: Final = "\ufffd"
_LARGEST: Final = 4  # maximum length of a rebuilt text, as a multiple of its chunks


class RebuiltText(NamedTuple):
    """A text rebuilt from chunks; `complete` if it has no gaps."""

    text: str
    complete: bool


def rebuild_text(chunks: Iterable[Chunk]) -> RebuiltText | None:
    """Rebuild a text from its chunks; None if they have no offsets or contradict each other.

    Short gaps are filled with line ends, because chunkers omit white space, and long gaps with a
    replacement character.
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
            gap = start - at
            parts.append("\n" * gap if gap <= _SPACE else f"\n{_UNKNOWN * (gap - 2)}\n")
            complete = False
        if -end > at:
            parts.append(text[max(at - start, 0) :])
            at = -end
    whole = "".join(parts)
    if any(whole[start:-end] != text for start, end, text in pieces):
        return None
    return RebuiltText(whole, complete)


_KEPT: Final = 1_000  # texts of a large corpus
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


@dataclass(eq=False)
class Text:
    """The text of a document, given or rebuilt from chunks; `complete` if it has no gaps."""

    document: str
    text: str
    given: bool = True
    complete: bool = True

    @cached_property
    def normalised(self) -> Normalised:
        """The text with normalized case and white space."""
        return Normalised(self.text)

    @cached_property
    def sections(self) -> SectionIndex:
        """The Markdown sections of the text."""
        return SectionIndex(self.text)

    @cached_property
    def hash(self) -> str:
        """The content hash; empty if the text was rebuilt from chunks."""
        return content_hash(self.text) if self.given else ""

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0, *(end.end() for end in _LINE_END.finditer(self.text))]
        return starts if starts[-1] < len(self.text) else starts[:-1]

    @property
    def line_count(self) -> int:
        """Number of lines; a final line end starts no new line."""
        return len(self._line_starts)

    def lines(self, first: int, last: int) -> tuple[int, int]:
        """Return the span of lines `first` to `last`, counted from 1, with their line ends."""
        starts = self._line_starts
        return starts[first - 1], starts[last] if last < len(starts) else len(self.text)

    def lines_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and last line of a span."""
        starts = self._line_starts
        return bisect_right(starts, start), bisect_right(starts, end - 1)


class Corpus:
    """Documents by id.

    Attributes:
        closed: Whether documents that are not here do not exist; False if there are no documents.
        listed: Whether documents were given, and not only chunks of them.
    """

    def __init__(
        self, documents: Iterable[Document] | None, chunks: Iterable[Chunk] | None = None
    ) -> None:
        given = as_sequence(documents or ())
        if repeated := find_repeated(given):
            raise DataError(f"the document id {given[repeated[1]].id!r} is not unique")
        self._documents = index_records(given)
        self._texts: dict[str, Text] = {}  # read so far, with their indexes
        self._most = len(given) if isinstance(self._documents, dict) else _KEPT
        self._rebuilt: dict[str, Text | None] = {}
        self.listed = len(given) > 0
        pieces: dict[str, list[Chunk]] = defaultdict(list)
        for name, parts in groupby(chunks or (), key=lambda chunk: chunk.doc_id):
            if name and name not in self._documents:
                pieces[name] += parts
        for name, rest in pieces.items():
            found = rebuild_text(rest)
            self._rebuilt[name] = found and Text(name, found.text, False, found.complete)
        self.closed = self.listed or bool(self._rebuilt)

    @property
    def ids(self) -> Iterator[str]:
        """The ids of all documents whose text is known."""
        return chain(self._documents, (name for name, one in self._rebuilt.items() if one))

    def __contains__(self, document: str) -> bool:
        return document in self._documents or document in self._rebuilt

    def __iter__(self) -> Iterator[Text]:
        return (text for text in map(self.text, self.ids) if text is not None)

    def text(self, document: str) -> Text | None:
        """Return the text of a document, or None if it is unknown."""
        known = self._texts.get(document)
        if known is not None:
            return known
        found = self._documents.get(document)
        if found is None:
            return self._rebuilt.get(document)
        if len(self._texts) >= self._most:  # of a large corpus, only some texts are kept
            self._texts.clear()
        return self._texts.setdefault(document, Text(found.id, found.text))

    def read(self, span: Span) -> str:
        """Return the text of a span; empty if its document is unknown."""
        text = self.text(span.document)
        return text.text[span.start : span.end] if text else ""

    def strip_span(self, document: str, start: int, end: int) -> tuple[int, int]:
        """Return a span without the white space around its text; as it is if that is unknown."""
        text = self.text(document)
        words = text.text[start:end] if text else ""
        begin = start + len(words) - len(words.lstrip())
        return (begin, begin + len(words.strip())) if words.strip() else (start, end)

    @cached_property
    def _all(self) -> tuple[list[Text], TextIndex]:
        texts = list(self)
        return texts, TextIndex([text.normalised.text for text in texts])

    def find_containing(self, needle: str) -> list[Text]:
        """Return the texts that contain a normalized needle."""
        texts, index = self._all
        return [texts[number] for number in index.find_containing(needle)]

    def find_similar(self, needle: str) -> list[Text]:
        """Return a few texts that share rare words with a normalized needle, best first."""
        texts, index = self._all
        return [texts[number] for number in index.find_similar(needle)]

    @cached_property
    def _by_hash(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for text in self:
            found[text.hash].append(text.document)
        return found

    def with_hash(self, wanted: str) -> list[str]:
        """Return the documents with this content hash."""
        return self._by_hash.get(format_hash(wanted), []) if wanted else []


def format_hash(written: str) -> str:
    """Return a content hash with its prefix and in lowercase."""
    return f"sha256:{written.lower().removeprefix('sha256:')}"
