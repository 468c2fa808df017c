"""`evaluate`: score a run against judgments. All metrics are computed from one join."""

from __future__ import annotations

import logging
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from berryeval._internal import backend as _backend
from berryeval._internal.files import (
    PathLike,
    display_name,
    keep_pipe,
    read_bytes,
    read_in_place,
)
from berryeval._internal.text import pluralize
from berryeval._internal.validate import is_number
from berryeval.data import (
    JudgedRanking,
    Qrels,
    QueryTable,
    RankingRule,
    Run,
    SubtopicRanking,
    is_text_file,
    judge_documents,
    judge_subtopics,
    open_rows,
    table_from_text,
)
from berryeval.errors import DataError, MetricError
from berryeval.metrics import Conventions, Metric, native_spec, request_metrics
from berryeval.scoring.scores import Scores

if TYPE_CHECKING:
    from berryeval.data import RowSource, SpanRanking
    from berryeval.metrics import RequestedMetrics
    from berryeval.scoring.blocks import Follower
    from berryeval.scoring.scores import Outcome


log = logging.getLogger("berryeval")
_NOTHING: Final = " nothing as relevant"
MOST_IDS: Final = 10_000  # of a run, to explain why none is judged


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
            (TREC, BEIR, JSON, CSV, Parquet), a frame (pandas, polars, Arrow), or an array of ids.
        run: `Run`, or an argument of `Run.load`: the same with scores. A TREC file, and any large
            file (TREC, CSV, Parquet) or folder, is scored while it is read, in bounded memory.
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
    qrels: Any,
    run: Any,
    requested: RequestedMetrics,
    *,
    lenient: bool = False,
    follower: Follower | None = None,
) -> Scores:
    """Score a run with parsed metrics; see `evaluate`. The follower is notified of large files."""
    reject_spans(requested.metrics)
    judgments = Qrels.load(qrels, lenient=lenient)
    if lenient:
        judgments = as_qrels(judgments, lenient=True)
        _reject_unusable(judgments)
    if isinstance(run, str | os.PathLike):
        return _score_path(judgments, run, requested, lenient=lenient, follower=follower)
    return _score_run(judgments, as_run(run, lenient=lenient), requested)


def _score_run(judgments: Qrels, run: Run, requested: RequestedMetrics) -> Scores:
    found = score_tables(judgments, run, requested.metrics, requested.conventions.rule)
    return _finish(judgments, found, requested, lambda: run.table)


def _finish(
    judgments: Qrels,
    found: RawScores,
    requested: RequestedMetrics,
    read_run: Callable[[], QueryTable],
) -> Scores:
    ids = judgments.flat.queries.to_bytes_list()
    scores = build_scores(ids, judgments.table.dropped, found, requested)
    return explain_scores(scores, judgments, requested.metrics, read_run)


def _score_path(
    judgments: Qrels,
    path: PathLike,
    requested: RequestedMetrics,
    *,
    lenient: bool,
    follower: Follower | None,
) -> Scores:
    """Score a file: while it is read if it is large or a TREC file, otherwise as a whole."""
    with keep_pipe(path) as kept:
        text = kept if isinstance(kept, np.ndarray) else None
        place = kept if isinstance(kept, Path) else path
        name = display_name(path)
        source = None if text is not None else open_rows(place, lenient=lenient, name=name)
        found = None
        if is_text_file(path) and not lenient:
            found, text = _score_file(place, text, judgments.flat, requested, source, follower)
        if found is not None:

            def read_run() -> QueryTable:
                if source is not None:
                    return read_first_rows(source)
                return table_from_text(read_bytes(path) if text is None else text, "run", name)

            return _finish(judgments, found, requested, read_run)
        if source is not None:
            from berryeval.scoring.blocks import score_source

            return score_source(judgments, source, requested, lenient=lenient, follower=follower)
    if text is None:
        return _score_run(judgments, as_run(path, lenient=lenient), requested)
    rows = table_from_text(text, "run", name, lenient=lenient)  # it reports faults
    return _score_run(judgments, Run(rows, rows.labels.get("tag", "run")), requested)


