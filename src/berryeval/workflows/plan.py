"""The plan of a run: what a configuration file or the command line asked for, checked."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_serializer,
    field_validator,
    model_validator,
)

from berryeval.errors import BerryEvalError
from berryeval.gates import Gate
from berryeval.runner import Policy
from berryeval.runs import masked, without_objects
from berryeval.workflows.config import MisplacedError
from berryeval.workflows.settings import Thresholds, limit_rules

if TYPE_CHECKING:
    from collections.abc import Iterator


DEFAULT_METRICS = ("nDCG@10", "P@5", "R@10", "RR", "AP")
DEFAULT_K = 20
DEFAULT_EXPORT = ("csv", "html")
NO_EXPORT = "none"


# A flag is no number, and a text is none: `k: yes` is a slip of the pen.
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BenchmarkSpec(_Part):
    """A benchmark that needs more than its name or path to be read."""

    source: str = Field(description="a bundled name, or a path")
    format: str = Field("", description="a name of `berryeval list formats`; known by its signs")
    options: dict[str, Any] = Field({}, description="of the format, as corpus: docs")


# In angles: the tags take part in the places of faults, and are left out of messages.
AnyBenchmark = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[BenchmarkSpec, Tag("<mapping>")],
    Discriminator(lambda value: "<text>" if isinstance(value, str) else "<mapping>"),
]


class ProviderSpec(_Part):
    """A provider and how it gets its chunks: `bm25`, `bm25:fixed-400`, a mapping, a function."""

    type: str = Field(description="a name of `berryeval list providers`")
    name: str = Field("", description="what tables call it; `type:chunker` unless given")
    chunker: str = Field("", description="`section`, `fixed-400`, ...; what the benchmark suggests")
    options: dict[str, Any] = Field({}, description="of the provider; ${NAME} is filled in")

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if isinstance(value, str):
            kind, _, chunker = value.partition(":")
            return {"type": kind, "chunker": chunker, "name": value}
        if isinstance(value, Mapping | ProviderSpec):
            return value
        from berryeval.providers import find_wrapper

        kind, option = find_wrapper(value)
        return {"type": kind, "name": _name_of(value), "options": {option: value}}

    @field_serializer("options")
    def _without_objects(self, options: dict[str, Any]) -> Any:
        """An object is written by its name: what it holds is its own, and changes."""
        return without_objects(options)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Secrets are masked in all that shows a plan."""
        for name, value in super().__repr_args__():
            yield name, masked(value, name or "")

    @property
    def label(self) -> str:
        """What tables and folders call it."""
        return self.name or (f"{self.type}:{self.chunker}" if self.chunker else self.type)


def _name_of(provider: Any) -> str:
    """What a function or an object calls itself, or else its class."""
    given = getattr(provider, "name", None)
    if isinstance(given, str) and given:
        return given
    return str(getattr(provider, "__name__", type(provider).__name__))


class Patience(_Part):
    """How patient the run is; see `Policy`."""

    concurrency: Annotated[Whole, Field(ge=1)] = Policy.concurrency
    batch: Annotated[Whole, Field(ge=1)] = Policy.batch
    timeout: Annotated[Number, Field(gt=0)] = Policy.timeout
    index_timeout: Annotated[Number, Field(gt=0)] = Policy.index_timeout
    attempts: Annotated[Whole, Field(ge=1)] = Policy.attempts
    first_wait: Annotated[Number, Field(ge=0)] = Policy.first_wait
    longest_wait: Annotated[Number, Field(gt=0)] = Policy.longest_wait
    error_budget: Annotated[Number, Field(ge=0, le=1)] = Policy.error_budget
    warm_up: Annotated[Whole, Field(ge=0)] = Policy.warm_up

    def policy(self, seed: int) -> Policy:
        """The same as the harness takes it."""
        return Policy(**self.model_dump(), seed=seed)


