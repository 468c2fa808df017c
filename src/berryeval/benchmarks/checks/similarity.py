"""Near-duplicate queries, documents and sections, and queries copied from their answers."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from berryeval.anchors import parse_sections
from berryeval.benchmarks.checks.finding import Finding, words_of

if TYPE_CHECKING:
    from berryeval.benchmarks.checks.subject import Place, Subject
    from berryeval.data import Document


SIMILAR: Final = 0.8  # Jaccard similarity of near-duplicate queries and documents
_MOST_HOLDERS: Final = 50  # texts considered per shingle; a more common one is boilerplate
_CLOSEST: Final = 20  # texts to compare with: those that share the most rare shingles
_BITS: Final = 21  # per word of a shingle; exact for up to two million distinct words
_EXACT: Final = 3  # words that fit into 64 bits; longer shingles are hashed
_FACTOR: Final = 6_364_136_223_846_793_005  # odd, so that multiplication loses no bits

Shingles: TypeAlias = NDArray[np.int64]  # of one text: sorted, distinct


class SimilarPair(NamedTuple):
    """A text, a similar earlier one, and their Jaccard similarity."""

    place: int
    earlier: int
    share: float


def find_similar(texts: Sequence[str], length: int, least: float) -> Iterator[SimilarPair]:
    """Yield the texts that are similar to an earlier one, in order; blank texts never are.

    A shingle has `length` words; `least` is the smallest Jaccard similarity to report.

    >>> list(find_similar(["a b c d", "e f", "A b, c d!", "", ""], length=2, least=0.8))
    [SimilarPair(place=2, earlier=0, share=1.0)]
    """
    sets, shared = _sort_by_rarity(_split_shingles(texts, length))
    same: dict[bytes, int] = {}
    holders: dict[int, list[int]] = defaultdict(list)  # distinct texts by shingle
    for place, found in enumerate(sets):
        if not len(found):
            continue
        first = same.setdefault(found.tobytes(), place)
        if first != place:
            yield SimilarPair(place, first, 1.0)
            continue
        # The rarest shared shingles, of which a similar text must have at least one.
        few = found[: len(found) - math.ceil(least * len(found)) + 1]
        rare = few[few >= shared].tolist()
        near = Counter(one for shingle in rare for one in holders.get(shingle, [])[:_MOST_HOLDERS])
        pairs = [_compare(place, other, sets) for other, _ in near.most_common(_CLOSEST)]
        best = max(pairs, key=lambda pair: pair.share, default=None)
        if best is not None and best.share >= least:
            yield best
            continue
        for shingle in rare:
            holders[shingle].append(place)


def describe_similarity(one: str, other: str, share: float) -> str:
    """Describe how similar two texts are, in words that go between their names."""
    if one == other:
        return "identical to"
    return "word for word the same as" if share == 1 else f"nearly identical ({share:.2f}) to"


def _split_shingles(texts: Sequence[str], length: int) -> list[Shingles]:
    """Return the shingles of each text; a shorter text is one shingle."""
    numbers: defaultdict[str, int] = defaultdict(itertools.count(1).__next__)
    found = []
    for text in texts:
        ids = np.fromiter(map(numbers.__getitem__, words_of(text)), dtype=np.int64)
        size = min(length, len(ids))
        runs = np.zeros(len(ids) - size + 1 if size else 0, dtype=np.int64)
        factor = 1 << _BITS if length <= _EXACT else _FACTOR
        for at in range(size):
            runs = runs * factor + ids[at : at + len(runs)]
        found.append(np.unique(runs))
    return found


def _sort_by_rarity(sets: list[Shingles]) -> tuple[list[Shingles], int]:
    """Renumber shingles, rarest first; also return the first number that two texts share."""
    if not sets:
        return [], 0
    sizes = np.cumsum([len(one) for one in sets])[:-1]
    _, where, often = np.unique(np.concatenate(sets), return_inverse=True, return_counts=True)
    order = np.argsort(often, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    ranked = np.split(rank[where.reshape(-1)], sizes)
    return [np.sort(one) for one in ranked], int((often == 1).sum())


def _compare(place: int, other: int, sets: list[Shingles]) -> SimilarPair:
    both = len(np.intersect1d(sets[place], sets[other], assume_unique=True))
    return SimilarPair(place, other, both / (len(sets[place]) + len(sets[other]) - both))


_QUERY_SHINGLE: Final = 2  # words


def check_queries(subject: Subject) -> Iterator[Finding]:
    """Find queries similar to an earlier one."""
    queries = subject.benchmark.queries
    for place, earlier, share in find_similar(
        [one.text for one in queries], _QUERY_SHINGLE, SIMILAR
    ):
        yield Finding(
            "near-duplicate queries", "warning", subject.where("queries", place),
            f"query {queries[place].id!r} is "
            f"{describe_similarity(queries[place].text, queries[earlier].text, share)} "
            f"{queries[earlier].id!r}: {queries[place].text!r:.80}",
            "keep one, because near-duplicates count twice in every mean",
        )  # fmt: skip


def check_documents(subject: Subject) -> Iterator[Finding]:
    """Find documents similar to an earlier one."""
    documents = subject.benchmark.documents
    for place, earlier, share in subject.similar_documents:
        one, other = documents[place], documents[earlier]
        ends = (one.id, 0, len(one.text)), (other.id, 0, len(other.text))
        yield Finding(
            "near-duplicate documents", "warning", subject.where("documents", place),
            f"document {one.id!r} is {describe_similarity(one.text, other.text, share)} "
            f"{other.id!r}{subject.describe_difference(*ends)}",
            "keep one or judge both, because a system that finds the other scores 0",
        )  # fmt: skip


SIMILAR_SECTIONS: Final = 0.9
_SECTION_SHINGLE: Final = 5  # words
_FEWEST_WORDS: Final = 10  # shorter sections are headings and lines like "see also"


class _Piece(NamedTuple):
    """A section without its subsections; `number` is the position of its document."""

    number: int
    place: Place
    name: str
    text: str
    whole: bool


def check_sections(subject: Subject) -> Iterator[Finding]:
    """Find sections similar to an earlier one, unless their documents are similar too."""
    documents = subject.benchmark.documents
    pieces = [
        piece for number, one in enumerate(documents) for piece in _split_sections(number, one)
    ]
    first_of = {one.place: one.earlier for one in subject.similar_documents}
    for found in find_similar([piece.text for piece in pieces], _SECTION_SHINGLE, SIMILAR_SECTIONS):
        one, other = pieces[found.place], pieces[found.earlier]
        roots = {first_of.get(piece.number, piece.number) for piece in (one, other)}
        if one.number != other.number and (len(roots) == 1 or (one.whole and other.whole)):
            continue  # reported by check_documents
        apart = subject.describe_difference(one.place, other.place)
        yield Finding(
            "near-duplicate sections", "warning" if apart else "info",
            subject.where("documents", one.number),
            f"section {one.name!r} is {describe_similarity(one.text, other.text, found.share)} "
            f"{other.name!r}{apart}",
            "judge both or keep one, because a system that finds the other scores 0" if apart
            else "judgments treat both alike; judge both when you add one",
        )  # fmt: skip


def _split_sections(number: int, document: Document) -> Iterator[_Piece]:
    """Yield the sections with enough words."""
    sections = parse_sections(document.text)
    for section in sections:
        text = document.text[section.start : section.own_end]
        if len(words_of(text)) >= _FEWEST_WORDS:
            place = (document.id, section.start, section.own_end)
            name = f"{document.id}#{section.id}"
            yield _Piece(number, place, name, text, len(sections) == 1)


_LONG: Final = 8  # words in a row that are always a copy
_SHORTEST: Final = 5  # words in a row that are a copy if they are most of the query
_MOST_OF_QUERY: Final = 0.8


def check_copied(subject: Subject) -> Iterator[Finding]:
    """Find queries that share a long run of words with a relevant passage."""
    # words with one space around each
    normalize = functools.cache(lambda text: f" {' '.join(words_of(text))} ")
    for place, query in enumerate(subject.benchmark.queries):
        words = words_of(query.text)
        for passage in subject.passages_for(query) if len(words) >= _SHORTEST else ():
            texts = [normalize(text) for text in passage.texts if passage.grade > 0]
            shared = max((find_copied_run(words, text) for text in texts), key=len, default=())
            if shared:
                yield Finding(
                    "copied query", "warning", subject.where("queries", place),
                    f"query {query.id!r} copies {len(shared)} of its {len(words)} words in a row "
                    f"from {passage.name}: {' '.join(shared)!r:.80}",
                    "rephrase it, because matching words finds the passage too easily",
                )  # fmt: skip
                break


def find_copied_run(words: Sequence[str], passage: str) -> tuple[str, ...]:
    """Return the words in a row that a query copies from a passage; empty if it does not copy."""
    shared = longest_shared_run(words, passage)
    is_copy = len(shared) >= min(_LONG, max(_SHORTEST, _MOST_OF_QUERY * len(words)))
    return shared if is_copy else ()


def longest_shared_run(words: Sequence[str], passage: str) -> tuple[str, ...]:
    """Return the longest run of at least `_SHORTEST` words that is in the passage.

    >>> longest_shared_run("what is the port of the server".split(), " the port of the server is ")
    ('the', 'port', 'of', 'the', 'server')
    """
    best: tuple[str, ...] = ()
    start, length = 0, _SHORTEST
    while start + length <= len(words):
        if f" {' '.join(words[start : start + length])} " in passage:
            best = tuple(words[start : start + length])
            length += 1  # look for a longer run from here on
        else:
            start += 1
    return best
