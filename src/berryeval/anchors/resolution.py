"""`resolve`: judgments and any chunking of their corpus in, judgments of the chunks out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from berryeval.anchors.drift import Ambiguity, Drift
from berryeval.anchors.targets import Targets
from berryeval.data import Qrels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.anchors.coverage import CoverageRule, Pieces
    from berryeval.anchors.drift import Located
    from berryeval.data import Anchor, Chunk, Document, Judgment


@dataclass(frozen=True)
class Resolution:
    """What judgments mean for one chunking.

    Attributes:
        qrels: for each query, the chunks that cover a target, with the best grade of these. A chunk
            that a judgment names by its id is here even if there is none of that id.
        targets: what there is to be found; it judges rankings with each target credited once.
        drift: the judgments that do not resolve.
        ambiguous: sections, quotes and chunks that may mean several places.
        uncovered: judgments that resolve to a place which no chunk covers.
        unplaced: ids of chunks of which nobody knows where they stand.
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
    """Find out which chunks the judgments mean.

        >>> from berryeval.records import Anchor, Chunk, Judgment
        >>> judgments = [Judgment("q1", Anchor(document="d1", quote="Cats  purr"), 2)]
        >>> first = Chunk("c1", "d1", "Dogs bark. ", 0, 11)
        >>> second = Chunk("c2", "d1", "Cats purr.", 11, 21)
        >>> resolve(judgments, [first, second]).qrels.to_dict()
        {'q1': {'c2': 2.0}}

    Args:
        judgments: what is relevant to which query.
        chunks: all chunks of the corpus.
        documents: the texts of the documents; without them, put together from the chunks, as far
            as these say where they stand.
        rule: when a chunk covers a target.
    """
    judged, pieces = list(judgments), list(chunks)
    targets = Targets.located(judged, documents, chunks=pieces, rule=rule)
    index = targets.index(pieces)
    covering = _Covering(index, [chunk.id for chunk in pieces])
    grades, drift, uncovered = _judgments_of_chunks(judged, targets, covering)
    return Resolution(
        Qrels.from_dict(grades),
        targets,
        (*targets.drift, *drift),
        (*targets.ambiguous, *index.ambiguous),
        tuple(uncovered),
        tuple(pieces[number].id for number in index.unplaced),
    )


class _Covering:
    """The ids of the chunks that cover an anchor, looked up once per anchor."""

    def __init__(self, pieces: Pieces, ids: list[str]) -> None:
        self._pieces = pieces
        self._ids = ids
        self._known: dict[Anchor, list[str]] = {}

    def ids(self, place: Located) -> list[str]:
        if place.anchor not in self._known:
            numbers = self._pieces.covering(place)
            self._known[place.anchor] = [self._ids[number] for number in numbers]
        return self._known[place.anchor]


def _judgments_of_chunks(
    judgments: list[Judgment], targets: Targets, covering: _Covering
) -> tuple[dict[str, dict[str, float]], list[Drift], list[Judgment]]:
    grades: dict[str, dict[str, float]] = {query: {} for query in targets.queries}
    drift: list[Drift] = []
    uncovered: list[Judgment] = []
    for judgment in judgments:
        place = targets.where(judgment.target)
        ids = covering.ids(place)
        known = grades[judgment.query_id]
        named = [judgment.target.chunk] if judgment.target.chunk else []
        for chunk in ids or named:
            known[chunk] = max(known.get(chunk, judgment.grade), judgment.grade)
        if ids or not place.resolves:
            continue
        if place.spans or place.is_document:
            uncovered.append(judgment)
        else:
            drift.append(Drift(judgment, _not_covered(judgment.target)))
    return grades, drift, uncovered


def _not_covered(anchor: Anchor) -> str:
    if anchor.chunk:
        return f"there is no chunk {anchor.chunk!r}"
    where = f"of {anchor.document!r} " if anchor.document else ""
    if anchor.quote:
        return f"no chunk {where}holds the quote"
    return f"no chunk {where}says that it is in section {' > '.join(anchor.section)!r}"
