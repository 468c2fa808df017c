"""The stages of a provider that searches in several, in records: rankings, scores, times, costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from berryeval._internal.serial import (
    JsonRecord,
    Reader,
    open_field,
    read_object,
    type_mismatch,
)
from berryeval._internal.validate import is_number
from berryeval.scoring import Scores


def read_numbers(value: Any, where: str) -> tuple[float, ...]:
    """Read an array of finite numbers."""
    if not isinstance(value, list | tuple) or not all(map(is_number, value)):
        raise type_mismatch(where, "an array of finite numbers", value)
    return tuple(map(float, value))


def read_amounts(value: Any, where: str) -> dict[str, float]:
    """Read an object of finite numbers."""
    found = read_object(value, where)
    for name, amount in found.items():
        if not is_number(amount):
            place = f"{where}.{name}"
            raise type_mismatch(place, "a finite number", amount)
    return found


@dataclass(frozen=True)
class Latency(JsonRecord):
    """Percentiles of the seconds per answered query.

    Attributes:
        p50: Median.
        p95: 95th percentile.
        p99: 99th percentile.
        max: Maximum.
        batch: Largest number of queries per call. If it exceeds 1, the time of a query is the time
            of its batch divided by the size of the batch.
    """

    p50: float
    p95: float
    p99: float
    max: float
    batch: int = 1
    extra: Mapping[str, Any] = open_field(repr=False)

    @classmethod
    def of(cls, seconds: Sequence[float], batch: int = 1) -> Latency | None:
        """Compute the percentiles; None without times."""
        if not seconds:
            return None
        import numpy as np

        p50, p95, p99 = np.percentile(seconds, [50, 95, 99]).tolist()
        return cls(p50, p95, p99, max(seconds), batch)


@dataclass(frozen=True)
class StageAnswer(JsonRecord):
    """The result of one stage for one query.

    Attributes:
        name: Name of the stage.
        ids: Ids of its hits, best first; empty for the last stage, whose hits are the answer.
        scores: Their scores.
        latency: Seconds of this stage alone.
        cost: Cost of this stage alone.
    """

    readers: ClassVar[Mapping[str, Reader]] = {"tuple[float, ...]": read_numbers}

    name: str
    ids: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    latency: float = 0.0
    cost: Mapping[str, Any] = open_field()
    extra: Mapping[str, Any] = open_field(repr=False)


@dataclass(frozen=True)
class StageRecord(JsonRecord):
    """The results of one stage for all queries.

    Attributes:
        name: Name of the stage.
        scores: Scores of its ranking, cut to the hits of the run; None for the last stage, whose
            scores are those of the provider.
        latency: Time of this stage alone, of the answered queries.
        cost: Mean cost of this stage alone, of an answered query.
        reranked: Largest number of hits that it ordered again for a query; 0 for a search.
        recall: Mean share of the relevant documents that are among the hits that the next stage
            orders again: no order of these finds more. None for the last stage.
        ideal: Scores of the best order of these hits; None for the last stage.
        failed: Number of queries that failed in this stage.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "Scores": Scores.from_dict,
        "Latency": Latency.from_json,
        "Mapping[str, float]": read_amounts,
    }

    name: str
    scores: Scores | None = None
    latency: Latency | None = None
    cost: Mapping[str, float] = open_field()
    reranked: int = 0
    recall: float | None = None
    ideal: Scores | None = None
    failed: int = 0
    extra: Mapping[str, Any] = open_field(repr=False)

    def json_parts(self) -> Iterator[tuple[str, Any]]:
        """Yield the parts of the JSON object; the scores come last."""
        yield from scores_last(self, "scores", "ideal")


def scores_last(record: Any, *names: str) -> Iterator[tuple[str, Any]]:
    """Yield the parts of the JSON object of a record, and those of its scores at the end."""
    yield from JsonRecord.json_parts(replace(record, **dict.fromkeys(names)))
    for name in names:
        if (table := getattr(record, name)) is not None:
            yield name, table.parts()
