"""Differences in words and cells, the same in every format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from berryeval._internal import numbers
from berryeval._internal.records import JsonRecord, Reader, read_texts
from berryeval.reports.tables import shown_rows
from berryeval.runs import array_of
from berryeval.stats import Comparison

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from berryeval.stats import PairedDifference


Pair = tuple[str, str]  # baseline, system
FINDINGS: Final = ("better", "worse", "higher", "lower", "mixed", "not shown", "cannot be said")
MIXED: Final = "mixed: the test points one way, the difference another; neither is better"
_SHOWN: Final = 3  # hits of one kind that are named


def pairs_of(found: Comparison) -> dict[Pair, list[PairedDifference]]:
    """The rows of each pair of systems, in the order of the metrics."""
    pairs: dict[Pair, list[PairedDifference]] = {}
    for row in found.rows:
        pairs.setdefault((row.baseline, row.system), []).append(row)
    return pairs


def heading_of(found: Comparison) -> str:
    """What is compared with what, as the end of a heading: the same benchmark may have several."""
    return f"comparison against {found.baseline}" if found.baseline else "comparison, all pairs"


def group_rows(found: Comparison, whole: PairedDifference) -> list[tuple[str, PairedDifference]]:
    """What the groups say of the same pair and metric, each with the name of its group."""
    return [
        (label, group.row(whole.metric, whole.system, whole.baseline))
        for label, group in found.groups.items()
    ]


def group_notes(rows: Sequence[tuple[str, PairedDifference]], known: Sequence[str]) -> list[str]:
    """What cannot be said of groups, and what is to be known of the others."""
    cannot = [f"{label}: nothing can be said, {row.cannot}" for label, row in rows if row.cannot]
    return [*cannot, *notes_of(rows, known)]


def finding(row: PairedDifference) -> str:
    """One of `FINDINGS`."""
    if row.p_corrected is None:
        return "cannot be said"
    if not row.significant:
        return "not shown"
    if row.mixed:
        return "mixed"
    if row.better or row.worse:
        return "better" if row.better else "worse"
    return "higher" if row.difference > 0 else "lower"


def has_mixed(one: ComparedBenchmark) -> bool:
    """Whether a row of the tables is mixed, so that `MIXED` has to be said."""
    return any(row.mixed for row in shown_rows(one.comparison))


def titles_of(level: float, *, corrected: bool) -> list[str]:
    """The titles of the cells of `cells_of`."""
    p = ["p", "corrected"] if corrected else ["p"]
    return ["baseline", "value", "delta", f"{100 * level:g} % CI", *p, "effect", "W/T/L"]


def cells_of(row: PairedDifference, *, corrected: bool) -> list[str]:
    """A row as text: both values, the difference, its interval, p, effect, wins/ties/losses."""
    none = numbers.NOTHING
    ps = [row.p, row.p_corrected] if corrected else [row.p]
    return [
        numbers.metric(row.baseline_value) if row.n else none,
        numbers.metric(row.system_value) if row.n else none,
        numbers.delta(row.difference) if row.n else none,
        interval_cell(row),
        *(none if p is None else numbers.p_value(p) for p in ps),
        row.effect.word if row.effect else none,
        f"{row.wins}/{row.ties}/{row.losses}" if row.n else none,
    ]


def interval_cell(row: PairedDifference) -> str:
    """The interval of a difference, also where no test can speak; a dash where there is none."""
    if row.interval is None:
        return numbers.NOTHING
    return numbers.delta_interval(*row.interval)


def summary(rows: list[PairedDifference]) -> str:
    """What was found of a pair, all metrics in one line: "better: AP; not shown: RR"."""
    by_finding: dict[str, list[str]] = {}
    for row in rows:
        by_finding.setdefault(finding(row), []).append(row.metric)
    return "; ".join(
        f"{name}: {', '.join(by_finding[name])}" for name in FINDINGS if name in by_finding
    )


def notes_of(rows: Sequence[tuple[str, PairedDifference]], known: Sequence[str]) -> list[str]:
    """What is to be known of single rows, and was not said before, each with whom it is about."""
    about: dict[str, list[str]] = {}
    for name, row in rows:
        for note in row.notes:
            if note not in known:
                about.setdefault(note, []).append(name)
    return [f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in about.items()]


def notes_on(rows: Sequence[PairedDifference], known: Sequence[str]) -> list[str]:
    """The same for the rows of one pair, each by its metric."""
    return notes_of([(row.metric, row) for row in rows], known)


def row_notes(found: Comparison) -> list[str]:
    """Notes on single rows, with metric, system and group."""
    named = [(_row_name(row, found), row) for row in found.rows]
    for label, group in found.groups.items():
        rows = [row for row in group.rows if row.metric == found.metrics[0]]
        named += [(f"{_row_name(row, found)} in {label}", row) for row in rows]
    return notes_of(named, found.notes)


def _row_name(row: PairedDifference, found: Comparison) -> str:
    against = "" if found.baseline else f" against {row.baseline}"
    several = f" of {row.system}{against}" if len(found.systems) > 2 else ""  # noqa: PLR2004 - a pair
    return f"{row.metric}{several}"


def why(query: MovedQuery) -> Iterator[str]:
    """What happened to the hits of a query, a line each."""
    yield from query.notes
    top = f"the top {query.depth}"
    for what, hits in (("entered", query.entered), ("left", query.left)):
        relevant = [hit for hit in hits if (hit.grade or 0) > 0]
        for hit in relevant[:_SHOWN]:
            yield f"{what} {top}: {hit_words(hit)}"
        more, others = max(0, len(relevant) - _SHOWN), len(hits) - len(relevant)
        rest = [f"{more} more relevant"] * bool(more) + [f"{others} not relevant"] * bool(others)
        if rest:
            yield f"{what} {top}: {' and '.join(rest)}"
    for hit in query.moved[:_SHOWN]:
        yield f"moved: {hit_words(hit)}"


def hit_words(hit: MovedHit) -> str:
    """A hit, what it is worth, and where it stood and stands."""
    grade = "not judged" if hit.grade is None else f"grade {numbers.grade(hit.grade)}"
    return f"{hit.name} ({grade}, {_rank(hit.before)} → {_rank(hit.after)})"


def _rank(rank: int | None) -> str:
    return "not found" if rank is None else f"rank {rank}"


def has_family(one: ComparedBenchmark) -> bool:
    """Whether p-values were corrected for there being several."""
    return any(row.comparisons > 1 for row in one.comparison.rows)


# What a comparison of systems on one benchmark found, and which queries it comes from.


@dataclass(frozen=True)
class MovedHit(JsonRecord):
    """A hit that does not stand where it stood.

    Attributes:
        id: of the chunk, as the provider names it; of a target that both cut otherwise, that of the
            baseline.
        name: for people: its document and headings where they are known.
        grade: what it is worth; None if nobody judged it.
        before: its rank in the answer of the baseline; None if it is not in it.
        after: its rank in the answer of the system.
    """

    id: str
    name: str
    grade: float | None = None
    before: int | None = None
    after: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True)
class MovedQuery(JsonRecord):
    """A query whose value changed, and the hits that explain it.

    Attributes:
        query_id: which query.
        text: what it asks.
        metric: by which metric.
        baseline: the system it is compared with.
        system: the other.
        before: the value of the baseline.
        after: the value of the system.
        depth: how many hits count for the metric.
        entered: hits that are among the first `depth` now and were not, the most relevant first.
        left: hits that were and are not.
        moved: relevant hits that were, and are at another rank.
        notes: what else explains it, as an answer that failed.
    """

    readers: ClassVar[Mapping[str, Reader]] = {"tuple[MovedHit, ...]": array_of(MovedHit)}

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
        """By how much the value rose."""
        return self.after - self.before


def _comparison(value: Any, _where: str) -> Comparison:
    return Comparison.from_dict(value)


@dataclass(frozen=True)
class ComparedBenchmark(JsonRecord):
    """Systems compared on one benchmark.

    Attributes:
        benchmark: its name.
        content_hashes: of its data; several if the systems were measured on different data.
        comparison: what was found, also by group where groups were asked for.
        by: what the groups are, as "category"; empty without groups.
        moved: the queries that changed most by the first metric, for each pair the largest first.
        warnings: what makes the comparison doubtful.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "Comparison": _comparison,
        "tuple[MovedQuery, ...]": array_of(MovedQuery),
        "tuple[str, ...]": read_texts,
    }

    benchmark: str
    content_hashes: tuple[str, ...]
    comparison: Comparison
    by: str = ""
    moved: tuple[MovedQuery, ...] = ()
    warnings: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    def to_json(self) -> dict[str, Any]:
        """The JSON object; the comparison is one too."""
        return {**JsonRecord.to_json(self), "comparison": self.comparison.to_dict()}
