"""`evaluate`: judgments and a run in, scores out. One join, and everything is computed from it."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval._internal import backend as _backend
from berryeval._internal.files import PathLike, name_of, read_bytes
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
from berryeval.metrics import Conventions, Metric, find_profile, parse_metrics
from berryeval.scoring.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval.data import QueryTable, SpanRanking
    from berryeval.scoring.score_columns import Outcome


def evaluate(
    qrels: Qrels | Mapping[str, Mapping[str, float]] | PathLike | Any,
    run: Run | Mapping[str, Mapping[str, float]] | PathLike | Any,
    metrics: Iterable[str | Metric],
    *,
    profile: str | Conventions = "berryeval",
    lenient: bool = False,
) -> Scores:
    """Score a run against judgments.

    The policy, stated once: every judged query counts; one that the run lacks scores as an empty
    ranking and is listed as missing. Queries of the run without judgments are listed, not scored. A
    query with nothing relevant counts like the others. Documents are ranked by score, highest
    first, and those of one score by id, highest bytes first. A document without a judgment is not
    relevant; one that is judged for several groups has the highest of their grades, except for
    metrics of diversity, which see each group as a subtopic. `profile="trec_eval"` averages over
    the queries that both files hold instead.

    Args:
        qrels: a `Qrels`, or what `Qrels.load` takes: a dict `{query: {document: grade}}`, a path
            (TREC, BEIR, JSON, Parquet), a frame (pandas, polars, Arrow), or an array of ids.
        run: a `Run`, or what `Run.load` takes: the same with scores. A TREC file is scored as it is
            read, without making a table of it.
        metrics: names in any spelling, or `Metric`s.
        profile: whose conventions to follow: a name of `PROFILES`, or `Conventions`.
        lenient: leave faulty lines out of files, keep the first row of a repeated document, and
            count both in `Scores.dropped`, where otherwise they are an error.
    """
    conventions = find_profile(profile)
    wanted = wanted_metrics(metrics, conventions)
    judgments = as_qrels(qrels, lenient=lenient)
    unique = list(dict.fromkeys(metric for _, metric in wanted))
    _refuse_spans(unique)
    if isinstance(run, str | os.PathLike) and is_text_file(run) and not lenient:
        found = _score_file(judgments, run, unique, conventions.rule)
    else:
        results = as_run(run, lenient=lenient)
        found = score_tables(judgments, results, unique, conventions.rule)
    check_finite(found, unique, judgments.table)
    return scores_from(judgments.table, found, wanted, unique, conventions)


def _refuse_spans(metrics: Iterable[Metric]) -> None:
    for metric in metrics:
        if metric.definition.kind == "spans":
            msg = (
                f"{metric} looks at the texts of hits, and ids have none: judge a run of eval by "
                f"its benchmark (berryeval runs rescore RUN -m {metric}, without --qrels), or use "
                "evaluate_hits(benchmark, hits, ...) in Python"
            )
            raise MetricError(msg)


@dataclass(frozen=True)
class Found:
    """Values and counts in the order of the judged queries' table."""

    values: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    extra_queries: list[str]
    run_name: str
    dropped: int = 0


def wanted_metrics(
    metrics: Iterable[str | Metric], conventions: Conventions
) -> list[tuple[str, Metric]]:
    """Each metric with the text that named it; of a text that named several, our name for each."""
    if isinstance(metrics, str | Metric):
        metrics = [metrics]
    wanted = []
    for text in metrics:
        found = parse_metrics([text])
        for metric in found:
            name = str(text) if len(found) == 1 else str(metric)
            wanted.append((name, conventions.applied_to(metric)))
    return wanted


def as_qrels(source: Any, *, lenient: bool = False) -> Qrels:
    """Judgments in any form as `Qrels`."""
    found = Qrels.load(source, lenient=lenient)
    if not lenient or found.table.distinct:
        return found
    return replace(found, table=found.table.without_repeats())


