"""The plan of a run: the validated settings of a file or the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

from berryeval._internal.text import find_same_folder
from berryeval._internal.validate import nearest
from berryeval.errors import BerryEvalError
from berryeval.gates import Gate, Limit
from berryeval.relevance import STRIPPED, RelevanceOptions
from berryeval.runner import Policy, Tracing
from berryeval.runs import describe_objects, mask_secrets
from berryeval.workflows.config import MisplacedError
from berryeval.workflows.settings import limit_rules

DEFAULT_METRICS = ("nDCG@10", "P@5", "R@10", "RR", "AP")
DEFAULT_K = 20
DEFAULT_EXPORT = ("csv", "html")
NO_EXPORT = "none"
AUTO = "auto"  # the ledger beside the benchmark, if there is one
NO_VOTES = "none"


# Strict: `k: yes` is a mistake, not the number 1.
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
# One text may stand for a list of it.
Texts = Annotated[list[str], BeforeValidator(lambda one: [one] if isinstance(one, str) else one)]


def _check_limits(limits: dict[str, float]) -> dict[str, float]:
    try:
        limit_rules(limits)
    except BerryEvalError as error:
        raise ValueError(str(error).removeprefix("metric: ")) from None
    return limits


def _write_flag(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool | int) else value


# A text, or a flag or number of the metadata.
Property = Annotated[str, BeforeValidator(_write_flag, json_schema_input_type=str | bool | int)]
Thresholds = Annotated[dict[str, Limit], AfterValidator(_check_limits)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BenchmarkSpec(_Part):
    """A benchmark that needs options of its format."""

    source: str = Field(description="bundled name, or path")
    format: str = Field("", description="name from `berryeval list formats`; detected by default")
    options: dict[str, Any] = Field({}, description="options of the format, such as corpus: docs")


# pydantic puts these tags into the path of an error; the angle brackets mark them for removal.
AnyBenchmark = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[BenchmarkSpec, Tag("<mapping>")],
    Discriminator(lambda value: "<text>" if isinstance(value, str) else "<mapping>"),
]


def name_source(given: str | BenchmarkSpec) -> str:
    """Return where a benchmark of a plan is: a path, or a name."""
    return given if isinstance(given, str) else given.source


class ProviderSpec(_Part):
    """A provider and its chunker: `bm25`, `bm25:fixed-400`, a mapping, or a function."""

    type: str = Field(description="name from `berryeval list providers`")
    name: str = Field("", description="name in tables and folders; `type:chunker` by default")
    chunker: str = Field(
        "", description="`section`, `fixed-400`, ...; the benchmark's suggestion by default"
    )
    options: dict[str, Any] = Field({}, description="options of the provider; expands ${NAME}")
    strip: Texts = Field(
        [],
        description="what to remove from ids that the benchmark does not have: extension, path, "
        "chunk, case, or a text at the beginning or end",
    )
    id_map: dict[str, str] | str = Field(
        {}, description="the benchmark's id by the provider's id, or a JSON file of such an object"
    )

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
        return {"type": kind, "name": _find_name(value), "options": {option: value}}

    @field_validator("strip")
    @classmethod
    def _check_spelling(cls, words: list[str]) -> list[str]:
        for word in words:
            near = nearest(word, STRIPPED) if word.isalpha() and word not in STRIPPED else []
            if near or not word:
                names = f"{', '.join(STRIPPED)}, or a text at the beginning or end of ids"
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"expected {names}, found {word!r}{hint}")
        return words

    @field_serializer("options")
    def _without_objects(self, options: dict[str, Any]) -> Any:
        """Write an object by its name: its content may change."""
        return describe_objects(options)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Mask secrets wherever a plan is shown."""
        for name, value in super().__repr_args__():
            yield name, mask_secrets(value, name or "")

    @property
    def label(self) -> str:
        """Name in tables and folders."""
        return self.name or (f"{self.type}:{self.chunker}" if self.chunker else self.type)


def _find_name(provider: Any) -> str:
    """Return the name of a function or object, else of its class."""
    given = getattr(provider, "name", None)
    if isinstance(given, str) and given:
        return given
    return str(getattr(provider, "__name__", type(provider).__name__))


class Patience(_Part):
    """Concurrency, time limits, retries and error budget; see `Policy`."""

    concurrency: Whole | None = Field(
        default=None, ge=1, description="queries asked at once; by default 4, or 1 in this process"
    )
    batch: Whole = Field(
        default=Policy.batch, ge=1, description="queries per call, if it takes several"
    )
    timeout: Number = Field(
        default=Policy.timeout, gt=0, description="seconds per attempt or batch"
    )
    index_timeout: Number = Field(
        default=Policy.index_timeout, gt=0, description="seconds for indexing"
    )
    attempts: Whole = Field(
        default=Policy.attempts, ge=1, description="attempts after temporary errors"
    )
    first_wait: Number = Field(
        default=Policy.first_wait,
        ge=0,
        description="seconds before the second attempt; then doubled",
    )
    longest_wait: Number = Field(
        default=Policy.longest_wait, gt=0, description="longest wait in seconds"
    )
    error_budget: Number = Field(
        default=Policy.error_budget, ge=0, le=1, description="share of queries that may fail"
    )
    warm_up: Whole = Field(
        default=Policy.warm_up, ge=0, description="queries asked before measuring"
    )

    def policy(self, seed: int, *, in_process: bool) -> Policy:
        """Return the policy for the runner.

        A provider that searches in this process gets one query at a time unless another number is
        set: concurrent ones would wait for each other, and their times would show that.
        """
        settings = self.model_dump()
        if settings["concurrency"] is None:
            settings["concurrency"] = 1 if in_process else Policy.concurrency
        return Policy(**settings, seed=seed)


