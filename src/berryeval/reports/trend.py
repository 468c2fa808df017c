"""Values over time as lines: one per benchmark and provider, following what was asked last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from berryeval.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.store import TrendPoint

__all__ = ["TrendLine", "trend_lines"]


@dataclass(frozen=True, eq=False)
class TrendLine:
    """What a provider reached on a benchmark, run after run, the oldest first.

    Only values of runs that were asked the same (data, queries, number of hits) compare. The line
    follows those that were asked what the newest was; the others are `apart`, wherever they stand.
    """

    benchmark: str
    provider: str
    measure: str
    points: tuple[TrendPoint, ...]

    @cached_property
    def apart(self) -> dict[int, str]:
        """Which points do not compare with the newest, and why."""
        newest = self.points[-1]
        found = {place: one.differs_from(newest) for place, one in enumerate(self.points)}
        return {place: why for place, why in found.items() if why}

    @cached_property
    def followed(self) -> tuple[TrendPoint, ...]:
        """The points that compare with the newest, and the newest."""
        return tuple(one for place, one in enumerate(self.points) if place not in self.apart)

    @cached_property
    def parts(self) -> list[list[TrendPoint]]:
        """The points by what was asked: those of one part compare, whatever stands between."""
        parts: list[list[TrendPoint]] = []
        for point in self.points:
            same = (part for part in parts if not point.differs_from(part[0]))
            part = next(same, None)
            if part is None:
                parts.append([point])
            else:
                part.append(point)
        return parts

    @cached_property
    def breaks(self) -> dict[int, str]:
        """At which points something was asked for the first time, and what it is."""
        return {
            place: after.differs_from(before)
            for place, (before, after) in enumerate(pairwise(self.points), start=1)
            if any(part[0] is after for part in self.parts)
        }

    @property
    def values(self) -> list[float]:
        """The values that compare."""
        return [point.value.value for point in self.followed]

    @property
    def before(self) -> TrendPoint | None:
        """The last point that the newest compares with."""
        return self.followed[-2] if len(self.followed) > 1 else None

    @property
    def change(self) -> float | None:
        """The last value minus the one before; None if there is none to compare it with."""
        return None if self.before is None else self.values[-1] - self.before.value.value

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON, in full precision."""
        return {
            "benchmark": self.benchmark,
            "provider": self.provider,
            "measure": self.measure,
            "change": self.change,
            "change_since": None if self.before is None else self.before.run,
            "points": [
                {**_numbers(point), "not_comparable": self.apart.get(place, "")}
                for place, point in enumerate(self.points)
            ],
        }


def _numbers(point: TrendPoint) -> dict[str, Any]:
    found = point.value
    low, high = numbers.known_interval(found.low, found.high, found.n) or (None, None)
    return {
        "run": point.run,
        "created": point.created,
        "value": found.value,
        "low": low,
        "high": high,
        "n": found.n,
        "failed": point.failed,
        "content_hash": point.content_hash,
    }


def trend_lines(points: Iterable[TrendPoint]) -> list[TrendLine]:
    """The lines of these points, in the order of benchmarks and providers."""
    groups: dict[tuple[str, str, str], list[TrendPoint]] = {}
    for point in points:
        name = (point.benchmark, point.provider, point.value.measure)
        groups.setdefault(name, []).append(point)
    return [TrendLine(*name, tuple(groups[name])) for name in sorted(groups)]
