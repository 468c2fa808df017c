"""`AuditReport`: what an audit found, for people and for machines."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from berryeval.auditing.ties import TieEffect, TieGroup

__all__ = ["AuditReport", "Fault", "RankConflict", "TieRange"]

SHOWN: Final = 5


@dataclass(frozen=True)
class Fault:
    """A row or line that cannot count.

    Attributes:
        kind: what is wrong.
        source: where: in the run or in the judgments.
        line: its line in the file; 0 if there is no file.
        query: the query of the row.
        document: the document of the row.
        text: the line itself, if it is no row.
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
    """The rank column of a query contradicts its scores.

    Attributes:
        query: the query.
        count: how often a document ranked next below another has the higher score.
        upper: the first such pair: document, given rank and score of the one ranked higher,
        lower: and of the one ranked lower.
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


@dataclass(frozen=True)
class TieRange:
    """The mean of a measure if every tie were broken in the worst, the best or any way."""

    value: float
    worst: float
    best: float
    expected: float
    exact: bool

    def __str__(self) -> str:
        how = "" if self.exact else " (sampled, fixed seed)"
        if self.worst == self.best:
            return f"{self.value:.4f}: ties change nothing{how}"
        return (
            f"{self.value:.4f}: ties could make it {self.worst:.4f} to {self.best:.4f}, "
            f"{self.expected:.4f} on average{how}"
        )


@dataclass(frozen=True)
class AuditReport:
    """Everything that makes a score doubtful.

    Attributes:
        run: the name of the run.
        k: the cutoff that the audit looks at.
        queries: how many queries are judged.
        faults: faulty lines, repeated documents and NaN. They were left out of all that follows.
        missing_queries: judged, but not in the run.
        empty_queries: in the run, without a document.
        extra_queries: in the run, but not judged.
        without_relevant: judged queries without a relevant document.
        unjudged: how many of the top k have no judgment, for every query where some do not.
        top: how many documents the top k of all judged queries hold.
        rank_conflicts: queries whose given ranks contradict the scores.
        ties: ties that begin in the top k.
        tie_effects: for each query and measure that ties could change, by how much.
        tie_ranges: the same for the mean of each measure.
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
        """Ready for JSON, in full precision; an infinite score is the text "inf" or "-inf"."""
        return {**_json_safe(asdict(self)), "clean": self.clean}

    def text(self) -> str:
        """For people: a line per kind of finding."""
        lines = [f"audit of {self.run}: {self.queries} judged queries, looking at the top {self.k}"]
        lines += [f"  {title}: {_listed(found)}" for title, found in self._findings() if found]
        if self.clean:
            lines.append("  nothing to report")
        lines += [f"  {name} {found}" for name, found in self.tie_ranges.items()]
        return "\n".join(lines)

    def _findings(self) -> list[tuple[str, list[str]]]:
        """Every kind of finding, with the findings as text."""
        faults: dict[str, list[str]] = {"faulty line": [], "repeated document": [], "NaN": []}
        for fault in self.faults:
            faults[fault.kind].append(str(fault))
        crossing = [_tie(tie) for tie in self.ties if tie.crosses]
        within = [_tie(tie) for tie in self.ties if not tie.crosses]
        share = sum(self.unjudged.values()) / self.top if self.top else 0.0
        return [
            ("faulty lines", faults["faulty line"]),
            ("repeated documents", faults["repeated document"]),
            ("NaN instead of a number", faults["NaN"]),
            ("judged queries missing from the run", list(self.missing_queries)),
            ("queries with an empty ranking", list(self.empty_queries)),
            ("queries of the run without judgments", list(self.extra_queries)),
            ("judged queries with nothing relevant", list(self.without_relevant)),
            (
                f"queries with unjudged documents in the top {self.k} ({share:.1%} of all there)",
                [f"{query} ({count})" for query, count in self.unjudged.items()],
            ),
            ("queries whose rank column contradicts the scores", [*map(str, self.rank_conflicts)]),
            (f"ties across rank {self.k}", crossing),
            (f"ties within the top {self.k}", within),
        ]


def _json_safe(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _json_safe(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_json_safe(member) for member in value]
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def _tie(tie: TieGroup) -> str:
    first, last = tie.ranks
    return f"{tie.query} ranks {first}-{last} (score {tie.score:g}, {tie.relevant} relevant)"


def _listed(items: Iterable[str]) -> str:
    """How many, and the first few by name."""
    found = list(items)
    more = f", and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f"{len(found)}: {', '.join(found[:SHOWN])}{more}"
