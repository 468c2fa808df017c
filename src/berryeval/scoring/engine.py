"""`evaluate`: score a run against judgments. All metrics are computed from one join."""

from __future__ import annotations

import logging
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from berryeval._internal import backend as _backend
from berryeval._internal.files import PathLike, display_name, read_bytes, read_in_place
from berryeval._internal.text import pluralize
from berryeval._internal.validate import is_number
from berryeval.data import (
    JudgedHit,
    JudgedRanking,
    Qrels,
    RankingRule,
    Run,
    SubtopicRanking,
    is_text_file,
    judge_subtopics,
    table_from_text,
)
from berryeval.errors import MetricError
from berryeval.metrics import Conventions, Metric, native_spec, request_metrics
from berryeval.scoring.scores import Scores

if TYPE_CHECKING:
    from berryeval.data import QueryTable, SpanRanking
    from berryeval.metrics import RequestedMetrics
    from berryeval.scoring.scores import Outcome


log = logging.getLogger("berryeval")
_NOTHING: Final = " nothing as relevant"
_MOST_IDS: Final = 10_000  # of a run, to explain why none is judged


def evaluate(
    qrels: Qrels | Mapping[str, Mapping[str, float]] | PathLike | Any,
    run: Run | Mapping[str, Mapping[str, float]] | PathLike | Any,
    metrics: Iterable[str | Metric],
    *,
    profile: str | Conventions = "berryeval",
    lenient: bool = False,
) -> Scores:
    """Score a run against judgments.

    Every judged query counts; a query missing from the run scores as an empty ranking and is listed
    as missing. Queries without judgments are listed and not scored. A query without relevant
    documents counts like the others. Documents are ranked by score, highest first, and equal scores
    by document id, highest bytes first. A document without a judgment is not relevant; a document
    judged in several groups has the highest of their grades, except in diversity metrics, which
    treat each group as a subtopic. `profile="trec_eval"` averages over the queries in both files
    instead. If no query of the run is judged, or no retrieved document for its query,
    `scores.notes` and a logged warning say so: such zeros come from ids that do not fit. The same
    holds for metrics whose level of relevance (`rel`) is above every grade.

    Args:
        qrels: `Qrels`, or an argument of `Qrels.load`: a dict `{query: {document: grade}}`, a path
            (TREC, BEIR, JSON, Parquet), a frame (pandas, polars, Arrow), or an array of ids.
        run: `Run`, or an argument of `Run.load`: the same with scores. A TREC file is scored while
            it is read, without building a table.
        metrics: Names in any spelling, or `Metric` objects.
        profile: Conventions to follow: a name in `PROFILES`, or `Conventions`.
        lenient: Drop faulty lines and repeated documents and count them in `Scores.dropped`,
            instead of raising an error.
    """
    scores = score_request(qrels, run, request_metrics(metrics, profile), lenient=lenient)
    for note in scores.notes:
        log.warning("%s: %s", scores.run_name, note)
    return scores


def score_request(
    qrels: Any, run: Any, requested: RequestedMetrics, *, lenient: bool = False
) -> Scores:
    """Score a run with parsed metrics; see `evaluate`."""
    for metric in requested.metrics:
        if metric.definition.kind == "spans":
            raise MetricError(
                f"{metric} needs the texts of hits, and ids have none; rescore a run of eval with "
                f"its benchmark (berryeval runs rescore RUN -m {metric}, without --qrels), or use "
                "evaluate_hits(benchmark, hits, ...) in Python"
            )
    judgments = Qrels.load(qrels, lenient=lenient)
    if lenient:
        judgments = as_qrels(judgments, lenient=True)
    table = judgments.flat
    ids, arrays = table.queries.to_bytes_list(), table.arrays
    threads, rule = _backend.thread_count(), requested.conventions.rule
    found = text = None
    if isinstance(run, str | os.PathLike) and is_text_file(run) and not lenient:
        found, text = _score_file(run, arrays, len(ids), requested, threads)
        if found is None:  # the table reader reports faults of the file
            rows = table_from_text(
                read_bytes(run) if text is None else text, "run", display_name(run)
            )
            run, text = Run(rows, rows.labels.get("tag", "run")), None
    if found is None:
        found = score_tables(judgments, as_run(run, lenient=lenient), requested.metrics, rule)
    scores = build_scores(ids, judgments.table.dropped, found, requested)
    if scores.shares_no_query or (scores.counts[:, 0].any() and not scores.counts[:, 1].any()):
        if text is not None:  # it was scored while it was read, and may be a pipe
            run = Run(table_from_text(text, "run", display_name(run)))
        ranked = as_run(run, lenient=lenient).table
        if scores.shares_no_query:
            note = _explain_no_query(judgments.table, ranked, scores)
        else:
            note = _explain_unjudged(table, ranked, scores)
        return replace(scores, notes=(note,))
    high = explain_levels(requested.metrics, table.values)
    return replace(scores, notes=(high,)) if high else scores


