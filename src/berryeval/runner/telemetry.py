"""OpenTelemetry spans of a run: one for each provider on a benchmark, one for each query.

Spans of queries follow OpenInference (span kind RETRIEVER). OpenTelemetry is imported only if spans
are wanted or the application has set a tracer provider.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias
from weakref import WeakKeyDictionary

from berryeval._internal.masking import Masker
from berryeval._internal.optional import import_optional
from berryeval._internal.plain import plain_text
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.runner.outcome import FAILED

if TYPE_CHECKING:
    from berryeval.data import Query
    from berryeval.runner.outcome import Ranking


Tracing: TypeAlias = Literal["auto", "none", "spans", "contents"]
_FEATURE: Final = "tracing a run"
_NAME: Final = "berryeval"
_SHOWN: Final = 30  # documents of a span, which has 128 attributes unless the user allows more
_KIND: Final = "openinference.span.kind"
_EXPORTERS: Final = "opentelemetry_traces_exporter"  # group of entry points
_PROTOCOLS: Final = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"}
# Tracer providers that were set here, with their exporters.
_ours: Final[WeakKeyDictionary[Any, list[_WatchedExporter]]] = WeakKeyDictionary()
log = logging.getLogger("berryeval")


@contextmanager
def open_tracer(tracing: Tracing) -> Iterator[Tracer | None]:
    """Yield the tracer of a run, or None if nothing is traced; send what is left at the end.

    "auto" traces if the application has set a tracer provider; "spans" and "contents" otherwise set
    one that exports as the OTEL_* variables of the environment say.
    """
    tracer = _find_tracer(tracing)
    try:
        yield tracer
    finally:
        if tracer is not None:
            _flush(tracer)


def _flush(tracer: Tracer) -> None:
    """Send what is left; give up after the first batch that a collector does not take.

    Each batch waits for the collector until its timeout, and the SDK would try all of them.
    """
    exporters = _ours.get(tracer.provider)
    if exporters is None:
        return
    for exporter in exporters:
        exporter.is_last_try = True
    try:
        tracer.provider.force_flush()
    finally:
        for exporter in exporters:
            exporter.is_last_try = exporter.has_given_up = False


def _find_tracer(tracing: Tracing) -> Tracer | None:
    if tracing == "none" or (tracing == "auto" and "opentelemetry.trace" not in sys.modules):
        return None
    api = import_optional("opentelemetry.trace", _FEATURE, extra="otel")
    provider = api.get_tracer_provider()
    if isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider):
        if tracing == "auto" or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
            return None
        provider, exporters = _build_provider()
        api.set_tracer_provider(provider)
        _ours[provider] = exporters
    if tracing == "auto" and provider in _ours:
        return None
    return Tracer(provider, api, contents=tracing == "contents")


def _build_provider() -> tuple[Any, list[_WatchedExporter]]:
    """Build the tracer provider of the environment, and its exporters: OTLP by default."""
    sdk = import_optional("opentelemetry.sdk.trace", _FEATURE, extra="otel")
    export = import_optional("opentelemetry.sdk.trace.export", _FEATURE, extra="otel")
    resources = import_optional("opentelemetry.sdk.resources", _FEATURE, extra="otel")
    named = os.environ.get("OTEL_SERVICE_NAME") or "service.name=" in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    own = {} if named else {"service.name": _NAME}
    provider = sdk.TracerProvider(resource=resources.Resource.create(own))
    exporters = []
    for name in os.environ.get("OTEL_TRACES_EXPORTER", "otlp").split(","):
        if name.strip() not in {"", "none"}:
            watched = _WatchedExporter(_find_exporter(name.strip())(), export)
            provider.add_span_processor(export.BatchSpanProcessor(watched))
            exporters.append(watched)
    return provider, exporters


class _WatchedExporter:
    """An exporter of spans that warns once if spans are lost."""

    def __init__(self, exporter: Any, module: Any) -> None:
        self._exporter = exporter
        self._results = module.SpanExportResult
        self._warned = False
        self.is_last_try = False  # whether what is lost now is not tried again
        self.has_given_up = False

    def export(self, spans: Sequence[Any]) -> Any:
        """Export spans; called from the thread of a processor."""
        if self.has_given_up:
            return self._results.FAILURE
        result = self._exporter.export(spans)
        if result is self._results.SUCCESS:
            return result
        self.has_given_up = self.is_last_try
        if not self._warned:
            self._warned = True
            log.warning(
                "spans of the run are lost: the collector did not take them; set "
                "OTEL_EXPORTER_OTLP_ENDPOINT to its address, or --trace none"
            )
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._exporter, name)


def _find_exporter(name: str) -> Callable[[], Any]:
    from importlib.metadata import entry_points

    protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL"
    )
    known = _PROTOCOLS.get(protocol or "", "otlp_proto_http") if name == "otlp" else name
    for found in entry_points(group=_EXPORTERS, name=known):
        exporter: Callable[[], Any] = found.load()
        return exporter
    if known == "otlp_proto_http":
        import_optional("opentelemetry.exporter.otlp.proto.http", _FEATURE, extra="otel")
    there = ", ".join(sorted(one.name for one in entry_points(group=_EXPORTERS)))
    raise ConfigurationError(
        f"OTEL_TRACES_EXPORTER: no exporter {known!r} is installed; there are {there or 'none'}"
    )


@dataclass
class Tracer:
    """Starts the spans of runs, in the trace that is current where a run is started.

    Attributes:
        provider: Tracer provider of OpenTelemetry.
        api: The module `opentelemetry.trace`.
        contents: Whether spans hold the texts of queries and documents.
    """

    provider: Any
    api: Any
    contents: bool = False

    def fail(self, span: Any, text: str) -> None:
        """Give a span the status of an error."""
        span.set_status(self.api.Status(self.api.StatusCode.ERROR, text))


@contextmanager
def trace(
    tracer: Tracer | None,
    benchmark: str,
    provider: str,
    run_id: str,
    mask: Callable[[Ranking], Ranking],
) -> Iterator[Spans | None]:
    """Trace a provider on a benchmark, if there is a tracer; the error that ends it is masked."""
    if tracer is None:
        yield None
        return
    about = {
        _KIND: "EVALUATOR", "berryeval.run.id": run_id, "berryeval.benchmark": benchmark,
        "berryeval.provider": provider,
    }  # fmt: skip
    otel = tracer.provider.get_tracer(_NAME)
    with _start(otel, f"evaluate {benchmark}", about) as span:
        try:
            yield Spans(tracer, otel, provider, mask)
        except BerryEvalError as error:
            tracer.fail(span, Masker.known().mask(str(error)))
            raise


@dataclass
class Spans:
    """Spans of the queries of one provider.

    Attributes:
        tracer: What the spans hold.
        otel: Tracer of OpenTelemetry.
        provider: Name of the provider.
        mask: Function that masks the secrets of a ranking.
    """

    tracer: Tracer
    otel: Any
    provider: str
    mask: Callable[[Ranking], Ranking]

    @contextmanager
    def query(self, query: Query) -> Iterator[Callable[[Ranking], None]]:
        """Trace one query, with all its attempts; call what this yields with its ranking."""
        with _start(self.otel, f"search {self.provider}", self._describe(query)) as span:
            yield lambda ranking: self._finish(span, ranking)

    @contextmanager
    def batch(self, queries: Sequence[Query]) -> Iterator[Callable[[Sequence[Ranking]], None]]:
        """Trace a batch, whose queries begin and end with it; it yields as `query` does."""
        from time import time_ns

        begin = time_ns()
        about = {_KIND: "CHAIN", "berryeval.batch": len(queries)}
        with _start(self.otel, f"search {self.provider} (batch)", about) as whole:

            def finish(rankings: Sequence[Ranking]) -> None:
                end = time_ns()
                whole.set_attribute("berryeval.answered", len(rankings))
                for query, ranking in zip(queries, rankings, strict=False):
                    span = self.otel.start_span(
                        f"search {self.provider}", attributes=self._describe(query),
                        start_time=begin,
                    )  # fmt: skip
                    self._finish(span, ranking)
                    span.end(end)

            yield finish

    def _describe(self, query: Query) -> dict[str, Any]:
        about: dict[str, Any] = {
            _KIND: "RETRIEVER",
            "gen_ai.operation.name": "retrieval",
            "berryeval.query.id": plain_text(query.id),
            "berryeval.provider": self.provider,
        }
        if self.tracer.contents:
            about |= {"input.value": plain_text(query.text), "input.mime_type": "text/plain"}
        return about

    def _finish(self, span: Any, ranking: Ranking) -> None:
        if not span.is_recording():
            return
        clean = self.mask(ranking)
        about: dict[str, Any] = {
            "berryeval.outcome": clean.outcome,
            "berryeval.latency": clean.latency,
            "berryeval.hits": len(clean.hits),
            "berryeval.retries": clean.attempts - 1,
        }
        for place, hit in enumerate(clean.hits[:_SHOWN]):
            name = f"retrieval.documents.{place}.document"
            about |= {f"{name}.id": hit.id, f"{name}.score": hit.score}
            if self.tracer.contents and hit.text:
                about[f"{name}.content"] = hit.text
        span.set_attributes(about)
        if clean.outcome in FAILED:
            self.tracer.fail(span, clean.error)


@contextmanager
def _start(tracer: Any, name: str, about: dict[str, Any]) -> Iterator[Any]:
    """Start a span that is current inside; errors are not recorded, for they may hold secrets."""
    with tracer.start_as_current_span(
        name, attributes=about, record_exception=False, set_status_on_exception=False
    ) as span:
        yield span
