"""Sections that are nearly the same: who finds the twin of what is judged is marked wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval.anchors import parse_sections
from berryeval.benchmarks.checks.finding import Finding
from berryeval.benchmarks.checks.similar import alike, how_alike
from berryeval.benchmarks.checks.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.benchmarks.checks.judged_places import Place
    from berryeval.benchmarks.checks.subject import Subject
    from berryeval.records import Document

__all__ = ["check_sections"]

_NAME: Final = "near-duplicate sections"
ALIKE: Final = 0.9
_RUN: Final = 5  # words to a shingle
_FEWEST_WORDS: Final = 10  # shorter ones are headings, and lines like "see also"


class _Piece(NamedTuple):
    """A section without its subsections; `number` is that of its document."""

    number: int
    place: Place
    name: str
    text: str
    whole: bool


def check_sections(subject: Subject) -> Iterator[Finding]:
    """Sections that are nearly the same as an earlier one, of documents that are not."""
    documents = subject.benchmark.documents
    pieces = [piece for number, one in enumerate(documents) for piece in _pieces(number, one)]
    first_of = {one.place: one.earlier for one in subject.alike_documents}
    for found in alike([piece.text for piece in pieces], _RUN, ALIKE):
        one, other = pieces[found.place], pieces[found.earlier]
        roots = {first_of.get(piece.number, piece.number) for piece in (one, other)}
        if one.number != other.number and (len(roots) == 1 or (one.whole and other.whole)):
            continue  # the documents are alike, and reported
        apart = subject.judged_places.only_one(one.place, other.place)
        yield Finding(
            _NAME, "warning" if apart else "info", subject.where("documents", one.number),
            f"the section {one.name!r} is {how_alike(one.text, other.text, found.share)} "
            f"{other.name!r}{apart}",
            "judge both, or keep one: who finds the other is marked wrong" if apart
            else "no judgment tells them apart; a new one should be on both",
        )  # fmt: skip


def _pieces(number: int, document: Document) -> Iterator[_Piece]:
    """The sections with enough words to say something."""
    sections = parse_sections(document.text)
    for section in sections:
        text = document.text[section.start : section.own_end]
        if len(words_of(text)) >= _FEWEST_WORDS:
            place = (document.id, section.start, section.own_end)
            name = f"{document.id}#{section.id}"
            yield _Piece(number, place, name, text, len(sections) == 1)