def explain_levels(metrics: Iterable[Metric], grades: npt.ArrayLike) -> str:
    """Explain which metrics have a level of relevance above every grade, if any."""
    highest = float(np.max(grades, initial=0.0))
    levels = [(str(one), one.params.get("rel")) for one in metrics]
    names = [name for name, level in levels if is_number(level) and level > highest]
    if not names or highest <= 0:
        return ""
    verb = "counts" if len(names) == 1 else "count"
    return (
        f"{', '.join(names)} {verb}{_NOTHING}: the highest grade of the judgments is "
        f"{highest:g}; choose a level (rel) up to it"
    )


def find_level_note(scores: Scores, metric: str) -> str:
    """Return the note of `explain_levels` if it is about this metric; empty if there is none."""
    noted = ((note, note.partition(_NOTHING)[0]) for note in scores.notes if _NOTHING in note)
    return next((note for note, names in noted if metric in re.split(", | ", names)), "")


def _explain_no_query(judgments: QueryTable, run: QueryTable, scores: Scores) -> str:
    """Explain a run without any judged query by an id of each side and the likely cause."""
    asked, judged = set(scores.extra_queries), {*scores.queries, *scores.left_out}
    groups = judgments.labels.get("group", ())
    cause = "is it a run of other queries, or are their ids spelled differently?"
    if not isinstance(groups, str) and not asked.isdisjoint(groups):
        cause = "the first and second column of the judgments seem to be swapped"
    elif not judged.isdisjoint(run.documents) or not asked.isdisjoint(judgments.documents):
        cause = "query and document seem to be swapped in the run or in the judgments"
    return (
        f"no query of the run is judged: {min(asked)!r:.60} in the run; the judgments have "
        f"{min(judged)!r:.60}; {cause}"
    )


def _explain_unjudged(judgments: QueryTable, run: QueryTable, scores: Scores) -> str:
    """Explain a run without any judged document: its zeros are not those of a bad search."""
    from berryeval.relevance import explain_ids

    known = dict.fromkeys(judgments.documents)
    unknown = list(dict.fromkeys(islice(run.documents, _MOST_IDS)))
    count = int(scores.counts[:, 0].sum())
    found = f"none of {pluralize(count, 'retrieved document')} is judged for its query"
    if any(name in known for name in unknown):
        return f"{found}, but they are judged for other queries: do the query ids fit?"
    sides = ("in the run", "the judgments have", "is it a search over other documents?")
    explanation = explain_ids(unknown, known, sides=sides)
    return f"{found}, so the scores say nothing about the run: {explanation}"


@dataclass(frozen=True)
class RawScores:
    """Values and counts in the order of the table of judgments."""

    values: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    extra_queries: list[str]
    run_name: str
    dropped: int = 0


def as_qrels(source: Any, *, lenient: bool = False) -> Qrels:
    """Convert judgments in any form to `Qrels`."""
    found = Qrels.load(source, lenient=lenient)
    if not lenient or found.table.distinct:
        return found
    return replace(found, table=found.table.without_repeats())


def as_run(source: Any, *, lenient: bool = False) -> Run:
    """Convert a run in any form to `Run`."""
    found = Run.load(source, lenient=lenient)
    if not lenient or found.table.distinct:
        return found
    return replace(found, table=found.table.without_repeats())


