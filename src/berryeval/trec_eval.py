"""What `berryeval trec-eval` prints: trec_eval's lines, computed by the engine.

Where trec_eval 10 stops (a topic that the run lacks, without `-c`), we do as trec_eval 9 did and
leave the topic out. docs/trec_eval.md lists every difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from berryeval.engine import Conventions, evaluate, judge
from berryeval.errors import DataError, MeasureError
from berryeval.io import trec
from berryeval.io.files import PathLike
from berryeval.io.preferences import read_preferences
from berryeval.io.zscores import ZScores
from berryeval.measures import JudgedRanking, Measure, definitions
from berryeval.measures.judgment_groups import average_over_groups, split_groups
from berryeval.measures.preference_groups import Preference, judge_preferences
from berryeval.measures.preferences import PREFERENCE_MEASURES
from berryeval.measures.trec_names import Column, Judgments
from berryeval.qrels import Qrels
from berryeval.run import RankingRule, Run
from berryeval.tables import QueryTable, StringColumn

__all__ = ["FORMATS", "Report", "Settings", "read_judgments", "score"]

# Which judgments the formats of -R hold.
FORMATS: Final[dict[str, Judgments]] = {
    "qrels": "qrels",
    "qrels_jg": "qrels_jg",
    "prefs": "prefs",
    "qrels_prefs": "prefs",
}
MISSING_ZSCORE: Final = -1000000.0

Values: TypeAlias = list[float] | list[str]


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


@dataclass(frozen=True)
class Report:
    """The values of every column for every topic, ready to be printed.

    Attributes:
        columns: what was computed.
        topics: for which topics.
        values: a value per topic for every column; logarithms for geometric means.
        run_name: the name of the run.
        totals: what stands in the line `all` of some columns instead of the sum.
        standardised: whether the values are z-scores.
    """

    columns: Sequence[Column]
    topics: Sequence[str]
    values: Sequence[Values]
    run_name: str
    totals: Mapping[str, float] = field(default_factory=dict)
    standardised: bool = False

    def topic_lines(self) -> Iterator[str]:
        """The lines of the single topics (-q)."""
        for place, topic in enumerate(self.topics):
            for column, values in zip(self.columns, self.values, strict=True):
                if column.row.per_query:
                    yield self._line(column, topic, values[place])

    def summary_lines(self) -> Iterator[str]:
        """The lines for all topics together."""
        for column, values in zip(self.columns, self.values, strict=True):
            if column.row.summary == "text":
                yield f"{column.name:<22}\tall\t{self.run_name}\n"
            elif column.row.summary != "none":
                total = self.totals.get(column.name)
                if total is None:
                    total = _summary(column.row.summary, [float(value) for value in values])
                yield self._line(column, "all", total)

    def _line(self, column: Column, topic: str, value: float | str) -> str:
        if isinstance(value, str):
            return f"{column.name:<22}\t{topic}\t'{value}'\n"
        if self.standardised:
            return f"Z{column.name:<22}\t{topic}\t{value:6.4f}\n"
        shown = str(int(value)) if column.row.whole else f"{value:6.4f}"
        return f"{column.name:<22}\t{topic}\t{shown}\n"


def _summary(how: str, values: list[float]) -> float:
    """One number of many, added up in the order of the topics; geometric means come as logarithms."""
    total = 0.0
    for value in values:
        total += value
    if how == "count":
        return float(len(values))
    if how == "sum":
        return total
    return math.exp(total / len(values)) if how == "geometric mean" else total / len(values)


def read_judgments(path: PathLike, format_: str) -> QueryTable:
    """Read judgments of a format of -R; grades become whole numbers, as trec_eval reads them."""
    if format_ == "prefs":
        table = read_preferences(path)
    else:
        table = trec.read_table(path, "qrels")
    if not len(table.queries):
        msg = f"{table.source}: holds no judgments"
        raise DataError(msg)
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


def score(
    columns: Sequence[Column],
    judgments: QueryTable,
    format_: str,
    run: Run,
    settings: Settings,
    zscores: ZScores | None = None,
) -> Report:
    """Compute the columns for the topics that count."""
    holds = FORMATS[format_]
    for column in columns:
        if column.row.judgments not in {"any", holds}:
            msg = (
                f"{column.row.name} needs judgments of the format {column.row.judgments}, "
                f"found -R {format_}"
            )
            raise MeasureError(msg)
    topics = _topics(judgments, run.table, complete=settings.complete)
    compute = {"qrels": _by_grades, "qrels_jg": _by_groups, "prefs": _by_preferences}[holds]
    values = compute(columns, judgments, run, settings, topics)
    for place, column in enumerate(columns):
        if zscores is not None and column.row.summary not in {"text", "none"}:
            values[place] = _standardised(column.name, topics, values[place], zscores)
    names = [topic.name for topic in topics]
    # With -c trec_eval counts every judgment above 0 here, whatever -l says.
    totals = {"num_rel": float(np.sum(judgments.values > 0))} if settings.complete else {}
    return Report(columns, names, values, run.name, totals, standardised=zscores is not None)


def _topics(judgments: QueryTable, run: QueryTable, *, complete: bool) -> list[Topic]:
    places = {query: place for place, query in enumerate(run.queries.to_bytes_list())}
    ids = judgments.queries.to_bytes_list()
    found = [
        Topic(ids[place].decode(), place, places.get(ids[place]))
        for place in sorted(range(len(ids)), key=ids.__getitem__)
    ]
    return [topic for topic in found if complete or topic.ranked is not None]


def _measure(column: Column, settings: Settings) -> Measure:
    """The catalogue's measure of a column."""
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
    measures = [_measure(column, settings) for column in columns if column.row.canonical]
    conventions = Conventions(rule, every_judged_query=settings.complete)
    scores = evaluate(Qrels(judgments), run, measures, profile=conventions)
    missing = [place for place, topic in enumerate(topics) if topic.ranked is None]
    remaining = iter(measures)
    values: list[Values] = []
    for column in columns:
        if column.row.name == "relstring":
            rank = partial(_judged, judgments, run.table, rule, settings)
            values.append([_relstring(rank(topic), int(column.values[0])) for topic in topics])
        elif column.row.canonical:
            row = scores.values[scores.row_of(str(next(remaining)))].tolist()
            if column.row.zero_if_missing:
                for place in missing:
                    row[place] = 0.0
            logarithms = column.row.summary == "geometric mean"
            values.append([math.log(value) for value in row] if logarithms else row)
        else:
            values.append([1.0] * len(topics))
    return values


