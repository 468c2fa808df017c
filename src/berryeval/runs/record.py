"""The record of a run: queries, answers and scores, as JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, TypeAlias, TypeVar

from berryeval._internal.serial import (
    JsonRecord,
    Reader,
    array_reader,
    iter_json,
    open_field,
    read_object,
    strip_schema_version,
    type_mismatch,
)
from berryeval._internal.text import pluralize
from berryeval._internal.validate import is_whole
from berryeval.data import Query
from berryeval.errors import DataError
from berryeval.metrics import parse_metrics
from berryeval.runs.answers import AnswerColumns, AnswerRecord, Passage
from berryeval.runs.stages import Latency, StageRecord, read_amounts, read_numbers, scores_last
from berryeval.scoring import Scores

if TYPE_CHECKING:
    from typing_extensions import Self

Different: TypeAlias = Literal["data", "queries", "hits"]


class Asked(NamedTuple):
    """The conditions of a value; only values with equal conditions can be compared.

    Attributes:
        content_hash: Hash of the texts, queries, judgments and pack of the benchmark.
        sample: Hash of the ids of the queries.
        k: Number of hits per query.
    """

    content_hash: str
    sample: str
    k: int

    def different(self, other: Asked) -> tuple[Different, ...]:
        """Return the conditions that differ; empty if values can be compared."""
        apart: dict[Different, bool] = {
            "data": self.content_hash != other.content_hash,
            "queries": self.sample != other.sample,
            "hits": self.k != other.k,
        }
        return tuple(name for name, found in apart.items() if found)

    def differs_from(self, before: Asked) -> str:
        """Explain why values cannot be compared; empty if they can."""
        apart = self.different(before)
        if "data" in apart:
            return "the benchmark changed"
        if "queries" in apart:
            return "other queries were asked"
        return f"{self.k} hits were asked for, not {before.k}" if apart else ""


def hash_sample(queries: Iterable[str]) -> str:
    """Return a hash of query ids, independent of their order."""
    found = hashlib.sha256()
    for one in sorted(queries):
        found.update(one.encode(errors="backslashreplace") + b"\0")
    return found.hexdigest()


SCHEMA_VERSION: Final = 1
R = TypeVar("R", "ProviderRecord", "BenchmarkRecord")


def _read_counts(value: Any, where: str) -> dict[str, int]:
    found = read_object(value, where)
    for name, count in found.items():
        if not is_whole(count):
            raise type_mismatch(f"{where}.{name}", "a whole number", count)
    return found


@dataclass(frozen=True)
class StoredValue:
    """A metric of a result: its mean over `n` queries and its 95 % confidence interval.

    Metrics that were not requested have no interval.
    """

    metric: str
    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class ProviderRecord(JsonRecord):
    """The result of one provider on one benchmark.

    Attributes:
        name: Name of the provider in tables.
        type: Type of the provider.
        chunker: Chunker of the corpus; empty if nothing was chunked, and in older records also if
            the benchmark suggested the chunker.
        scores: Scores by the requested metrics; None if the provider failed.
        standard: Scores by the metrics that every run has, for uniform exports.
        curve: Mean precision at the recall levels 0.0, 0.1, ..., 1.0.
        answers: One answer per query, in the order of the benchmark's queries.
        outcomes: Number of queries by outcome.
        latency: Latency of the answered queries; None if no query was answered.
        warnings: Reasons why a comparison is unfair or a score doubtful.
        failure: Reason why there are no scores.
        cost: Mean cost of an answered query, by the provider's own units (tokens, money); empty if
            the provider does not report it.
        out_of_scope: Share of the hits that are outside the scope of their query; None if no query
            with a scope has a hit in the corpus.
        fingerprints: A fingerprint per query, in the order of the benchmark's queries.
        judging: Options and pack that decided what is relevant.
        unknown_ids: Retrieved ids that the benchmark does not have: `count` of `retrieved`, a
            `summary`, `examples` and an `explanation`; empty if all ids are known.
        added: Metrics that were added to the scores after the run.
        existing: Indexes that existed before the run and were searched as they were: their rows by
            `provider:name`, null if not counted; empty if the provider built its own.
        stages: Stages of a provider that searches in several, such as `rerank`.
    """

    is_large: ClassVar[bool] = True
    readers: ClassVar[Mapping[str, Reader]] = {
        "Scores": Scores.from_dict,
        "tuple[float, ...]": read_numbers,
        "Sequence[AnswerRecord]": array_reader(AnswerRecord),
        "Latency": Latency.from_json,
        "tuple[StageRecord, ...]": array_reader(StageRecord),
        "Mapping[str, float]": read_amounts,
        "Mapping[str, int]": _read_counts,
    }

    name: str
    type: str
    chunker: str = ""
    scores: Scores | None = None
    standard: Scores | None = None
    curve: tuple[float, ...] = ()
    answers: Sequence[AnswerRecord] = ()
    outcomes: Mapping[str, int] = open_field()
    latency: Latency | None = None
    warnings: tuple[str, ...] = ()
    failure: str = ""
    cost: Mapping[str, float] = open_field()
    out_of_scope: float | None = None
    fingerprints: tuple[str, ...] = ()
    judging: str = ""
    unknown_ids: Mapping[str, Any] = open_field()
    added: tuple[str, ...] = ()
    existing: Mapping[str, Any] = open_field()
    stages: tuple[StageRecord, ...] = ()
    extra: Mapping[str, Any] = open_field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.answers, AnswerColumns):
            object.__setattr__(self, "answers", AnswerColumns(self.answers))

    @property
    def brief(self) -> str:
        """Name and first metric, for `repr`."""
        values = self.scores.mean.items() if self.scores is not None else ()
        shown = next((f"{name}={value:.4f}" for name, value in values), "no scores")
        return f"{self.name!r} {shown}"

    def list_values(self) -> list[StoredValue]:
        """Return the values of the requested metrics with intervals, then those of the standard."""
        found: dict[str, StoredValue] = {}
        for scores in (self.scores, self.standard):
            for metric in scores.metrics if scores is not None else ():
                if scores is not None and metric not in found:
                    low, high = scores.ci(metric) if scores is self.scores else (None, None)
                    value = scores.mean[metric]
                    found[metric] = StoredValue(metric, value, low, high, scores.count)
        return list(found.values())

    def scores_with(self, metric: str) -> Scores | None:
        """Return the scores with a metric: the requested ones, else the standard ones."""
        tables = (self.scores, self.standard)
        return next((one for one in tables if one is not None and metric in one.metrics), None)

    def json_parts(self) -> Iterator[tuple[str, Any]]:
        """Yield the parts of the JSON object; the scores come last."""
        yield from scores_last(self, "scores", "standard")


@dataclass(frozen=True)
class BenchmarkRecord(JsonRecord):
    """The results of all providers on one benchmark.

    Attributes:
        name: Name of the benchmark.
        content_hash: Hash of its texts, queries, judgments and pack.
        k: Number of hits per query.
        queries: The queries of the run.
        providers: The result of each provider.
        passages: Excerpts of the hits, each once.
        thresholds: Minimum values that the benchmark recommends.
        notes: Remarks for readers of reports.
        corpus: Marks of the documents, by which two versions of the corpus are compared.
        unasked: Queries of the benchmark that were not asked.
    """

    is_large: ClassVar[bool] = True
    readers: ClassVar[Mapping[str, Reader]] = {
        "tuple[Query, ...]": array_reader(Query),
        "tuple[ProviderRecord, ...]": array_reader(ProviderRecord),
        "tuple[Passage, ...]": array_reader(Passage),
    }

    name: str
    content_hash: str
    k: int
    queries: tuple[Query, ...] = ()
    providers: tuple[ProviderRecord, ...] = ()
    passages: tuple[Passage, ...] = ()
    thresholds: Mapping[str, Any] = open_field()
    notes: tuple[str, ...] = ()
    corpus: str = ""
    unasked: tuple[str, ...] = ()
    extra: Mapping[str, Any] = open_field(repr=False)

    @classmethod
    def from_json(cls, data: Any, where: str = "") -> Self:
        """Read a JSON object whose parts fit each other."""
        found = super().from_json(data, where)
        for one in found.providers:
            answers = one.answers
            if isinstance(answers, AnswerColumns) and answers.refers_beyond(len(found.passages)):
                raise DataError(
                    f"{where}: a hit of {one.name} refers to a passage that is not one of the "
                    f"{len(found.passages)}"
                )
        return found

    @property
    def asked(self) -> Asked:
        """Conditions of the values."""
        return Asked(self.content_hash, hash_sample(query.id for query in self.queries), self.k)

    @property
    def hash_without_votes(self) -> str:
        """Hash of the benchmark without the votes of judges, which `judged` in `extra` counts."""
        judged = self.extra.get("judged")
        found = judged.get("own_hash") if isinstance(judged, Mapping) else None
        return found if isinstance(found, str) else self.content_hash

    @property
    def brief(self) -> str:
        """Name, number of queries and providers, for `repr`."""
        queries = pluralize(len(self.queries), "query")
        return ", ".join([repr(self.name), queries, *(one.brief for one in self.providers)])

    def __repr__(self) -> str:
        return f"BenchmarkRecord({self.brief})"

    def __getitem__(self, name: str) -> ProviderRecord:
        return _find_part(self.providers, name, "provider")


@dataclass(frozen=True)
class RunRecord(JsonRecord):
    """The full record of a run.

    Attributes:
        id: Name of the run folder, unique in a store.
        created: Start time in ISO 8601 with the local offset.
        benchmarks: The results on each benchmark.
        plan: The plan of the run, with secrets masked.
        config_hash: Hash of the plan.
        versions: Versions of berryeval, python and the providers' libraries.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "tuple[BenchmarkRecord, ...]": array_reader(BenchmarkRecord)
    }

    id: str
    created: str
    benchmarks: tuple[BenchmarkRecord, ...] = ()
    plan: Mapping[str, Any] = open_field()
    config_hash: str = ""
    versions: Mapping[str, Any] = open_field()
    extra: Mapping[str, Any] = open_field(repr=False)

    @property
    def tags(self) -> dict[str, str]:
        """Tags of the run, such as {"model": "small"}."""
        return read_plan_tags(self.plan)

    def __repr__(self) -> str:
        parts = ", ".join(f"[{one.brief}]" for one in self.benchmarks)
        return f"RunRecord({self.id!r}{f', {parts}' if parts else ''})"

    def __getitem__(self, name: str) -> BenchmarkRecord:
        return _find_part(self.benchmarks, name, "benchmark")

    def json_parts(self) -> Iterator[tuple[str, Any]]:
        """Yield the parts of the JSON object, starting with the schema version."""
        yield "schema_version", SCHEMA_VERSION
        yield from super().json_parts()

    @classmethod
    def from_json(cls, data: Any, where: str = "") -> RunRecord:
        """Read a JSON object of the current schema version."""
        rest = strip_schema_version(data, where, "a record of a run", SCHEMA_VERSION)
        return super().from_json(rest, where)

    def dumps(self) -> str:
        """Return the JSON text; equal records give equal bytes."""
        return "".join(self.pieces())

    def pieces(self) -> Iterator[str]:
        """Yield the text of `dumps` in pieces, to bound the memory of large runs."""
        return iter_json(self)


