"""The record of a run: what was asked, what came back, what it scored; to JSON and back."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, TypeAlias, TypeVar

from berryeval._internal.records import (
    JsonRecord,
    Reader,
    is_finite,
    json_pieces,
    refused,
    unversioned,
)
from berryeval._internal.text import counted
from berryeval.data import Query
from berryeval.metrics import parse_metrics
from berryeval.runs.answers import AnswerColumns, AnswerRecord, Passage, array_of
from berryeval.scoring import Scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


# What was asked for a value: only values of the same can be compared.

Different: TypeAlias = Literal["data", "queries", "hits"]


class Asked(NamedTuple):
    """The data, the queries and the number of hits that values are of.

    Attributes:
        content_hash: of the texts, queries, judgments and pack of the benchmark.
        sample: a hash of the ids of the queries that were asked.
        k: how many hits were asked for.
    """

    content_hash: str
    sample: str
    k: int

    def different(self, other: Asked) -> tuple[Different, ...]:
        """In what the two differ; nothing if values of both can be compared."""
        apart: dict[Different, bool] = {
            "data": self.content_hash != other.content_hash,
            "queries": self.sample != other.sample,
            "hits": self.k != other.k,
        }
        return tuple(name for name, found in apart.items() if found)

    def differs_from(self, before: Asked) -> str:
        """Why values of the two cannot be compared, in words; empty if they can."""
        apart = self.different(before)
        if "data" in apart:
            return "the benchmark changed"
        if "queries" in apart:
            return "other queries were asked"
        return f"{self.k} hits were asked for, not {before.k}" if apart else ""


def sample_of(queries: Iterable[str]) -> str:
    """A hash of the ids of queries, whatever their order."""
    found = hashlib.sha256()
    for one in sorted(queries):
        found.update(one.encode(errors="backslashreplace") + b"\0")
    return found.hexdigest()


# How long a provider took, in percentiles.


@dataclass(frozen=True)
class Latency(JsonRecord):
    """Percentiles of the seconds per answered query.

    Attributes:
        p50: half of the queries took no longer.
        p95: nor did 95 %.
        p99: nor did 99 %.
        max: nor did any.
        batch: the most queries that were asked together. If it is more than 1, the seconds of a
            query are those of its batch, divided by the size.
    """

    p50: float
    p95: float
    p99: float
    max: float
    batch: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    @classmethod
    def of(cls, seconds: Sequence[float], batch: int = 1) -> Latency | None:
        """Those of these times; None if there is none."""
        if not seconds:
            return None
        import numpy as np

        p50, p95, p99 = np.percentile(seconds, [50, 95, 99]).tolist()
        return cls(p50, p95, p99, max(seconds), batch)


SCHEMA_VERSION: Final = 1
R = TypeVar("R", "ProviderRecord", "BenchmarkRecord")


def _free(**options: Any) -> Any:
    """A mapping that is empty unless given, and no part of the record's hash."""
    return field(default_factory=dict, hash=False, **options)


def _scores(value: Any, where: str) -> Scores:
    return Scores.from_dict(value, where)


def _curve(value: Any, where: str) -> tuple[float, ...]:
    if not isinstance(value, list | tuple) or not all(
        isinstance(one, int | float) and not isinstance(one, bool) and is_finite(one)
        for one in value
    ):
        raise refused(where, "an array of finite numbers", value)
    return tuple(map(float, value))


def _amounts(value: Any, where: str) -> dict[str, float]:
    if not isinstance(value, dict):
        raise refused(where, "an object", value)
    for name, amount in value.items():
        if isinstance(amount, bool) or not isinstance(amount, int | float) or not is_finite(amount):
            place = f"{where}.{name}"
            raise refused(place, "a finite number", amount)
    return dict(value)


_answers = array_of(AnswerRecord)


def _columns(value: Any, where: str) -> AnswerColumns:
    """An array of answers; none of them is held as an object."""
    return AnswerColumns(_answers(value, where))