def read_first_rows(source: RowSource) -> QueryTable:
    """Return the beginning of a run, to explain why none of it is judged."""
    blocks: list[QueryTable] = []
    rows = 0
    for block in source.read_blocks(whole=False):
        blocks.append(block)
        rows += len(block.values)
        if rows >= MOST_IDS:
            break
    return QueryTable.joined(blocks)


def _reject_unusable(judgments: Qrels) -> None:
    """Reject judgments whose rows were all dropped: nothing would be scored."""
    table = judgments.table
    if table.dropped and not len(table.values):
        rows = pluralize(table.dropped, "row")
        raise DataError(
            f"{table.source or 'the judgments'}: no row can be used ({rows} dropped), so there is "
            "nothing to score; without lenient, the first fault is named"
        )


def reject_spans(metrics: Iterable[Metric]) -> None:
    """Reject metrics of texts, which ids do not have."""
    for metric in metrics:
        if metric.definition.kind == "spans":
            raise MetricError(
                f"{metric} needs the texts of hits, and ids have none; rescore a run of eval with "
                f"its benchmark (berryeval runs rescore RUN -m {metric}, without --qrels), or use "
                "evaluate_hits(benchmark, hits, ...) in Python"
            )


def explain_scores(
    scores: Scores, judgments: Qrels, metrics: Sequence[Metric], read_run: Callable[[], QueryTable]
) -> Scores:
    """Add a note to scores whose zeros come from ids that do not fit, or from a level too high."""
    if not scores.count and not scores.left_out:
        return replace(scores, notes=("there are no judgments, so nothing is scored",))
    if scores.shares_no_query:
        return replace(scores, notes=(_explain_no_query(judgments.table, read_run(), scores),))
    if scores.counts[:, 0].any() and not scores.counts[:, 1].any():
        return replace(scores, notes=(_explain_unjudged(judgments.flat, read_run(), scores),))
    high = explain_levels(metrics, judgments.flat.values)
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
    """Return the note of `explain_levels` if it is about this metric, or an empty text."""
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
    unknown = list(dict.fromkeys(islice(run.documents, MOST_IDS)))
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
        judged = judge_documents(judgments.flat, query, run, run_query, rule)
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


def _score_file(
    path: PathLike,
    text: npt.NDArray[np.uint8] | None,
    table: QueryTable,
    requested: RequestedMetrics,
    source: RowSource | None,
    follower: Follower | None,
) -> tuple[RawScores | None, npt.NDArray[np.uint8] | None]:
    """Score a run while reading its file; return also its text if it had to be read as a whole.

    The scores are None for a file that only the reader of tables can score or reject. A `source`
    stands for a file that is not to be read as a whole, `text` for what has been read.
    """
    if _backend.native is None or None in requested.specs:
        return None, text
    native, rule, outcome = _backend.native, requested.conventions.rule, {}
    count = len(table.queries)
    values = np.zeros((len(requested.specs), count), dtype=np.float64)
    counts = np.zeros((count, 4), dtype=np.int64)
    options = (
        requested.specs, rule.ties, rule.single_precision, rule.depth or 0, values, counts,
        _backend.thread_count(),
    )  # fmt: skip

    def read(descriptor: int, size: int) -> bool:
        outcome.update(native.score_run_file(table.arrays, descriptor, size, *options))
        return bool(outcome["clean"])

    if source is not None:
        from berryeval.scoring.blocks import read_large

        read_large(path, read, source.size, follower)
    elif text is not None or not read_in_place(path, read):
        text = read_bytes(path) if text is None else text
        outcome = native.score_run_text(table.arrays, text, *options)
    if not outcome["clean"]:
        return None, text
    extra = [query.decode() for query in sorted(outcome["extra_queries"])]
    return RawScores(values, counts, extra, outcome["tag"].decode()), text


def native_rows(metrics: Sequence[Metric]) -> list[int]:
    """Return the places of the metrics that the native core computes."""
    native = _backend.native is not None
    return [row for row, metric in enumerate(metrics) if native and metric.definition.native]