class Plan(_Part):
    """Everything a run is asked to do."""

    benchmarks: list[AnyBenchmark] = Field(
        min_length=1, description="bundled names, or paths, or mappings with a `source`"
    )
    providers: list[ProviderSpec] = Field(min_length=1, description="what is compared")
    metrics: list[str] = Field(
        list(DEFAULT_METRICS), min_length=1, description="names of `berryeval list metrics`"
    )
    k: Annotated[Whole, Field(ge=1)] | None = Field(
        None, description="hits per query; 20, or the largest cutoff of the metrics"
    )
    run: Patience = Field(Patience(), description="how patient the run is")
    limit: Annotated[Whole, Field(ge=1)] | None = Field(
        None, description="the first n queries only"
    )
    filter: dict[str, str] = Field({}, description="only queries with these, as category: factual")
    seed: Whole = Field(0, description="of everything that is drawn by chance")
    thresholds: Thresholds = Field(
        {}, description="the least value of a metric; a provider below it fails the run"
    )
    gate: Gate = Field(Gate(), description="rules that the run must satisfy, and its baseline")

    export: list[str] = Field(
        list(DEFAULT_EXPORT), description="names of `berryeval list exporters`, or none"
    )

    @field_validator("export", mode="before")
    @classmethod
    def _one_or_several(cls, given: Any) -> Any:
        return [given] if isinstance(given, str) else given

    @field_validator("export")
    @classmethod
    def _known_exporters(cls, names: list[str]) -> list[str]:
        from berryeval.reports import EXPORTERS

        if names == [NO_EXPORT]:
            return []
        try:
            for name in names:
                EXPORTERS.get(name)
        except BerryEvalError as error:
            raise ValueError(str(error)) from None
        return list(dict.fromkeys(map(EXPORTERS.canonical, names)))

    # Where a run is remembered is no part of what it is: it is left out of hashes and folders.
    store: str | None = Field(
        None,
        exclude=True,
        repr=False,
        description="where runs are remembered: a path, postgresql://..., or none",
    )

    @field_validator("metrics")
    @classmethod
    def _known_metrics(cls, names: list[str]) -> list[str]:
        from berryeval.metrics import distinct_names

        try:
            return distinct_names(names)
        except BerryEvalError as error:
            raise ValueError(str(error)) from None

    @model_validator(mode="after")
    def _distinct_names(self) -> Plan:
        labels = self.labels
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice:
            msg = f"two providers are called {twice!r}; give one of them another name"
            raise MisplacedError(msg, ("providers", labels.index(twice, labels.index(twice) + 1)))
        return self

    @property
    def labels(self) -> list[str]:
        """What tables call the providers."""
        return [spec.label for spec in self.providers]

    @property
    def scored(self) -> list[str]:
        """The metrics, and those that only a threshold or a rule names."""
        from berryeval.metrics import parse_metric

        names = {parse_metric(name): name for name in self.metrics}
        for name in (*self.thresholds, *self.gate.metrics):
            names.setdefault(parse_metric(name), name)
        return list(names.values())

    @property
    def whole_gate(self) -> Gate:
        """The gate, with the thresholds as rules of it."""
        least = limit_rules(self.thresholds)
        return self.gate.model_copy(update={"rules": [*least, *self.gate.rules]})

    @property
    def depth(self) -> int:
        """How many hits every provider is asked for."""
        if self.k is not None:
            return self.k
        from berryeval.metrics import parse_metrics

        cutoffs = [metric.params.get("cutoff") or 0 for metric in parse_metrics(self.scored)]
        return max(DEFAULT_K, *cutoffs)


# The JSON Schema of `berryeval.yaml`, for editors: `python -m berryeval.workflows.plan`.

SCHEMA_FILE: Final = "berryeval.schema.json"


def config_schema() -> dict[str, Any]:
    """What a configuration file may hold.

    What is missing may come from flags or variables, so that nothing is required at the top.
    """
    schema = _plain(Plan.model_json_schema())
    schema.pop("required", None)
    provider = schema["$defs"][ProviderSpec.__name__]
    schema["$defs"][ProviderSpec.__name__] = {
        "description": provider.pop("description"),
        "anyOf": [{"type": "string"}, provider],
    }
    several = schema["properties"]["export"]
    kinds = [{"type": "string"}, {key: several.pop(key) for key in ("items", "type")}]
    schema["properties"]["export"] = {**several, "anyOf": kinds}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "berryeval.yaml",
        "description": "What `berryeval eval` is asked to do.",
    }


def _plain(node: Any) -> Any:
    """Without what says nothing to people: titles made from names, permission for everything."""
    if isinstance(node, list):
        return [_plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _plain(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "additionalProperties" and value is True)
    }


def schema_text() -> str:
    """The file."""
    return json.dumps(config_schema(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
