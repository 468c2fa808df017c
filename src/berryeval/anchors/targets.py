"""`Targets`: what there is to be found for each query, and who found it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.anchors.corpus import Corpus
from berryeval.anchors.coverage import CoverageRule
from berryeval.anchors.credit import Join, Target, credited, judged_ranking
from berryeval.anchors.drift import Ambiguity, Drift
from berryeval.anchors.grouping import grouped
from berryeval.anchors.locate import locate
from berryeval.anchors.pieces import Pieces
from berryeval.anchors.place import Piece, place
from berryeval.anchors.spans import Span
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from berryeval.anchors.located import Located
    from berryeval.judged import JudgedRanking
    from berryeval.records import Anchor, Chunk, Document, Judgment

__all__ = ["Targets"]


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
        """The hits, best first, as measures see them; their ranks are their places, from 1."""
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
