"""Chunks of whole sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from berryeval.chunkers.base import OptionChunker, Piece, Whole, option, trimmed
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.data import Document


# Where the sentences of a text are: one set of plain rules for any language.

# ruff: noqa: RUF001, RUF002 - the full-width marks are meant


LONGEST: Final = 40  # characters of an abbreviation or a list number that are looked at
# Never the end of a sentence, whatever follows.
_ALWAYS_SHORT: Final = frozenset({
    "mr", "mrs", "ms", "dr", "prof", "rev", "fr", "sr", "jr", "st", "gen", "col", "lt", "sgt",
    "capt", "cmdr", "hon", "pres", "gov", "sen", "rep", "vs", "cf", "ca", "approx", "eg", "ie",
    "al", "dept", "univ", "assn", "bros", "ave", "blvd", "mt", "ft", "viz", "resp", "bzw",
    "ggf", "evtl", "usw", "vgl", "hr", "nr", "abs",
})  # fmt: skip
# Not the end of a sentence before a number, as in "Fig. 3".
_SHORT_BEFORE_NUMBER: Final = frozenset({
    "no", "nos", "fig", "figs", "eq", "eqs", "sec", "ch", "chap", "vol", "p", "pp", "art",
    "par", "ref", "tab", "cap", "v", "ver", "ex", "jan", "feb", "mar", "apr", "jun", "jul",
    "aug", "sep", "sept", "oct", "nov", "dec",
})  # fmt: skip
_BLOCK: Final = re.compile(
    r"\n[ \t\r]*(?:\n\s*|(?=[-*+•] |\d{1,3}[.)] |#{1,6} |>|\|))"  # blank line, list item
    r"|^#{1,6} [^\n]*(?:\n|$)",  # behind a heading
    re.MULTILINE,
)
_CLOSING: Final = "\"'”’»)\\]}›」』）】》"
_END: Final = re.compile(rf"(?<![.!?…])[.!?…]+[{_CLOSING}]*(?=\s)|[。！？｡]+[{_CLOSING}]*")
_LAST_WORD: Final = re.compile(r"[\w.]*\Z")
_DOTTED: Final = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")  # e.g, U.S
_MARK: Final = re.compile(r"\W*(?:\d{1,3}|[^\W\d_])")  # of a list item: 1. or a.


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the sentences, in order; together they hold all but white space.

    Paragraphs, headings and list items end a sentence; a single line break does not. A full stop
    ends one if white space follows, then no lower-case letter, and if it is not that of an
    abbreviation, an initial or a list number. The marks 。！？ end one by themselves. Closing
    quotes and brackets belong to the sentence they close.

    >>> text = 'Dr. Who paid 3.50 dollars. "Why?" asked no one. 是的。好！'
    >>> [text[start:end] for start, end in sentences(text)]
    ['Dr. Who paid 3.50 dollars.', '"Why?" asked no one.', '是的。', '好！']
    """
    for first, last in _blocks(text):
        begin = _past_space(text, first, last)
        for mark in _END.finditer(text, first, last):
            if not _ends(text, begin, mark, last):
                continue
            start, end = trimmed(text, begin, mark.end())
            yield start, end
            begin = _past_space(text, mark.end(), last)
        start, end = trimmed(text, begin, last)
        if start < end:
            yield start, end


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Paragraphs, headings, list items."""
    begin = 0
    for gap in _BLOCK.finditer(text):
        yield begin, gap.end()
        begin = gap.end()
    yield begin, len(text)


def _past_space(text: str, place: int, last: int) -> int:
    """The first place from there on that is no white space, or the last."""
    while place < last and text[place].isspace():
        place += 1
    return place


def _ends(text: str, begin: int, mark: re.Match[str], last: int) -> bool:
    """Whether the mark ends the sentence that began at `begin`."""
    if mark[0][0] in "。！？｡":
        return True
    after = _past_space(text, mark.end(), last)
    follows = text[after : after + 1]
    if follows.islower():
        return False
    return mark[0] != "." or not _is_short(text, begin, mark.start(), follows)


def _is_short(text: str, begin: int, stop: int, follows: str) -> bool:
    """Whether the full stop at `stop` is that of an abbreviation, an initial or a list number."""
    found = _LAST_WORD.search(text, max(begin, stop - LONGEST), stop)
    word = found[0] if found else ""
    is_initial = len(word) == 1 and word.isupper()
    return bool(
        is_initial
        or word.lower() in _ALWAYS_SHORT
        or _DOTTED.fullmatch(word)
        or (stop - begin <= LONGEST and _MARK.fullmatch(text, begin, stop))
        or (follows.isdigit() and word.lower() in _SHORT_BEFORE_NUMBER)
    )


@dataclass(frozen=True)
class SentenceChunker(OptionChunker):
    """Chunks of `size` sentences, of which the next chunk repeats the last `overlap`."""

    name: ClassVar[str] = "sentence"
    summary: ClassVar[str] = "a number of whole sentences"

    size: int = option(5, Whole(least=1), "how many sentences a chunk has")
    overlap: int = option(0, Whole(), "how many of them the next chunk repeats")

    def __post_init__(self) -> None:
        """Refuse options that cannot be."""
        super().__post_init__()
        if self.overlap >= self.size:
            msg = f"overlap of the chunker 'sentence' must be less than its size {self.size}"
            msg += f", found {self.overlap}"
            raise ConfigurationError(msg)

    def pieces(self, document: Document) -> Iterator[Piece]:
        """Where the chunks of the document are, in order."""
        spans = list(sentences(document.text))
        for first in range(0, len(spans), self.size - self.overlap):
            group = spans[first : first + self.size]
            yield Piece(group[0][0], group[-1][1])
            if first + self.size >= len(spans):
                return
