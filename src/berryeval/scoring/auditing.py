"""`audit`: report everything in judgments and a run that makes their scores doubtful."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from berryeval._internal.aggregates import aggregate
from berryeval._internal.files import PathLike, display_name
from berryeval._internal.notebook import build_frame
from berryeval._internal.text import pluralize, truncate
from berryeval.data import (
    FaultyLine,
    JudgedRanking,
    Qrels,
    QueryTable,
    RawRow,
    Run,
    StringColumn,
    judge_all,
    load_table,
    read_raw_rows,
)
from berryeval.metrics import Conventions, Metric, find_profile, parse_metrics
from berryeval.scoring.engine import value_of
from berryeval.scoring.ties import (
    Span,
    TieEffect,
    TieGroup,
    TieRange,
    compute_effect,
    find_ties,
    require_ranking,
)

if TYPE_CHECKING:
    from berryeval._internal.notebook import FrameLibrary
    from berryeval.data import Kind

SHOWN: Final = 5


@dataclass(frozen=True)
class Fault:
    """A row or line that is excluded from scoring.

    Attributes:
        kind: Kind of fault.
        source: File with the fault: run or judgments.
        line: Line number; 0 without a file.
        query: Query of the row.
        document: Document of the row.
        text: The line itself if it could not be parsed.
    """

    kind: Literal["faulty line", "repeated document", "NaN"]
    source: Literal["run", "qrels"]
    line: int
    query: str = ""
    document: str = ""
    text: str = ""

    def __str__(self) -> str:
        where = f"{self.source}{f' line {self.line}' if self.line else ''}"
        return f"{where}: " + (repr(self.text) if self.text else f"{self.document} of {self.query}")


@dataclass(frozen=True)
class RankConflict:
    """A contradiction between the rank column of a query and its scores.

    Attributes:
        query: Query of the rows.
        count: Number of adjacent pairs in which the lower-ranked document has the higher score.
        upper: Document, rank and score of the higher-ranked document of the first such pair.
        lower: Document, rank and score of the lower-ranked one.
    """

    query: str
    count: int
    upper: tuple[str, int, float]
    lower: tuple[str, int, float]

    def __str__(self) -> str:
        (above, rank, score), (below, next_rank, next_score) = self.upper, self.lower
        return (
            f"{self.query} x{self.count} ({above} at rank {rank} scores {score:g}, "
            f"{below} at rank {next_rank} scores {next_score:g})"
        )


class Finding(NamedTuple):
    """One finding: its text, and the query and document it is about."""

    text: str
    query: str = ""
    document: str = ""


@dataclass(frozen=True, repr=False)
class AuditReport:
    """Findings that make a score doubtful.

    Attributes:
        run: Name of the run.
        k: Cutoff of the audit.
        queries: Number of judged queries.
        faults: Faulty lines, repeated documents and NaN, excluded from all other findings.
        missing_queries: Judged queries that are not in the run.
        empty_queries: Queries of the run without documents.
        extra_queries: Queries of the run without judgments.
        without_relevant: Judged queries without a relevant document.
        unjudged: Number of unjudged documents in the top k, for every query that has any.
        top: Number of documents in the top k of all judged queries.
        rank_conflicts: Queries whose rank column contradicts the scores.
        ties: Ties that begin in the top k.
        tie_effects: Range of each metric for each query that ties could change.
        tie_ranges: Range of the aggregate of each metric.
    """

    run: str
    k: int
    queries: int
    faults: Sequence[Fault]
    missing_queries: Sequence[str]
    empty_queries: Sequence[str]
    extra_queries: Sequence[str]
    without_relevant: Sequence[str]
    unjudged: Mapping[str, int]
    top: int
    rank_conflicts: Sequence[RankConflict]
    ties: Sequence[TieGroup]
    tie_effects: Sequence[TieEffect]
    tie_ranges: Mapping[str, TieRange]

    @property
    def clean(self) -> bool:
        """Whether there is nothing to report."""
        return not any(finding for _, finding in self._findings())

    def to_dict(self) -> dict[str, Any]:
        """Return the report for JSON; an infinite score is the text "inf" or "-inf"."""
        return {**_json_safe(asdict(self)), "clean": self.clean}

    def text(self) -> str:
        """Format the report with a line per kind of finding."""
        queries = pluralize(self.queries, "judged query")
        lines = [f"audit of {self.run}: {queries}, top {self.k}"]
        lines += [f"  {title}: {_listed(found)}" for title, found in self._findings() if found]
        if self.clean:
            lines.append("  nothing to report")
        lines += [f"  {name} {found}" for name, found in self.tie_ranges.items()]
        return "\n".join(lines)

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a data frame with a row per finding: its kind, query, document and text.

        `library` is "pandas" or "polars"; by default pandas, or polars without pandas.
        """
        rows = [(kind, one) for kind, found in self._findings() for one in found]
        columns = {
            "finding": [kind for kind, _ in rows],
            "query": [one.query for _, one in rows],
            "document": [one.document for _, one in rows],
            "text": [one.text for _, one in rows],
        }
        return build_frame(columns, library)

    def __repr__(self) -> str:
        found = [f"{kind}: {len(found):,}" for kind, found in self._findings() if found]
        queries = pluralize(self.queries, "judged query")
        parts = [repr(truncate(self.run)), queries, *(found or ["nothing to report"])]
        return f"AuditReport({', '.join(parts)})"

    def _repr_html_(self) -> str:
        from berryeval.scoring.score_preview import preview_audit

        return preview_audit(self, self._findings())

    def _findings(self) -> list[tuple[str, list[Finding]]]:
        """Return the kinds of findings with the findings."""
        faults: dict[str, list[Finding]] = {"faulty line": [], "repeated document": [], "NaN": []}
        for fault in self.faults:
            faults[fault.kind].append(Finding(str(fault), fault.query, fault.document))
        crossing = [Finding(str(tie), tie.query) for tie in self.ties if tie.crosses]
        within = [Finding(str(tie), tie.query) for tie in self.ties if not tie.crosses]
        share = sum(self.unjudged.values()) / self.top if self.top else 0.0
        return [
            ("faulty lines", faults["faulty line"]),
            ("repeated documents", faults["repeated document"]),
            ("NaN instead of a number", faults["NaN"]),
            ("judged queries missing from the run", _of_queries(self.missing_queries)),
            ("queries with an empty ranking", _of_queries(self.empty_queries)),
            ("queries of the run without judgments", _of_queries(self.extra_queries)),
            ("judged queries without relevant documents", _of_queries(self.without_relevant)),
            (
                f"queries with unjudged documents in the top {self.k} ({share:.1%} of the top)",
                [Finding(f"{query} ({count})", query) for query, count in self.unjudged.items()],
            ),
            (
                "queries whose rank column contradicts the scores",
                [Finding(str(one), one.query) for one in self.rank_conflicts],
            ),
            (f"ties across rank {self.k}", crossing),
            (f"ties within the top {self.k}", within),
        ]


