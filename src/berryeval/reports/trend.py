"""Values over time as lines: one per benchmark and provider, broken where nothing compares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.store import TrendPoint

__all__ = ["TrendLine", "trend_lines"]


@dataclass(frozen=True, eq=False)
class TrendLine:
    """What a provider reached on a benchmark, run after run, the oldest first."""

    benchmark: str
    provider: str
    measure: str
    points: tuple[TrendPoint, ...]

    @cached_property
    def breaks(self) -> dict[int, str]:
        """At which points values cannot be compared with those before, and why."""
        pairs = enumerate(pairwise(self.points), start=1)
        found = {place: after.differs_from(before) for place, (before, after) in pairs}
        return {place: why for place, why in found.items() if why}

    @cached_property
    def parts(self) -> list[tuple[TrendPoint, ...]]:
        """The points between the breaks."""
        ends = [0, *self.breaks, len(self.points)]
        return [self.points[start:end] for start, end in pairwise(ends)]

    @property
    def values(self) -> list[float]:
        """All values."""
        return [point.value.value for point in self.points]

    @property
    def change(self) -> float | None:
        """The last value minus the one before; None if there is none to compare it with."""
        comparable = [point.value.value for point in self.parts[-1]]
        return comparable[-1] - comparable[-2] if len(comparable) > 1 else None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON, in full precision."""
        return {
            "benchmark": self.benchmark,
            "provider": self.provider,
            "measure": self.measure,
            "change": self.change,
            "points": [
                {
                    "run": point.run,
                    "created": point.created,
                    "value": point.value.value,
                    "low": point.value.low,
                    "high": point.value.high,
                    "n": point.value.n,
                    "content_hash": point.content_hash,
                    "not_comparable": self.breaks.get(place, ""),
                }
                for place, point in enumerate(self.points)
            ],
        }


def trend_lines(points: Iterable[TrendPoint]) -> list[TrendLine]:
    """The lines of these points, in the order of benchmarks and providers."""
    groups: dict[tuple[str, str, str], list[TrendPoint]] = {}
    for point in points:
        name = (point.benchmark, point.provider, point.value.measure)
        groups.setdefault(name, []).append(point)
    return [TrendLine(*name, tuple(groups[name])) for name in sorted(groups)]
