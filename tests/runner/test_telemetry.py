"""OpenTelemetry spans of runs, with the real SDK and a real collector on loopback."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider, export
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.util._once import Once

import berryeval as be
from berryeval.benchmarks import Benchmark
from berryeval.data import Document, Query
from berryeval.data.records import Anchor, Judgment
from berryeval.errors import MissingDependencyError, ProviderError
from berryeval.runner import telemetry
from tests.cli.eval_world import berryeval

COUNT = 64
WORDS = Benchmark(
    "words",
    tuple(Document(f"d{n}", f"word{n} of the text") for n in range(COUNT)),
    tuple(Query(f"q{n}", f"word{n}") for n in range(COUNT)),
    tuple(Judgment(f"q{n}", Anchor(document=f"d{n}"), 1) for n in range(COUNT)),
)
SMALL = Benchmark("small", WORDS.documents[:2], WORDS.queries[:2], WORDS.judgments[:2])


def forget_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", Once())


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Set a tracer provider, as an application does, and return what it exports."""
    forget_provider(monkeypatch)
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    yield exporter
    provider.shutdown()


def by_kind(exporter: InMemorySpanExporter, kind: str) -> list[ReadableSpan]:
    found = exporter.get_finished_spans()
    return [one for one in found if read(one, "openinference.span.kind") == kind]


def read(span: ReadableSpan, name: str) -> Any:
    return (span.attributes or {}).get(name)


def search(text: str, k: int) -> list[dict[str, Any]]:
    """Answer in a span of the provider's own, after others had a chance to run."""
    with trace.get_tracer("mine").start_as_current_span("mine", attributes={"text": text}):
        time.sleep(0)
        return [{"id": f"d{text.removeprefix('word')}", "score": 1.0, "text": f"about {text}"}][:k]


async def search_later(text: str, k: int) -> list[dict[str, Any]]:
    with trace.get_tracer("mine").start_as_current_span("mine", attributes={"text": text}):
        await asyncio.sleep(0.001)
        return search(text, k)


@pytest.mark.parametrize("function", [search, search_later])
def test_sixteen_queries_at_once_have_the_right_parents(
    function: Any, spans: InMemorySpanExporter
) -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with trace.get_tracer("app").start_as_current_span("app") as app:
            be.run_benchmark(WORDS, {"mine": function}, ["RR"], concurrency=16, warm_up=0)
    finally:
        sys.setswitchinterval(before)
    (run,) = by_kind(spans, "EVALUATOR")
    assert run.parent is not None
    assert run.parent.span_id == app.get_span_context().span_id
    assert run.name == "evaluate words"
    queries = {one.context.span_id: one for one in by_kind(spans, "RETRIEVER") if one.context}
    assert {read(one, "berryeval.query.id") for one in queries.values()} == {
        query.id for query in WORDS.queries
    }
    assert {one.parent.span_id for one in queries.values() if one.parent} == {run.context.span_id}
    own = [one for one in spans.get_finished_spans() if one.name == "mine"]
    outer = {one.context.span_id: one for one in own if one.context}
    checked = 0
    for one in own:
        assert one.parent is not None
        parent = queries.get(one.parent.span_id) or outer[one.parent.span_id]
        asked = read(parent, "berryeval.query.id") or f"q{read(parent, 'text')[4:]}"
        assert asked == f"q{read(one, 'text')[4:]}"
        checked += 1
    assert checked >= COUNT


def test_spans_tell_outcome_latency_hits_and_retries(spans: InMemorySpanExporter) -> None:
    tries: dict[str, int] = {}

    def shaky(text: str, k: int) -> list[dict[str, Any]]:
        tries[text] = tries.get(text, 0) + 1
        if text == "word0" and tries[text] == 1:
            raise ProviderError("busy", passing=True)
        if text == "word1":
            raise ValueError("broken index")
        return search(text, k)

    options: dict[str, Any] = {"warm_up": 0, "first_wait": 0.0, "error_budget": 1.0}
    result = be.run_benchmark(SMALL, {"shaky": shaky}, ["RR"], **options)
    good, bad = sorted(by_kind(spans, "RETRIEVER"), key=lambda one: read(one, "berryeval.query.id"))
    assert result["shaky"].outcomes == {"ok": 1, "error": 1}
    assert (read(good, "berryeval.outcome"), read(good, "berryeval.hits")) == ("ok", 1)
    assert read(good, "berryeval.retries") == 1
    assert read(good, "retrieval.documents.0.document.id") == "d0"
    assert read(good, "retrieval.documents.0.document.score") == 1.0
    answers = {one.query_id: one for one in result["shaky"].record.answers}
    assert read(good, "berryeval.latency") == answers["q0"].latency
    assert good.status.status_code is trace.StatusCode.UNSET
    assert bad.status.status_code is trace.StatusCode.ERROR
    assert bad.status.description == "ValueError: broken index"
    assert not bad.events  # a stack may hold secrets
    (run,) = by_kind(spans, "EVALUATOR")
    assert read(run, "berryeval.run.id") == result.whole_run.id
    assert (read(run, "berryeval.benchmark"), read(run, "berryeval.provider")) == ("small", "shaky")


