"""`evaluate_hits`: a benchmark and what a system returned in, scores out."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from berryeval import _backend
from berryeval.benchmarks import Benchmark
from berryeval.conventions import Conventions, find_profile
from berryeval.engine import (
    Found,
    check_finite,
    score_tables,
    scores_from,
    value_of,
    wanted_measures,
)
from berryeval.measures import SubtopicHit, SubtopicRanking
from berryeval.qrels import Qrels
from berryeval.relevance import Relevance, RelevanceOptions
from berryeval.relevance.rankings import checked_id, read_rankings
from berryeval.run import RankingRule, Run
from berryeval.tables import QueryTable, StringColumn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from berryeval.measures import JudgedRanking, Measure
    from berryeval.records import Chunk
    from berryeval.relevance import Judged
    from berryeval.scores import Scores

__all__ = ["evaluate_hits", "judge_and_score"]

_MOST_NOTES: Final = 100


def evaluate_hits(
    benchmark: Benchmark | Relevance,
    hits: Mapping[str, Any] | Run | Any,
    measures: Iterable[str | Measure],
    *,
    profile: str | Conventions = "berryeval",
    k: int | None = None,
    relevance: RelevanceOptions | Mapping[str, Any] | None = None,
    chunks: Iterable[Chunk] | None = None,
    lenient: bool = False,
) -> Scores:
    """Score what a system returned for the queries of a benchmark.

    The policy is that of `evaluate`, and what is relevant is decided for each query by the first
    that can: judgments, the pack, the words of the expected answer (docs/relevance.md).
    `scores.strategies` says who did, `scores.notes` what was doubtful. Every query of the benchmark
    counts; one about which nobody can decide has the outcome "no relevant documents".

        >>> import berryeval as be
        >>> from berryeval.records import Anchor, Document, Hit, Judgment, Query
        >>> text = "Water boils at 100 degrees. Ice melts at 0 degrees."
        >>> benchmark = be.Benchmark(
        ...     "physics",
        ...     documents=(Document("water", text),),
        ...     queries=(Query("q1", "When does ice melt?"),),
        ...     judgments=(Judgment("q1", Anchor(quote="melts at 0 degrees"), 1),),
        ... )
        >>> hits = [Hit("a", 0.9, doc_id="water", start=0, end=27),
        ...         Hit("b", 0.8, doc_id="water", start=28, end=51)]
        >>> scores = be.evaluate_hits(benchmark, {"q1": hits}, ["RR", "R@2", "TokenP@2"])
        >>> {name: round(value, 4) for name, value in scores.mean.items()}
        {'RR': 0.5, 'R@2': 1.0, 'TokenP@2': 0.3333}
        >>> scores.details("RR").strategy_used
        'qrels'

    Args:
        benchmark: the benchmark, or `Relevance.of(benchmark, ...)`, made once for many systems.
        hits: `{query: hits}`, where hits are a list of `Hit`s, of JSON objects or of ids (best
            first), or a dict of ids and scores; or a `Run`, or what `Run.load` takes. Hits that
            all have a rank are taken in that order, others by score; a list in which none has a
            rank or a score is taken as it stands.
        measures: names in any spelling, or `Measure`s.
        profile: whose conventions to follow: a name of `PROFILES`, or `Conventions`.
        k: how many hits of each query to look at; all if None.
        relevance: what to change about how relevance is decided; what a pack seals is refused.
        chunks: how the system cut the corpus. Judgments of chunk ids, hits that are no more than an
            id, and `PrecisionOmega` need it.
        lenient: of hits with the same id keep the first and count the others in `Scores.dropped`,
            where otherwise they are an error.
    """
    judge = _relevance(benchmark, relevance, chunks)
    return judge_and_score(judge, hits, measures, profile=profile, k=k, lenient=lenient)[0]


def judge_and_score(
    judge: Relevance,
    hits: Mapping[str, Any] | Run | Any,
    measures: Iterable[str | Measure],
    *,
    profile: str | Conventions = "berryeval",
    k: int | None = None,
    lenient: bool = False,
) -> tuple[Scores, dict[str, Judged]]:
    """The scores of `evaluate_hits`, and the judged hits of every query that stand behind them."""
    conventions = find_profile(profile)
    rule = conventions.rule if k is None else replace(conventions.rule, depth=k)
    wanted = wanted_measures(measures, conventions)
    unique = list(dict.fromkeys(measure for _, measure in wanted))
    rankings = read_rankings(hits, rule, lenient=lenient)
    queries = [checked_id(query, "the id of a query") for query in judge.queries]
    judged = [judge.judge(query, rankings.hits.get(query, ())) for query in queries]
    table, values = _values(judge, queries, judged, unique)
    in_run = [query in rankings.hits for query in queries]
    extra = sorted(set(rankings.hits) - set(queries), key=str.encode)
    found = Found(values, _counts(judged, in_run), extra, rankings.name, rankings.dropped)
    check_finite(found, unique, table)
    scores = scores_from(table, found, wanted, unique, conventions)
    strategy_of = {query: one.strategy for query, one in zip(queries, judged, strict=True)}
    scores = replace(
        scores,
        strategies=tuple(strategy_of[query] for query in scores.queries),
        token_threshold=judge.options.threshold,
        pack=judge.rules,
        notes=_notes(judge, [rankings.notes, *(one.notes for one in judged)]),
    )
    return scores, dict(zip(queries, judged, strict=True))


def _relevance(
    benchmark: Benchmark | Relevance,
    options: RelevanceOptions | Mapping[str, Any] | None,
    chunks: Iterable[Chunk] | None,
) -> Relevance:
    if isinstance(benchmark, Benchmark):
        return Relevance.of(benchmark, options, chunks=chunks)
    if not isinstance(benchmark, Relevance):
        msg = f"expected a Benchmark or a Relevance, found {type(benchmark).__name__}"
        raise TypeError(msg)
    if options is not None or chunks is not None:
        msg = "options and chunks belong to Relevance.of(...), which is already made"
        raise TypeError(msg)
    return benchmark


def _notes(judge: Relevance, groups: Iterable[Iterable[str]]) -> tuple[str, ...]:
    notes = list(dict.fromkeys(itertools.chain.from_iterable(groups)))
    unclear = sum(one.what == "section" for one in judge.targets.ambiguous)
    if unclear:
        notes.insert(0, f"targets that could be several sections, and count as missed: {unclear}")
    if judge.targets.drift:
        lost = len(judge.targets.drift)
        notes.insert(0, f"targets that are not in the corpus: {lost}")
    if len(notes) > _MOST_NOTES:
        more = len(notes) - _MOST_NOTES
        notes[_MOST_NOTES:] = [f"and {more} more"]
    return tuple(notes)


def _counts(judged: Sequence[Judged], in_run: Sequence[bool]) -> npt.NDArray[np.int64]:
    rows = [
        (
            one.ranking.retrieved,
            sum(hit.grade >= 0 for hit in one.ranking.hits),
            one.ranking.relevant_total(1),
            there,
        )
        for one, there in zip(judged, in_run, strict=True)
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def _values(
    judge: Relevance, queries: Sequence[str], judged: Sequence[Judged], measures: list[Measure]
) -> tuple[QueryTable, npt.NDArray[np.float64]]:
    """The values, a row per measure: by native code where ids and grades say all there is."""
    qrels, run, told = _as_tables(queries, [one.ranking for one in judged])
    values = np.zeros((len(measures), len(queries)), dtype=np.float64)
    native = [
        row
        for row, measure in enumerate(measures)
        if _backend.native is not None and measure.definition.native
    ]
    if native:
        chosen = [measures[row] for row in native]
        values[native] = score_tables(Qrels(qrels), Run(run), chosen, RankingRule()).values
    fast = set(native)
    for place, one in enumerate(judged):
        rest = [row for row in range(len(measures)) if row not in fast or not told[place]]
        views = _Views(judge, one)
        for row in rest:
            view = views[measures[row].definition.kind]
            values[row, place] = value_of(measures[row], view, queries[place])
    return qrels, values


class _Views(dict[str, Any]):
    """A judged ranking as each kind of measure sees it, made when it is asked for."""

    def __init__(self, judge: Relevance, judged: Judged) -> None:
        super().__init__(ranking=judged.ranking)
        self._judge = judge
        self._judged = judged

    def __missing__(self, kind: str) -> Any:
        view = self[kind] = (
            self._judge.as_spans(self._judged)
            if kind == "spans"
            else _one_subtopic(self._judged.ranking)
        )
        return view


def _one_subtopic(judged: JudgedRanking) -> SubtopicRanking:
    """The ranking for measures of diversity: without subtopics, all is of one."""
    return SubtopicRanking(
        [SubtopicHit(hit.rank, {"0": hit.grade}) for hit in judged.hits],
        judged.retrieved,
        [{"0": grade} for grade in judged.grades],
        ["0"],
    )


def _as_tables(
    queries: Sequence[str], rankings: Sequence[JudgedRanking]
) -> tuple[QueryTable, QueryTable, list[bool]]:
    """Judgments and a run whose join gives these rankings, and whether it does, for each.

    It cannot where one hit covers several targets, or one that was found before.
    """
    judgments: list[list[tuple[bytes, float]]] = []
    runs: list[list[tuple[bytes, float]]] = []
    told = []
    for ranking in rankings:
        judgments.append([(b"%d" % place, grade) for place, grade in enumerate(ranking.grades)])
        free: dict[float, list[bytes]] = defaultdict(list)
        for identity, grade in judgments[-1]:
            free[grade].append(identity)
        ids = {hit.rank: free[hit.grade].pop() for hit in ranking.hits if free[hit.grade]}
        told.append(not ranking.also and len(ids) == len(ranking.hits))
        ranks = range(1, ranking.retrieved + 1)
        runs.append([(ids.get(rank, b"rank %d" % rank), -float(rank)) for rank in ranks])
    return _table(queries, judgments), _table(queries, runs), told


def _table(queries: Sequence[str], rows: list[list[tuple[bytes, float]]]) -> QueryTable:
    flat = list(itertools.chain.from_iterable(rows))
    return QueryTable(
        queries=StringColumn.from_strings(queries),
        offsets=np.cumsum([0, *map(len, rows)], dtype=np.int64),
        documents=StringColumn.from_bytes([identity for identity, _ in flat]),
        values=np.array([value for _, value in flat], dtype=np.float64),
        distinct=True,
    )