def read_plan_tags(plan: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags in the plan of a run."""
    found = plan.get("tags")
    return {name: str(value) for name, value in found.items()} if isinstance(found, Mapping) else {}


def _find_part(parts: tuple[R, ...], name: str, kind: str) -> R:
    for part in parts:
        if part.name == name:
            return part
    there = ", ".join(part.name for part in parts) or "none"
    raise KeyError(f"no {kind} {name!r}; there are {there}")


FIELDS: Final = ("id", "category", "difficulty")


def get_property(query: Query, name: str) -> str:
    """Return a property of a query: a field, or if that is empty an entry of its metadata."""
    for value in (getattr(query, name, None) if name in FIELDS else None, query.metadata.get(name)):
        if value is not None and value != "":
            return str(value)
    return ""


def filter_queries(queries: Iterable[Query], name: str, wanted: str) -> list[Query]:
    """Return the queries whose property has this value, ignoring case."""
    return [query for query in queries if get_property(query, name).lower() == wanted.lower()]


def group_queries(queries: Iterable[Query], name: str) -> dict[str, str]:
    """Return the value of a property by query id, without queries that lack it."""
    values = {query.id: get_property(query, name) for query in queries}
    return {query: value for query, value in values.items() if value}


_CUTOFFS: Final = (5, 10, 20)

# The metrics of every run, named and ordered like the columns of the aggregate CSV.
STANDARD: Final = (
    *(f"recall_at_{k}" for k in _CUTOFFS),
    *(f"precision_at_{k}" for k in _CUTOFFS),
    "mrr",
    *(f"ndcg_at_{k}" for k in _CUTOFFS),
    "map",
    *(f"hit_rate_at_{k}" for k in _CUTOFFS),
)
RECALL_LEVELS: Final = tuple(step / 10 for step in range(11))
CURVE: Final = tuple(f"IPrec@{level:g}" for level in RECALL_LEVELS)


def find_deeper(k: int, metrics: Iterable[str]) -> tuple[str, ...]:
    """Return the metrics with a cutoff larger than `k`, the number of hits per query.

    >>> find_deeper(10, ["P@10", "R@20", "RR"])
    ('R@20',)
    """
    return tuple(
        name
        for name in metrics
        if any((one.params.get("cutoff") or 0) > k for one in parse_metrics([name]))
    )


@cache
def standard_metrics(k: int) -> tuple[str, ...]:
    """Return the standard metrics with a cutoff of at most `k`."""
    deeper = find_deeper(k, STANDARD)
    return tuple(name for name in STANDARD if name not in deeper)


def describe_depth(k: int, metrics: Iterable[str]) -> str:
    """Describe the metrics with a cutoff larger than `k`; empty without such metrics."""
    deeper = find_deeper(k, metrics)
    if not deeper:
        return ""
    needs = "needs" if len(deeper) == 1 else "need"
    return f"{', '.join(deeper)} {needs} more than the {k} hits requested: only those count"
