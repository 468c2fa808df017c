"""The baseline: a small file of scores that later runs are compared with, made to be committed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final, get_args

import numpy as np

from berryeval._internal.intervals import aggregate
from berryeval._internal.records import JsonRecord, Reader, is_finite, one_of, refused, unversioned
from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.metrics import Aggregate, parse_metric
from berryeval.runs import array_of

if TYPE_CHECKING:
    from berryeval.runs import BenchmarkRecord, RunRecord
    from berryeval.scoring import Scores


SCHEMA_VERSION: Final = 1


def _values(value: Any, where: str) -> dict[str, tuple[float, ...]]:
    if not isinstance(value, Mapping):
        raise refused(where, "an object", value)
    found = {}
    for name, row in value.items():
        place = f"{where}[{name!r}]"
        if not isinstance(row, list | tuple):
            raise refused(place, "an array of numbers", row)
        for at, one in enumerate(row):
            if isinstance(one, bool) or not isinstance(one, int | float) or not is_finite(one):
                place += f"[{at}]"
                raise refused(place, "a number", one)
        found[str(name)] = tuple(map(float, row))
    return found


def _aggregates(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise refused(where, "an object", value)
    known = one_of(*get_args(Aggregate))
    return {str(name): known(how, f"{where}[{name!r}]") for name, how in value.items()}


@dataclass(frozen=True)
class BaselinePart(JsonRecord):
    """What one provider reached on one benchmark.

    Attributes:
        benchmark: the name of the benchmark.
        content_hash: of its data.
        provider: the name of the provider.
        k: how many hits it was asked for.
        queries: the ids of the queries.
        values: by metric, the value of every query, in the order of `queries`.
        aggregates: by metric, how they become one, where that is not their mean.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "Mapping[str, tuple[float, ...]]": _values,
        "Mapping[str, str]": _aggregates,
    }

    benchmark: str
    content_hash: str
    provider: str
    k: int
    queries: tuple[str, ...]
    values: Mapping[str, tuple[float, ...]] = field(hash=False)
    aggregates: Mapping[str, str] = field(default_factory=dict, hash=False)
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse rows that do not fit the queries, and a query that stands there twice."""
        query, count = max(Counter(self.queries).items(), key=itemgetter(1), default=("", 0))
        if count > 1:
            msg = f"queries has {query!r} {count} times; keep one, with its values"
            raise DataError(msg)
        for name, row in self.values.items():
            if len(row) != len(self.queries):
                msg = f"{name} has {len(row)} values for {len(self.queries)} queries"
                raise DataError(msg)

    @classmethod
    def of(cls, benchmark: BenchmarkRecord, provider: str, scores: Scores) -> BaselinePart:
        """The scores of a provider on a benchmark."""
        rows = map(tuple, scores.values.tolist())
        hows = zip(scores.metrics, scores.aggregates, strict=True)
        return cls(
            benchmark.name,
            benchmark.content_hash,
            provider,
            benchmark.k,
            scores.queries,
            dict(zip(scores.metrics, rows, strict=True)),
            {name: how for name, how in hows if how != "mean"},
        )

    def value(self, metric: str) -> float | None:
        """What the values of the queries become; None of no query."""
        row = np.array(self.values[metric], dtype=np.float64)
        return aggregate(self.aggregate_of(metric), row) if len(row) else None

    def aggregate_of(self, metric: str) -> str:
        """How the values become one; files of before are silent, and the metric says it."""
        if metric in self.aggregates:
            return self.aggregates[metric]
        try:
            return parse_metric(metric).aggregate
        except BerryEvalError:  # a metric of somebody's own, which is not registered here
            return "mean"


@dataclass(frozen=True)
class Baseline(JsonRecord):
    """Scores of a run, by query: enough to judge a difference, small enough to commit."""

    readers: ClassVar[Mapping[str, Reader]] = {"tuple[BaselinePart, ...]": array_of(BaselinePart)}

    run: str
    created: str
    parts: tuple[BaselinePart, ...] = ()
    config_hash: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what stands there twice: one of the two would count, and nobody knows which."""
        for (benchmark, provider), count in Counter(
            (part.benchmark, part.provider) for part in self.parts
        ).items():
            if count > 1:
                msg = f"parts has {provider} on {benchmark} {count} times; keep one"
                raise DataError(msg)

    @classmethod
    def of(cls, record: RunRecord) -> Baseline:
        """The baseline of a run; providers that failed are not in it."""
        parts = tuple(
            BaselinePart.of(benchmark, provider.name, provider.scores)
            for benchmark in record.benchmarks
            for provider in benchmark.providers
            if provider.scores is not None
        )
        return cls(record.id, record.created, parts, record.config_hash)

    @classmethod
    def read(cls, data: Any, where: str) -> Baseline:
        """From the JSON of a file."""
        rest = unversioned(data, where, "a baseline", SCHEMA_VERSION)
        return cls.from_json(rest, where)

    def holds(self, benchmark: str, provider: str) -> bool:
        """Whether it has scores of the provider on the benchmark."""
        return any((one.benchmark, one.provider) == (benchmark, provider) for one in self.parts)

    def part(self, benchmark: str, content_hash: str, provider: str) -> BaselinePart:
        """What the provider reached on this state of the benchmark."""
        named = [one for one in self.parts if one.benchmark == benchmark]
        found = [one for one in named if one.provider == provider]
        if not found:
            there = ", ".join(f"{one.provider} on {one.benchmark}" for one in self.parts)
            msg = (
                f"the baseline {self.run} holds no {provider} on {benchmark}; it holds "
                f"{there or 'nothing'} (berryeval baseline set RUN makes a new one)"
            )
            raise ConfigurationError(msg)
        if found[0].content_hash != content_hash:
            msg = (
                f"the baseline {self.run} was measured on other data of {benchmark} "
                f"({found[0].content_hash[:19]}…, now {content_hash[:19]}…): a difference would "
                "say nothing about the provider; berryeval baseline set RUN makes a new one"
            )
            raise ConfigurationError(msg)
        return found[0]

    def dumps(self) -> str:
        """The file: a line per provider and metric, so that a change of it can be read."""
        data = {"schema_version": SCHEMA_VERSION, **self.to_json()}
        text = json.dumps({**data, "parts": []}, indent=2, ensure_ascii=False, allow_nan=False)
        parts = ",\n".join(_part_text(part) for part in data.get("parts", ()))
        return text.replace('"parts": []', f'"parts": [\n{parts}\n  ]' if parts else '"parts": []')


def _part_text(part: Mapping[str, Any]) -> str:
    lines = []
    for name, value in part.items():
        if name == "values":
            rows = ",\n".join(
                f"        {json.dumps(key)}: {json.dumps(row)}" for key, row in value.items()
            )
            lines.append(f'      "values": {{\n{rows}\n      }}')
        else:
            lines.append(f"      {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}")
    return "    {\n" + ",\n".join(lines) + "\n    }"
