"""`Subject`: a benchmark under examination, with what several checks need computed once."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from berryeval._internal.text import counted
from berryeval.anchors import Corpus, CoverageRule, Located, locate
from berryeval.benchmarks.checks.finding import name_of, words_of
from berryeval.data import Anchor
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.relevance import BoundPack, Labels, PackCorpus, explicit_ids, find_pack

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from berryeval.benchmarks.benchmark import Benchmark, RecordKind
    from berryeval.data import Judgment, Query


# `JudgedPlaces`: which queries have something relevant at a place of a text.

Place: TypeAlias = tuple[str, int, int]  # a document, and from where to where in it
_RULE: Final = CoverageRule()


class JudgedPlaces:
    """The places of everything that is relevant to a query, by judgments or by labels."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._found: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for query in subject.benchmark.queries:
            for document, start, end in self._places(query):
                self._found[document].append((start, end, query.id))

    def only_one(self, one: Place, other: Place) -> str:
        """For which query one of two places is relevant and the other is not; empty if for none.

        It goes on with a sentence: "; to query 'q1' only the first is relevant".
        """
        here, there = self._queries(one), self._queries(other)
        apart = sorted(here ^ there)
        if not apart:
            return ""
        owner = one if apart[0] in here else other
        more = ""
        if len(apart) > 1:
            others = counted(len(apart) - 1, "more query tells", "more queries tell")
            more = f", and {others} them apart"
        which = "the first" if owner is one else "the second"
        return f"; to query {apart[0]!r} only {which} is relevant{more}"

    def _queries(self, place: Place) -> set[str]:
        document, *span = place
        return {
            query
            for start, end, query in self._found.get(document, ())
            if _RULE.covers((span[0], span[1]), (start, end))
        }

    def _places(self, query: Query) -> Iterator[Place]:
        judged = self._subject.judged.get(query.id)
        if judged:
            for one in judged:
                if one.grade > 0:
                    yield from self._places_of(one.target)
            return
        labels = self._subject.labels(query)
        if isinstance(labels, Labels):
            for label, grade in (labels.grades or {}).items():
                span = labels.places.get(label)
                if grade > 0 and span:
                    yield span.document, span.start, span.end

    def _places_of(self, anchor: Anchor) -> Iterator[Place]:
        if anchor.chunk:
            named = self._subject.named(anchor.chunk)
            if named is not None:
                yield from self._places_of(named)
            return
        found = self._subject.located(anchor)
        for span in found.spans:
            yield span.document, span.start, span.end
        known = self._subject.benchmark.document_of.get(anchor.document)
        if known and found.is_document and found.lost is None:
            yield known.id, 0, len(known.text)


# Texts that are nearly the same, found without comparing each with each.

ALIKE: Final = 0.8  # the share from which on queries, and documents, are alike
MOST: Final = 50  # texts looked at for each shingle; if there are more, it is boilerplate
CLOSEST: Final = 20  # texts that one is compared with: those that share the most rare shingles
_BITS: Final = 21  # for a word of a shingle: beyond two million words, some shingles would be one
_EXACT: Final = 3  # words that fit so; of more, the number of a shingle is a hash of 64 bits
_FACTOR: Final = 6_364_136_223_846_793_005  # odd, so that no word is lost by the multiplication

Shingles: TypeAlias = NDArray[np.int64]  # of one text: sorted, each once


class Alike(NamedTuple):
    """A text, an earlier one that is like it, and how much."""

    place: int
    earlier: int
    share: float


def alike(texts: Sequence[str], length: int, least: float) -> Iterator[Alike]:
    """The texts that are like an earlier one, in order; blank texts are like nothing.

    >>> list(alike(["a b c d", "e f", "A b, c d!", "", ""], length=2, least=0.8))
    [Alike(place=2, earlier=0, share=1.0)]

    Args:
        texts: what to compare.
        length: of a shingle, in words.
        least: the share from which on two are alike.
    """
    sets, shared = _by_rarity(_shingles(texts, length))
    same: dict[bytes, int] = {}
    holders: dict[int, list[int]] = defaultdict(list)  # by shingle, texts that are unlike
    for place, found in enumerate(sets):
        if not len(found):
            continue
        first = same.setdefault(found.tobytes(), place)
        if first != place:
            yield Alike(place, first, 1.0)
            continue
        rare = _rarest(found, shared, least)
        pairs = [_compared(place, other, sets) for other in _candidates(rare, holders)]
        best = max(pairs, key=lambda pair: pair.share, default=None)
        if best is not None and best.share >= least:
            yield best
            continue
        for shingle in rare:
            holders[shingle].append(place)


def how_alike(one: str, other: str, share: float) -> str:
    """How much alike two texts are, in words that go between their names."""
    if one == other:
        return "the same as"
    return "the same words as" if share == 1 else f"nearly the same ({share:.2f}) as"


def _shingles(texts: Sequence[str], length: int) -> list[Shingles]:
    """The shingles of each text; a text of fewer words is one shingle."""
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


