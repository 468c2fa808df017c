"""Two CSV files for every provider on every benchmark: means by query type, and every hit."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Final

from berryeval._internal import numbers
from berryeval._internal.text import safe_name
from berryeval.errors import DataError
from berryeval.reports.differences import finding
from berryeval.reports.files import Exporter, OutputFile
from berryeval.runs import STANDARD, standard_of
from berryeval.scoring import UNSPECIFIED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from berryeval.reports.differences import ComparedBenchmark
    from berryeval.reports.report import Report, Section, System
    from berryeval.runs import AnswerRecord
    from berryeval.scoring import Scores
    from berryeval.stats import PairedDifference


# A comparison as CSV: a row per metric, pair and group, in full precision.

COMPARISON: Final = (
    "benchmark", "group", "metric", "baseline", "system", "queries", "baseline_value",
    "system_value", "difference", "ci_low", "ci_high", "p", "p_corrected", "effect_size",
    "effect", "wins", "ties", "losses", "finding", "cannot",
)  # fmt: skip


def comparison_rows(
    comparisons: Sequence[ComparedBenchmark], defused: Callable[[str], str]
) -> Iterator[Sequence[str]]:
    """The rows, titles first; the group of all queries has no name."""
    yield COMPARISON
    for one in comparisons:
        groups = {"": one.comparison, **one.comparison.groups}
        for label, found in groups.items():
            for row in found.rows:
                names = (one.benchmark, label, row.metric, row.baseline, row.system)
                yield [*map(defused, names), *_numbers(row), finding(row), row.cannot]


def _numbers(row: PairedDifference) -> Iterator[str]:
    low, high = row.interval or (None, None)
    effect = row.effect
    for value in (
        row.n, row.baseline_value if row.n else None, row.system_value if row.n else None,
        row.difference if row.n else None, low, high, row.p, row.p_corrected,
        effect.g if effect else None, effect.word if effect else None,
        row.wins, row.ties, row.losses,
    ):  # fmt: skip
        yield "" if value is None else str(value)


GLOBAL: Final = "GLOBAL"
AGGREGATE: Final = ("query_type", "count", *STANDARD)
_OF_A_QUERY: Final = ("recall_at_10", "mrr", "ndcg_at_10")
DETAILED: Final = (
    "query", "query_type", "chunk_id", "score", "rank", "relevance_grade", *_OF_A_QUERY,
)  # fmt: skip
# What a spreadsheet takes for a formula, in both widths, also behind blanks; an apostrophe before
# it is counted too, so that one more can be told from one that was there.
_FORMULA: Final = re.compile(r"'*(?:[\t\r\n]|[\s\x00-\x1f\ufeff]*[=+\-@＝＋－＠])")  # noqa: RUF001 - wide forms count
_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d):(\d\d)")


def defused(text: str) -> str:
    """A text that no spreadsheet runs as a formula: with an apostrophe before what could be one.

    >>> defused("=1+1"), defused("plain"), defused("'=1+1")
    ("'=1+1", 'plain', "''=1+1")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def files(report: Report, label: str) -> list[OutputFile]:
    """The pair of every system that has scores."""
    scored = [(section, system) for section in report.sections for system in section.scored]
    if not scored:
        msg = f"{report.title}: no provider has scores, so there is nothing to write as CSV"
        raise DataError(msg)
    made: list[OutputFile] = []
    if report.compared:
        text = csv_text(comparison_rows(report.compared, defused))
        stamp = _stamp(report.runs[-1].created)
        made.append(OutputFile(f"eval-comparison-{stamp}.csv", text, "comparison"))
    for (section, system), (stamp, name) in zip(scored, _labels(scored, label), strict=True):
        part = f"-{name}" if len(scored) > 1 else ""
        part = f"-{stamp}{part}" if len(report.runs) > 1 else part
        for what, rows in (("aggregate", _aggregate), ("detailed", _detailed)):
            text = csv_text(rows(section, system))
            made.append(OutputFile(f"eval-{what}-{stamp}-{name}.csv", text, f"{what}{part}"))
    return made


CSV: Final = Exporter(
    "a pair of CSV files per provider: means by query type, and every hit",
    (".csv",),
    files,
    home="eval folder",
)


def _labels(scored: Sequence[tuple[Section, System]], label: str) -> Iterator[tuple[str, str]]:
    """The time and the name of each pair: no two are the same, also without regard to case."""
    seen: set[tuple[str, str]] = set()
    for section, system in scored:
        own = f"{section.name}-{system.record.name}"
        whole = own if not label else label if len(scored) == 1 else f"{label}-{own}"
        stamp, first = _stamp(system.run.created), safe_name(whole)
        name, number = first, 1
        while (stamp, name.lower()) in seen:
            number += 1
            name = f"{first}-{number}"
        seen.add((stamp, name.lower()))
        yield stamp, name


def _stamp(created: str) -> str:
    """When the run was started, in the local time of its place, as a part of a file's name."""
    found = _TIME.match(created)
    return "{}T{}-{}-{}".format(*found.groups()) if found else safe_name(created)


def _aggregate(section: Section, system: System) -> Iterator[Sequence[str]]:
    yield AGGREGATE
    standard = _standard(system)
    there = standard_of(system.benchmark.k)
    for name, scores in standard.by(section.groups("category")).items():
        yield _means(_query_type(name), scores, there)
    yield _means(GLOBAL, standard, there)


def _query_type(name: str) -> str:
    """A type as both files have it; one called GLOBAL is not taken for the row of all queries."""
    return f"{name} (query type)" if name == GLOBAL else defused(name)


def _standard(system: System) -> Scores:
    if system.standard is None:
        msg = f"{system.label}: the run has scores but not the standard metrics; run it again"
        raise DataError(msg)
    return system.standard


def _means(name: str, scores: Scores, there: Sequence[str]) -> list[str]:
    """A row; what looks deeper than the hits that were asked for has no value."""
    means = (
        numbers.exact_metric(scores.mean[metric]) if metric in there else "" for metric in STANDARD
    )
    return [name, str(scores.count), *means]


def _detailed(section: Section, system: System) -> Iterator[Sequence[str]]:
    yield DETAILED
    standard = _standard(system)
    there = standard_of(system.benchmark.k)
    of_query = [standard.per_query(one) if one in there else {} for one in _OF_A_QUERY]
    texts = {query.id: query.text or query.id for query in section.queries}
    kinds = section.groups("category")
    for answer in system.record.answers:
        query = answer.query_id
        values = [
            numbers.exact_metric(found[query]) if query in found else "" for found in of_query
        ]
        start = [defused(texts.get(query, query)), _query_type(kinds.get(query, UNSPECIFIED))]
        for place, hit in enumerate(_hits(answer)):
            yield [*start, *hit, *(values if place == 0 else ("",) * len(values))]


def _hits(answer: AnswerRecord) -> Iterator[list[str]]:
    """The cells of each hit; a query without any has one row, too."""
    for place, hit in enumerate(answer.hits):
        grade = "" if hit.grade is None else numbers.grade(hit.grade)
        yield [defused(hit.id), numbers.score(hit.score), str(place + 1), grade]
    if not answer.hits:
        yield [""] * 4


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows as CSV."""
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(rows)  # as RFC 4180: CRLF, quotes where needed
    return stream.getvalue()  # no byte order mark: to most programs it were a part of the header