class RelevanceSpec(_Part):
    """What counts as relevant; see `RelevanceOptions`."""

    threshold: Annotated[
        Number,
        Field(gt=0, le=1, description="least overlap (F1 of words) of a chunk with the answer"),
    ] = RelevanceOptions.threshold
    coverage: Annotated[
        Number,
        Field(gt=0, le=1, description="least share of the shorter of hit and target in common"),
    ] = RelevanceOptions.coverage

    @property
    def options(self) -> RelevanceOptions:
        """The options for the judging."""
        return RelevanceOptions(**self.model_dump())


class Plan(_Part):
    """Everything that a run does."""

    benchmarks: list[AnyBenchmark] = Field(
        min_length=1, description="bundled names, paths, or mappings with a `source`"
    )
    providers: list[ProviderSpec] = Field(min_length=1, description="providers to compare")
    metrics: list[str] = Field(
        list(DEFAULT_METRICS), min_length=1, description="names from `berryeval list metrics`"
    )
    k: Annotated[Whole, Field(ge=1)] | None = Field(
        None, description="hits per query; by default 20, or the largest cutoff of the metrics"
    )
    run: Patience = Field(
        Patience(), description="concurrency, time limits, retries and error budget"
    )
    limit: Annotated[Whole, Field(ge=1)] | None = Field(
        None, description="number of queries to ask (the first n)"
    )
    filter: dict[str, Property] = Field(
        {},
        description="properties of the queries to ask, such as category: factual",
    )
    tags: dict[str, Property] = Field(
        {}, description="tags of the run for reports and trends, such as model: small"
    )
    seed: Whole = Field(0, description="random seed")
    relevance: RelevanceSpec = Field(
        RelevanceSpec(), description="thresholds of what counts as relevant"
    )
    judged: str = Field(
        AUTO,
        min_length=1,
        description="votes of judges that count: auto (the ledger beside the benchmark, if there "
        "is one), none, or the folder or store of a ledger",
    )
    thresholds: Thresholds = Field(
        {}, description="lowest value of a metric; a provider below it fails the run"
    )
    gate: Gate = Field(Gate(), description="rules that the run must satisfy, and its baseline")
    export: Texts = Field(
        list(DEFAULT_EXPORT), description="names from `berryeval list exporters`, or none"
    )
    label: str = Field("", description="label of the CSV files, for BENCHMARK-PROVIDER")
    eval_dir: str = Field(
        "", description="folder that collects the CSV files; that of the run by default"
    )
    # Excluded from hashes and folders: neither spans nor the store change the run.
    trace: Tracing = Field(
        "auto",
        exclude=True,
        description="OpenTelemetry spans: auto (if the application traces), none, spans, or "
        "contents (with the texts of queries and documents)",
    )
    store: str | None = Field(
        None, exclude=True, description="store of past runs: a path, postgresql://..., or none"
    )

    @field_validator("export")
    @classmethod
    def _check_exporters(cls, names: list[str]) -> list[str]:
        from berryeval.reports import EXPORTERS

        if names == [NO_EXPORT]:
            return []
        try:
            for name in names:
                EXPORTERS.get(name)
        except BerryEvalError as error:
            raise ValueError(str(error)) from None
        return list(dict.fromkeys(map(EXPORTERS.canonical, names)))

    @field_validator("metrics")
    @classmethod
    def _check_metrics(cls, names: list[str]) -> list[str]:
        from berryeval.metrics import distinct_names

        try:
            return distinct_names(names)
        except BerryEvalError as error:
            raise ValueError(str(error)) from None

    @model_validator(mode="after")
    def _check_labels(self) -> Plan:
        same = find_same_folder("providers", self.labels)
        if same:
            place, problem = same
            raise MisplacedError(f"{problem}; give one of them another name", ("providers", place))
        return self

    @model_serializer(mode="wrap")
    def _leave_out_default(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out `judged` unless it was set, so that plans without it stay the same."""
        data: dict[str, Any] = write(self)
        return {name: one for name, one in data.items() if (name, one) != ("judged", AUTO)}

    @property
    def labels(self) -> list[str]:
        """Names of the providers in tables."""
        return [spec.label for spec in self.providers]

    @property
    def scored(self) -> list[str]:
        """All metrics to compute, including those that only a threshold or a rule names."""
        from berryeval.metrics import parse_metric

        names = {parse_metric(name): name for name in self.metrics}
        for name in (*self.thresholds, *self.gate.metrics):
            names.setdefault(parse_metric(name), name)
        return list(names.values())

    @property
    def whole_gate(self) -> Gate:
        """The gate with the thresholds as rules."""
        least = limit_rules(self.thresholds)
        return self.gate.model_copy(update={"rules": [*least, *self.gate.rules]})

    @property
    def depth(self) -> int:
        """Number of hits requested for each query."""
        if self.k is not None:
            return self.k
        from berryeval.metrics import parse_metrics

        cutoffs = [metric.params.get("cutoff") or 0 for metric in parse_metrics(self.scored)]
        return max(DEFAULT_K, *cutoffs)


# The JSON Schema of `berryeval.yaml`, for editors: `python -m berryeval.workflows.plan`.

SCHEMA_FILE: Final = "berryeval.schema.json"


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema of a configuration file.

    No key is required at the top, because flags or variables may give it.
    """
    schema = _remove_noise(Plan.model_json_schema())
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
        "description": "Settings of `berryeval eval`.",
    }


def _remove_noise(node: Any) -> Any:
    if isinstance(node, list):
        return [_remove_noise(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _remove_noise(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "additionalProperties" and value is True)
    }


def schema_text() -> str:
    """Return the text of the schema file."""
    return json.dumps(config_schema(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