def _of_queries(queries: Sequence[str]) -> list[Finding]:
    return [Finding(query, query) for query in queries]


def _json_safe(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _json_safe(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_json_safe(member) for member in value]
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def _listed(found: list[Finding]) -> str:
    more = f", and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f"{len(found)}: {', '.join(one.text for one in found[:SHOWN])}{more}"


@dataclass
class Loaded:
    """A source of judgments or of a run, with its faults.

    Attributes:
        table: Valid rows; the first of a repeated document, the highest grade of a document in
            several groups of judgments.
        name: Name of the source.
        faults: Lines and rows that are not in the table.
        given: Rows with a rank, by query: rank, score, document.
    """

    table: QueryTable
    name: str
    faults: list[Fault] = field(default_factory=list)
    given: dict[str, list[tuple[int, float, str]]] = field(default_factory=dict)


def load_leniently(
    source: Run | Qrels | Mapping[str, Mapping[str, float]] | PathLike, kind: Kind
) -> Loaded:
    """Read judgments or a run and collect all faults."""
    if isinstance(source, Run | Qrels):
        name = source.name if isinstance(source, Run) else source.table.source or kind
        return _separate_faults(_table_rows(source.table), kind, name, list(source.table.queries))
    if isinstance(source, Mapping):
        pairs = [(query, row) for query, row in source.items() if isinstance(row, Mapping)]
        rows = (RawRow(query, *pair) for query, row in pairs for pair in row.items())
        return _separate_faults(rows, kind, kind, list(source))
    raw = read_raw_rows(source, kind)
    if raw is not None:
        return _separate_faults(raw, kind, display_name(source), [])
    table = load_table(source, kind, {}, lenient=True)
    found = _separate_faults(_table_rows(table), kind, display_name(source), list(table.queries))
    if table.dropped:
        left_out = f"{table.dropped} rows, repeated or without a number"
        found.faults.insert(0, Fault("faulty line", kind, 0, text=left_out))
    return found


def _table_rows(table: QueryTable) -> Iterator[RawRow]:
    lines: Any = table.labels.get("line", [0] * len(table.values))
    groups = table.labels.get("group")
    for place, query in enumerate(table.queries):
        start, end = int(table.offsets[place]), int(table.offsets[place + 1])
        for row in range(start, end):
            value = float(table.values[row])
            group = groups[row] if isinstance(groups, StringColumn) else ""
            yield RawRow(query, table.documents[row], value, int(lines[row]), group=group)


def _separate_faults(
    rows: Iterable[RawRow | FaultyLine], kind: Kind, name: str, queries: list[str]
) -> Loaded:
    sound: dict[str, dict[str, float]] = {query: {} for query in queries}
    faults: list[Fault] = []
    seen: set[tuple[str, str, str]] = set()
    given: dict[str, list[tuple[int, float, str]]] = {}
    for row in rows:
        if isinstance(row, FaultyLine):
            faults.append(Fault("faulty line", kind, row.line, text=row.text))
            continue
        documents = sound.setdefault(row.query, {})
        key = (row.query, row.document, row.group)
        if key in seen:
            faults.append(Fault("repeated document", kind, row.line, row.query, row.document))
        elif isinstance(row.value, float) and math.isnan(row.value):
            faults.append(Fault("NaN", kind, row.line, row.query, row.document))
        elif kind == "qrels" and math.isinf(row.value):
            faults.append(Fault("faulty line", kind, row.line, row.query, row.document))
        else:
            seen.add(key)
            documents[row.document] = max(row.value, documents.get(row.document, row.value))
            if row.rank is not None:
                given.setdefault(row.query, []).append((row.rank, row.value, row.document))
    return Loaded(QueryTable.from_dict(sound, kind=kind, source=name), name, faults, given)


def audit(
    qrels: Qrels | Mapping[str, Mapping[str, float]] | PathLike,
    run: Run | Mapping[str, Mapping[str, float]] | PathLike,
    metrics: Iterable[str | Metric] = ("nDCG@10",),
    k: int = 10,
    *,
    profile: str | Conventions = "berryeval",
    seed: int = 0,
) -> AuditReport:
    """Report everything that makes the scores of a run doubtful; faults do not stop the audit.

    Only files have faulty lines, and only TREC files have a rank column. `TieEffect` describes how
    the range of a metric under ties is found.

    Args:
        qrels: `Qrels`, a dict `{query: {document: grade}}`, or the path of a file.
        run: `Run`, a dict `{query: {document: score}}`, or the path of a file.
        metrics: Metrics whose range under ties is reported.
        k: Cutoff of the audit.
        profile: Conventions to follow.
        seed: Random seed of the sampled orders of ties.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, found {k}")
    conventions = find_profile(profile)
    names = [metrics] if isinstance(metrics, str | Metric) else metrics
    parsed = parse_metrics(map(conventions.respell, names))
    wanted = [require_ranking(conventions.apply_to(metric)) for metric in parsed]
    judgments, results = load_leniently(qrels, "qrels"), load_leniently(run, "run")
    queries = [
        _JudgedQuery(
            query,
            judged,
            [] if match is None else find_ties(results.table, match, conventions.rule),
            match is not None,
        )
        for query, match, judged in judge_all(judgments.table, results.table, conventions.rule)
    ]
    effects = [
        compute_effect(one.judged, one.spans, metric, one.query, seed)
        for one in queries
        for metric in wanted
        if any(span.matters(one.judged) for span in one.spans)
    ]
    return AuditReport(
        run=results.name,
        k=k,
        queries=len(judgments.table.queries),
        faults=(*judgments.faults, *results.faults),
        missing_queries=tuple(one.query for one in queries if not one.in_run),
        empty_queries=tuple(
            one.query for one in queries if one.in_run and not one.judged.retrieved
        ),
        extra_queries=tuple(
            sorted(set(results.table.queries) - set(judgments.table.queries), key=str.encode)
        ),
        without_relevant=tuple(one.query for one in queries if not one.judged.relevant_total(1)),
        unjudged={one.query: holes for one in queries if (holes := one.unjudged(k))},
        top=sum(min(k, one.judged.retrieved) for one in queries),
        rank_conflicts=tuple(_rank_conflicts(results)),
        ties=tuple(tie for one in queries for tie in one.ties(k)),
        tie_effects=tuple(effect for effect in effects if effect.worst < effect.best),
        tie_ranges=_ranges(queries, wanted, effects, conventions),
    )


@dataclass(frozen=True)
class _JudgedQuery:
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


def _rank_conflicts(results: Loaded) -> list[RankConflict]:
    """Find queries in which the lower-ranked of two adjacent documents has the higher score."""
    conflicts = []
    for query in sorted(results.given, key=str.encode):
        rows = sorted(results.given[query], key=lambda row: row[0])
        wrong = [
            (upper, lower)
            for upper, lower in itertools.pairwise(rows)
            if upper[0] < lower[0] and upper[1] < lower[1]
        ]
        if wrong:
            upper, lower = ((document, rank, score) for rank, score, document in wrong[0])
            conflicts.append(RankConflict(query, len(wrong), upper, lower))
    return conflicts


def _ranges(
    queries: list[_JudgedQuery],
    metrics: list[Metric],
    effects: list[TieEffect],
    conventions: Conventions,
) -> dict[str, TieRange]:
    """Return the range of each aggregate; queries whose ties do not matter keep their value."""
    found = {(effect.query, effect.metric): effect for effect in effects}
    ranges = {}
    for metric in metrics:
        rows = []
        exact = True
        for one in queries:
            if not (one.in_run or conventions.every_judged_query):
                continue
            effect = found.get((one.query, str(metric)))
            if effect is None:
                rows.append((value_of(metric, one.judged, one.query),) * 4)
            else:
                rows.append((effect.value, effect.worst, effect.best, effect.expected))
                exact = exact and effect.exact
        table = np.array(rows, dtype=np.float64).reshape(-1, 4)
        value, worst, best, expected = (aggregate(metric.aggregate, row) for row in table.T)
        ranges[str(metric)] = TieRange(value, worst, best, expected, exact)
    return ranges
