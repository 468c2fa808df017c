"""Scoring with the conventions of trec_eval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from berryeval.data import (
    JudgedRanking,
    Qrels,
    QueryTable,
    RankingRule,
    Run,
    StringColumn,
    judge_documents,
    read_table,
)
from berryeval.errors import DataError, MetricError
from berryeval.metrics import Conventions, Metric, definitions
from berryeval.scoring import evaluate
from berryeval.trec_eval.lines import Report, Values
from berryeval.trec_eval.preferences import (
    PREFERENCE_METRICS,
    Preference,
    judge_preferences,
    read_preferences,
)

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.scoring import Scores
    from berryeval.trec_eval.lines import ZScores
    from berryeval.trec_eval.names import Column, Judgments


def _score_preferences(job: _Job, run: Run) -> list[Values]:
    """Return a list of values per topic for each column, from preferences."""
    # trec_eval breaks ties in the opposite order here.
    rule = RankingRule(ties="document ascending", depth=job.settings.depth)
    values: list[list[float]] = [[] for _ in job.columns]
    for topic in job.topics:
        ranking = [] if topic.ranked is None else rule.ranked(run.table, topic.ranked)
        try:
            judged = judge_preferences(_read_preferences(job.judgments, topic.judged), ranking)
        except DataError as error:
            raise DataError(f"{job.judgments.source}: query {topic.name!r}: {error}") from None
        for place, column in enumerate(job.columns):
            formula = PREFERENCE_METRICS.get(column.row.name)
            values[place].append(formula(judged) if formula else 1.0)
    return list(values)


def _read_preferences(judgments: QueryTable, query: int) -> Iterator[Preference]:
    start, end = int(judgments.offsets[query]), int(judgments.offsets[query + 1])
    groups = _label(judgments, "group", start, end)
    subgroups = _label(judgments, "subgroup", start, end)
    documents = judgments.documents.to_bytes_list(start, end)
    levels = judgments.values[start:end].tolist()
    return map(Preference, groups, subgroups, documents, levels)


def _label(table: QueryTable, name: str, start: int, end: int) -> list[bytes]:
    """Return a label column of the judgments; a missing one is constant."""
    column = table.labels.get(name)
    return (
        column.to_bytes_list(start, end)
        if isinstance(column, StringColumn)
        else [b"0"] * (end - start)
    )


def average_over_groups(metric: Metric, rankings: Sequence[JudgedRanking]) -> float:
    """Return the mean of a metric over the judgment groups of a query; 0.0 without groups."""
    total = 0.0
    for judged in rankings:
        total += metric(judged)
    return total / len(rankings) if rankings else 0.0


def split_groups(qrels: QueryTable) -> tuple[QueryTable, list[list[int]]]:
    """Split judgments into a table with one "query" per query and group.

    Also returns the indices of the new queries for each query of `qrels`, sorted by group.
    """
    groups = qrels.labels["group"]
    if not isinstance(groups, StringColumn):
        raise TypeError("the column of groups must hold strings")
    names = groups.to_bytes_list()
    order: list[int] = []
    offsets = [0]
    queries: list[bytes] = []
    places: list[list[int]] = []
    for query, name in enumerate(qrels.queries.to_bytes_list()):
        rows: dict[bytes, list[int]] = {}
        for row in range(int(qrels.offsets[query]), int(qrels.offsets[query + 1])):
            rows.setdefault(names[row], []).append(row)
        places.append(list(range(len(queries), len(queries) + len(rows))))
        for group in sorted(rows):
            queries.append(name)
            order.extend(rows[group])
            offsets.append(len(order))
    table = QueryTable(
        queries=StringColumn.from_bytes(queries),
        offsets=np.array(offsets, dtype=np.int64),
        documents=qrels.documents.take(order),
        values=qrels.values[order],
        labels={"line": np.asarray(qrels.labels["line"])[order]} if "line" in qrels.labels else {},
        source=qrels.source,
    )
    return table, places


# Kind of judgments by format of -R.
FORMATS: Final[dict[str, Judgments]] = {
    "qrels": "qrels",
    "qrels_jg": "qrels_jg",
    "prefs": "prefs",
    "qrels_prefs": "prefs",
}
MISSING_ZSCORE: Final = -1000000.0


@dataclass(frozen=True)
class Settings:
    """The settings of trec_eval.

    Attributes:
        complete: Whether judged topics that are missing from the run count (-c).
        level: Lowest relevant grade (-l).
        judged_only: Whether to remove unjudged documents from the ranking (-J).
        depth: Maximum number of documents per topic (-M); None for all.
        documents: Number of documents in the collection (-N).
    """

    complete: bool = False
    level: int = 1
    judged_only: bool = False
    depth: int | None = None
    documents: int = 0


@dataclass(frozen=True)
class Topic:
    """A topic with its indices in the judgments and in the run."""

    name: str
    judged: int
    ranked: int | None


class _Job(NamedTuple):
    """The input of the scorers besides the run."""

    columns: Sequence[Column]
    judgments: QueryTable
    settings: Settings
    topics: Sequence[Topic]


def read_judgments(path: PathLike, format_: str) -> QueryTable:
    """Read judgments in a format of -R; like trec_eval, truncate grades to integers."""
    table = read_preferences(path) if format_ == "prefs" else read_table(path, "qrels")
    if not len(table.queries):
        raise DataError(f"{table.source}: holds no judgments")
    for query in table.queries.to_bytes_list():
        _check_utf8(query, table.source)
    if FORMATS[format_] == "prefs":
        return table
    return QueryTable(
        queries=table.queries,
        offsets=table.offsets,
        documents=table.documents,
        values=np.trunc(table.values) + 0.0,  # no -0.0
        labels=table.labels,
        source=table.source,
    )


def _check_utf8(query: bytes, source: str) -> None:
    try:
        query.decode()
    except UnicodeDecodeError:
        raise DataError(f"{source}: the query id {query!r} is not UTF-8") from None


def score_run(
    columns: Sequence[Column],
    judgments: QueryTable,
    format_: str,
    run: Run | PathLike,
    settings: Settings,
    zscores: ZScores | None = None,
) -> Report:
    """Compute the columns for all scored topics.

    The run may be a path, which is scored without loading the run, unless `needs_table` is true.
    """
    holds = FORMATS[format_]
    for column in columns:
        if column.row.judgments not in {"any", holds}:
            raise MetricError(
                f"{column.row.name} needs judgments of the format {column.row.judgments}, "
                f"found -R {format_}"
            )
    if isinstance(run, Run):
        name = run.name
        topics = _find_topics(judgments, run.table, complete=settings.complete)
        values = _SCORERS[holds](_Job(columns, judgments, settings, topics), run)
    else:
        scores = _evaluate(columns, judgments, run, settings)
        name = scores.run_name
        topics = _scored_topics(scores, judgments)
        values = _collect_values(_Job(columns, judgments, settings, topics), scores)
    for place, column in enumerate(columns):
        if zscores is not None and column.row.summary not in {"text", "none"}:
            values[place] = _standardize(column.name, topics, values[place], zscores)
    names = [topic.name for topic in topics]
    # With -c trec_eval counts every judgment above 0 here and ignores -l.
    totals = {"num_rel": float(np.sum(judgments.values > 0))} if settings.complete else {}
    return Report(columns, names, values, name, totals, standardised=zscores is not None)


def _find_topics(judgments: QueryTable, run: QueryTable, *, complete: bool) -> list[Topic]:
    places = {query: place for place, query in enumerate(run.queries.to_bytes_list())}
    ids = judgments.queries.to_bytes_list()
    found = [
        Topic(ids[place].decode(), place, places.get(ids[place]))
        for place in sorted(range(len(ids)), key=ids.__getitem__)
    ]
    return [topic for topic in found if complete or topic.ranked is not None]


def _scored_topics(scores: Scores, judgments: QueryTable) -> list[Topic]:
    """Return the scored topics; -1 is the unknown index of topics in the run."""
    places = {query: place for place, query in enumerate(judgments.queries)}
    return [
        Topic(query, places[query], None if outcome == "missing" else -1)
        for query, outcome in zip(scores.queries, scores.outcomes, strict=True)
    ]


def needs_table(columns: Sequence[Column], format_: str) -> bool:
    """Whether scoring needs the whole run in memory."""
    names = {column.row.name for column in columns}
    return FORMATS[format_] != "qrels" or "relstring" in names


def _build_metric(column: Column, settings: Settings) -> Metric:
    """Build the catalogue's metric of a column."""
    definition = definitions()[column.row.canonical]
    known = {parameter.name for parameter in definition.parameters}
    chosen = column.parameters
    if column.row.level and "rel" in known:
        chosen["rel"] = settings.level
    if settings.judged_only and "judged_only" in known:
        chosen["judged_only"] = True
    if settings.documents and "docs" in known:
        chosen["docs"] = settings.documents
    return definition(**chosen)