@dataclass(frozen=True)
class ProviderRecord(JsonRecord):
    """What one provider did on one benchmark.

    Attributes:
        name: what tables call the provider.
        type: which provider it is.
        chunker: how the corpus was cut for it; empty where there was nothing to cut, and in older
            records where the benchmark suggested how.
        scores: by the metrics that were asked for; None if the run of the provider failed.
        standard: by the metrics that every run has, so that any two runs can be exported alike.
        curve: precision at the recall levels 0.0, 0.1, ..., 1.0, the mean over all queries.
        answers: one per query, in the order of the benchmark's queries.
        outcomes: how many queries were answered, were empty, failed, or timed out.
        latency: of the answered queries; None if there is none.
        warnings: what makes a comparison unfair, or a score doubtful.
        failure: why there are no scores.
        cost: what an answered query cost on average, by what the provider calls it (tokens, money);
            empty where it does not say.
    """

    is_large: ClassVar[bool] = True
    readers: ClassVar[Mapping[str, Reader]] = {
        "Scores": _scores,
        "tuple[float, ...]": _curve,
        "Sequence[AnswerRecord]": _columns,
        "Latency": Latency.from_json,
        "Mapping[str, float]": _amounts,
    }

    name: str
    type: str
    chunker: str = ""
    scores: Scores | None = None
    standard: Scores | None = None
    curve: tuple[float, ...] = ()
    answers: Sequence[AnswerRecord] = ()
    outcomes: Mapping[str, Any] = _free()
    latency: Latency | None = None
    warnings: tuple[str, ...] = ()
    failure: str = ""
    cost: Mapping[str, float] = _free()
    extra: Mapping[str, Any] = _free(repr=False)

    def __post_init__(self) -> None:
        """Hold the answers as `AnswerColumns`, whichever sequence they came in."""
        if not isinstance(self.answers, AnswerColumns):
            object.__setattr__(self, "answers", AnswerColumns(self.answers))

    @property
    def brief(self) -> str:
        """Its name and the first metric, or that it failed: what it is in a line of Python."""
        values = self.scores.mean.items() if self.scores is not None else ()
        shown = next((f"{name}={value:.4f}" for name, value in values), "no scores")
        return f"{self.name!r} {shown}"

    def scores_with(self, metric: str) -> Scores | None:
        """The scores that have a metric: those that were asked for, else the standard ones."""
        tables = (self.scores, self.standard)
        return next((one for one in tables if one is not None and metric in one.metrics), None)

    def json_parts(self) -> Iterator[tuple[str, Any]]:
        """The parts of the JSON object; the tables of scores come last."""
        yield from JsonRecord.json_parts(replace(self, scores=None, standard=None))
        for name, table in (("scores", self.scores), ("standard", self.standard)):
            if table is not None:
                yield name, table.parts()


@dataclass(frozen=True)
class BenchmarkRecord(JsonRecord):
    """What all providers did on one benchmark.

    Attributes:
        name: of the benchmark.
        content_hash: of its texts, queries, judgments and pack.
        k: how many hits every provider was asked for.
        queries: those that were asked.
        providers: what each of them did.
        passages: what hits show to people, each once.
        thresholds: the least values that the benchmark itself wishes for.
        notes: what people should know about it.
    """

    is_large: ClassVar[bool] = True
    readers: ClassVar[Mapping[str, Reader]] = {
        "tuple[Query, ...]": array_of(Query),
        "tuple[ProviderRecord, ...]": array_of(ProviderRecord),
        "tuple[Passage, ...]": array_of(Passage),
    }

    name: str
    content_hash: str
    k: int
    queries: tuple[Query, ...] = ()
    providers: tuple[ProviderRecord, ...] = ()
    passages: tuple[Passage, ...] = ()
    thresholds: Mapping[str, Any] = _free()
    notes: tuple[str, ...] = ()
    extra: Mapping[str, Any] = _free(repr=False)

    @property
    def asked(self) -> Asked:
        """What values depend on; those of another record compare if it was asked the same."""
        return Asked(self.content_hash, sample_of(query.id for query in self.queries), self.k)

    @property
    def brief(self) -> str:
        """Its name, how many queries, and every provider."""
        queries = counted(len(self.queries), "query", "queries")
        return ", ".join([repr(self.name), queries, *(one.brief for one in self.providers)])

    def __repr__(self) -> str:
        return f"BenchmarkRecord({self.brief})"

    def __getitem__(self, name: str) -> ProviderRecord:
        return _named(self.providers, name, "provider")