def _by_rarity(sets: list[Shingles]) -> tuple[list[Shingles], int]:
    """The shingles renumbered, the rarest first, and the first number that two texts share."""
    if not sets:
        return [], 0
    sizes = np.cumsum([len(one) for one in sets])[:-1]
    _, where, often = np.unique(np.concatenate(sets), return_inverse=True, return_counts=True)
    order = np.argsort(often, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    ranked = np.split(rank[where.reshape(-1)], sizes)
    return [np.sort(one) for one in ranked], int((often == 1).sum())


def _rarest(found: Shingles, shared: int, least: float) -> list[int]:
    """So many of the rarest shingles that a text alike must have one, without those of one text."""
    count = len(found) - math.ceil(least * len(found)) + 1
    few = found[:count]
    return [int(one) for one in few[few >= shared]]


def _candidates(rare: list[int], holders: dict[int, list[int]]) -> list[int]:
    """The texts that share the most of the rare shingles."""
    shared = Counter(one for shingle in rare for one in holders.get(shingle, [])[:MOST])
    return [one for one, _ in shared.most_common(CLOSEST)]


def _compared(place: int, other: int, sets: list[Shingles]) -> Alike:
    both = len(np.intersect1d(sets[place], sets[other], assume_unique=True))
    return Alike(place, other, both / (len(sets[place]) + len(sets[other]) - both))


class Passage(NamedTuple):
    """Something judged: its grade, its name, and its texts; several if it may be at several places.

    There is no text if it is not in the corpus.
    """

    grade: float
    name: str
    texts: tuple[str, ...]


class Subject:
    """A benchmark, and what is known about it.

    Attributes:
        benchmark: the benchmark.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self._located: dict[Anchor, Located] = {}

    @cached_property
    def corpus(self) -> Corpus:
        """The texts; all that is unknown if the benchmark has none."""
        return Corpus(self.benchmark.documents or None)

    def located(self, anchor: Anchor) -> Located:
        """Where a target stands."""
        if anchor not in self._located:
            self._located[anchor] = locate(anchor, self.corpus)
        return self._located[anchor]

    def named(self, chunk: str) -> Anchor | None:
        """The document, or its section, that the id of a chunk names: `guide`, `guide#set-up`."""
        documents = self.benchmark.document_of
        if chunk in documents:
            return Anchor(document=chunk)
        document, _, section = chunk.rpartition("#")
        if document not in documents or not section:
            return None
        anchor = Anchor(document=document, section=(section,))
        return anchor if self.located(anchor).lost is None else None

    def passages(self, anchor: Anchor) -> list[str]:
        """The texts that a target means: those of its places, or of its whole document."""
        if anchor.chunk:
            named = self.named(anchor.chunk)
            return [] if named is None else self.passages(named)
        found = self.located(anchor)
        texts = [self._text(span.document)[span.start : span.end] for span in found.spans]
        if not texts and found.is_document and found.lost is None:
            texts = [self._text(anchor.document)]
        return [text for text in texts if text]

    def _text(self, document: str) -> str:
        known = self.benchmark.document_of.get(document)
        return known.text if known else ""

    @cached_property
    def judged(self) -> dict[str, list[Judgment]]:
        """The judgments of each query."""
        found: dict[str, list[Judgment]] = defaultdict(list)
        for judgment in self.benchmark.judgments:
            found[judgment.query_id].append(judgment)
        return dict(found)

    @cached_property
    def judged_places(self) -> JudgedPlaces:
        """Where in the texts something is relevant, and to which queries."""
        return JudgedPlaces(self)

    @cached_property
    def alike_documents(self) -> list[Alike]:
        """The documents that are like an earlier one, by runs of three words."""
        return list(alike([one.text for one in self.benchmark.documents], 3, ALIKE))

    @cached_property
    def _pack(self) -> BoundPack | None:
        """The pack that decides what is relevant, if there is one."""
        try:
            pack = find_pack(self.benchmark.pack) if self.benchmark.pack else None
        except ConfigurationError:
            return None
        if pack is None or "relevance" not in pack.seals:
            return None
        return pack.bound(PackCorpus(self.benchmark.document_of, self.corpus))

    def labels(self, query: Query) -> Labels | BerryEvalError | None:
        """What the pack reads of a query's labels, or why it cannot; None if there is no pack."""
        if self._pack is None:
            return None
        try:
            return self._pack.rules_for(query).labels
        except BerryEvalError as error:
            return error

    def explicit(self, query: Query) -> dict[str, float] | BerryEvalError | None:
        """The relevant ids in a query's metadata, or why they cannot be read.

        None if there are none, or if they do not count because the query has judgments.
        """
        if query.id in self.judged:
            return None
        try:
            return explicit_ids(query)
        except BerryEvalError as error:
            return error

    def passages_for(self, query: Query) -> Iterator[Passage]:
        """What is judged for a query, by judgments or, without them, by its labels."""
        judged = self.judged.get(query.id)
        if judged:
            for one in judged:
                yield Passage(one.grade, name_of(one.target), tuple(self.passages(one.target)))
            return
        labels = self.labels(query)
        if isinstance(labels, Labels):
            for label, grade in (labels.grades or {}).items():
                span = labels.places.get(label)
                texts = [self._text(span.document)[span.start : span.end]] if span else []
                yield Passage(grade, label, tuple(text for text in texts if text))

    def where(self, kind: RecordKind, place: int) -> str:
        """Where a record stands in its file; else which record it is."""
        known = self.benchmark.where(kind, place)
        if known:
            return known
        if kind == "judgments":
            judgment = self.benchmark.judgments[place]
            return f"judgment of query {judgment.query_id!r}"
        one = "document" if kind == "documents" else "query"
        return f"{one} {getattr(self.benchmark, kind)[place].id!r}"
