"""What a comparison of systems on one benchmark found, and which queries it comes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from berryeval.json_record import JsonRecord, Reader, read_texts
from berryeval.results.answer import array_of
from berryeval.stats import Comparison

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ComparedBenchmark", "MovedHit", "MovedQuery"]


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
        measure: by which measure.
        baseline: the system it is compared with.
        system: the other.
        before: the value of the baseline.
        after: the value of the system.
        depth: how many hits count for the measure.
        entered: hits that are among the first `depth` now and were not, the most relevant first.
        left: hits that were and are not.
        moved: relevant hits that were, and are at another rank.
        notes: what else explains it, as an answer that failed.
    """

    readers: ClassVar[Mapping[str, Reader]] = {"tuple[MovedHit, ...]": array_of(MovedHit)}

    query_id: str
    text: str
    measure: str
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
        moved: the queries that changed most by the first measure, for each pair the largest first.
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
