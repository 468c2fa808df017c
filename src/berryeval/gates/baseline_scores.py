"""The baseline: a small file of scores to commit and compare later runs with."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final, get_args

import numpy as np

from berryeval._internal.aggregates import aggregate
from berryeval._internal.serial import (
    JsonRecord,
    Reader,
    array_reader,
    choice_reader,
    strip_schema_version,
    type_mismatch,
)
from berryeval._internal.text import pluralize
from berryeval._internal.validate import is_number
from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.metrics import Aggregate, parse_metric
from berryeval.runs import DataVersion

if TYPE_CHECKING:
    from berryeval.runs import BenchmarkRecord, ProviderRecord, RunRecord
    from berryeval.scoring import Scores


SCHEMA_VERSION: Final = 1


def _read_values(value: Any, where: str) -> dict[str, tuple[float, ...]]:
    if not isinstance(value, Mapping):
        raise type_mismatch(where, "an object", value)
    found = {}
    for name, row in value.items():
        place = f"{where}[{name!r}]"
        if not isinstance(row, list | tuple):
            raise type_mismatch(place, "an array of numbers", row)
        for at, one in enumerate(row):
            if not is_number(one):
                place += f"[{at}]"
                raise type_mismatch(place, "a number", one)
        found[str(name)] = tuple(map(float, row))
    return found


def _read_aggregates(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise type_mismatch(where, "an object", value)
    known = choice_reader(*get_args(Aggregate))
    return {str(name): known(how, f"{where}[{name!r}]") for name, how in value.items()}


def _read_texts(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise type_mismatch(where, "an object", value)
    for name, text in value.items():
        if not isinstance(text, str):
            place = f"{where}[{name!r}]"
            raise type_mismatch(place, "a string", text)
    return dict(value)


@dataclass(frozen=True)
class BaselinePart(JsonRecord):
    """Scores of one provider on one benchmark.

    Attributes:
        content_hash: Hash of the benchmark's data.
        k: Number of hits asked for per query.
        values: Values of the queries by metric, in the order of `queries`.
        aggregates: Aggregates other than the mean, by metric.
        fingerprints: Fingerprints of the queries, in their order; empty if unknown.
        judging: Options and pack that decided what is relevant.
        added: Metrics that were added after the run, which later runs need not have.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "Mapping[str, tuple[float, ...]]": _read_values,
        "Mapping[str, str]": _read_aggregates,
    }

    benchmark: str
    content_hash: str
    provider: str
    k: int
    queries: tuple[str, ...]
    values: Mapping[str, tuple[float, ...]] = field(hash=False)
    aggregates: Mapping[str, str] = field(default_factory=dict, hash=False)
    fingerprints: tuple[str, ...] = ()
    judging: str = ""
    added: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    def __post_init__(self) -> None:
        """Reject repeated queries and rows of the wrong length."""
        query, count = max(Counter(self.queries).items(), key=itemgetter(1), default=("", 0))
        if count > 1:
            raise DataError(f"queries has {query!r} {count} times; keep one, with its values")
        queries = pluralize(len(self.queries), "query")
        for name, row in self.values.items():
            if len(row) != len(self.queries):
                raise DataError(f"{name} has {pluralize(len(row), 'value')} for {queries}")
        if len(self.fingerprints) not in {0, len(self.queries)}:
            marks = pluralize(len(self.fingerprints), "fingerprint")
            raise DataError(f"found {marks} for {queries}; expected one for each, or none")

    @classmethod
    def of(
        cls, benchmark: BenchmarkRecord, provider: ProviderRecord, scores: Scores
    ) -> BaselinePart:
        """Build the part from the scores of a provider on a benchmark."""
        known = DataVersion.of(benchmark, provider).fingerprints.values()
        rows = map(tuple, scores.values.tolist())
        hows = zip(scores.metrics, scores.aggregates, strict=True)
        return cls(
            benchmark.name,
            benchmark.content_hash,
            provider.name,
            benchmark.k,
            scores.queries,
            dict(zip(scores.metrics, rows, strict=True)),
            {name: how for name, how in hows if how != "mean"},
            tuple(known) if all(known) else (),
            provider.judging,
            provider.added,
        )

    @property
    def owner(self) -> tuple[str, str]:
        """Names of the benchmark and the provider."""
        return self.benchmark, self.provider

    def value(self, metric: str) -> float | None:
        """Aggregate the values of a metric; None without queries."""
        row = np.array(self.values[metric], dtype=np.float64)
        return aggregate(self.aggregate_of(metric), row) if len(row) else None

    def aggregate_of(self, metric: str) -> str:
        """Return the aggregate of a metric; older files do not record it, so ask the metric."""
        if metric in self.aggregates:
            return self.aggregates[metric]
        try:
            return parse_metric(metric).aggregate
        except BerryEvalError:  # a custom metric that is not registered here
            return "mean"