def build_scores(
    ids: list[bytes], dropped: int, found: RawScores, requested: RequestedMetrics
) -> Scores:
    """Build the table of the queries that count, sorted by id; reject overflowed values.

    `found` is in the order of `ids`; `dropped` is the number of rows dropped from the judgments.
    """
    if not np.isfinite(found.values).all():
        row, query = np.argwhere(~np.isfinite(found.values))[0].tolist()
        value = float(found.values[row, query])
        raise _not_finite(requested.metrics[row], ids[query].decode(), value)
    ordered = np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)
    counts_in = requested.conventions.every_judged_query | (found.counts[ordered, 3] > 0)
    kept = ordered[counts_in]
    counts = found.counts[kept]
    return Scores(
        metrics=requested.names,
        queries=tuple([ids[index].decode() for index in kept.tolist()]),
        values=np.ascontiguousarray(found.values[:, kept]),
        aggregates=requested.aggregates,
        outcomes=_outcomes(counts),
        counts=counts,
        extra_queries=tuple(found.extra_queries),
        run_name=found.run_name,
        spellings=requested.spellings,
        dropped=dropped + found.dropped,
        left_out=tuple([ids[index].decode() for index in ordered[~counts_in].tolist()]),
    )


def _outcomes(counts: npt.NDArray[np.int64]) -> tuple[Outcome, ...]:
    retrieved, _, relevant, in_run = counts.T
    names: tuple[Outcome, ...] = ("ok", "no relevant documents", "empty", "missing")
    places = np.where(in_run == 0, 3, np.where(retrieved == 0, 2, np.where(relevant == 0, 1, 0)))
    return tuple([names[place] for place in places.tolist()])


def score_tables(judgments: Qrels, run: Run, metrics: list[Metric], rule: RankingRule) -> RawScores:
    """Join judgments with a run and compute the metrics."""
    qrels = judgments.flat
    place_of = {query: index for index, query in enumerate(run.table.queries.to_bytes_list())}
    judged_ids = qrels.queries.to_bytes_list()
    matches = np.array([place_of.get(query, -1) for query in judged_ids], dtype=np.int64)
    values = np.zeros((len(metrics), len(judged_ids)), dtype=np.float64)
    counts = np.zeros((len(judged_ids), 4), dtype=np.int64)
    rows = native_rows(metrics)
    if _backend.native is not None:
        native = [native_spec(metrics[row]) for row in rows]
        out = np.zeros((len(native), len(judged_ids)), dtype=np.float64)
        duplicate = _backend.native.evaluate(
            qrels.arrays, run.table.arrays, matches, native,
            rule.ties, rule.single_precision, rule.depth or 0,
            out, counts, _backend.thread_count(),
        )  # fmt: skip
        if duplicate is not None:
            in_run, row = duplicate
            raise (run.table if in_run else qrels).repeated_error(row)
        values[rows] = out
    rest = [index for index in range(len(metrics)) if index not in set(rows)]
    if rest:
        _score_in_python(judgments, run.table, matches, metrics, rest, rule, values, counts)
    extra = sorted(set(place_of) - set(judged_ids))
    return RawScores(
        values, counts, [query.decode() for query in extra], run.name, run.table.dropped
    )


def _score_in_python(
    judgments: Qrels,
    run: QueryTable,
    matches: npt.NDArray[np.int64],
    metrics: list[Metric],
    rows: list[int],
    rule: RankingRule,
    values: npt.NDArray[np.float64],
    counts: npt.NDArray[np.int64],
) -> None:
    subtopics = any(metrics[row].definition.kind == "subtopics" for row in rows)
    for query, match in enumerate(matches.tolist()):
        run_query = None if match < 0 else match
        judged = judge(judgments.flat, query, run, run_query, rule)
        views: dict[str, JudgedRanking | SubtopicRanking] = {"ranking": judged}
        if subtopics:
            views["subtopics"] = judge_subtopics(judgments.table, query, run, run_query, rule)
        for row in rows:
            view = views[metrics[row].definition.kind]
            values[row, query] = value_of(metrics[row], view, judgments.table.queries[query])
        known = sum(hit.grade >= 0 for hit in judged.hits)
        counts[query] = (judged.retrieved, known, judged.relevant_total(1), match >= 0)


