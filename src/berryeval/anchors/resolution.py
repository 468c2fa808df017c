"""`resolve`: turn judgments into judgments of the chunks of any chunking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from berryeval.anchors.drift import Ambiguity, Drift
from berryeval.anchors.targets import Targets
from berryeval.data import Qrels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.anchors.coverage import CoverageRule
    from berryeval.data import Anchor, Chunk, Document, Judgment


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
    index = targets.index(pieces)
    known: dict[Anchor, list[str]] = {}
    grades: dict[str, dict[str, float]] = {query: {} for query in targets.queries}
    drift: list[Drift] = []
    uncovered: list[Judgment] = []
    for judgment in judged:
        anchor, grade, best = judgment.target, judgment.grade, grades[judgment.query_id]
        place = targets.location_of(anchor)
        if anchor not in known:
            known[anchor] = [pieces[number].id for number in index.covering(place)]
        for chunk in known[anchor] or ([anchor.chunk] if anchor.chunk else []):
            best[chunk] = max(best.get(chunk, grade), grade)
        if known[anchor] or not place.resolves:
            continue
        if place.spans or place.is_document:
            uncovered.append(judgment)
        else:
            drift.append(Drift(judgment, _explain_uncovered(anchor)))
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
