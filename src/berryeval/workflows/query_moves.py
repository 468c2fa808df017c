"""Queries that moved between two systems: which hits entered, left, or changed their rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval.metrics import parse_metric
from berryeval.reports import MovedHit, MovedQuery
from berryeval.runs import AnswerRecord, DataVersion
from berryeval.stats import Pair

if TYPE_CHECKING:
    from berryeval.runs import HitRecord
    from berryeval.scoring import Scores
    from berryeval.workflows.systems import Candidate

_SEPARATOR: Final = " > "  # between a document and its headings, in names of hits


class Side(NamedTuple):
    """One of two systems: the system, its scores, its answers and fingerprints by query."""

    candidate: Candidate
    scores: Scores
    answers: Mapping[str, AnswerRecord]
    fingerprints: Mapping[str, str]

    @classmethod
    def of(cls, candidate: Candidate, scores: Scores) -> Side:
        """Build the side of a system."""
        answers = {answer.query_id: answer for answer in candidate.record.answers}
        data = DataVersion.of(candidate.part, candidate.record)
        return cls(candidate, scores, answers, data.fingerprints)

    def answer(self, query: str) -> AnswerRecord:
        """Return the answer to a query, "missing" without one."""
        return self.answers.get(query, AnswerRecord(query, "missing"))

    def name_hit(self, hit: HitRecord) -> str:
        """Return the document and section of a hit, else its id."""
        passages = self.candidate.part.passages
        return (passages[hit.passage].name if hit.passage is not None else "") or hit.id

    def describe_failure(self, query: str) -> list[str]:
        """Explain an answer without hits."""
        from berryeval.runner import FAILED

        label, answer = self.candidate.label, self.answer(query)
        if answer.outcome == "missing":
            return [f"{label} has no answer on record"]
        if answer.outcome in FAILED:
            why = f" ({answer.error})" if answer.error else ""
            return [f"{label} failed: {answer.outcome}{why}"]
        return [f"{label} found nothing"] if not answer.hits else []


def moved_queries(baseline: Side, system: Side, metric: str, count: int) -> list[MovedQuery]:
    """Return the shared queries that changed most, the largest change first."""
    before, after = baseline.scores.per_query(metric), system.scores.per_query(metric)
    both = [query for query in before if query in after]
    pair = Pair.of([before[query] for query in both], [after[query] for query in both])
    sizes = dict(zip(both, abs(pair.differences).tolist(), strict=True))
    order = sorted(sizes, key=lambda query: (-sizes[query], query))
    chosen = [query for query in order[:count] if sizes[query]]
    return [_explain_move(baseline, system, metric, query) for query in chosen]


def _explain_move(baseline: Side, system: Side, metric: str, query: str) -> MovedQuery:
    depth = max(baseline.candidate.part.k, system.candidate.part.k)
    cutoff = parse_metric(metric).params.get("cutoff")
    depth = min(cutoff, depth) if isinstance(cutoff, int) else depth
    hits = _pair_hits(baseline, system, query)
    inside_before = [hit for hit in hits if _is_inside(hit.before, depth)]
    inside_after = [hit for hit in hits if _is_inside(hit.after, depth)]
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
        entered=tuple(hit for hit in inside_after if not _is_inside(hit.before, depth)),
        left=tuple(hit for hit in inside_before if not _is_inside(hit.after, depth)),
        moved=tuple(
            hit
            for hit in inside_before
            if _is_inside(hit.after, depth) and hit.before != hit.after and (hit.grade or 0) > 0
        ),
        notes=(*baseline.describe_failure(query), *system.describe_failure(query)),
    )


def _is_inside(rank: int | None, depth: int) -> bool:
    return rank is not None and rank <= depth


def _pair_hits(baseline: Side, system: Side, query: str) -> list[MovedHit]:
    """Return the hits of both answers with both ranks, by relevance; join those on one target."""
    ranks: dict[str, list[int | None]] = {}
    grades: dict[str, list[float]] = {}
    names: dict[str, str] = {}
    for place, side in enumerate((baseline, system)):
        for rank, hit in enumerate(side.answer(query).hits, start=1):
            ranks.setdefault(hit.id, [None, None])[place] = rank
            names.setdefault(hit.id, side.name_hit(hit))
            grades.setdefault(hit.id, []).extend([] if hit.grade is None else [hit.grade])
    found = [
        MovedHit(name, names[name], max(grades[name], default=None), before, after)
        for name, (before, after) in ranks.items()
    ]
    before, after = baseline.answer(query), system.answer(query)
    same = baseline.candidate.part.content_hash == system.candidate.part.content_hash
    marks = {side.fingerprints.get(query, "") for side in (baseline, system)}
    if same or (before.found and after.found) or (len(marks) == 1 and marks != {""}):
        found = join_by_target(found, before, after)
    return sorted(found, key=_rank_by_worth)


def _rank_by_worth(hit: MovedHit) -> tuple[float, int]:
    places = [rank for rank in (hit.before, hit.after) if rank is not None]
    return (-(hit.grade if hit.grade is not None else -1), min(places))


def join_by_target(
    hits: Sequence[MovedHit], before: AnswerRecord, after: AnswerRecord
) -> list[MovedHit]:
    """Join two hits that cover the same judged target into one with both ranks.

    Answers that do not record the targets that they found are joined by document and grade.
    """
    if before.found and after.found:
        return _join_by_record(hits, before, after)
    gone: dict[tuple[str, float], list[MovedHit]] = {}
    come: dict[tuple[str, float], list[MovedHit]] = {}
    for hit in hits:
        if hit.grade and hit.grade > 0 and None in {hit.before, hit.after}:
            side = gone if hit.after is None else come
            side.setdefault((hit.name.split(_SEPARATOR)[0], hit.grade), []).append(hit)
    joined: dict[MovedHit, MovedHit] = {}
    for (document, grade), left in gone.items():
        entered = come.get((document, grade), [])
        is_pair = len(left) == len(entered) == 1
        if is_pair and not _misses_differ(before, after, document, grade):
            joined[left[0]] = replace(
                left[0],
                name=_join_names(document, left[0].name, entered[0].name),
                after=entered[0].after,
            )
            joined[entered[0]] = joined[left[0]]
    return list(dict.fromkeys(joined.get(hit, hit) for hit in hits))


def _join_by_record(
    hits: Sequence[MovedHit], before: AnswerRecord, after: AnswerRecord
) -> list[MovedHit]:
    """Join hits by the recorded targets, best grade first; a hit is joined once."""
    gone = {hit.before: hit for hit in hits if hit.after is None}
    come = {hit.after: hit for hit in hits if hit.before is None}
    rank_of = {target.name: target.rank for target in after.found}
    joined: dict[MovedHit, MovedHit] = {}
    for target in before.found:
        left, entered = gone.get(target.rank), come.get(rank_of.get(target.name))
        if left and entered and left not in joined and entered not in joined:
            name = _join_names(left.name.split(_SEPARATOR)[0], left.name, entered.name)
            joined[left] = replace(left, name=name, after=entered.after)
            joined[entered] = joined[left]
    return list(dict.fromkeys(joined.get(hit, hit) for hit in hits))


def _misses_differ(before: AnswerRecord, after: AnswerRecord, document: str, grade: float) -> bool:
    """Whether only one of two answers misses a target of this grade in the document."""
    missed = [
        {one.name for one in answer.missed if one.grade == grade} for answer in (before, after)
    ]
    return any(_may_be_in(document, name) for name in missed[0] ^ missed[1])


def _may_be_in(document: str, target: str) -> bool:
    """Whether a target is in the document, or does not name its document."""
    is_named = all(part.startswith(("'", '"')) for part in target.split(" or "))
    return repr(document) in target or not is_named


def _join_names(document: str, first: str, second: str) -> str:
    """Return the longer of two names if it starts with the other, else the document."""
    long, short = (first, second) if len(first) >= len(second) else (second, first)
    return long if long.startswith(short) else document
