"""`Targets`: what each query should find, and `resolve`: which chunks of a chunking cover it."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from berryeval.anchors.corpus import Corpus
from berryeval.anchors.coverage import CoverageRule, Piece, Pieces, place_piece
from berryeval.anchors.location import Ambiguity, Drift, locate
from berryeval.data import (
    JudgedHit,
    JudgedRanking,
    Qrels,
    Span,
    as_sequence,
    find_repeated,
    index_records,
)
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval.anchors.location import Location
    from berryeval.data import Anchor, Chunk, Document, Judgment, Need


@dataclass(frozen=True)
class Target:
    """The target of a judgment or of a group of judgments, with a member and grade for each."""

    members: tuple[Location, ...]
    grades: tuple[float, ...]
    need: Need = "any"
    group: str = ""  # empty for a single judgment
    exact: tuple[bool, ...] = ()  # whether each member alone decides about hits that are its text

    @property
    def grade(self) -> float:
        """Grade in the ideal ranking: the highest grade of the members."""
        return max(self.grades)


class Credit(NamedTuple):
    """The rank at which a target was found and its grade there."""

    rank: int
    grade: float


@dataclass(frozen=True)
class Join:
    """The hits of one query, numbered from 0, joined with its targets."""

    ranking: JudgedRanking
    credits: tuple[Credit | None, ...]  # of each target, None if it was not found
    covering: tuple[tuple[tuple[int, ...], ...], ...]  # hits by target and member
    ambiguous: tuple[Ambiguity, ...]  # hits whose text occurs several times; all places count
    unplaced: tuple[int, ...]

    def missed(self, targets: Sequence[Target]) -> list[Target]:
        """Return the relevant targets that no hit covers."""
        pairs = zip(targets, self.credits, strict=True)
        return [target for target, credit in pairs if credit is None and target.grade > 0]

    def found(self, targets: Sequence[Target]) -> list[tuple[Target, int]]:
        """Return the relevant targets that hits cover, with the rank of the first."""
        pairs = zip(targets, self.credits, strict=True)
        return [(target, credit.rank) for target, credit in pairs if credit and target.grade > 0]

    @property
    def again(self) -> frozenset[int]:
        """Hits (from 0) that cover a target but are not credited for any."""
        first = {credit.rank - 1 for credit in self.credits if credit is not None}
        members = itertools.chain.from_iterable(self.covering)
        return frozenset(itertools.chain.from_iterable(members)) - first


def find_credit(target: Target, covering: Sequence[Sequence[int]]) -> Credit | None:
    """Return the credit of a target, given the hits (from 0) that cover each member."""
    found = [(hits[0], grade) for hits, grade in zip(covering, target.grades, strict=True) if hits]
    if not found or (target.need == "all" and len(found) < len(covering)):
        return None
    if target.need == "all":
        return Credit(max(found)[0] + 1, target.grade)
    first = min(found)[0]
    return Credit(first + 1, max(grade for at, grade in found if at == first))


def build_ranking(
    targets: Sequence[Target],
    covering: Sequence[Sequence[Sequence[int]]],
    credits_: Sequence[Credit | None],
    retrieved: int,
) -> JudgedRanking:
    """Build the judged ranking of hits for metrics.

    The first hit to cover targets gets the best of their grades; the others are in `also`. A hit
    that covers only targets found before, or part of what is needed, is judged with grade 0.
    """
    new: dict[int, list[float]] = defaultdict(list)
    worthless: dict[int, float] = {}
    for target, members, credit in zip(targets, covering, credits_, strict=True):
        if credit:
            new[credit.rank].append(credit.grade)
        repeated = min(target.grade, 0)  # negative grades count as unjudged, even when repeated
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


def group_targets(
    judgments: Iterable[Judgment], places: Mapping[Anchor, Location]
) -> dict[str, tuple[Target, ...]]:
    """Return the targets of each query, one per group, in the order of their first judgments."""
    found: dict[str, dict[str | int, list[Judgment]]] = defaultdict(lambda: defaultdict(list))
    for number, judgment in enumerate(_remove_repeats(judgments)):
        found[judgment.query_id][judgment.group or number].append(judgment)
    return {
        query: tuple(_make_target(members, places) for members in groups.values())
        for query, groups in found.items()
    }


def _make_target(members: list[Judgment], places: Mapping[Anchor, Location]) -> Target:
    first = members[0]
    if any(member.need != first.need for member in members):
        raise DataError(
            f"query {first.query_id!r}: the judgments of group {first.group!r} need 'any' and "
            "'all'; expected the same need for all"
        )
    return Target(
        tuple(places[member.target] for member in members),
        tuple(member.grade for member in members),
        first.need if first.group else "any",
        first.group,
        tuple(member.exact for member in members) if any(one.exact for one in members) else (),
    )


def _remove_repeats(judgments: Iterable[Judgment]) -> Iterable[Judgment]:
    """Yield each target of a query and group once; raise an error for different grades."""
    grades: dict[tuple[str, str, Anchor], float] = {}
    for judgment in judgments:
        if not math.isfinite(judgment.grade):
            raise DataError(
                f"query {judgment.query_id!r}: expected a finite grade, found {judgment.grade}"
            )
        bare = replace(judgment.target, document_hash="", extra={})
        key = judgment.query_id, judgment.group, bare
        if key not in grades:
            grades[key] = judgment.grade
            yield judgment
        elif grades[key] != judgment.grade:
            raise DataError(
                f"query {judgment.query_id!r}: {bare.to_json()} is judged {grades[key]:g} and "
                f"{judgment.grade:g}; expected one grade"
            )


@dataclass(frozen=True, eq=False)
class Targets:
    """The targets of all judged queries, located once and joined with any number of rankings.

    A target that does not resolve (`drift`, `ambiguous`) still counts as one to be found: it lowers
    scores until its judgment is repaired or removed.

    `chunks` are those of the corpus, by id.
    """

    _targets: dict[str, tuple[Target, ...]]
    _places: dict[Anchor, Location]
    chunks: Mapping[str, Chunk]
    corpus: Corpus
    rule: CoverageRule
    drift: tuple[Drift, ...]
    ambiguous: tuple[Ambiguity, ...]

    @classmethod
    def locate(
        cls,
        judgments: Iterable[Judgment],
        documents: Iterable[Document] | None = None,
        *,
        chunks: Iterable[Chunk] | None = None,
        rule: CoverageRule | None = None,
    ) -> Targets:
        """Find the targets of judgments in their documents.

        Args:
            judgments: Relevance judgments.
            documents: The corpus; without it, chunks and hits are matched by their own data.
            chunks: Chunks of the corpus. Missing documents are rebuilt from them, and a hit with
                nothing but an id is the chunk with that id.
            rule: Condition for a hit to cover a target.
        """
        pieces = None if chunks is None else as_sequence(chunks)
        corpus = Corpus(documents, pieces)
        places: dict[Anchor, Location] = {}
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
                section = f"{target.document}: {' > '.join(target.section)}"
                what, name = ("quote", target.quote) if target.quote else ("section", section)
                ambiguous.append(Ambiguity(what, name, found.choices, judgment.query_id))
        return cls(
            group_targets(judged, places),
            places,
            _index_by_id(pieces or ()),
            corpus,
            rule or CoverageRule(),
            tuple(drift),
            tuple(ambiguous),
        )

    @property
    def queries(self) -> tuple[str, ...]:
        """Judged queries in the order of their first judgments."""
        return tuple(self._targets)

    def __contains__(self, query_id: str) -> bool:
        return query_id in self._targets

    def of(self, query_id: str) -> tuple[Target, ...]:
        """Return the targets of a query; none if it is not judged."""
        return self._targets.get(query_id, ())

    def location_of(self, anchor: Anchor) -> Location:
        """Return the location of an anchor of the judgments."""
        return self._places[anchor]

    def read(self, place: Location) -> str:
        """Return the text of a member of a target; its quote if its place is unknown."""
        anchor = place.anchor
        if place.spans:
            return self.corpus.read(place.spans[0])
        if anchor.chunk in self.chunks:
            return self.chunks[anchor.chunk].text
        name = anchor.chunk or (anchor.document if place.is_document else "")
        whole = self.corpus.text(name)
        return whole.text if whole else anchor.quote

    def judge(self, query_id: str, hits: Sequence[Piece]) -> JudgedRanking:
        """Judge hits, best first."""
        return self.join(query_id, hits).ranking

    def join(self, query_id: str, hits: Sequence[Piece]) -> Join:
        """Join hits, best first, with the targets of a query."""
        pieces = Pieces([self._complete(hit) for hit in hits], self.corpus, self.rule)
        targets = self.of(query_id)
        covering = _keep_own(targets, pieces, tuple(
            tuple(tuple(pieces.covering(member)) for member in target.members) for target in targets
        ))  # fmt: skip
        found = tuple(map(find_credit, targets, covering))
        ranking = build_ranking(targets, covering, found, len(hits))
        return Join(ranking, found, covering, pieces.ambiguous, tuple(pieces.unplaced))

    def place(self, hit: Piece) -> tuple[Span, ...]:
        """Return the possible spans of a hit in its document."""
        document, spans = place_piece(self._complete(hit), self.corpus)
        return tuple(Span(document, start, end) for start, end in spans)

    def _complete(self, hit: Piece) -> Piece:
        if hit.doc_id or hit.text or hit.start is not None:
            return hit
        return self.chunks.get(hit.id, hit)


def _keep_own(
    targets: Sequence[Target], pieces: Pieces, covering: tuple[tuple[tuple[int, ...], ...], ...]
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Leave out that hits cover targets if their own text was judged exactly."""
    own: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for place, target in enumerate(targets):
        for member, exact in enumerate(target.exact):
            for hit in covering[place][member] if exact else ():
                if pieces.is_at(hit, target.members[member]):
                    own[hit].add((place, member))
    if not own:
        return covering
    return tuple(
        tuple(
            tuple(hit for hit in hits if hit not in own or (place, member) in own[hit])
            for member, hits in enumerate(members)
        )
        for place, members in enumerate(covering)
    )


