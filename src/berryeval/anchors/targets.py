"""`Targets`: what there is to be found for each query, and who found it."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from berryeval.anchors.corpus import Corpus
from berryeval.anchors.coverage import CoverageRule, Piece, Pieces, place
from berryeval.anchors.drift import Ambiguity, Drift
from berryeval.anchors.location import locate
from berryeval.data import JudgedHit, JudgedRanking, Span
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from berryeval.anchors.drift import Located
    from berryeval.data import Anchor, Chunk, Document, Judgment, Need


# Credit: each target once, at the first hit that covers it.


@dataclass(frozen=True)
class Target:
    """One thing to be found: what a judgment points at, or a group of judgments.

    Attributes:
        members: where each judgment of it points.
        grades: their grades.
        need: whether any member is enough, or all are needed.
        group: the name the judgments share; empty for a judgment by itself.
    """

    members: tuple[Located, ...]
    grades: tuple[float, ...]
    need: Need = "any"
    group: str = ""

    @property
    def grade(self) -> float:
        """What it is worth in the ideal ranking: the highest grade of its members."""
        return max(self.grades)


class Credit(NamedTuple):
    """At which rank a target was found, and what it is worth there."""

    rank: int
    grade: float


@dataclass(frozen=True)
class Join:
    """The hits of one query, after the join with its targets.

    Attributes:
        ranking: what metrics see.
        credits: for each target, at which rank it was found and what it is worth there, or None.
        covering: for each target and each of its members, the hits (from 0) that cover it.
        ambiguous: hits whose text stands at several places; each of the places counts.
        unplaced: the hits (from 0) of which nobody knows where they stand.
    """

    ranking: JudgedRanking
    credits: tuple[Credit | None, ...]
    covering: tuple[tuple[tuple[int, ...], ...], ...]
    ambiguous: tuple[Ambiguity, ...]
    unplaced: tuple[int, ...]

    def missed(self, targets: Sequence[Target]) -> list[Target]:
        """Those of the query's targets that are relevant and that no hit covers."""
        pairs = zip(targets, self.credits, strict=True)
        return [target for target, credit in pairs if credit is None and target.grade > 0]

    @property
    def again(self) -> frozenset[int]:
        """The hits (from 0) that cover something for which another hit is credited."""
        first = {credit.rank - 1 for credit in self.credits if credit is not None}
        members = itertools.chain.from_iterable(self.covering)
        return frozenset(itertools.chain.from_iterable(members)) - first


def credited(target: Target, covering: Sequence[Sequence[int]]) -> Credit | None:
    """Where a target is found, given the hits (from 0, in order) that cover each of its members."""
    firsts = [hits[0] if hits else None for hits in covering]
    found = [first for first in firsts if first is not None]
    if not found or (target.need == "all" and len(found) < len(firsts)):
        return None
    if target.need == "all":
        return Credit(max(found) + 1, target.grade)
    first = min(found)
    grades = (grade for at, grade in zip(firsts, target.grades, strict=True) if at == first)
    return Credit(first + 1, max(grades))


def judged_ranking(
    targets: Sequence[Target],
    covering: Sequence[Sequence[Sequence[int]]],
    credits_: Sequence[Credit | None],
    retrieved: int,
) -> JudgedRanking:
    """What metrics see of the hits.

    A hit that is the first to cover targets is worth the best of them; the others stand in `also`.
    One that only covers what was found before, or a part of what is needed, is judged and worth
    nothing.
    """
    new: dict[int, list[float]] = defaultdict(list)
    worthless: dict[int, float] = {}
    for target, members, credit in zip(targets, covering, credits_, strict=True):
        if credit:
            new[credit.rank].append(credit.grade)
        repeated = min(target.grade, 0)  # below 0: nobody judged it, however often it is found
        for rank in {hit + 1 for hits in members for hit in hits}:
            if credit is None or rank != credit.rank:
                worthless[rank] = max(worthless.get(rank, repeated), repeated)
    hits: list[JudgedHit] = []
    also: list[JudgedHit] = []
    for rank in sorted(new.keys() | worthless.keys()):
        grades = sorted(new.get(rank, ()), reverse=True)
        if rank in worthless and (not grades or worthless[rank] > grades[0]):
            grades.insert(0, worthless[rank])
        hits.append(JudgedHit(rank, grades[0]))
        also.extend(JudgedHit(rank, grade) for grade in grades[1:])
    ideal = sorted((target.grade for target in targets), reverse=True)
    return JudgedRanking(tuple(hits), retrieved, tuple(ideal), tuple(also))


