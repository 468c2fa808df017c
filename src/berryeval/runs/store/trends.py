"""Trends in a store: a metric, a latency or a cost over time."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, literal, null, select

from berryeval._internal.validate import is_number
from berryeval.errors import DataError
from berryeval.runner import FAILED, count_failed
from berryeval.runs.data_changes import DataChange, DataVersion
from berryeval.runs.record import Asked, ProviderRecord, StoredValue
from berryeval.runs.stages import Latency
from berryeval.runs.store.queries import (
    VALUE,
    Filters,
    build_readable,
    read_numbers,
    read_tags,
)
from berryeval.runs.store.schema import measured, parts, results, runs, to_column_text, unpack

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select


log = logging.getLogger("berryeval")
Owner: TypeAlias = tuple[str, str, str]  # run, benchmark and provider of a value
TrendAbout: TypeAlias = Literal["metric", "latency", "cost"]


class Followed(NamedTuple):
    """What a trend follows: a metric, a percentile of the latency, or the mean cost in a unit."""

    about: TrendAbout
    name: str

    @property
    def title(self) -> str:
        """Its name beside others, as in gates: "nDCG@10", "latency p95" or "cost in usd"."""
        prefix = {"metric": "", "latency": "latency ", "cost": "cost in "}[self.about]
        return f"{prefix}{self.name}"


@dataclass(frozen=True)
class SharedValues:
    """Values of two runs over the `n` queries that are the same in both; `run` is the earlier."""

    run: str
    before: float
    after: float
    n: int


@dataclass(frozen=True)
class TrendPoint:
    """The value of a metric, a latency (in seconds) or a cost in one run, with its conditions.

    `moment` is the start time in seconds since 1970, `sample` the hash of the query ids, `failed`
    the number of queries without an answer, which count as 0 in a metric and not at all in others,
    and `packed` the fingerprints of the queries. If the run before has other data, `since` compares
    the two.
    """

    run: str
    created: str
    moment: float
    benchmark: str
    provider: str
    value: StoredValue
    content_hash: str
    sample: str
    k: int
    failed: int = 0
    packed: bytes | None = field(default=None, repr=False)
    since: SharedValues | None = None
    followed: Followed | None = None

    def differs_from(self, before: TrendPoint) -> str:
        """Explain why two values cannot be compared; empty if they can.

        Values on changed data can, if some queries are the same and every query was asked.
        """
        change = self.change_since(before)
        if change is not None and change.compared:
            asked = change.missing or not set(change.new).isdisjoint(before.data.unasked)
            return "other queries were asked" if asked else ""
        return self.asked.differs_from(before.asked)

    def change_since(self, before: TrendPoint) -> DataChange | None:
        """Return what changed in the data; None if nothing did, or if it is not known."""
        if self.content_hash == before.content_hash or self.k != before.k:
            return None
        if not (self.packed and before.packed):
            return None
        return DataChange.between(before.data, self.data)

    @cached_property
    def data(self) -> DataVersion:
        """The data of the value, without the corpus."""
        try:
            found = unpack(self.packed, self.run) if self.packed else {}
            known, unasked = (
                dict(found.get("fingerprints", {})),
                frozenset(found.get("unasked", ())),
            )
        except (ValueError, TypeError) as error:  # damaged: as if nothing were known
            log.warning("the fingerprints of run %s in the store are damaged: %s", self.run, error)
            known, unasked = {}, frozenset()
        return DataVersion(self.content_hash, known, unasked=unasked)

    @property
    def asked(self) -> Asked:
        """Conditions of the value."""
        return Asked(self.content_hash, self.sample, self.k)


def load_trend(
    connection: Connection, followed: Followed, filters: Filters, tag: str = ""
) -> list[TrendPoint]:
    """Return the values of a trend, oldest first; with a tag, by provider and its value."""
    found = (
        _select_values(followed)
        .add_columns(runs.c.id, runs.c.created, runs.c.moment, parts.c.benchmark)
        .add_columns(results.c.provider, parts.c.content_hash, parts.c.sample, parts.c.k)
        .add_columns(results.c.outcomes, results.c.data, runs.c.tags)
        .join(parts, parts.c.key == results.c.part)
        .join(runs, runs.c.key == parts.c.run)
        .where(*filters.of_runs(), *filters.of_results())
        .order_by(runs.c.moment, runs.c.key, parts.c.place, results.c.place)
    )
    rows: list[Any] = list(connection.execute(found))
    built = build_readable(rows, lambda row: _build_point(row, followed, tag))
    points = [one[0] for one in built if one is not None]
    labels = [one[1] for one in built if one is not None]
    compared = _compare_newest(connection, points, labels)
    return [replace(one, provider=label) for one, label in zip(compared, labels, strict=True)]


def _build_point(row: Any, followed: Followed, tag: str) -> tuple[TrendPoint, str] | None:
    """Return a point and the label of its line; None if it has no cost in the unit."""
    amount = row.value
    if followed.about == "cost":
        amount = read_numbers(amount, f"{row.id}: cost").get(followed.name)
        if amount is None:
            return None
    if not is_number(amount):
        raise DataError(f"{row.id}: the {followed.title} of {row.provider} is not a number")
    point = TrendPoint(
        row.id, row.created, row.moment, row.benchmark, row.provider,
        StoredValue(row.metric, amount, row.low, row.high, row.n),
        row.content_hash, row.sample, row.k,
        count_failed(read_numbers(row.outcomes, f"{row.id}: outcomes")), row.data,
        followed=followed,
    )  # fmt: skip
    return point, f"{row.provider}{_describe_tag(row, tag)}"


def load_recent(
    connection: Connection, metric: str, wanted: Collection[Owner], count: int
) -> dict[Owner, tuple[float, ...]]:
    """Return the last values of a metric, oldest first, up to each run, benchmark and provider.

    Only values of the same data, queries and number of hits follow each other.
    """
    providers = sorted({provider for _, _, provider in wanted})
    found = (
        select(runs.c.id, parts.c.benchmark, results.c.provider, measured.c.value)
        .add_columns(parts.c.content_hash, parts.c.sample, parts.c.k)
        .select_from(measured)
        .join(results, results.c.key == measured.c.result)
        .join(parts, parts.c.key == results.c.part)
        .join(runs, runs.c.key == parts.c.run)
        .where(measured.c.metric == to_column_text(metric), results.c.provider.in_(providers))
        .order_by(runs.c.moment, runs.c.key)
    )
    lines = defaultdict[Any, list[float]](list)
    recent, known = {}, set(wanted)
    for run, benchmark, provider, value, *asked in connection.execute(found):
        line = lines[(benchmark, provider, *asked)]
        line.append(value)
        if (run, benchmark, provider) in known:
            recent[run, benchmark, provider] = tuple(line[-count:])
    return recent


def _select_values(followed: Followed) -> Select[Any]:
    """Select name, value, interval and number of queries; costs are JSON with all units."""
    about, name = followed
    if about == "metric":
        joined = measured.join(results, results.c.key == measured.c.result)
        found = select(*VALUE[1:]).select_from(joined)
        return found.where(measured.c.metric == to_column_text(name))
    column: ColumnElement[Any] = results.c.cost if about == "cost" else results.c[name]
    ends = (null().label("low"), null().label("high"))
    title = literal(followed.title).label("metric")
    found = select(title, column.label("value"), *ends, parts.c.queries.label("n"))
    return found.select_from(results).where(column.is_not(None))


def _describe_tag(row: Any, tag: str) -> str:
    if not tag:
        return ""
    tags = read_tags(row)
    return f" ({tag}={tags[tag]})" if tag in tags else ""


def _compare_newest(
    connection: Connection, points: list[TrendPoint], labels: list[str]
) -> list[TrendPoint]:
    """Compare the newest value of each line with the one before, if their data differ."""
    lines: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, point in enumerate(points):
        lines[point.benchmark, labels[place]].append(place)
    found = list(points)
    for places in lines.values():
        newest = points[places[-1]]
        same = (points[place] for place in reversed(places[:-1]))
        before = next((one for one in same if not newest.differs_from(one)), None)
        change = None if before is None else newest.change_since(before)
        if before is not None and change is not None:
            try:
                old = _load_shared(connection, before, change.compared)
                new = _load_shared(connection, newest, change.compared)
            except DataError as error:
                log.warning("%s is not compared with %s: %s", newest.run, before.run, error)
                continue
            if old is not None and new is not None:
                shared = SharedValues(before.run, old, new, len(change.compared))
                found[places[-1]] = replace(newest, since=shared)
    return found


def _load_shared(connection: Connection, point: TrendPoint, queries: Sequence[str]) -> float | None:
    """Return the value of a point over these of its queries; None without an answer."""
    body: Any = connection.scalar(
        select(results.c.body)
        .join(parts, parts.c.key == results.c.part)
        .join(runs, runs.c.key == parts.c.run)
        .where(runs.c.id == to_column_text(point.run))
        .where(parts.c.benchmark == to_column_text(point.benchmark))
        .where(results.c.provider == to_column_text(point.provider))
    )
    record = ProviderRecord.from_json(unpack(body, point.run), point.run)
    if point.followed is not None and point.followed.about != "metric":
        return _summarize_answers(record, point.followed, set(queries))
    scores = record.scores_with(point.value.metric)
    if scores is None:
        raise DataError(f"{point.run}: the store has no {point.value.metric} by query")
    return scores.select(queries).mean[point.value.metric]


def _summarize_answers(
    record: ProviderRecord, followed: Followed, queries: set[str]
) -> float | None:
    """Return a latency or a mean cost over the answered ones of these queries, if any."""
    answers = [
        one for one in record.answers if one.query_id in queries and one.outcome not in FAILED
    ]
    if followed.about == "cost":
        amounts = [float(one.cost.get(followed.name, 0)) for one in answers]
        return sum(amounts) / len(amounts) if amounts else None
    times = Latency.of([one.latency for one in answers if one.latency is not None])
    return None if times is None else float(getattr(times, followed.name))