def _judged(
    judgments: QueryTable, run: QueryTable, rule: RankingRule, settings: Settings, topic: Topic
) -> JudgedRanking:
    judged = judge(judgments, topic.judged, run, topic.ranked, rule)
    return judged.condensed() if settings.judged_only else judged


def _relstring(judged: JudgedRanking, length: int) -> str:
    """The grades of the top: a digit, > above 9, - without a judgment, . in the pool but unjudged."""
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
        measure = _measure(column, settings)
        values.append([average_over_groups(measure, ranking) for ranking in rankings])
    return values


def _by_preferences(
    columns: Sequence[Column],
    judgments: QueryTable,
    run: Run,
    settings: Settings,
    topics: Sequence[Topic],
) -> list[Values]:
    # trec_eval breaks ties the other way round here.
    rule = RankingRule(ties="document ascending", depth=settings.depth)
    values: list[list[float]] = [[] for _ in columns]
    for topic in topics:
        ranking = _ranked(run.table, topic.ranked, rule)
        judged = judge_preferences(_preferences(judgments, topic.judged), ranking)
        for place, column in enumerate(columns):
            formula = PREFERENCE_MEASURES.get(column.row.name)
            values[place].append(formula(judged) if formula else 1.0)
    return list(values)


def _ranked(run: QueryTable, query: int | None, rule: RankingRule) -> list[bytes]:
    if query is None:
        return []
    start, end = int(run.offsets[query]), int(run.offsets[query + 1])
    documents = run.documents.to_bytes_list(start, end)
    order = rule.order(documents, run.values[start:end].tolist())
    return [documents[place] for place in order]


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


def _standardised(
    name: str, topics: Sequence[Topic], values: Values, zscores: ZScores
) -> list[float]:
    """Each value as its distance from the usual, in standard deviations."""
    found = []
    for topic, value in zip(topics, values, strict=True):
        number = float(value)
        mean, deviation = zscores.get(topic.name, {}).get(name, (math.nan, 0.0))
        if deviation:
            found.append((number - mean) / deviation)
        else:
            found.append(0.0 if number == mean else MISSING_ZSCORE)
    return found