def as_run(source: Any, *, lenient: bool = False) -> Run:
    """A run in any form as `Run`."""
    found = Run.load(source, lenient=lenient)
    if not lenient or found.table.distinct:
        return found
    return replace(found, table=found.table.without_repeats())


def scores_from(
    qrels: QueryTable,
    found: Found,
    wanted: list[tuple[str, Metric]],
    unique: list[Metric],
    conventions: Conventions,
) -> Scores:
    """The table of the queries that count, in order."""
    ids = qrels.queries.to_bytes_list()
    ordered = np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)
    counts_in = conventions.every_judged_query | (found.counts[ordered, 3] > 0)
    kept = ordered[counts_in]
    counts = found.counts[kept]
    return Scores(
        metrics=tuple(map(str, unique)),
        queries=tuple([ids[index].decode() for index in kept.tolist()]),
        values=np.ascontiguousarray(found.values[:, kept]),
        aggregates=tuple(metric.aggregate for metric in unique),
        outcomes=_outcomes(counts),
        counts=counts,
        extra_queries=tuple(found.extra_queries),
        run_name=found.run_name,
        spellings=_spellings(wanted),
        dropped=qrels.dropped + found.dropped,
        left_out=tuple([ids[index].decode() for index in ordered[~counts_in].tolist()]),
    )


def _spellings(wanted: list[tuple[str, Metric]]) -> dict[str, str]:
    """What each text that was used names; one that names several metrics names none of them."""
    named: dict[str, set[Metric]] = {}
    for text, metric in wanted:
        named.setdefault(text, set()).add(metric)
    return {text: str(metric) for text, metric in wanted if len(named[text]) == 1}


def _outcomes(counts: npt.NDArray[np.int64]) -> tuple[Outcome, ...]:
    """What became of each query."""
    retrieved, _, relevant, in_run = counts.T
    names: tuple[Outcome, ...] = ("ok", "no relevant documents", "empty", "missing")
    places = np.where(in_run == 0, 3, np.where(retrieved == 0, 2, np.where(relevant == 0, 1, 0)))
    return tuple([names[place] for place in places.tolist()])


def score_tables(judgments: Qrels, run: Run, metrics: list[Metric], rule: RankingRule) -> Found:
    """Join judgments and a run, and compute the metrics from the join."""
    qrels = judgments.flat
    place_of = {query: index for index, query in enumerate(run.table.queries.to_bytes_list())}
    judged_ids = qrels.queries.to_bytes_list()
    matches = np.array([place_of.get(query, -1) for query in judged_ids], dtype=np.int64)
    values = np.zeros((len(metrics), len(judged_ids)), dtype=np.float64)
    counts = np.zeros((len(judged_ids), 4), dtype=np.int64)
    native, rows = _native_metrics(metrics)
    if _backend.native is not None:
        out = np.zeros((len(native), len(judged_ids)), dtype=np.float64)
        duplicate = _backend.native.evaluate(
            _arrays(qrels), _arrays(run.table), matches, native,
            rule.ties, rule.single_precision, rule.depth or 0,
            out, counts, _backend.thread_count(),
        )  # fmt: skip
        if duplicate is not None:
            in_run, row = duplicate
            raise (run.table if in_run else qrels).repeated(row)
        values[rows] = out
    rest = [index for index in range(len(metrics)) if index not in set(rows)]
    if rest:
        _score_in_python(judgments, run.table, matches, metrics, rest, rule, values, counts)
    extra = sorted(set(place_of) - set(judged_ids))
    return Found(values, counts, [query.decode() for query in extra], run.name, run.table.dropped)


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
    """The value of a metric that anyone may have written, or an error that says whose it was."""
    try:
        value = metric(judged)
    except MetricError as error:
        msg = f"{metric} of query {query!r}: {error}"
        raise MetricError(msg) from error
    except Exception as error:
        msg = f"{metric} failed for query {query!r}: {type(error).__name__}: {error}"
        raise MetricError(msg) from error
    if not math.isfinite(value):
        raise _not_finite(metric, query, value)
    return value