def _score_grades(job: _Job, run: Run) -> list[Values]:
    rule = RankingRule(depth=job.settings.depth)
    scores = _evaluate(job.columns, job.judgments, run, job.settings)
    values = _collect_values(job, scores)
    for place, column in enumerate(job.columns):
        if column.row.name == "relstring":
            rank = partial(_judge_topic, job.judgments, run.table, rule, job.settings)
            values[place] = [
                _format_relstring(rank(topic), int(column.values[0])) for topic in job.topics
            ]
    return values


def _evaluate(
    columns: Sequence[Column], judgments: QueryTable, run: Run | PathLike, settings: Settings
) -> Scores:
    """Evaluate the metrics of the columns."""
    metrics = [_build_metric(column, settings) for column in columns if column.row.canonical]
    rule = RankingRule(depth=settings.depth)
    conventions = Conventions(rule, every_judged_query=settings.complete)
    return evaluate(Qrels(judgments), run, metrics, profile=conventions)


def _collect_values(job: _Job, scores: Scores) -> list[Values]:
    """Return the values by column and topic, with the zeros and logarithms of trec_eval."""
    values: list[Values] = []
    for column in job.columns:
        if not column.row.canonical:
            values.append([1.0] * len(job.topics))
            continue
        row = scores.values[scores.row_of(str(_build_metric(column, job.settings)))].tolist()
        for place, topic in enumerate(job.topics):
            if _is_zero(column, topic, job.judgments, job.settings.level):
                row[place] = 0.0
        logarithms = column.row.summary == "geometric mean"
        values.append([math.log(value) for value in row] if logarithms else row)
    return values