@dataclass(frozen=True)
class Baseline(JsonRecord):
    """Scores of a run by query: enough to judge a difference, small enough to commit.

    `corpora` has the marks of the documents by benchmark.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "tuple[BaselinePart, ...]": array_reader(BaselinePart),
        "Mapping[str, str]": _read_texts,
    }

    run: str
    created: str
    parts: tuple[BaselinePart, ...] = ()
    config_hash: str = ""
    corpora: Mapping[str, str] = field(default_factory=dict, hash=False)
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    def __post_init__(self) -> None:
        """Reject a provider that occurs twice on a benchmark."""
        for (benchmark, provider), count in Counter(one.owner for one in self.parts).items():
            if count > 1:
                raise DataError(f"parts has {provider} on {benchmark} {count} times; keep one")

    @classmethod
    def of(cls, record: RunRecord) -> Baseline:
        """Build the baseline of a run, without the providers that failed."""
        parts = tuple(
            BaselinePart.of(benchmark, provider, provider.scores)
            for benchmark in record.benchmarks
            for provider in benchmark.providers
            if provider.scores is not None
        )
        corpora = {one.name: one.corpus for one in record.benchmarks if one.corpus}
        return cls(record.id, record.created, parts, record.config_hash, corpora)

    @classmethod
    def read(cls, data: Any, where: str) -> Baseline:
        """Read the JSON content of a baseline file; `where` names the file in messages."""
        rest = strip_schema_version(data, where, "a baseline", SCHEMA_VERSION)
        return cls.from_json(rest, where)

    def holds(self, benchmark: str, provider: str) -> bool:
        """Whether the baseline has scores of the provider on the benchmark."""
        return any(one.owner == (benchmark, provider) for one in self.parts)

    @property
    def contents(self) -> str:
        """The providers and benchmarks in the baseline, for messages."""
        parts = (f"{one.provider} on {one.benchmark}" for one in self.parts)
        return ", ".join(parts) or "nothing"

    def part(self, benchmark: str, provider: str) -> BaselinePart:
        """Return the scores of a provider on a benchmark."""
        found = next((one for one in self.parts if one.owner == (benchmark, provider)), None)
        if found is None:
            raise ConfigurationError(
                f"the baseline {self.run} has no {provider} on {benchmark}; it has {self.contents} "
                "(berryeval baseline set RUN writes a new one)"
            )
        return found

    def data_of(self, part: BaselinePart) -> DataVersion:
        """Return the data that the values of a part rest on."""
        known = part.fingerprints or ("",) * len(part.queries)
        fingerprints = dict(zip(part.queries, known, strict=True))
        return DataVersion(part.content_hash, fingerprints, self.corpora.get(part.benchmark, ""))

    def dumps(self) -> str:
        """Return the file's text, with one line per provider and metric for readable diffs."""
        data = {"schema_version": SCHEMA_VERSION, **self.to_json()}
        text = json.dumps({**data, "parts": []}, indent=2, ensure_ascii=False, allow_nan=False)
        parts = ",\n".join(_format_part(part) for part in data.get("parts", ()))
        return text.replace('"parts": []', f'"parts": [\n{parts}\n  ]' if parts else '"parts": []')


def _format_part(part: Mapping[str, Any]) -> str:
    fields = {name: json.dumps(value, ensure_ascii=False) for name, value in part.items()}
    if "values" in part:
        rows = (
            f"        {json.dumps(key)}: {json.dumps(row)}" for key, row in part["values"].items()
        )
        fields["values"] = "{\n" + ",\n".join(rows) + "\n      }"
    lines = (f"      {json.dumps(name)}: {text}" for name, text in fields.items())
    return "    {\n" + ",\n".join(lines) + "\n    }"
