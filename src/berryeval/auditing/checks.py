"""`audit`: look at judgments and a run before, or beside, scoring them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from berryeval.auditing.load import Loaded, load
from berryeval.auditing.report import AuditReport, RankConflict, TieRange
from berryeval.auditing.ties import (
    Span,
    TieEffect,
    TieGroup,
    effect_of,
    spans_of,
    without_subtopics,
)
from berryeval.conventions import Conventions, find_profile
from berryeval.engine import judge, value_of
from berryeval.intervals import aggregate
from berryeval.measures import JudgedRanking, Measure, parse_measures

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval.io.files import PathLike
    from berryeval.qrels import Qrels
    from berryeval.run import Run

__all__ = ["audit"]


def audit(
    qrels: Qrels | Mapping[str, Mapping[str, float]] | PathLike,
    run: Run | Mapping[str, Mapping[str, float]] | PathLike,
    measures: Iterable[str | Measure] = ("nDCG@10",),
    k: int = 10,
    *,
    profile: str | Conventions = "berryeval",
    seed: int = 0,
) -> AuditReport:
    """Say what makes the scores of a run doubtful. Nothing that is wrong stops an audit.

    Only a file can have faulty lines, and only a TREC file a rank column. `TieEffect` says how the
    range of a measure under ties is found; `seed` is that of its sample, where there are too many
    orders to try all.

    Args:
        qrels: a `Qrels`, a dict `{query: {document: grade}}`, or the path of a file.
        run: a `Run`, a dict `{query: {document: score}}`, or the path of a file.
        measures: those whose range under ties is wanted.
        k: the cutoff to look at.
        profile: whose conventions to follow.
        seed: for sampling.
    """
    if k < 1:
        msg = f"k must be at least 1, found {k}"
        raise ValueError(msg)
    conventions = find_profile(profile)
    names = [measures] if isinstance(measures, str | Measure) else measures
    wanted = [
        without_subtopics(conventions.applied_to(measure)) for measure in parse_measures(names)
    ]
    judgments, results = load(qrels, "qrels"), load(run, "run")
    looked = _look(judgments, results, conventions)
    effects = [
        effect_of(one.judged, one.spans, measure, one.query, seed)
        for one in looked
        for measure in wanted
        if any(span.matters(one.judged) for span in one.spans)
    ]
    return AuditReport(
        run=results.name,
        k=k,
        queries=len(judgments.table.queries),
        faults=(*judgments.faults, *results.faults),
        missing_queries=tuple(one.query for one in looked if not one.in_run),
        empty_queries=tuple(one.query for one in looked if one.in_run and not one.judged.retrieved),
        extra_queries=tuple(
            sorted(set(results.table.queries) - set(judgments.table.queries), key=str.encode)
        ),
        without_relevant=tuple(one.query for one in looked if not one.judged.relevant_total(1)),
        unjudged={one.query: holes for one in looked if (holes := one.unjudged(k))},
        top=sum(min(k, one.judged.retrieved) for one in looked),
        rank_conflicts=tuple(_rank_conflicts(results)),
        ties=tuple(tie for one in looked for tie in one.ties(k)),
        tie_effects=tuple(effect for effect in effects if effect.worst < effect.best),
        tie_ranges=_ranges(looked, wanted, effects, conventions),
    )


@dataclass(frozen=True)
class _Looked:
    """One judged query and its ranking."""

    query: str
    judged: JudgedRanking
    spans: list[Span]
    in_run: bool

    def unjudged(self, k: int) -> int:
        known = sum(hit.rank <= k and hit.grade >= 0 for hit in self.judged.hits)
        return min(k, self.judged.retrieved) - known

    def ties(self, k: int) -> list[TieGroup]:
        return [
            TieGroup(
                query=self.query,
                score=span.score,
                ranks=(span.first, span.last),
                relevant=sum(hit.grade >= 1 for hit in span.hits(self.judged)),
                crosses=span.last > k,
            )
            for span in self.spans
            if span.first <= k
        ]


def _look(judgments: Loaded, results: Loaded, conventions: Conventions) -> list[_Looked]:
    """Every judged query, in the order of bytes."""
    qrels, run, rule = judgments.table, results.table, conventions.rule
    place_of = {query: place for place, query in enumerate(run.queries)}
    queries = list(qrels.queries)
    looked = []
    for place in sorted(range(len(queries)), key=lambda place: queries[place].encode()):
        match = place_of.get(queries[place])
        spans = [] if match is None else spans_of(run, match, rule)
        judged = judge(qrels, place, run, match, rule)
        looked.append(_Looked(queries[place], judged, spans, match is not None))
    return looked


def _rank_conflicts(results: Loaded) -> list[RankConflict]:
    """Queries where a document ranked next below another has the higher score."""
    conflicts = []
    for query in sorted(results.given, key=str.encode):
        rows = sorted(results.given[query], key=lambda row: row[0])
        wrong = [
            (upper, lower)
            for upper, lower in itertools.pairwise(rows)
            if upper[0] < lower[0] and upper[1] < lower[1]
        ]
        if wrong:
            upper, lower = wrong[0]
            conflicts.append(
                RankConflict(
                    query,
                    len(wrong),
                    (upper[2], upper[0], upper[1]),
                    (lower[2], lower[0], lower[1]),
                )
            )
    return conflicts


def _ranges(
    looked: list[_Looked],
    measures: list[Measure],
    effects: list[TieEffect],
    conventions: Conventions,
) -> dict[str, TieRange]:
    """What the ties make of each mean; queries whose ties cannot matter keep their value."""
    found = {(effect.query, effect.measure): effect for effect in effects}
    ranges = {}
    for measure in measures:
        rows = []
        exact = True
        for one in looked:
            if not (one.in_run or conventions.every_judged_query):
                continue
            effect = found.get((one.query, str(measure)))
            if effect is None:
                rows.append((value_of(measure, one.judged, one.query),) * 4)
            else:
                rows.append((effect.value, effect.worst, effect.best, effect.expected))
                exact = exact and effect.exact
        table = np.array(rows, dtype=np.float64).reshape(-1, 4)
        value, worst, best, expected = (aggregate(measure.aggregate, row) for row in table.T)
        ranges[str(measure)] = TieRange(value, worst, best, expected, exact)
    return ranges
