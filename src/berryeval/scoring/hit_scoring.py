"""`evaluate_hits`: score the hits of a system on a benchmark."""

from __future__ import annotations

import itertools
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from berryeval.benchmarks import Benchmark
from berryeval.data import (
    DEFAULT_RULE,
    Qrels,
    QueryTable,
    Run,
    StringColumn,
    SubtopicHit,
    SubtopicRanking,
)
from berryeval.metrics import Conventions, request_metrics
from berryeval.relevance import Rankings, Relevance, RelevanceOptions, check_id
from berryeval.scoring.engine import (
    RawScores,
    build_scores,
    explain_levels,
    native_rows,
    score_tables,
    value_of,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from berryeval.data import Chunk, Hit, JudgedRanking, Strategy
    from berryeval.metrics import Metric
    from berryeval.relevance import Judged
    from berryeval.scoring.scores import Scores


class JudgedColumns:
    """Values of metrics for judged queries, which are added in order and not kept.

    Native metrics of rankings that ids and grades describe completely are computed at the end, all
    others when a query is added.

    Attributes:
        queries: Ids of the queries.
    """

    def __init__(self, judge: Relevance, queries: Sequence[str], metrics: Sequence[Metric]) -> None:
        self.queries = StringColumn.from_strings(queries)
        self._judge = judge
        self._metrics = metrics
        self._native = native_rows(metrics)
        self._others = [row for row in range(len(metrics)) if row not in set(self._native)]
        self._values = np.zeros((len(metrics), len(queries)), dtype=np.float64)
        self._judgments, self._rankings = _Rows(), _Rows()
        self._is_plain: list[bool] = []
        self._counts = array("q")

    def add(self, query: str, judged: Judged, *, in_run: bool) -> None:
        """Add the next query."""
        place = len(self._is_plain)
        ranking = judged.ranking
        self._is_plain.append(self._add_tables(ranking))
        known = sum(hit.grade >= 0 for hit in ranking.hits)
        self._counts.extend((ranking.retrieved, known, ranking.relevant_total(1), in_run))
        views = _Views(self._judge, judged)
        for row in self._others if self._is_plain[-1] else range(len(self._metrics)):
            metric = self._metrics[row]
            self._values[row, place] = value_of(metric, views[metric.definition.kind], query)

    def _add_tables(self, ranking: JudgedRanking) -> bool:
        """Add judgments and a run whose join gives this ranking; return whether it does.

        It does not if a hit covers several targets, or a target that was found before.
        """
        free: dict[float, list[bytes]] = defaultdict(list)
        judgments = [(b"%d" % place, grade) for place, grade in enumerate(ranking.grades)]
        for identity, grade in judgments:
            free[grade].append(identity)
        ids = {hit.rank: free[hit.grade].pop() for hit in ranking.hits if free[hit.grade]}
        ranks = range(1, ranking.retrieved + 1)
        self._judgments.add(judgments)
        self._rankings.add((ids.get(rank, b"rank %d" % rank), -float(rank)) for rank in ranks)
        return not ranking.also and len(ids) == len(ranking.hits)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Counts of each query: retrieved, judged of these, relevant, in the run."""
        return np.array(self._counts, dtype=np.int64).reshape(-1, 4)

    def values(self) -> npt.NDArray[np.float64]:
        """The values, a row per metric."""
        if self._native:
            chosen = [self._metrics[row] for row in self._native]
            run = Run(self._rankings.table(self.queries))
            qrels = Qrels(self._judgments.table(self.queries))
            found = score_tables(qrels, run, chosen, DEFAULT_RULE).values
            plain = np.array(self._is_plain, dtype=np.bool_)
            self._values[self._native] = np.where(plain, found, self._values[self._native])
        return self._values


class _Rows:
    """Growing rows of a document and a number, grouped by query."""

    def __init__(self) -> None:
        self._documents = bytearray()
        self._ends = array("q", [0])
        self._values = array("d")
        self._offsets = array("q", [0])

    def add(self, rows: Iterable[tuple[bytes, float]]) -> None:
        """Add the rows of the next query."""
        for identity, value in rows:
            self._documents += identity
            self._ends.append(len(self._documents))
            self._values.append(value)
        self._offsets.append(len(self._values))

    def table(self, queries: StringColumn) -> QueryTable:
        """Return the rows as the table of these queries."""
        documents = np.frombuffer(bytes(self._documents), dtype=np.uint8)
        return QueryTable(
            queries=queries,
            offsets=np.array(self._offsets, dtype=np.int64),
            documents=StringColumn(documents, np.array(self._ends, dtype=np.int64)),
            values=np.array(self._values, dtype=np.float64),
            distinct=True,
        )


class _Views(dict[str, Any]):
    """Views of a judged ranking by kind of metric, built on first use."""

    def __init__(self, judge: Relevance, judged: Judged) -> None:
        super().__init__(ranking=judged.ranking)
        self._judge = judge
        self._judged = judged

    def __missing__(self, kind: str) -> Any:
        if kind == "spans":
            view: Any = self._judge.as_spans(self._judged)
        else:  # one subtopic for all documents
            ranking = self._judged.ranking
            hits = [SubtopicHit(hit.rank, {"0": hit.grade}) for hit in ranking.hits]
            grades = [{"0": grade} for grade in ranking.grades]
            view = SubtopicRanking(hits, ranking.retrieved, grades, ["0"])
        self[kind] = view
        return view


_MOST_NOTES: Final = 100


def evaluate_hits(
    benchmark: Benchmark | Relevance,
    hits: Mapping[str, Any] | Run | Any,
    metrics: Iterable[str | Metric],
    *,
    profile: str | Conventions = "berryeval",
    k: int | None = None,
    relevance: RelevanceOptions | Mapping[str, Any] | None = None,
    chunks: Iterable[Chunk] | None = None,
    lenient: bool = False,
) -> Scores:
    """Score the hits of a system for the queries of a benchmark.

    The policy is that of `evaluate`. Relevance is decided for each query by the first strategy that
    applies: judgments, the pack, or the words of the expected answer (docs/relevance.md).
    `scores.strategies` lists the strategy of each query and `scores.notes` any doubts. Every query
    of the benchmark counts; if no strategy applies, its outcome is "no relevant documents".

        >>> import berryeval as be
        >>> from berryeval.data import Anchor, Document, Hit, Judgment, Query
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
        benchmark: Benchmark, or `Relevance(benchmark, ...)` to score several systems.
        hits: `{query: hits}`, where hits are a list of `Hit` objects, JSON objects or ids (best
            first), or a dict of ids and scores; or a `Run`, or an argument of `Run.load`. Hits are
            ordered by rank if all have one, otherwise by score; a list without ranks and scores
            keeps its order.
        metrics: Names in any spelling, or `Metric` objects.
        profile: Conventions to follow: a name in `PROFILES`, or `Conventions`.
        k: Number of hits to score per query; all by default.
        relevance: Options of the relevance decision; options sealed by a pack are rejected.
        chunks: Chunks of the system's corpus. Required for judgments of chunk ids, for hits that
            are only an id, and for `PrecisionOmega`.
        lenient: Keep the first of several hits with the same id and count the others in
            `Scores.dropped`, instead of raising an error.
    """
    judge = _relevance(benchmark, relevance, chunks)
    tally = judge.tally_ids()
    scores = judge_and_score(
        judge, hits, metrics, profile=profile, k=k, lenient=lenient, seen=tally.add
    )
    return note_lost(scores, judge, tally.explain_zeros())


def note_lost(scores: Scores, judge: Relevance, *more: str) -> Scores:
    """Add a note on targets that are not in the corpus, or else these further notes."""
    lost = [judge.find_lost().describe()]
    return replace(scores, notes=(*filter(None, lost if lost[0] else more), *scores.notes))


def judge_and_score(
    judge: Relevance,
    hits: Mapping[str, Any] | Run | Any,
    metrics: Iterable[str | Metric],
    *,
    profile: str | Conventions = "berryeval",
    k: int | None = None,
    lenient: bool = False,
    seen: Callable[[str, Sequence[Hit], Judged], None] = lambda *_: None,
) -> Scores:
    """Compute the scores of `evaluate_hits`; call `seen` with each query, its hits and judgment.

    Targets that are not in the corpus are not noted.

    Queries are processed and discarded in the order of `judge.queries`.
    """
    requested = request_metrics(metrics, profile)
    rule = requested.conventions.rule if k is None else replace(requested.conventions.rule, depth=k)
    rankings = Rankings(hits, rule, lenient=lenient)
    queries = [check_id(query, "the id of a query") for query in judge.queries]
    columns = JudgedColumns(judge, queries, requested.metrics)
    strategy_of: dict[str, Strategy] = {}
    notes: list[tuple[str, ...]] = []
    highest = 0.0
    for query in queries:
        ranked = rankings.of(query)
        judged = judge.judge(query, ranked)
        columns.add(query, judged, in_run=query in rankings)
        seen(query, ranked, judged)
        strategy_of[query] = judged.strategy
        highest = max((highest, *judged.ranking.grades[:1]))
        notes += [judged.notes] if judged.notes else []
    extra = rankings.beyond(queries)
    found = RawScores(columns.values(), columns.counts, extra, rankings.name, rankings.dropped)
    scores = build_scores(columns.queries.to_bytes_list(), 0, found, requested)
    high = explain_levels(requested.metrics, [highest])
    return replace(
        scores,
        strategies=tuple(strategy_of[query] for query in scores.queries),
        token_threshold=judge.options.threshold,
        pack=judge.rules,
        notes=_notes(judge, [filter(None, [high]), rankings.notes, *notes]),
    )


def _relevance(
    benchmark: Benchmark | Relevance,
    options: RelevanceOptions | Mapping[str, Any] | None,
    chunks: Iterable[Chunk] | None,
) -> Relevance:
    if isinstance(benchmark, Benchmark):
        return Relevance(benchmark, options, chunks=chunks)
    if not isinstance(benchmark, Relevance):
        raise TypeError(f"expected a Benchmark or a Relevance, found {type(benchmark).__name__}")
    if options is not None or chunks is not None:
        raise TypeError("pass options and chunks to Relevance(...) when creating the Relevance")
    return benchmark


def _notes(judge: Relevance, groups: Iterable[Iterable[str]]) -> tuple[str, ...]:
    notes = list(dict.fromkeys(itertools.chain.from_iterable(groups)))
    unclear = sum(one.what == "section" for one in judge.targets.ambiguous)
    if unclear:
        notes.insert(0, f"targets that match several sections, counted as missed: {unclear}")
    if len(notes) > _MOST_NOTES:
        notes[_MOST_NOTES:] = [f"and {len(notes) - _MOST_NOTES} more"]
    return tuple(notes)
