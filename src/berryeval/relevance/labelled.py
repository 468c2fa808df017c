"""Packs and words decide hit by hit; what they say becomes targets, credited as any others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from berryeval.anchors import Located, Target, credited, judged_ranking
from berryeval.records import Anchor
from berryeval.relevance.overlap import overlap, words
from berryeval.relevance.packs import KnowsFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from berryeval.anchors import Span
    from berryeval.judged import JudgedRanking
    from berryeval.records import Hit
    from berryeval.relevance.packs import PackRules

__all__ = ["Joined", "join_labels", "join_words"]


@dataclass(frozen=True)
class Joined:
    """What there was to be found for one query, and what of it the hits covered.

    Attributes:
        targets: what there was to be found.
        ranking: who found it.
        hit_of: of targets that are nothing but a hit that was found: which (from 0).
        files: by target, the file it is of, where its place does not tell.
        file_of: tells which file a hit is of, where someone knows better than the hit itself.
        missed: relevant targets of judgments that no hit covers.
        again: the hits (from 0) that cover something for which another hit is credited.
    """

    targets: Sequence[Target]
    ranking: JudgedRanking
    hit_of: Mapping[int, int] = field(default_factory=dict)
    files: Mapping[int, str] = field(default_factory=dict)
    file_of: Callable[[Hit], str] | None = None
    missed: Sequence[Target] = ()
    again: AbstractSet[int] = frozenset()


def join_labels(rules: PackRules, hits: Sequence[Hit]) -> tuple[Joined, list[str]]:
    """The hits as a pack judges them, with what it has to say about its labels."""
    covered = [rules.covered(hit) for hit in hits]
    labels = rules.labels
    grades = labels.grades
    if grades is None:  # nobody says how much there is: what was found is all there is
        grades = {label: grade for found in reversed(covered) for label, grade in found.items()}
    joined = _joined(grades, labels.places, covered, found_only=labels.grades is None)
    known = {
        place: labels.files[label] for place, label in enumerate(grades) if label in labels.files
    }
    file_of = rules.file_of if isinstance(rules, KnowsFiles) else None
    return replace(joined, files=known, file_of=file_of), [*labels.notes, *rules.doubts]


def join_words(
    answers: Sequence[frozenset[str]],
    hits: Sequence[Hit],
    threshold: float,
    text_of: Callable[[Hit], str],
) -> tuple[Joined, list[str]]:
    """The hits as the words of the expected answers judge them: what was found is all there is."""
    covered: list[dict[str, float]] = []
    wordless = 0
    for place, hit in enumerate(hits):
        chunk = words(text_of(hit))
        wordless += not chunk
        best = max(overlap(answer, chunk) for answer in answers)
        covered.append({str(place): 1.0} if best >= threshold else {})
    found = {label: 1.0 for labels in covered for label in labels}
    notes = [f"hits without a text to compare with the expected answer: {wordless}"]
    return _joined(found, {}, covered, found_only=True), notes if wordless else []


def _joined(
    grades: Mapping[str, float],
    places: Mapping[str, Span],
    covered: Sequence[Mapping[str, float]],
    *,
    found_only: bool,
) -> Joined:
    targets = [
        Target((_located(label, places.get(label)),), (grade,)) for label, grade in grades.items()
    ]
    hits_of: dict[str, list[int]] = {label: [] for label in grades}
    for hit, labels in enumerate(covered):
        for label in labels:
            if label in hits_of:
                hits_of[label].append(hit)
    covering = [(hits,) for hits in hits_of.values()]
    found = [credited(target, members) for target, members in zip(targets, covering, strict=True)]
    ranking = judged_ranking(targets, covering, found, len(covered))
    hit_of = {place: hits[0] for place, (hits,) in enumerate(covering) if found_only and hits}
    return Joined(targets, ranking, hit_of)


def _located(label: str, span: Span | None) -> Located:
    if span is None:
        return Located(Anchor(chunk=label))
    if span.end <= span.start:  # an empty document has no place for a span
        return Located(Anchor(document=span.document), spans=(span,))
    anchor = Anchor(document=span.document, start=span.start, end=span.end)
    return Located(anchor, spans=(span,))
