"""The list of runs: filters and order, rows, and their trends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from berryeval._internal.numbers import known_interval
from berryeval._internal.text import parse_time
from berryeval.metrics import direction_of
from berryeval.runs import Filters, canonical_metric

if TYPE_CHECKING:
    from berryeval._internal.aggregates import Interval
    from berryeval.runs import RunPage, Store, StoredResult, StoredRun, StoredValue

_COLUMNS: Final = 3  # metrics in the list
_POINTS: Final = 20  # values in a small trend
_OTHER_ORDERS: Final = ("created", "name", "latency")


class RunFilter(BaseModel):
    """Which runs are asked for; every field is a parameter of the address."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    benchmark: str = Field(default="", description="only runs on this benchmark")
    provider: str = Field(default="", description="only runs of this provider")
    tag: str = Field(default="", description="only runs with this tag: model, or model=small")
    since: str = Field(
        default="", description="earliest start: a date, a time, or an age such as 30d"
    )
    until: str = Field(default="", description="latest start")

    @property
    def filters(self) -> Filters:
        """The filters of the store."""
        return Filters(
            self.benchmark or None,
            self.provider or None,
            parse_time(self.since, "since") if self.since else None,
            parse_time(self.until, "until", end=True) if self.until else None,
            self.tag or None,
        )


class RunQuery(RunFilter):
    """Filters, order and page of a list of runs."""

    q: str = Field(
        default="", max_length=400, description="words in the name, benchmark, provider or tag"
    )
    metric: str = Field(default="", description="metric of the first column and of the trend")
    sort: str = Field(
        default="created", description="created, name, latency, or a metric; best first"
    )
    reverse: bool = Field(default=False, description="turn the order round")
    page: int = Field(default=1, ge=1, le=1_000_000, description="number of the page")
    size: int = Field(default=50, ge=1, le=500, description="runs per page")

    @property
    def filters(self) -> Filters:
        """The filters of the store."""
        return replace(super().filters, words=self.q)

    @property
    def is_filtered(self) -> bool:
        """Whether some runs may be left out."""
        names = ("q", "benchmark", "provider", "tag", "since", "until")
        return any(getattr(self, name) for name in names)

    def change(self, **changes: object) -> dict[str, str]:
        """Return the parameters of the address after a change, without the usual ones."""
        data = {**self.model_dump(), "page": 1, **changes}
        usual = RunQuery()
        return {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in data.items()
            if value not in ("", None) and value != getattr(usual, name)
        }


@dataclass(frozen=True)
class Spark:
    """A small trend: the comparable values of one provider up to a run, oldest first."""

    values: tuple[float, ...]

    @property
    def change(self) -> float | None:
        """The last value minus the one before."""
        return self.values[-1] - self.values[-2] if len(self.values) > 1 else None

    def points(
        self, width: int = 96, height: int = 24, margin: int = 3
    ) -> list[tuple[float, float]]:
        """Return the places of the values in a drawing of this size."""
        low, high = min(self.values), max(self.values)
        size = (high - low) or 1.0
        step = (width - 2 * margin) / max(len(self.values) - 1, 1)
        flat = 0.5 if high == low else 0.0
        return [
            (
                round(margin + step * place, 1),
                round(height - margin - (height - 2 * margin) * ((value - low) / size + flat), 1),
            )
            for place, value in enumerate(self.values)
        ]


@dataclass(frozen=True)
class ListedPart:
    """A benchmark of a run: its best provider, and that provider's values."""

    benchmark: str
    results: tuple[StoredResult, ...]
    best: StoredResult
    metric: str

    @cached_property
    def values(self) -> dict[str, StoredValue]:
        """Values of the best provider by metric."""
        return {one.metric: one for one in self.best.values}

    def interval(self, metric: str) -> Interval | None:
        """Return the confidence interval of a value, if it is known."""
        found = self.values.get(metric)
        return None if found is None else known_interval(found.low, found.high, found.n)

    @property
    def failed(self) -> str:
        """Failures in a few words; empty without any."""
        broken = [one.provider for one in self.results if one.failure]
        if broken:
            return f"{', '.join(broken)} failed"
        return f"{self.best.failed:,} of {self.best.queries:,} queries failed" * bool(
            self.best.failed
        )


@dataclass(frozen=True)
class ListedRun:
    """A row of the list."""

    run: StoredRun
    parts: tuple[ListedPart, ...]
    sparks: dict[str, Spark]  # by benchmark


