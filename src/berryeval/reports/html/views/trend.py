"""Values over time for people: benchmark by benchmark, the best provider first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from berryeval.reports.numbers import known_interval
from berryeval.stats import direction_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.intervals import Interval
    from berryeval.reports.trend import TrendLine
    from berryeval.store import TrendPoint

__all__ = ["Break", "LineView", "PointView", "breaks_of", "by_benchmark", "moment", "views_of"]


@dataclass(frozen=True)
class Break:
    """Where something else was asked: its number in the chart, when, what it is, whose."""

    number: int
    moment: float
    why: str
    whose: str

    @property
    def time(self) -> str:
        """When."""
        return moment(self.moment)


@dataclass(frozen=True)
class PointView:
    """A value of a run; `place` decides the colour of its provider.

    The remarks say why it does not compare with the latest, and what failed.
    """

    place: int
    provider: str
    value: float
    interval: Interval | None
    time: str
    run: str
    remarks: str


@dataclass(frozen=True)
class LineView:
    """The latest value of a provider, how it changed, and what failed."""

    provider: str
    value: float
    interval: Interval | None
    change: float | None
    runs: int
    time: str
    failed: str


def by_benchmark(lines: Sequence[TrendLine]) -> dict[str, list[TrendLine]]:
    """The lines of each benchmark, that of the best latest value first."""
    found: dict[str, list[TrendLine]] = {}
    for line in lines:
        found.setdefault(line.benchmark, []).append(line)
    sign = 1 if direction_of(lines[0].measure) == "down" else -1
    return {
        name: sorted(group, key=lambda line: sign * line.values[-1])
        for name, group in found.items()
    }


def breaks_of(lines: Sequence[TrendLine]) -> list[Break]:
    """The breaks of all lines, numbered in the order of time; those of one cause are one."""
    whose: dict[tuple[float, str], list[str]] = {}
    for line in lines:
        for place, why in line.breaks.items():
            whose.setdefault((line.points[place].moment, why), []).append(line.provider)
    return [
        Break(number, when, why, ", ".join(dict.fromkeys(whose[when, why])))
        for number, (when, why) in enumerate(sorted(whose), start=1)
    ]


def views_of(lines: Sequence[TrendLine]) -> tuple[list[LineView], list[PointView]]:
    """The latest value of each line, and all values in the order of time."""
    latest = [
        LineView(
            line.provider, line.values[-1], _interval(line.points[-1]), line.change,
            len(line.points), moment(line.points[-1].moment), _failures(line.points[-1]),
        )
        for line in lines
    ]  # fmt: skip
    points = [
        (point.moment, place, point, line.apart.get(number, ""))
        for place, line in enumerate(lines)
        for number, point in enumerate(line.points)
    ]
    return (
        latest,
        [
            PointView(
                place,
                point.provider,
                point.value.value,
                _interval(point),
                moment(when),
                point.run,
                "; ".join(filter(None, [why, _failures(point)])),
            )
            for when, place, point, why in sorted(points, key=lambda one: one[:2])
        ],
    )


def moment(seconds: float) -> str:
    """A time as people write it."""
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%d %H:%M} UTC"


def _failures(point: TrendPoint) -> str:
    return f"{point.failed} of {point.value.n} queries failed" if point.failed else ""


def _interval(point: TrendPoint) -> Interval | None:
    return known_interval(point.value.low, point.value.high, point.value.n)