def _is_zero(column: Column, topic: Topic, judgments: QueryTable, level: int) -> bool:
    """Whether trec_eval gives 0 regardless of the formula."""
    if column.row.zero_if_missing and topic.ranked is None:
        return True
    if not column.row.zero_if_none:
        return False
    rows = slice(judgments.offsets[topic.judged], judgments.offsets[topic.judged + 1])
    return not np.any(judgments.values[rows] >= level)


def _judge_topic(
    judgments: QueryTable, run: QueryTable, rule: RankingRule, settings: Settings, topic: Topic
) -> JudgedRanking:
    judged = judge_documents(judgments, topic.judged, run, topic.ranked, rule)
    return judged.condensed() if settings.judged_only else judged


def _format_relstring(judged: JudgedRanking, length: int) -> str:
    """Format the top grades: a digit, `>` above 9, `-` without judgment, `.` if only pooled."""
    shown = ["-"] * max(0, min(length, judged.retrieved))
    for hit in judged.hits:
        if hit.rank <= len(shown):
            digit = str(int(hit.grade)) if hit.grade >= 0 else "."
            shown[hit.rank - 1] = digit if len(digit) == 1 else ">"
    return "".join(shown)


def _score_groups(job: _Job, run: Run) -> list[Values]:
    rule = RankingRule(depth=job.settings.depth)
    groups, places = split_groups(job.judgments)
    rankings = [
        [
            judge_documents(groups, place, run.table, topic.ranked, rule)
            for place in places[topic.judged]
        ]
        for topic in job.topics
    ]
    values: list[Values] = []
    for column in job.columns:
        if not column.row.canonical:
            values.append([1.0] * len(job.topics))
            continue
        metric = _build_metric(column, job.settings)
        values.append([average_over_groups(metric, ranking) for ranking in rankings])
    return values


def _standardize(
    name: str, topics: Sequence[Topic], values: Values, zscores: ZScores
) -> list[float]:
    """Convert values to z-scores."""
    found = []
    for topic, value in zip(topics, map(float, values), strict=True):
        mean, deviation = zscores.get(topic.name, {}).get(name, (math.nan, 0.0))
        if deviation:
            found.append((value - mean) / deviation)
        else:
            found.append(0.0 if value == mean else MISSING_ZSCORE)
    return found


_SCORERS: Final = {"qrels": _score_grades, "qrels_jg": _score_groups, "prefs": _score_preferences}
