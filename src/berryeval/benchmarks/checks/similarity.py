"""Queries and documents that are nearly the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval.anchors import parse_sections
from berryeval.benchmarks.checks.finding import Finding, words_of
from berryeval.benchmarks.checks.subject import ALIKE, alike, how_alike

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from berryeval.benchmarks.checks.subject import Place, Subject
    from berryeval.data import Document


_RUN: Final = 2  # words to a shingle


def check_queries(subject: Subject) -> Iterator[Finding]:
    """Queries that are nearly the same as an earlier one."""
    queries = subject.benchmark.queries
    for place, earlier, share in alike([one.text for one in queries], _RUN, ALIKE):
        yield Finding(
            "near-duplicate queries", "warning", subject.where("queries", place),
            f"the query {queries[place].id!r} is "
            f"{how_alike(queries[place].text, queries[earlier].text, share)} "
            f"{queries[earlier].id!r}: {queries[place].text!r:.80}",
            "keep one: what they ask counts twice in every mean",
        )  # fmt: skip


def check_documents(subject: Subject) -> Iterator[Finding]:
    """Documents that are nearly the same as an earlier one."""
    documents = subject.benchmark.documents
    for place, earlier, share in subject.alike_documents:
        one, other = documents[place], documents[earlier]
        ends = (one.id, 0, len(one.text)), (other.id, 0, len(other.text))
        yield Finding(
            "near-duplicate documents", "warning", subject.where("documents", place),
            f"the document {one.id!r} is {how_alike(one.text, other.text, share)} {other.id!r}"
            f"{subject.judged_places.only_one(*ends)}",
            "keep one, or judge both: who finds the other is marked wrong",
        )  # fmt: skip


# Sections that are nearly the same: who finds the twin of what is judged is marked wrong.

_NAME: Final = "near-duplicate sections"
SECTIONS_ALIKE: Final = 0.9
_SECTIONS_RUN: Final = 5  # words to a shingle
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
    for found in alike([piece.text for piece in pieces], _SECTIONS_RUN, SECTIONS_ALIKE):
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


# Queries that are copied from what they should find.

LONG: Final = 8  # words in a row that nobody writes twice by chance
SHORTEST: Final = 5  # enough, if they are most of the query
MOST: Final = 0.8


def check_copied(subject: Subject) -> Iterator[Finding]:
    """Queries that share a long run of words with a passage that is relevant to them."""
    known: dict[str, str] = {}
    for place, query in enumerate(subject.benchmark.queries):
        words = words_of(query.text)
        for passage in subject.passages_for(query) if len(words) >= SHORTEST else ():
            texts = [_spaced(text, known) for text in passage.texts if passage.grade > 0]
            shared = max((longest_shared_run(words, text) for text in texts), key=len, default=())
            if len(shared) >= LONG or len(shared) >= max(SHORTEST, MOST * len(words)):
                yield Finding(
                    "copied query", "warning", subject.where("queries", place),
                    f"the query {query.id!r} has {len(shared)} of its {len(words)} words in a row "
                    f"from {passage.name}: {' '.join(shared)!r:.80}",
                    "write it in other words: matching words finds it too easily",
                )  # fmt: skip
                break


def _spaced(text: str, known: dict[str, str]) -> str:
    """The words of a text with one space around each."""
    if text not in known:
        known[text] = f" {' '.join(words_of(text))} "
    return known[text]


def longest_shared_run(words: Sequence[str], passage: str) -> tuple[str, ...]:
    """The longest run of words that is in the passage, from `SHORTEST` words on.

    >>> longest_shared_run("what is the port of the server".split(), " the port of the server is ")
    ('the', 'port', 'of', 'the', 'server')
    """
    best: tuple[str, ...] = ()
    length = SHORTEST
    start = 0
    while start + length <= len(words):
        if f" {' '.join(words[start : start + length])} " in passage:
            best = tuple(words[start : start + length])
            length += 1  # from the same start, or a later one
        else:
            start += 1
    return best