def value_of(
    metric: Metric, judged: JudgedRanking | SubtopicRanking | SpanRanking, query: str
) -> float:
    """Return the value of a metric; a failure raises an error that names metric and query."""
    try:
        value = metric(judged)
    except MetricError as error:
        raise MetricError(f"{metric} of query {query!r}: {error}") from error
    except Exception as error:
        raise MetricError(
            f"{metric} failed for query {query!r}: {type(error).__name__}: {error}"
        ) from error
    if not math.isfinite(value):
        raise _not_finite(metric, query, value)
    return value


def _not_finite(metric: Metric, query: str, value: float) -> MetricError:
    return MetricError(f"{metric} of query {query!r} must be a finite number, found {value}")


def judge(
    qrels: QueryTable, query: int, run: QueryTable, run_query: int | None, rule: RankingRule
) -> JudgedRanking:
    """Join one query in Python; the native twin is `QueryJudge`."""
    start, end = int(qrels.offsets[query]), int(qrels.offsets[query + 1])
    grade_of: dict[bytes, float] = {}
    for row, document in enumerate(qrels.documents.to_bytes_list(start, end), start=start):
        if document in grade_of:
            raise qrels.repeated_error(row)
        grade_of[document] = float(qrels.values[row])
    grades = sorted(grade_of.values(), reverse=True)
    if run_query is None:
        return JudgedRanking((), 0, tuple(grades))
    ranked = rule.ranked(run, run_query)
    hits = [
        JudgedHit(rank, grade_of[document])
        for rank, document in enumerate(ranked, start=1)
        if document in grade_of
    ]
    return JudgedRanking(tuple(hits), len(ranked), tuple(grades))


def _score_file(
    path: PathLike,
    qrels: tuple[Any, ...],
    count: int,
    requested: RequestedMetrics,
    threads: int,
) -> tuple[RawScores | None, npt.NDArray[np.uint8] | None]:
    """Score a run while reading its file; return also its text if it had to be read as a whole.

    The scores are None for a file that only the reader of tables can score or reject.
    """
    if _backend.native is None or None in requested.specs:
        return None, None
    native, rule, outcome = _backend.native, requested.conventions.rule, {}
    values = np.zeros((len(requested.specs), count), dtype=np.float64)
    counts = np.zeros((count, 4), dtype=np.int64)
    options = (
        requested.specs, rule.ties, rule.single_precision, rule.depth or 0, values, counts, threads
    )  # fmt: skip

    def read(descriptor: int, size: int) -> bool:
        outcome.update(native.score_run_file(qrels, descriptor, size, *options))
        return bool(outcome["clean"])

    text = None
    if not read_in_place(path, read):
        text = read_bytes(path)
        outcome = native.score_run_text(qrels, text, *options)
    if not outcome["clean"]:
        return None, text
    extra = [query.decode() for query in sorted(outcome["extra_queries"])]
    return RawScores(values, counts, extra, outcome["tag"].decode()), text


def native_rows(metrics: Sequence[Metric]) -> list[int]:
    """Return the places of the metrics that the native core computes."""
    native = _backend.native is not None
    return [row for row, metric in enumerate(metrics) if native and metric.definition.native]


def judge_all(
    qrels: QueryTable, run: QueryTable, rule: RankingRule, *, missing: bool = True
) -> Iterator[tuple[str, int | None, JudgedRanking]]:
    """Yield each judged query, sorted by bytes, its place in the run, and its judged ranking.

    `missing` is whether to yield queries that are not in the run.
    """
    place_of = {query: place for place, query in enumerate(run.queries)}
    ids = list(qrels.queries)
    for place in sorted(range(len(ids)), key=lambda place: ids[place].encode()):
        match = place_of.get(ids[place])
        if missing or match is not None:
            yield ids[place], match, judge(qrels, place, run, match, rule)
