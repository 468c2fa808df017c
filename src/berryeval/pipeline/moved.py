"""Why the value of a query changed: which hits came, went, or stand elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from berryeval.harness.outcomes import FAILED
from berryeval.measures import parse_measure
from berryeval.reports.compared import MovedHit, MovedQuery
from berryeval.results import AnswerRecord
from berryeval.stats import Pair

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.pipeline.systems import Candidate
    from berryeval.results import HitRecord
    from berryeval.scores import Scores

__all__ = ["Side", "moved_queries"]


class Side(NamedTuple):
    """One of two systems: who it is, its scores, and its answers by query."""

    candidate: Candidate
    scores: Scores
    answers: Mapping[str, AnswerRecord]

    @classmethod
    def of(cls, candidate: Candidate, scores: Scores) -> Side:
        """The side of a system."""
        answers = {answer.query_id: answer for answer in candidate.record.answers}
        return cls(candidate, scores, answers)


def moved_queries(baseline: Side, system: Side, measure: str, count: int) -> list[MovedQuery]:
    """The queries that both have and that changed most, the largest change first."""
    before, after = baseline.scores.per_query(measure), system.scores.per_query(measure)
    both = [query for query in before if query in after]
    pair = Pair.of([before[query] for query in both], [after[query] for query in both])
    sizes = dict(zip(both, abs(pair.differences).tolist(), strict=True))
    order = sorted(sizes, key=lambda query: (-sizes[query], query))
    chosen = [query for query in order[:count] if sizes[query]]
    return [_moved(baseline, system, measure, query) for query in chosen]


def _moved(baseline: Side, system: Side, measure: str, query: str) -> MovedQuery:
    before, after = baseline.answers.get(query), system.answers.get(query)
    depth = _depth(measure, max(baseline.candidate.part.k, system.candidate.part.k))
    hits = _hits(baseline, system, query)
    inside_before = [hit for hit in hits if _inside(hit.before, depth)]
    inside_after = [hit for hit in hits if _inside(hit.after, depth)]
    texts = {one.id: one.text for side in (baseline, system) for one in side.candidate.part.queries}
    return MovedQuery(
        query_id=query,
        text=texts.get(query, ""),
        measure=measure,
        baseline=baseline.candidate.label,
        system=system.candidate.label,
        before=baseline.scores.per_query(measure)[query],
        after=system.scores.per_query(measure)[query],
        depth=depth,
        entered=tuple(hit for hit in inside_after if not _inside(hit.before, depth)),
        left=tuple(hit for hit in inside_before if not _inside(hit.after, depth)),
        moved=tuple(
            hit
            for hit in inside_before
            if _inside(hit.after, depth) and hit.before != hit.after and (hit.grade or 0) > 0
        ),
        notes=(*_failure(baseline, before), *_failure(system, after)),
    )


def _inside(rank: int | None, depth: int) -> bool:
    return rank is not None and rank <= depth


def _depth(measure: str, k: int) -> int:
    """How far the measure looks; without a cutoff, as far as the providers were asked for."""
    cutoff = parse_measure(measure).params.get("cutoff")
    return min(cutoff, k) if isinstance(cutoff, int) else k


def _hits(baseline: Side, system: Side, query: str) -> list[MovedHit]:
    """Every hit of either answer with both of its ranks, the most relevant first."""
    ranks: dict[str, list[int | None]] = {}
    grades: dict[str, list[float]] = {}
    names: dict[str, str] = {}
    for place, side in enumerate((baseline, system)):
        answer = side.answers.get(query, AnswerRecord(query, "missing"))
        for rank, hit in enumerate(answer.hits, start=1):
            ranks.setdefault(hit.id, [None, None])[place] = rank
            names.setdefault(hit.id, _name(side, hit))
            grades.setdefault(hit.id, []).extend([] if hit.grade is None else [hit.grade])
    found = [
        MovedHit(name, names[name], max(grades[name], default=None), before, after)
        for name, (before, after) in ranks.items()
    ]
    return sorted(found, key=_worth)


def _worth(hit: MovedHit) -> tuple[float, int]:
    places = [rank for rank in (hit.before, hit.after) if rank is not None]
    return (-(hit.grade if hit.grade is not None else -1), min(places))


def _name(side: Side, hit: HitRecord) -> str:
    passages = side.candidate.part.passages
    return (passages[hit.passage].name if hit.passage is not None else "") or hit.id


def _failure(side: Side, answer: AnswerRecord | None) -> list[str]:
    """What an answer that is none has to say for itself."""
    label = side.candidate.label
    if answer is None or answer.outcome == "missing":
        return [f"{label} has no answer on record"]
    if answer.outcome in FAILED:
        why = f" ({answer.error})" if answer.error else ""
        return [f"{label} failed: {answer.outcome}{why}"]
    return [f"{label} found nothing"] if not answer.hits else []
