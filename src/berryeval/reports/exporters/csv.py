"""CSV: means by query type and every hit, two files per provider and benchmark.

Comparisons add a file with a row per metric, pair and group.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from berryeval._internal import numbers
from berryeval._internal.text import defuse, make_file_name
from berryeval.data import SECTION_SEPARATOR
from berryeval.errors import DataError
from berryeval.reports.exports import Exporter, OutputFile, unique_name
from berryeval.reports.tables import build_differences_table
from berryeval.runner import NO_ANSWER
from berryeval.runs import STANDARD, standard_metrics
from berryeval.scoring import UNSPECIFIED

if TYPE_CHECKING:
    from berryeval.reports.differences import ComparedBenchmark
    from berryeval.reports.sections import Report, Section, System
    from berryeval.runs import AnswerRecord
    from berryeval.scoring import Scores


GLOBAL: Final = "GLOBAL"
TYPES: Final = ("FACTUAL", "CONCEPTUAL", "CODE_LOOKUP", "TROUBLESHOOTING")  # of golden sets
AGGREGATE: Final = ("query_type", "count", *STANDARD)
_QUERY_METRICS: Final = ("recall_at_10", "mrr", "ndcg_at_10")
DETAILED: Final = (
    "query", "query_type", "chunk_id", "score", "rank", "relevance_grade", *_QUERY_METRICS,
    "judged", "query_id", "doc_id",
)  # fmt: skip
COMPARISON: Final = (
    "benchmark", "group", "metric", "baseline", "system", "queries", "baseline_value",
    "system_value", "difference", "ci_low", "ci_high", "p", "p_corrected", "effect_size",
    "effect", "wins", "ties", "losses", "finding", "cannot",
)  # fmt: skip
_TEXTS: Final = frozenset({"benchmark", "group", "metric", "baseline", "system"})  # from users
_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d):(\d\d)")


def format_csv(rows: Iterable[Sequence[str]]) -> str:
    """Format rows as CSV by RFC 4180, without a byte order mark, which few programs expect."""
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(rows)
    return stream.getvalue()


def build_files(report: Report, label: str) -> list[OutputFile]:
    """Build the two files of every system with scores, and one for comparisons."""
    scored = [(section, system) for section in report.sections for system in section.scored]
    if not scored:
        raise DataError(
            f"{report.title}: no provider has scores, so there is nothing to write as CSV"
        )
    found: list[OutputFile] = []
    if report.compared:
        text = format_csv(_comparison_rows(report.compared))
        stamp = _stamp(report.runs[-1].created)
        found.append(OutputFile(f"eval-comparison-{stamp}.csv", text, "comparison"))
    for (section, system), (stamp, name) in zip(scored, _labels(scored, label), strict=True):
        part = f"-{name}" if len(scored) > 1 else ""
        part = f"-{stamp}{part}" if len(report.runs) > 1 else part
        for kind, rows in (("aggregate", _aggregate_rows), ("detailed", _detailed_rows)):
            text = format_csv(rows(section, system))
            found.append(OutputFile(f"eval-{kind}-{stamp}-{name}.csv", text, f"{kind}{part}"))
    return found


CSV: Final = Exporter(
    "two CSV files per provider: means by query type, and every hit",
    (".csv",),
    build_files,
    home="eval folder",
)


def _labels(scored: Sequence[tuple[Section, System]], label: str) -> Iterator[tuple[str, str]]:
    """Yield the time and name of each pair of files, unique even if case is ignored."""
    taken: dict[str, set[str]] = {}
    for section, system in scored:
        own = f"{section.name}-{system.record.name}"
        whole = own if not label else label if len(scored) == 1 else f"{label}-{own}"
        stamp = _stamp(system.run.created)
        yield stamp, unique_name(whole, taken.setdefault(stamp, set()))


def _stamp(created: str) -> str:
    """Format the start of a run, in its local time, for a file name."""
    found = _TIME.match(created)
    return "{}T{}-{}-{}".format(*found.groups()) if found else make_file_name(created[:40])


def _comparison_rows(comparisons: Iterable[ComparedBenchmark]) -> Iterator[Sequence[str]]:
    yield COMPARISON
    for one in comparisons:
        groups = {"": one.comparison, **one.comparison.groups}
        rows = [(label, row) for label, found in groups.items() for row in found.rows]
        table = build_differences_table(
            rows, level=one.comparison.level, benchmark=one.benchmark
        ).select(COMPARISON)
        for cells in table.rows:
            texts = ["" if cell.value is None else str(cell.value) for cell in cells]
            yield [
                defuse(text) if key in _TEXTS else text
                for key, text in zip(COMPARISON, texts, strict=True)
            ]


def _aggregate_rows(section: Section, system: System) -> Iterator[Sequence[str]]:
    costs = _Costs(system)
    yield [*AGGREGATE, *costs.titles]
    standard = _standard_scores(system)
    defined = standard_metrics(system.benchmark.k)
    groups = standard.by(section.groups("category"))
    for name in _order_types(groups):
        scores = groups.get(name)
        means = _mean_row(_query_type(name), scores, defined)
        yield [*means, *costs.means(scores.queries if scores else ())]
    yield [*_mean_row(GLOBAL, standard, defined), *costs.means(standard.queries)]


class _Costs:
    """The costs that a provider reports, in columns after the others; none without costs."""

    def __init__(self, system: System) -> None:
        self._units = list(system.record.cost)
        self._amounts = {
            one.query_id: one.cost for one in system.summaries if one.outcome not in NO_ANSWER
        }
        self.titles = [defuse(f"cost_{unit}") for unit in self._units]

    def means(self, queries: Iterable[str]) -> list[str]:
        """Return the mean costs of the answered ones among these queries."""
        found = [self._amounts[query] for query in queries if query in self._amounts]
        return [
            f"{math.fsum(one.get(unit, 0.0) / len(found) for one in found):.10g}" if found else ""
            for unit in self._units
        ]


def _order_types(found: Iterable[str]) -> list[str]:
    """Return all four types of golden sets in their order if there is one, then the others."""
    names = list(found)
    first = TYPES if set(TYPES) & set(names) else ()
    return [*first, *(name for name in names if name not in first)]


def _query_type(name: str) -> str:
    """Return the cell of a query type; one named GLOBAL differs from the row of all queries."""
    return f"{name} (query type)" if name == GLOBAL else defuse(name)


def _standard_scores(system: System) -> Scores:
    if system.record.standard is None:
        raise DataError(
            f"{system.label}: the run has scores but not the standard metrics; run it again"
        )
    return system.record.standard


def _mean_row(name: str, scores: Scores | None, defined: Sequence[str]) -> list[str]:
    """Format the means, 0 without queries; metrics deeper than the hits requested stay empty."""
    means = (
        numbers.format_exact_metric(scores.mean[metric] if scores else 0.0)
        if metric in defined
        else ""
        for metric in STANDARD
    )
    return [name, str(scores.count if scores else 0), *means]


def _detailed_rows(section: Section, system: System) -> Iterator[Sequence[str]]:
    costs = _Costs(system)
    yield [*DETAILED, *costs.titles]
    standard = _standard_scores(system)
    defined = standard_metrics(system.benchmark.k)
    of_query = [standard.per_query(one) if one in defined else {} for one in _QUERY_METRICS]
    texts = {query.id: query.text or query.id for query in section.queries}
    types = section.groups("category")
    passages = system.benchmark.passages
    documents = [one.name.partition(SECTION_SEPARATOR)[0] for one in passages]
    for answer in system.record.answers:
        query = answer.query_id
        values = [
            numbers.format_exact_metric(found[query]) if query in found else ""
            for found in of_query
        ]
        spent = costs.means([query])
        start = [defuse(texts.get(query, query)), _query_type(types.get(query, UNSPECIFIED))]
        for place, (*hit, judged, document) in enumerate(_hit_cells(answer, documents)):
            metrics = values if place == 0 else [""] * len(values)
            cost = spent if place == 0 else [""] * len(spent)
            yield [*start, *hit, *metrics, judged, defuse(query), document, *cost]


def _hit_cells(answer: AnswerRecord, documents: Sequence[str]) -> Iterator[list[str]]:
    """Yield the cells of each hit; a hit without a judgment has grade 0 and is not judged.

    A query without hits has one empty row.
    """
    for place, hit in enumerate(answer.hits):
        yield [
            defuse(hit.id),
            numbers.format_score(hit.score),
            str(place + 1),
            numbers.format_grade(hit.grade or 0),
            "no" if hit.grade is None else "yes",
            defuse(documents[hit.passage] if hit.passage is not None else ""),
        ]
    if not answer.hits:
        yield [""] * 6