def _index_by_id(chunks: Sequence[Chunk]) -> Mapping[str, Chunk]:
    if repeated := find_repeated(chunks):
        name = chunks[repeated[1]].id
        raise DataError(f"the chunk id {name!r} is not unique; expected a different id per chunk")
    return index_records(chunks)


@dataclass(frozen=True)
class Resolution:
    """Judgments resolved for one chunking.

    Attributes:
        qrels: Chunks that cover a target, with their best grade, per query. Includes chunks that a
            judgment names by id, even if they do not exist.
        targets: Targets per query, which judge rankings with each target credited once.
        drift: Judgments that do not resolve.
        ambiguous: Sections, quotes and chunks with several possible places.
        uncovered: Judgments that resolve to a place that no chunk covers.
        unplaced: Ids of chunks without a known place.
    """

    qrels: Qrels
    targets: Targets
    drift: tuple[Drift, ...]
    ambiguous: tuple[Ambiguity, ...]
    uncovered: tuple[Judgment, ...]
    unplaced: tuple[str, ...]


def resolve(
    judgments: Iterable[Judgment],
    chunks: Iterable[Chunk],
    documents: Iterable[Document] | None = None,
    *,
    rule: CoverageRule | None = None,
) -> Resolution:
    """Find the chunks that cover the targets of judgments.

        >>> from berryeval.data import Anchor, Chunk, Judgment
        >>> judgments = [Judgment("q1", Anchor(document="d1", quote="Cats  purr"), 2)]
        >>> first = Chunk("c1", "d1", "Dogs bark. ", 0, 11)
        >>> second = Chunk("c2", "d1", "Cats purr.", 11, 21)
        >>> resolve(judgments, [first, second]).qrels.to_dict()
        {'q1': {'c2': 2.0}}

    Args:
        judgments: Relevance judgments.
        chunks: All chunks of the corpus.
        documents: Documents; without them, texts are rebuilt from chunks with offsets.
        rule: Condition for a chunk to cover a target.
    """
    judged, pieces = list(judgments), list(chunks)
    targets = Targets.locate(judged, documents, chunks=pieces, rule=rule)
    index = Pieces(pieces, targets.corpus, targets.rule)
    known: dict[Anchor, list[str]] = {}
    grades: dict[str, dict[str, float]] = {query: {} for query in targets.queries}
    own: dict[tuple[str, str], float] = {}  # grades of chunks that were judged exactly
    drift: list[Drift] = []
    uncovered: list[Judgment] = []
    for judgment in judged:
        anchor, grade, best = judgment.target, judgment.grade, grades[judgment.query_id]
        place = targets.location_of(anchor)
        if anchor not in known or judgment.exact:
            numbers = index.covering(place)
            known[anchor] = [pieces[number].id for number in numbers]
            same = [pieces[one].id for one in numbers if judgment.exact and index.is_at(one, place)]
            own.update({(judgment.query_id, chunk): grade for chunk in same})
        for chunk in known[anchor] or ([anchor.chunk] if anchor.chunk else []):
            best[chunk] = max(best.get(chunk, grade), grade)
        if known[anchor] or not place.resolves:
            continue
        if place.spans or place.is_document:
            uncovered.append(judgment)
        else:
            drift.append(Drift(judgment, _explain_uncovered(anchor)))
    for (query, chunk), grade in own.items():
        grades[query][chunk] = grade
    return Resolution(
        Qrels.from_dict(grades),
        targets,
        (*targets.drift, *drift),
        (*targets.ambiguous, *index.ambiguous),
        tuple(uncovered),
        tuple(pieces[number].id for number in index.unplaced),
    )


def _explain_uncovered(anchor: Anchor) -> str:
    if anchor.chunk:
        return f"there is no chunk {anchor.chunk!r}"
    where = f"of {anchor.document!r} " if anchor.document else ""
    if anchor.quote:
        return f"no chunk {where}contains the quote"
    return f"no chunk {where}has the section {' > '.join(anchor.section)!r}"
