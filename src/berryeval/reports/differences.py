"""Compared benchmarks: records of what a comparison found, and the words for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, get_args

from berryeval._internal import numbers
from berryeval._internal.serial import JsonRecord, Reader, array_reader, read_strings
from berryeval.stats import Comparison, Finding

if TYPE_CHECKING:
    from berryeval.stats import PairedDifference


Pair = tuple[str, str]  # baseline, system
FINDINGS: Final = get_args(Finding)
MIXED: Final = "mixed: the test and the difference disagree in direction; neither system is better"
_NAMED_HITS: Final = 3  # per query and kind of move


# Records.


@dataclass(frozen=True)
class MovedHit(JsonRecord):
    """A hit whose rank differs between two systems.

    Attributes:
        id: Chunk id as the provider names it; if both systems cut a target differently, the
            baseline's id.
        name: Name for people: document and headings where known.
        grade: Relevance grade; None if not judged.
        before: Rank in the baseline's answer; None if not found.
        after: Rank in the system's answer; None if not found.
    """

    id: str
    name: str
    grade: float | None = None
    before: int | None = None
    after: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True)
class MovedQuery(JsonRecord):
    """A query whose value changed, and the hits that explain the change.

    Attributes:
        query_id: Query id.
        text: Query text.
        metric: Metric that changed.
        baseline: Baseline system.
        system: System compared with the baseline.
        before: Value of the baseline.
        after: Value of the system.
        depth: Number of hits the metric looks at.
        entered: Hits that are new among the first `depth`, most relevant first.
        left: Hits that dropped out of the first `depth`.
        moved: Relevant hits that changed their rank within the first `depth`.
        notes: Other explanations, such as a failed answer.
    """

    readers: ClassVar[Mapping[str, Reader]] = {"tuple[MovedHit, ...]": array_reader(MovedHit)}

    query_id: str
    text: str
    metric: str
    baseline: str
    system: str
    before: float
    after: float
    depth: int
    entered: tuple[MovedHit, ...] = ()
    left: tuple[MovedHit, ...] = ()
    moved: tuple[MovedHit, ...] = ()
    notes: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    @property
    def change(self) -> float:
        """Value of the system minus value of the baseline."""
        return self.after - self.before


def _read_comparison(value: Any, _where: str) -> Comparison:
    return Comparison.from_dict(value)


@dataclass(frozen=True)
class ComparedBenchmark(JsonRecord):
    """Systems compared on one benchmark.

    Attributes:
        benchmark: Benchmark name.
        content_hashes: Hashes of the data; several if the systems ran on different data.
        comparison: Statistical comparison, by group too if groups were requested.
        by: Field the queries are grouped by, such as "category"; empty without groups.
        moved: Queries that changed most by the first metric, for each pair the largest first.
        warnings: Reasons to doubt the comparison.
        data: What changed in the data since the first system, by system; empty if nothing did.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "Comparison": _read_comparison,
        "tuple[MovedQuery, ...]": array_reader(MovedQuery),
        "tuple[str, ...]": read_strings,
    }

    benchmark: str
    content_hashes: tuple[str, ...]
    comparison: Comparison
    by: str = ""
    moved: tuple[MovedQuery, ...] = ()
    warnings: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict, hash=False)
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object, the comparison included."""
        return {**JsonRecord.to_json(self), "comparison": self.comparison.to_dict()}


# Rows of a comparison.


def group_by_pair(found: Comparison) -> dict[Pair, list[PairedDifference]]:
    """Group the rows by pair of systems, in the order of the metrics."""
    pairs: dict[Pair, list[PairedDifference]] = {}
    for row in found.rows:
        pairs.setdefault((row.baseline, row.system), []).append(row)
    return pairs


def first_metric_groups(found: Comparison) -> list[tuple[str, PairedDifference]]:
    """Return the rows of all groups by the first metric, each with the name of its group."""
    return [
        (label, row)
        for label, group in found.groups.items()
        for row in group.rows
        if row.metric == found.metrics[0]
    ]


def displayed_rows(found: Comparison) -> list[PairedDifference]:
    """Return the rows that tables show: all metrics, and the first metric by group."""
    return [*found.rows, *(row for _, row in first_metric_groups(found))]


def rows_by_group(found: Comparison, whole: PairedDifference) -> list[tuple[str, PairedDifference]]:
    """Return the rows of the same pair and metric in each group, with the group's name."""
    return [
        (label, group.row(whole.metric, whole.system, whole.baseline))
        for label, group in found.groups.items()
    ]


