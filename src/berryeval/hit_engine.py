"""`evaluate_hits`: a benchmark and what a system returned in, scores out."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks import Benchmark
from berryeval.conventions import Conventions, find_profile
from berryeval.engine import Found, check_finite, scores_from, wanted_measures
from berryeval.judged_columns import JudgedColumns
from berryeval.relevance import Relevance, RelevanceOptions
from berryeval.relevance.rankings import Rankings, checked_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from berryeval.details import Strategy
    from berryeval.measures import Measure
    from berryeval.records import Chunk, Hit
    from berryeval.relevance import Judged
    from berryeval.run import Run
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
    return judge_and_score(judge, hits, measures, profile=profile, k=k, lenient=lenient)


def _ignored(query: str, hits: Sequence[Hit], judged: Judged) -> None:
    del query, hits, judged


def judge_and_score(
    judge: Relevance,
    hits: Mapping[str, Any] | Run | Any,
    measures: Iterable[str | Measure],
    *,
    profile: str | Conventions = "berryeval",
    k: int | None = None,
    lenient: bool = False,
    seen: Callable[[str, Sequence[Hit], Judged], None] = _ignored,
) -> Scores:
    """The scores of `evaluate_hits`; `seen` gets each query, its hits, and what was found of them.

    One query after the other is read, judged and forgotten, in the order of `judge.queries`.
    """
    conventions = find_profile(profile)
    rule = conventions.rule if k is None else replace(conventions.rule, depth=k)
    wanted = wanted_measures(measures, conventions)
    unique = list(dict.fromkeys(measure for _, measure in wanted))
    rankings = Rankings(hits, rule, lenient=lenient)
    queries = [checked_id(query, "the id of a query") for query in judge.queries]
    columns = JudgedColumns(judge, queries, unique)
    strategy_of: dict[str, Strategy] = {}
    notes: list[tuple[str, ...]] = []
    for query in queries:
        ranked = rankings.of(query)
        judged = judge.judge(query, ranked)
        columns.add(query, judged, in_run=query in rankings)
        seen(query, ranked, judged)
        strategy_of[query] = judged.strategy
        notes += [judged.notes] if judged.notes else []
    extra = rankings.beyond(queries)
    found = Found(columns.values(), columns.counts, extra, rankings.name, rankings.dropped)
    table = columns.table()
    check_finite(found, unique, table)
    scores = scores_from(table, found, wanted, unique, conventions)
    return replace(
        scores,
        strategies=tuple(strategy_of[query] for query in scores.queries),
        token_threshold=judge.options.threshold,
        pack=judge.rules,
        notes=_notes(judge, [rankings.notes, *notes]),
    )


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