def _not_finite(metric: Metric, query: str, value: float) -> MetricError:
    return MetricError(f"{metric} of query {query!r} must be a finite number, found {value}")


def check_finite(found: Found, metrics: list[Metric], qrels: QueryTable) -> None:
    """Refuse what overflowed, whichever backend computed it."""
    if not np.isfinite(found.values).all():
        row, query = np.argwhere(~np.isfinite(found.values))[0].tolist()
        raise _not_finite(metrics[row], qrels.queries[query], float(found.values[row, query]))


def judge(
    qrels: QueryTable, query: int, run: QueryTable, run_query: int | None, rule: RankingRule
) -> JudgedRanking:
    """The join of one query, by the reference implementation; its twin is `QueryJudge`."""
    start, end = int(qrels.offsets[query]), int(qrels.offsets[query + 1])
    grade_of: dict[bytes, float] = {}
    for row, document in enumerate(qrels.documents.to_bytes_list(start, end), start=start):
        if document in grade_of:
            raise qrels.repeated(row)
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
    judgments: Qrels, path: PathLike, metrics: list[Metric], rule: RankingRule
) -> Found:
    """Score a run from its file without making a table of it, where that is possible."""
    text = read_bytes(path)
    native, rows = _native_metrics(metrics)
    if _backend.native is not None and len(rows) == len(metrics):
        qrels = judgments.flat
        count = len(qrels.queries)
        values = np.zeros((len(metrics), count), dtype=np.float64)
        counts = np.zeros((count, 4), dtype=np.int64)
        outcome = _backend.native.score_run_text(
            _arrays(qrels), text, native, rule.ties, rule.single_precision, rule.depth or 0,
            values, counts, _backend.thread_count(),
        )  # fmt: skip
        if outcome["clean"]:
            extra = [query.decode() for query in sorted(outcome["extra_queries"])]
            return Found(values, counts, extra, outcome["tag"].decode())
    # What is wrong with the file, if anything, the reader of tables says.
    table = table_from_text(text, "run", name_of(path))
    return score_tables(judgments, Run(table, table.labels.get("tag", "run")), metrics, rule)


def _native_metrics(metrics: list[Metric]) -> tuple[list[Spec], list[int]]:
    """The metrics the native core computes, as it wants them, and their places."""
    specs: list[Spec] = []
    rows = []
    for row, metric in enumerate(metrics):
        if _backend.native is not None and metric.definition.native:
            specs.append(_spec(metric))
            rows.append(row)
    return specs, rows


Spec: TypeAlias = tuple[
    str, dict[str, float], dict[str, str], dict[str, list[float]], list[tuple[float, float]]
]


def _spec(metric: Metric) -> Spec:
    """A metric for native code: numbers, words and lists by parameter, and the gains.

    A number that was not given is NaN, a cutoff that was not given is left out.
    """
    numbers: dict[str, float] = {}
    words: dict[str, str] = {}
    lists: dict[str, list[float]] = {}
    for parameter, (name, value) in zip(metric.definition.parameters, metric.values, strict=True):
        if isinstance(value, str):
            words[name] = value
        elif isinstance(value, bool | int | float):
            numbers[name] = float(value)
        elif parameter.base_kind == "Shares":
            lists[name] = list(value)
        elif value is None and parameter.base_kind in {"float", "Positive", "Share"}:
            numbers[name] = math.nan
    return metric.definition.name, numbers, words, lists, list(metric.params.get("gains") or ())


def _arrays(table: QueryTable) -> tuple[Any, ...]:
    return (
        table.queries.arrays,
        table.offsets,
        table.documents.arrays,
        table.values,
        table.distinct,
    )
