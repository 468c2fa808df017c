"""Chunks of whole sentences, split by one set of rules for all languages."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from berryeval._internal.validate import require
from berryeval.chunkers.base import OptionChunker, Piece, option, trim_span

if TYPE_CHECKING:
    from berryeval.data import Document

# ruff: noqa: RUF001, RUF002 - the full-width punctuation is intended

LONGEST: Final = 40  # maximum characters of an abbreviation or list number
# Abbreviations that never end a sentence.
_ALWAYS_SHORT: Final = frozenset({
    "mr", "mrs", "ms", "dr", "prof", "rev", "fr", "sr", "jr", "st", "gen", "col", "lt", "sgt",
    "capt", "cmdr", "hon", "pres", "gov", "sen", "rep", "vs", "cf", "ca", "approx", "eg", "ie",
    "al", "dept", "univ", "assn", "bros", "ave", "blvd", "mt", "ft", "viz", "resp", "bzw",
    "ggf", "evtl", "usw", "vgl", "hr", "nr", "abs",
})  # fmt: skip
# Abbreviations that do not end a sentence before a number, as in "Fig. 3".
_SHORT_BEFORE_NUMBER: Final = frozenset({
    "no", "nos", "fig", "figs", "eq", "eqs", "sec", "ch", "chap", "vol", "p", "pp", "art",
    "par", "ref", "tab", "cap", "v", "ver", "ex", "jan", "feb", "mar", "apr", "jun", "jul",
    "aug", "sep", "sept", "oct", "nov", "dec",
})  # fmt: skip
_BLOCK: Final = re.compile(
    r"\n[ \t\r]*(?:\n\s*|(?=[-*+•] |\d{1,3}[.)] |#{1,6} |>|\|))"  # blank line, list item
    r"|^#{1,6} [^\n]*(?:\n|$)",  # after a heading
    re.MULTILINE,
)
_CLOSING: Final = "\"'”’»)\\]}›」』）】》"
_END: Final = re.compile(rf"(?<![.!?…])[.!?…]+[{_CLOSING}]*(?=\s)|[。！？｡]+[{_CLOSING}]*")
_WORD: Final = re.compile(r"[\w.]*")
_DOTTED: Final = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")  # e.g, U.S
_MARK: Final = re.compile(r"\W*(?:\d{1,3}|[^\W\d_])")  # list item: 1. or a.


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the sentences, which together contain all text except white space.

    Paragraphs, headings and list items end a sentence; a single line break does not. A full stop
    ends a sentence if it is followed by white space and no lowercase letter, and is not part of an
    abbreviation, an initial or a list number. The marks 。！？ always end a sentence. Closing
    quotes and brackets belong to the sentence they close.

    >>> text = 'Dr. Who paid 3.50 dollars. "Why?" asked no one. 是的。好！'
    >>> [text[start:end] for start, end in sentences(text)]
    ['Dr. Who paid 3.50 dollars.', '"Why?" asked no one.', '是的。', '好！']
    """
    ends = (gap.end() for gap in _BLOCK.finditer(text))
    for first, last in itertools.pairwise((0, *ends, len(text))):
        begin = _skip_space(text, first, last)
        for mark in _END.finditer(text, first, last):
            if not _ends_sentence(text, begin, mark, last):
                continue
            start, end = trim_span(text, begin, mark.end())
            yield start, end
            begin = _skip_space(text, mark.end(), last)
        start, end = trim_span(text, begin, last)
        if start < end:
            yield start, end


def _skip_space(text: str, place: int, last: int) -> int:
    while place < last and text[place].isspace():
        place += 1
    return place


def _ends_sentence(text: str, begin: int, mark: re.Match[str], last: int) -> bool:
    if mark[0][0] in "。！？｡":
        return True
    after = _skip_space(text, mark.end(), last)
    follows = text[after : after + 1]
    if follows.islower():
        return False
    return mark[0] != "." or not _is_abbreviation(text, begin, mark.start(), follows)


def _is_abbreviation(text: str, begin: int, stop: int, follows: str) -> bool:
    backwards = _WORD.match(text[max(begin, stop - LONGEST) : stop][::-1])
    word = backwards[0][::-1] if backwards else ""
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
    """Chunks of `size` sentences; each chunk repeats the last `overlap` of the previous one."""

    name: ClassVar[str] = "sentence"
    summary: ClassVar[str] = "a number of whole sentences"

    size: int = option(5, "sentences per chunk", least=1)
    overlap: int = option(0, "sentences that the next chunk repeats", least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        smaller, wanted = self.overlap < self.size, f"less than its size {self.size}"
        require(smaller, "overlap of the chunker 'sentence'", wanted, self.overlap)

    def pieces(self, document: Document) -> Iterator[Piece]:
        """Return the positions of the chunks in text order."""
        spans = list(sentences(document.text))
        for first in range(0, len(spans), self.size - self.overlap):
            group = spans[first : first + self.size]
            yield Piece(group[0][0], group[-1][1])
            if first + self.size >= len(spans):
                return
