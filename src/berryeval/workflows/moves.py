"""Why the value of a query changed: which hits came, went, or stand elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from berryeval.metrics import parse_metric
from berryeval.reports import MovedHit, MovedQuery
from berryeval.runner import FAILED
from berryeval.runs import AnswerRecord
from berryeval.stats import Pair

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.runs import HitRecord
    from berryeval.scoring import Scores
    from berryeval.workflows.systems import Candidate


# Hits of two answers that are worth something for the same judged target, however it was cut.

_BETWEEN = " > "  # a document and its headings, in names of hits


def joined_by_target(
    hits: Sequence[MovedHit], before: AnswerRecord, after: AnswerRecord
) -> list[MovedHit]:
    """The hits, two that cover the same target made one with both of its ranks."""
    gone: dict[tuple[str, float], list[MovedHit]] = {}
    come: dict[tuple[str, float], list[MovedHit]] = {}
    for hit in hits:
        if hit.grade and hit.grade > 0 and None in {hit.before, hit.after}:
            side = gone if hit.after is None else come
            side.setdefault((hit.name.split(_BETWEEN)[0], hit.grade), []).append(hit)
    one_of: dict[MovedHit, MovedHit] = {}
    for (document, grade), left in gone.items():
        entered = come.get((document, grade), [])
        alone = len(left) == len(entered) == 1
        if alone and not _differ(before, after, document, grade):
            one_of[left[0]] = replace(
                left[0],
                name=_same_target_name(document, left[0].name, entered[0].name),
                after=entered[0].after,
            )
            one_of[entered[0]] = one_of[left[0]]
    return list(dict.fromkeys(one_of.get(hit, hit) for hit in hits))


def _differ(before: AnswerRecord, after: AnswerRecord, document: str, grade: float) -> bool:
    """Whether only one of the two misses a target of this grade that may be in the document."""
    missed = [
        {one.name for one in answer.missed if one.grade == grade} for answer in (before, after)
    ]
    return any(_may_be_in(document, name) for name in missed[0] ^ missed[1])


def _may_be_in(document: str, target: str) -> bool:
    """Whether a target, by its words for people, is in the document or says not in which it is."""
    named = all(part.startswith(("'", '"')) for part in target.split(" or "))
    return repr(document) in target or not named


def _same_target_name(document: str, first: str, second: str) -> str:
    """Where both are: of two names the one that says more, if it says all that the other does."""
    long, short = (first, second) if len(first) >= len(second) else (second, first)
    return long if long.startswith(short) else document


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


def moved_queries(baseline: Side, system: Side, metric: str, count: int) -> list[MovedQuery]:
    """The queries that both have and that changed most, the largest change first."""
    before, after = baseline.scores.per_query(metric), system.scores.per_query(metric)
    both = [query for query in before if query in after]
    pair = Pair.of([before[query] for query in both], [after[query] for query in both])
    sizes = dict(zip(both, abs(pair.differences).tolist(), strict=True))
    order = sorted(sizes, key=lambda query: (-sizes[query], query))
    chosen = [query for query in order[:count] if sizes[query]]
    return [_moved(baseline, system, metric, query) for query in chosen]


def _moved(baseline: Side, system: Side, metric: str, query: str) -> MovedQuery:
    before, after = baseline.answers.get(query), system.answers.get(query)
    depth = _depth(metric, max(baseline.candidate.part.k, system.candidate.part.k))
    hits = _hits(baseline, system, query)
    inside_before = [hit for hit in hits if _inside(hit.before, depth)]
    inside_after = [hit for hit in hits if _inside(hit.after, depth)]
    texts = {one.id: one.text for side in (baseline, system) for one in side.candidate.part.queries}
    return MovedQuery(
        query_id=query,
        text=texts.get(query, ""),
        metric=metric,
        baseline=baseline.candidate.label,
        system=system.candidate.label,
        before=baseline.scores.per_query(metric)[query],
        after=system.scores.per_query(metric)[query],
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


def _depth(metric: str, k: int) -> int:
    """How far the metric looks; without a cutoff, as far as the providers were asked for."""
    cutoff = parse_metric(metric).params.get("cutoff")
    return min(cutoff, k) if isinstance(cutoff, int) else k


def _hits(baseline: Side, system: Side, query: str) -> list[MovedHit]:
    """Every hit of either answer with both of its ranks, the most relevant first.

    Where the two were judged by the same data, a target is one hit however it was cut.
    """
    ranks: dict[str, list[int | None]] = {}
    grades: dict[str, list[float]] = {}
    names: dict[str, str] = {}
    for place, side in enumerate((baseline, system)):
        for rank, hit in enumerate(_answer(side, query).hits, start=1):
            ranks.setdefault(hit.id, [None, None])[place] = rank
            names.setdefault(hit.id, _name(side, hit))
            grades.setdefault(hit.id, []).extend([] if hit.grade is None else [hit.grade])
    found = [
        MovedHit(name, names[name], max(grades[name], default=None), before, after)
        for name, (before, after) in ranks.items()
    ]
    if baseline.candidate.part.content_hash == system.candidate.part.content_hash:
        found = joined_by_target(found, _answer(baseline, query), _answer(system, query))
    return sorted(found, key=_worth)


def _answer(side: Side, query: str) -> AnswerRecord:
    return side.answers.get(query, AnswerRecord(query, "missing"))


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