@dataclass(frozen=True)
class RunRecord(JsonRecord):
    """Everything that is known about a run.

    Attributes:
        id: its name, unique in a store: the name of the run folder.
        created: when it was started, ISO 8601 with the offset of the place.
        benchmarks: what was done on each.
        plan: what was asked for, secrets masked.
        config_hash: of the plan.
        versions: of what may change the outcome: berryeval, python, and the providers' libraries.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "tuple[BenchmarkRecord, ...]": array_of(BenchmarkRecord),
    }

    id: str
    created: str
    benchmarks: tuple[BenchmarkRecord, ...] = ()
    plan: Mapping[str, Any] = _free()
    config_hash: str = ""
    versions: Mapping[str, Any] = _free()
    extra: Mapping[str, Any] = _free(repr=False)

    def __repr__(self) -> str:
        parts = ", ".join(f"[{one.brief}]" for one in self.benchmarks)
        return f"RunRecord({self.id!r}{f', {parts}' if parts else ''})"

    def __getitem__(self, name: str) -> BenchmarkRecord:
        return _named(self.benchmarks, name, "benchmark")

    def json_parts(self) -> Iterator[tuple[str, Any]]:
        """The parts of the JSON object, with the version of its schema first."""
        yield "schema_version", SCHEMA_VERSION
        yield from super().json_parts()

    @classmethod
    def from_json(cls, data: Any, where: str = "") -> RunRecord:
        """From a JSON object of this or an older version of the schema."""
        rest = unversioned(data, where, "a record of a run", SCHEMA_VERSION)
        return super().from_json(rest, where)

    def dumps(self) -> str:
        """The record as JSON text; the same record always gives the same bytes."""
        return "".join(self.pieces())

    def pieces(self) -> Iterator[str]:
        """The text of `dumps` in small pieces: the whole of a large run is never held."""
        return json_pieces(self)


def _named(parts: tuple[R, ...], name: str, kind: str) -> R:
    for part in parts:
        if part.name == name:
            return part
    there = ", ".join(part.name for part in parts) or "none"
    msg = f"no {kind} {name!r}; there are {there}"
    raise KeyError(msg)


# Groups of queries: by a field, or by a part of their metadata.

FIELDS: Final = ("id", "category", "difficulty")


def property_of(query: Query, name: str) -> str:
    """What a query says about itself under this name: a field, or a part of its metadata.

    A field that says nothing leaves it to the metadata, where some formats have its like.
    """
    for value in (getattr(query, name, None) if name in FIELDS else None, query.metadata.get(name)):
        if value is not None and value != "":
            return str(value)
    return ""


def with_property(queries: Iterable[Query], name: str, wanted: str) -> list[Query]:
    """The queries that say this under this name, in whatever case."""
    return [query for query in queries if property_of(query, name).lower() == wanted.lower()]


def group_of(queries: Iterable[Query], name: str) -> dict[str, str]:
    """The group of every query that says something under this name."""
    values = {query.id: property_of(query, name) for query in queries}
    return {query: value for query, value in values.items() if value}


# The metrics that every run has, whatever was asked for: any two runs can be exported alike.

_CUTOFFS: Final = (5, 10, 20)

# The names are the columns of the aggregate CSV, in their order.
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


def deeper_than(k: int, metrics: Iterable[str]) -> tuple[str, ...]:
    """Those of these metrics that look further down than the `k` hits that were asked for.

    >>> deeper_than(10, ["P@10", "R@20", "RR"])
    ('R@20',)
    """
    return tuple(
        name
        for name in metrics
        if any((one.params.get("cutoff") or 0) > k for one in parse_metrics([name]))
    )


@cache
def standard_of(k: int) -> tuple[str, ...]:
    """The standard metrics of a run of `k` hits: what looks deeper would be of another cutoff."""
    deeper = deeper_than(k, STANDARD)
    return tuple(name for name in STANDARD if name not in deeper)


def depth_note(k: int, metrics: Iterable[str]) -> str:
    """What to say of metrics that look deeper than was asked for; empty if none does."""
    deeper = deeper_than(k, metrics)
    if not deeper:
        return ""
    looks = "looks" if len(deeper) == 1 else "look"
    hits = "hit" if k == 1 else "hits"
    return f"{', '.join(deeper)} {looks} deeper than the {k} {hits} asked for: no more could count"