def test_texts_are_in_spans_only_if_wanted(spans: InMemorySpanExporter) -> None:
    be.run_benchmark(SMALL, {"mine": search}, ["RR"])
    assert "about word0" not in str([one.attributes for one in by_kind(spans, "RETRIEVER")])
    assert not any(read(one, "input.value") for one in by_kind(spans, "RETRIEVER"))
    spans.clear()
    be.run_benchmark(SMALL, {"mine": search}, ["RR"], trace="contents")
    first = min(by_kind(spans, "RETRIEVER"), key=lambda one: read(one, "berryeval.query.id"))
    assert read(first, "input.value") == "word0"
    assert read(first, "retrieval.documents.0.document.content") == "about word0"


def test_secrets_are_masked_in_spans(
    spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_KEY", "s3cr3t-k3y-of-ours")
    options = {"url": "http://127.0.0.1:9/?q={query}", "headers": {"X-Key": "${SEARCH_KEY}"}}

    def echo(text: str, k: int) -> list[dict[str, Any]]:
        if text == "word1":
            raise ValueError("refused s3cr3t-k3y-of-ours")
        return [{"id": "d0", "score": 1.0, "text": "s3cr3t-k3y-of-ours"}][:k]

    providers = {"http": {"type": "http", "options": options}, "echo": echo}
    run: dict[str, Any] = {"trace": "contents", "attempts": 1, "error_budget": 1.0}
    be.run_benchmark(SMALL, providers, ["RR"], **run)
    told = str([(one.attributes, one.status.description) for one in spans.get_finished_spans()])
    assert "***" in told
    assert "s3cr3t" not in told


def test_a_batch_is_one_span_above_its_queries(spans: InMemorySpanExporter) -> None:
    class Batches:
        def search(self, query: Query, k: int) -> list[dict[str, Any]]:
            return search(query.text, k)

        def search_many(self, queries: list[Query], k: int) -> list[list[dict[str, Any]]]:
            return [search(query.text, k) for query in queries]

    be.run_benchmark(SMALL, {"batches": Batches()}, ["RR"], batch=2, warm_up=0)
    (whole,) = by_kind(spans, "CHAIN")
    assert whole.context is not None
    queries = by_kind(spans, "RETRIEVER")
    own = [one for one in spans.get_finished_spans() if one.name == "mine"]
    assert len(queries) == len(own) == 2
    parents = {one.parent.span_id for one in [*queries, *own] if one.parent}
    assert parents == {whole.context.span_id}


def test_a_provider_that_fails_is_a_span_with_an_error(spans: InMemorySpanExporter) -> None:
    def broken(text: str, k: int) -> list[Any]:
        raise ValueError(f"no {text} in {k}")

    be.run_benchmark(WORDS, {"broken": broken}, ["RR"])
    (run,) = by_kind(spans, "EVALUATOR")
    assert run.status.status_code is trace.StatusCode.ERROR
    assert str(run.status.description).startswith("stopped after 2")


def test_a_run_inside_an_event_loop_keeps_its_parent(spans: InMemorySpanExporter) -> None:
    async def notebook() -> int:
        with trace.get_tracer("app").start_as_current_span("app") as app:
            be.run_benchmark(SMALL, {"mine": search}, ["RR"])
            return app.get_span_context().trace_id

    found = asyncio.run(notebook())
    assert {one.context.trace_id for one in spans.get_finished_spans() if one.context} == {found}


def test_a_missing_package_is_found_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(MissingDependencyError, match='pip install "opentelemetry-exporter'):
        be.run_benchmark(SMALL, {"mine": search}, ["RR"], trace="spans")


@pytest.mark.usefixtures("spans")
def test_a_resumed_run_takes_another_kind_of_tracing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert berryeval(*EVAL) == 0
    assert "trace" not in Path("run/manifest.json").read_text("utf-8")
    assert berryeval("eval", "--resume", "run", "--store", "none", "--trace", "none") == 0


def test_trace_none_sends_no_spans(spans: InMemorySpanExporter) -> None:
    be.run_benchmark(SMALL, ["bm25"], ["RR"], trace="none")
    assert not spans.get_finished_spans()


QUIET = """
import sys
import berryeval as be
be.run_benchmark("rag-template", ["bm25"], ["RR"], limit=2)
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
"""


def test_opentelemetry_is_not_imported_unless_it_is_used() -> None:
    subprocess.run([sys.executable, "-c", QUIET], check=True)


class Collector:
    """A collector of OTLP over HTTP."""

    def __init__(self) -> None:
        found = self.spans = []  # type: list[tuple[str, Any]]

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                sent = ExportTraceServiceRequest.FromString(body)
                for group in sent.resource_spans:
                    (service,) = (
                        one.value.string_value
                        for one in group.resource.attributes
                        if one.key == "service.name"
                    )
                    found.extend((service, one) for part in group.scope_spans for one in part.spans)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                """Log nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Return a collector on loopback."""
    one = Collector()
    yield one
    one.close()


EVAL = (
    "eval", "rag-template", "--providers", "bm25", "--metrics", "RR", "--limit", "3",
    "--store", "none", "--output", "run", "--trace", "spans",
)  # fmt: skip


@pytest.fixture
def untraced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Forget the tracer provider, as in a new process, and shut down the one that is set."""
    forget_provider(monkeypatch)
    monkeypatch.chdir(tmp_path)
    yield
    provider = trace.get_tracer_provider()
    if isinstance(provider, TracerProvider):
        provider.shutdown()


@pytest.mark.usefixtures("untraced")
def test_the_command_line_sends_spans_to_a_collector(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    assert berryeval(*EVAL) == 0
    assert {service for service, _ in collector.spans} == {"berryeval"}
    names = sorted(span.name for _, span in collector.spans)
    assert names == ["evaluate rag-template", *["search bm25"] * 3]
    (run,) = (one for _, one in collector.spans if one.name == "evaluate rag-template")
    others = {one.parent_span_id for _, one in collector.spans if one is not run}
    assert others == {run.span_id}
    be.run_benchmark(SMALL, {"mine": search}, ["RR"])  # no application has set the provider
    provider = trace.get_tracer_provider()
    assert isinstance(provider, TracerProvider)
    provider.force_flush()
    assert "evaluate small" not in {span.name for _, span in collector.spans}


class Refusing(SpanExporter):
    """An exporter whose collector takes nothing."""

    def __init__(self) -> None:
        self.calls = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.calls += bool(spans)
        return SpanExportResult.FAILURE


def test_a_flush_gives_up_after_the_first_batch_that_is_lost() -> None:
    """Each batch waits for the collector until its timeout; only the next flush tries again."""
    refusing = Refusing()
    watched: Any = telemetry._WatchedExporter(refusing, export)
    provider = TracerProvider()
    for _ in range(3):  # each has a batch; none is sent before the flush
        processor = export.BatchSpanProcessor(watched, schedule_delay_millis=10**6)
        provider.add_span_processor(processor)
    telemetry._ours[provider] = [watched]
    for calls in (1, 2):
        provider.get_tracer("mine").start_span("one").end()
        telemetry._flush(telemetry.Tracer(provider, trace))
        assert refusing.calls == calls
    provider.shutdown()


@pytest.mark.usefixtures("untraced")
def test_a_collector_that_is_gone_costs_no_run(
    collector: Collector, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    collector.close()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    assert berryeval(*EVAL) == 0
    told = capfd.readouterr().err
    assert "Traceback" not in told
    assert told.count("spans of the run are lost: the collector did not take them") == 1
    assert Path("run/run.json").exists()


@pytest.mark.usefixtures("untraced")
def test_an_unknown_exporter_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "zipkinn")
    assert berryeval(*EVAL) == 2
    told = capsys.readouterr().err
    assert "OTEL_TRACES_EXPORTER: no exporter 'zipkinn' is installed; there are" in told