def has_mixed(one: ComparedBenchmark) -> bool:
    """Whether a table of the comparison has a mixed row, which `MIXED` explains."""
    return any(row.mixed for row in displayed_rows(one.comparison))


# Words for rows.


def format_heading(found: Comparison) -> str:
    """Return the end of a heading; a benchmark may have several comparisons."""
    return f"comparison against {found.baseline}" if found.baseline else "comparison, all pairs"


def format_interval(row: PairedDifference) -> str:
    """Format the confidence interval of a difference; a dash if unknown."""
    return numbers.NOTHING if row.interval is None else numbers.format_delta_interval(*row.interval)


def summarize_findings(rows: list[PairedDifference]) -> str:
    """Summarize the findings of a pair: "better: AP; not significant: RR"."""
    by_finding: dict[str, list[str]] = {}
    for row in rows:
        by_finding.setdefault(row.finding, []).append(row.metric)
    return "; ".join(
        f"{name}: {', '.join(by_finding[name])}" for name in FINDINGS if name in by_finding
    )


def _name_notes(rows: Sequence[tuple[str, PairedDifference]], known: Sequence[str]) -> list[str]:
    """Return the notes on named rows, each once and with the names, without the known ones."""
    about: dict[str, list[str]] = {}
    for name, row in rows:
        for note in row.notes:
            if note not in known:
                about.setdefault(note, []).append(name)
    return [f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in about.items()]


def collect_notes(rows: Sequence[PairedDifference], known: Sequence[str]) -> list[str]:
    """Return the notes on the rows of one pair, named by metric."""
    return _name_notes([(row.metric, row) for row in rows], known)


def collect_group_notes(
    rows: Sequence[tuple[str, PairedDifference]], known: Sequence[str]
) -> list[str]:
    """Return the notes on groups, those without a test first."""
    untested = [f"{label}: not tested, {row.cannot}" for label, row in rows if row.cannot]
    return [*untested, *_name_notes(rows, known)]


def collect_row_notes(found: Comparison) -> list[str]:
    """Return the notes on all rows of the tables, named by metric, system and group."""
    named = [(_row_name(row, found), row) for row in found.rows]
    named += [
        (f"{_row_name(row, found)} in {label}", row) for label, row in first_metric_groups(found)
    ]
    return _name_notes(named, found.notes)


def _row_name(row: PairedDifference, found: Comparison) -> str:
    against = "" if found.baseline else f" against {row.baseline}"
    several = f" of {row.system}{against}" if len(found.systems) > 2 else ""  # noqa: PLR2004 - a pair
    return f"{row.metric}{several}"


# Words for moved queries.


def explain_change(query: MovedQuery) -> Iterator[str]:
    """Explain a changed query: a line for each hit that entered, left or moved."""
    yield from query.notes
    top = f"the top {query.depth}"
    for verb, hits in (("entered", query.entered), ("left", query.left)):
        relevant = [hit for hit in hits if (hit.grade or 0) > 0]
        for hit in relevant[:_NAMED_HITS]:
            yield f"{verb} {top}: {_describe_hit(hit)}"
        more, others = max(0, len(relevant) - _NAMED_HITS), len(hits) - len(relevant)
        rest = [f"{more} more relevant"] * bool(more) + [f"{others} not relevant"] * bool(others)
        if rest:
            yield f"{verb} {top}: {' and '.join(rest)}"
    for hit in query.moved[:_NAMED_HITS]:
        yield f"moved: {_describe_hit(hit)}"


def _describe_hit(hit: MovedHit) -> str:
    grade = "not judged" if hit.grade is None else f"grade {numbers.format_grade(hit.grade)}"
    return f"{hit.name} ({grade}, {_format_rank(hit.before)} → {_format_rank(hit.after)})"


def _format_rank(rank: int | None) -> str:
    return "not found" if rank is None else f"rank {rank}"