# Judgments as targets: those of one group are one.


def grouped(
    judgments: Iterable[Judgment], places: Mapping[Anchor, Located]
) -> dict[str, tuple[Target, ...]]:
    """The targets of each query, in the order of their first judgments."""
    alone: dict[str, list[list[Judgment]]] = defaultdict(list)
    groups: dict[tuple[str, str], list[Judgment]] = {}
    for judgment in _without_repeats(judgments):
        key = judgment.query_id, judgment.group
        if judgment.group and key in groups:
            groups[key].append(judgment)
            continue
        members = [judgment]
        alone[judgment.query_id].append(members)
        if judgment.group:
            groups[key] = members
    return {
        query: tuple(_target(members, places) for members in lists)
        for query, lists in alone.items()
    }


def _target(members: list[Judgment], places: Mapping[Anchor, Located]) -> Target:
    first = members[0]
    if any(member.need != first.need for member in members):
        msg = (
            f"query {first.query_id!r}: the judgments of group {first.group!r} need 'any' and "
            "'all'; expected the same of each"
        )
        raise DataError(msg)
    return Target(
        tuple(places[member.target] for member in members),
        tuple(member.grade for member in members),
        first.need if first.group else "any",
        first.group,
    )


def _without_repeats(judgments: Iterable[Judgment]) -> Iterable[Judgment]:
    """Each target of a query and group once; two grades for it are an error."""
    grades: dict[tuple[str, str, Anchor], float] = {}
    for judgment in judgments:
        if not math.isfinite(judgment.grade):
            msg = f"query {judgment.query_id!r}: expected a finite grade, found {judgment.grade}"
            raise DataError(msg)
        bare = replace(judgment.target, document_hash="", extra={})
        key = judgment.query_id, judgment.group, bare
        if key not in grades:
            grades[key] = judgment.grade
            yield judgment
        elif grades[key] != judgment.grade:
            msg = (
                f"query {judgment.query_id!r}: {bare.to_json()} is judged {grades[key]:g} and "
                f"{judgment.grade:g}; expected one grade"
            )
            raise DataError(msg)