@dataclass(frozen=True)
class Choices:
    """The names that filters may have, of all runs."""

    benchmarks: list[str]
    providers: list[str]
    tags: list[str]
    metrics: list[str]


@dataclass(frozen=True)
class RunListing:
    """A page of the list of runs.

    Attributes:
        asked: What was asked for.
        page: The runs of the page, and how many there are.
        metrics: Metrics with a column; the trend follows the first.
        rows: A row per run.
    """

    asked: RunQuery
    page: RunPage
    metrics: tuple[str, ...]
    rows: tuple[ListedRun, ...]

    @property
    def span(self) -> tuple[int, int]:
        """Numbers of the first and last run of the page."""
        first = (self.page.number - 1) * self.page.size
        return first + 1, first + len(self.rows)

    def is_sorted_by(self, name: str) -> Literal["", "ascending", "descending"]:
        """Return how the list is sorted by a column, in the words of `aria-sort`."""
        if name != canonical_sort(self.asked.sort):
            return ""
        falls = name == "created" or (name not in _OTHER_ORDERS and direction_of(name) != "down")
        return "descending" if falls != self.asked.reverse else "ascending"

    def sort_by(self, name: str) -> dict[str, str]:
        """Return the parameters that sort by a column, or turn its order round."""
        again = name == canonical_sort(self.asked.sort)
        return self.asked.change(sort=name, reverse=again and not self.asked.reverse)


def canonical_sort(sort: str) -> str:
    """Return the order in the spelling of the store."""
    return sort if sort in _OTHER_ORDERS else canonical_metric(sort)


def list_page(store: Store, asked: RunQuery) -> RunListing:
    """Find the runs of a page, with their values and trends."""
    page = store.page_runs(
        asked.filters, sort=asked.sort, reverse=asked.reverse, number=asked.page, size=asked.size
    )
    metrics = _choose_metrics(asked, page.runs)
    parts = {one.id: _list_parts(one, metrics, canonical_sort(asked.sort)) for one in page.runs}
    recent = {}
    if metrics:
        owners = [
            (name, part.benchmark, part.best.provider)
            for name, found in parts.items()
            for part in found
        ]
        recent = store.recent_values(metrics[0], owners, _POINTS)
    rows = tuple(
        ListedRun(one, parts[one.id], _draw_sparks(one.id, parts[one.id], recent))
        for one in page.runs
    )
    return RunListing(asked, page, metrics, rows)


def list_choices(store: Store) -> Choices:
    """Find the names that filters may have."""
    return Choices(store.benchmarks(), store.providers(), store.tag_values(), store.metrics())


def _choose_metrics(asked: RunQuery, runs: Sequence[StoredRun]) -> tuple[str, ...]:
    """Return the metrics with a column: those asked for, then the ones most runs asked for."""
    first = [canonical_metric(asked.metric)] if asked.metric else []
    if asked.sort not in _OTHER_ORDERS:
        first.append(canonical_metric(asked.sort))
    counts = Counter(
        value.metric
        for run in runs
        for one in run.results
        for value in one.values
        if value.low is not None
    )
    return tuple(dict.fromkeys([*first, *(name for name, _ in counts.most_common())]))[:_COLUMNS]


def _list_parts(run: StoredRun, metrics: Sequence[str], sort: str) -> tuple[ListedPart, ...]:
    groups: dict[str, list[StoredResult]] = {}
    for one in run.results:
        groups.setdefault(one.benchmark, []).append(one)
    first = metrics[0] if metrics else ""
    return tuple(
        ListedPart(name, tuple(found), _find_best(found, metrics, sort), first)
        for name, found in groups.items()
    )


def _find_best(results: Sequence[StoredResult], metrics: Sequence[str], sort: str) -> StoredResult:
    """Return the result that decides the place of the run, else the best by the first metric."""
    timed = [(one.latency.p95, one) for one in results if one.latency]
    if sort == "latency" and timed:
        return min(timed, key=lambda pair: pair[0])[1]
    for metric in (sort, *metrics):
        values = [
            (one.value, result)
            for result in results
            for one in result.values
            if one.metric == metric
        ]
        if values:
            choose = min if direction_of(metric) == "down" else max
            return choose(values, key=lambda pair: pair[0])[1]
    return results[0]


def _draw_sparks(
    run: str, parts: Iterable[ListedPart], recent: Mapping[tuple[str, str, str], tuple[float, ...]]
) -> dict[str, Spark]:
    values = {
        part.benchmark: recent.get((run, part.benchmark, part.best.provider)) for part in parts
    }
    return {name: Spark(found) for name, found in values.items() if found}
