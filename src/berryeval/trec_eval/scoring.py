"""Scoring as trec_eval does, by the engine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from berryeval.data import (
    JudgedRanking,
    Qrels,
    QueryTable,
    RankingRule,
    Run,
    StringColumn,
    read_table,
)
from berryeval.errors import DataError, MetricError
from berryeval.metrics import Conventions, Metric, definitions
from berryeval.scoring import evaluate, judge
from berryeval.trec_eval.lines import Report, Values
from berryeval.trec_eval.preferences import (
    PREFERENCE_METRICS,
    Preference,
    judge_preferences,
    read_preferences,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from berryeval._internal.files import PathLike
    from berryeval.scoring import Scores
    from berryeval.trec_eval.lines import ZScores
    from berryeval.trec_eval.names import Column, Judgments


# Scoring by preferences instead of grades.


def by_preferences(
    columns: Sequence[Column],
    judgments: QueryTable,
    run: Run,
    settings: Settings,
    topics: Sequence[Topic],
) -> list[Values]:
    """The values of the columns, a list of a value per topic for each."""
    # trec_eval breaks ties the other way round here.
    rule = RankingRule(ties="document ascending", depth=settings.depth)
    values: list[list[float]] = [[] for _ in columns]
    for topic in topics:
        ranking = [] if topic.ranked is None else rule.ranked(run.table, topic.ranked)
        try:
            judged = judge_preferences(_preferences(judgments, topic.judged), ranking)
        except DataError as error:
            msg = f"{judgments.source}: query {topic.name!r}: {error}"
            raise DataError(msg) from None
        for place, column in enumerate(columns):
            formula = PREFERENCE_METRICS.get(column.row.name)
            values[place].append(formula(judged) if formula else 1.0)
    return list(values)


def _preferences(judgments: QueryTable, query: int) -> Iterator[Preference]:
    start, end = int(judgments.offsets[query]), int(judgments.offsets[query + 1])
    groups = _label(judgments, "group", start, end)
    subgroups = _label(judgments, "subgroup", start, end)
    documents = judgments.documents.to_bytes_list(start, end)
    levels = judgments.values[start:end].tolist()
    return map(Preference, groups, subgroups, documents, levels)


def _label(table: QueryTable, name: str, start: int, end: int) -> list[bytes]:
    """A column of the judgments; one that is not there says the same everywhere."""
    column = table.labels.get(name)
    return (
        column.to_bytes_list(start, end)
        if isinstance(column, StringColumn)
        else [b"0"] * (end - start)
    )


# Judgment groups: several sets of judgments of one query, each scored alone, then averaged.


def average_over_groups(metric: Metric, rankings: Sequence[JudgedRanking]) -> float:
    """The mean of a metric over one ranking joined with each group's judgments; 0.0 of none."""
    total = 0.0
    for judged in rankings:
        total += metric(judged)
    return total / len(rankings) if rankings else 0.0


def split_groups(qrels: QueryTable) -> tuple[QueryTable, list[list[int]]]:
    """The same judgments as a table with one "query" per query and group.

    Also which of its places belong to each query of `qrels`, in the order of the groups' bytes.
    """
    groups = qrels.labels["group"]
    if not isinstance(groups, StringColumn):
        msg = "the column of groups must hold strings"
        raise TypeError(msg)
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


# Which judgments the formats of -R hold.
FORMATS: Final[dict[str, Judgments]] = {
    "qrels": "qrels",
    "qrels_jg": "qrels_jg",
    "prefs": "prefs",
    "qrels_prefs": "prefs",
}
MISSING_ZSCORE: Final = -1000000.0


@dataclass(frozen=True)
class Settings:
    """How to score.

    Attributes:
        complete: whether judged topics that the run lacks count (-c).
        level: from which grade on a document is relevant (-l).
        judged_only: whether to take unjudged documents out of the ranking (-J).
        depth: how many documents of a topic to look at (-M), all if None.
        documents: how many documents the collection holds (-N).
    """

    complete: bool = False
    level: int = 1
    judged_only: bool = False
    depth: int | None = None
    documents: int = 0


@dataclass(frozen=True)
class Topic:
    """A topic to score: its name, and its places in the judgments and in the run."""

    name: str
    judged: int
    ranked: int | None


def read_judgments(path: PathLike, format_: str) -> QueryTable:
    """Read judgments of a format of -R; grades become whole numbers, as trec_eval reads them."""
    table = read_preferences(path) if format_ == "prefs" else read_table(path, "qrels")
    if not len(table.queries):
        msg = f"{table.source}: holds no judgments"
        raise DataError(msg)
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
        msg = f"{source}: the query id {query!r} is not UTF-8"
        raise DataError(msg) from None


def score(
    columns: Sequence[Column],
    judgments: QueryTable,
    format_: str,
    run: Run | PathLike,
    settings: Settings,
    zscores: ZScores | None = None,
) -> Report:
    """Compute the columns for the topics that count.

    The run may be the path of its file, which is then scored without being held in memory, unless
    `needs_table` says that a `Run` is needed.
    """
    holds = FORMATS[format_]
    for column in columns:
        if column.row.judgments not in {"any", holds}:
            msg = (
                f"{column.row.name} needs judgments of the format {column.row.judgments}, "
                f"found -R {format_}"
            )
            raise MetricError(msg)
    if isinstance(run, Run):
        name = run.name
        topics = _topics(judgments, run.table, complete=settings.complete)
        compute = {"qrels": _by_grades, "qrels_jg": _by_groups, "prefs": by_preferences}[holds]
        values = compute(columns, judgments, run, settings, topics)
    else:
        scores = _evaluated(columns, judgments, run, settings)
        name = scores.run_name
        topics = _topics_of(scores, judgments)
        values = _values(columns, scores, judgments, settings, topics)
    for place, column in enumerate(columns):
        if zscores is not None and column.row.summary not in {"text", "none"}:
            values[place] = _standardised(column.name, topics, values[place], zscores)
    names = [topic.name for topic in topics]
    # With -c trec_eval counts every judgment above 0 here, whatever -l says.
    totals = {"num_rel": float(np.sum(judgments.values > 0))} if settings.complete else {}
    return Report(columns, names, values, name, totals, standardised=zscores is not None)