class Targets:
    """The targets of every judged query, located once and joined with any number of rankings.

    A target that is not found in the corpus (`drift`, `ambiguous`) still is one that should be
    found: it lowers scores until its judgment is repaired or removed.

    Attributes:
        corpus: the documents in which targets are looked for.
        rule: when a hit covers a target.
        drift: the judgments that do not resolve.
        ambiguous: the judgments that may mean several places.
    """

    def __init__(
        self,
        targets: dict[str, tuple[Target, ...]],
        places: dict[Anchor, Located],
        corpus: Corpus,
        rule: CoverageRule,
        chunks: dict[str, Chunk],
        drift: tuple[Drift, ...],
        ambiguous: tuple[Ambiguity, ...],
    ) -> None:
        self._targets = targets
        self._places = places
        self.corpus = corpus
        self._chunks = chunks
        self.rule = rule
        self.drift = drift
        self.ambiguous = ambiguous

    @classmethod
    def located(
        cls,
        judgments: Iterable[Judgment],
        documents: Iterable[Document] | None = None,
        *,
        chunks: Iterable[Chunk] | None = None,
        rule: CoverageRule | None = None,
    ) -> Targets:
        """Find the targets of judgments in their documents.

        Args:
            judgments: what is relevant to which query.
            documents: the corpus. Without it, what can be told from chunks and hits is used.
            chunks: pieces of the corpus. Documents that are not given are put together from them,
                and a hit that says nothing but its id is taken for the chunk of that id.
            rule: when a hit covers a target.
        """
        pieces = None if chunks is None else list(chunks)
        corpus = Corpus(documents, pieces)
        places: dict[Anchor, Located] = {}
        drift: list[Drift] = []
        ambiguous: list[Ambiguity] = []
        judged = list(judgments)
        for judgment in judged:
            target = judgment.target
            if target not in places:
                places[target] = locate(target, corpus)
            found = places[target]
            if found.lost:
                drift.append(Drift(judgment, *found.lost))
            if found.choices:
                ambiguous.append(_ambiguity(judgment, found))
        return cls(
            grouped(judged, places),
            places,
            corpus,
            rule or CoverageRule(),
            _by_id(pieces or ()),
            tuple(drift),
            tuple(ambiguous),
        )

    @property
    def queries(self) -> tuple[str, ...]:
        """The judged queries, in the order in which they were first judged."""
        return tuple(self._targets)

    def __contains__(self, query_id: str) -> bool:
        return query_id in self._targets

    def has_chunk(self, identity: str) -> bool:
        """Whether a chunk of this id was given."""
        return identity in self._chunks

    def of(self, query_id: str) -> tuple[Target, ...]:
        """What there is to be found for a query; nothing if nobody judged it."""
        return self._targets.get(query_id, ())

    def where(self, anchor: Anchor) -> Located:
        """Where an anchor of the judgments was found."""
        return self._places[anchor]

    def judge(self, query_id: str, hits: Sequence[Piece]) -> JudgedRanking:
        """The hits, best first, as metrics see them; their ranks are their places, from 1."""
        return self.join(query_id, hits).ranking

    def join(self, query_id: str, hits: Sequence[Piece]) -> Join:
        """The hits, best first, with all that is known about who covers what."""
        pieces = self.index([self._as_known(hit) for hit in hits])
        targets = self.of(query_id)
        covering = tuple(
            tuple(tuple(pieces.covering(member)) for member in target.members) for target in targets
        )
        found = tuple(map(credited, targets, covering))
        ranking = judged_ranking(targets, covering, found, len(hits))
        return Join(ranking, found, covering, pieces.ambiguous, tuple(pieces.unplaced))

    def index(self, pieces: Sequence[Piece]) -> Pieces:
        """Chunks or hits, ready to be asked which of them cover a target."""
        return Pieces(pieces, self.corpus, self.rule)

    def place(self, hit: Piece) -> tuple[Span, ...]:
        """Where a hit stands in its document; several places if it does not say which."""
        document, spans = place(self._as_known(hit), self.corpus)
        return tuple(Span(document, start, end) for start, end in spans)

    def _as_known(self, hit: Piece) -> Piece:
        """The chunk that a hit names, if it says nothing about itself."""
        if hit.doc_id or hit.text or hit.start is not None:
            return hit
        return self._chunks.get(hit.id, hit)


def _by_id(chunks: Iterable[Chunk]) -> dict[str, Chunk]:
    known: dict[str, Chunk] = {}
    for chunk in chunks:
        if chunk.id in known:
            msg = (
                f"the chunk id {chunk.id!r} stands twice; expected an id of its own for each chunk"
            )
            raise DataError(msg)
        known[chunk.id] = chunk
    return known


def _ambiguity(judgment: Judgment, found: Located) -> Ambiguity:
    anchor = judgment.target
    if anchor.quote:
        return Ambiguity("quote", anchor.quote, found.choices, judgment.query_id)
    name = f"{anchor.document}: {' > '.join(anchor.section)}"
    return Ambiguity("section", name, found.choices, judgment.query_id)