def _topics(judgments: QueryTable, run: QueryTable, *, complete: bool) -> list[Topic]:
    places = {query: place for place, query in enumerate(run.queries.to_bytes_list())}
    ids = judgments.queries.to_bytes_list()
    found = [
        Topic(ids[place].decode(), place, places.get(ids[place]))
        for place in sorted(range(len(ids)), key=ids.__getitem__)
    ]
    return [topic for topic in found if complete or topic.ranked is not None]


def _topics_of(scores: Scores, judgments: QueryTable) -> list[Topic]:
    """The topics that were scored; of those in the run, the place there is not known."""
    places = {query: place for place, query in enumerate(judgments.queries)}
    return [
        Topic(query, places[query], None if outcome == "missing" else -1)
        for query, outcome in zip(scores.queries, scores.outcomes, strict=True)
    ]


def needs_table(columns: Sequence[Column], format_: str) -> bool:
    """Whether the run must be read as a whole before it can be scored."""
    names = {column.row.name for column in columns}
    return FORMATS[format_] != "qrels" or "relstring" in names


def _metric(column: Column, settings: Settings) -> Metric:
    """The catalogue's metric of a column."""
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


def _by_grades(
    columns: Sequence[Column],
    judgments: QueryTable,
    run: Run,
    settings: Settings,
    topics: Sequence[Topic],
) -> list[Values]:
    rule = RankingRule(depth=settings.depth)
    scores = _evaluated(columns, judgments, run, settings)
    values = _values(columns, scores, judgments, settings, topics)
    for place, column in enumerate(columns):
        if column.row.name == "relstring":
            rank = partial(_judged, judgments, run.table, rule, settings)
            values[place] = [_relstring(rank(topic), int(column.values[0])) for topic in topics]
    return values


def _evaluated(
    columns: Sequence[Column], judgments: QueryTable, run: Run | PathLike, settings: Settings
) -> Scores:
    """The metrics of the columns, by the engine."""
    metrics = [_metric(column, settings) for column in columns if column.row.canonical]
    rule = RankingRule(depth=settings.depth)
    conventions = Conventions(rule, every_judged_query=settings.complete)
    return evaluate(Qrels(judgments), run, metrics, profile=conventions)


def _values(
    columns: Sequence[Column],
    scores: Scores,
    judgments: QueryTable,
    settings: Settings,
    topics: Sequence[Topic],
) -> list[Values]:
    """The value of each column and topic, with trec_eval's own zeros and logarithms."""
    values: list[Values] = []
    for column in columns:
        if not column.row.canonical:
            values.append([1.0] * len(topics))
            continue
        row = scores.values[scores.row_of(str(_metric(column, settings)))].tolist()
        for place, topic in enumerate(topics):
            if _is_zero(column, topic, judgments, settings.level):
                row[place] = 0.0
        logarithms = column.row.summary == "geometric mean"
        values.append([math.log(value) for value in row] if logarithms else row)
    return values


def _is_zero(column: Column, topic: Topic, judgments: QueryTable, level: int) -> bool:
    """Whether trec_eval gives 0 whatever the formula says."""
    if column.row.zero_if_missing and topic.ranked is None:
        return True
    if not column.row.zero_if_none:
        return False
    rows = slice(judgments.offsets[topic.judged], judgments.offsets[topic.judged + 1])
    return not np.any(judgments.values[rows] >= level)


def _judged(
    judgments: QueryTable, run: QueryTable, rule: RankingRule, settings: Settings, topic: Topic
) -> JudgedRanking:
    judged = judge(judgments, topic.judged, run, topic.ranked, rule)
    return judged.condensed() if settings.judged_only else judged


def _relstring(judged: JudgedRanking, length: int) -> str:
    """The grades of the top: a digit, `>` above 9, `-` no judgment, `.` only pooled."""
    shown = ["-"] * max(0, min(length, judged.retrieved))
    for hit in judged.hits:
        if hit.rank <= len(shown):
            digit = str(int(hit.grade)) if hit.grade >= 0 else "."
            shown[hit.rank - 1] = digit if len(digit) == 1 else ">"
    return "".join(shown)


def _by_groups(
    columns: Sequence[Column],
    judgments: QueryTable,
    run: Run,
    settings: Settings,
    topics: Sequence[Topic],
) -> list[Values]:
    rule = RankingRule(depth=settings.depth)
    groups, places = split_groups(judgments)
    rankings = [
        [judge(groups, place, run.table, topic.ranked, rule) for place in places[topic.judged]]
        for topic in topics
    ]
    values: list[Values] = []
    for column in columns:
        if not column.row.canonical:
            values.append([1.0] * len(topics))
            continue
        metric = _metric(column, settings)
        values.append([average_over_groups(metric, ranking) for ranking in rankings])
    return values


def _standardised(
    name: str, topics: Sequence[Topic], values: Values, zscores: ZScores
) -> list[float]:
    """Each value as its distance from the usual, in standard deviations."""
    found = []
    for topic, value in zip(topics, map(float, values), strict=True):
        mean, deviation = zscores.get(topic.name, {}).get(name, (math.nan, 0.0))
        if deviation:
            found.append((value - mean) / deviation)
        else:
            found.append(0.0 if value == mean else MISSING_ZSCORE)
    return found
