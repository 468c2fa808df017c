"""Hostile servers and functions: a bad answer is the outcome of its query, and of no other."""

from __future__ import annotations

import contextlib
import functools
import gzip
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import tests.workflows.scripted
from berryeval.runner.journal import read_journal
from tests.providers.loopback import Asked, Reply
from tests.providers.search_cluster import Cluster
from tests.providers.test_embedders import embeddings
from tests.torture.trials import Tally, list_files
from tests.workflows.worlds import benchmark, plan_of, results_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from random import Random

QUERIES = 16
FAULTY = 10  # queries with a fault
TIMEOUT = 6.0  # seconds, enough for an honest answer on a busy machine
CANARY = "Zq9-canary&key+4711/abc"
SERVED = ("http", "elasticsearch", "dense")
NO_POSTGRES = ("silent", "hang up", "nonsense", "http")


def list_pairs() -> set[str]:
    """Return what can be tried: every kind of provider with every fault it can meet."""
    scripted = [name for name in tests.workflows.scripted.FAULTS if name != "hang"]
    return {
        *(
            f"{kind} with {fault}"
            for kind in ("http", "elasticsearch", "dense")
            for fault in FAULTS
        ),
        *(f"callable with {fault}" for fault in scripted),
        *(f"postgres with {fault}" for fault in NO_POSTGRES),
    }


def _send(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    if "Content_Length" not in headers and "Transfer_Encoding" not in headers:
        handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def _drip(handler: BaseHTTPRequestHandler, _: Any) -> None:
    """Send a byte now and then, so that no single read ever takes long."""
    _send(handler, 200, b"", Content_Length="100000")
    for _ in range(200):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.1)


def _endless(handler: BaseHTTPRequestHandler, _: Any) -> None:
    _send(handler, 200, b'{"hits": [', Content_Length="1000000000000")
    while True:
        handler.wfile.write(b'{"id": "x"},' * 10_000)


def _status(status: int) -> Callable[[BaseHTTPRequestHandler, Any], None]:
    return lambda handler, _: _send(handler, status, b"", Retry_After="0.01")


def _content(body: bytes, **headers: str) -> Callable[[BaseHTTPRequestHandler, Any], None]:
    return lambda handler, _: _send(handler, 200, body, **headers)


def _echo(status: int) -> Callable[[BaseHTTPRequestHandler, Any], None]:
    """Answer with the request, key and all."""

    def send(handler: BaseHTTPRequestHandler, right: Any) -> None:
        text = f"{'x' * 180} {handler.path} {dict(handler.headers)}"
        said = json.dumps({"error": text, "hits": [{"id": text, "text": text}], "was": right})
        _send(handler, status, said.encode())

    return send


@functools.cache  # it takes a second
def _bomb() -> bytes:
    return gzip.compress(b" " * 300_000_000, 1)


FAULTS: dict[str, Callable[[BaseHTTPRequestHandler, Any], None]] = {
    **{f"status {status}": _status(status) for status in (301, 400, 401, 404, 429, 500, 503)},
    "drop": lambda handler, _: handler.connection.close(),
    "cut off": _content(b'{"hits": [', Content_Length="1000"),
    "no JSON": _content(b"<html>busy</html>"),
    "empty": _content(b""),
    "null": _content(b"null"),
    "number": _content(b"7"),
    "no UTF-8": _content(b'{"hits": "\xff\xfe\xff"}'),
    "surrogate": _content(b'{"hits": [{"id": "\\ud800"}]}'),
    "not finite": _content(b'{"hits": [{"id": "d1", "score": NaN}]}'),
    "many digits": _content(b'{"hits": [{"id": "d1", "score": ' + b"9" * 5000 + b"}]}"),
    "deep": _content(b'{"hits": ' + b"[" * 5000 + b"]" * 5000 + b"}"),
    "bomb": lambda handler, _: _send(handler, 200, _bomb(), Content_Encoding="gzip"),
    "no gzip": _content(b"{}", Content_Encoding="gzip"),
    "bad chunks": _content(b"zz\r\n{}", Transfer_Encoding="chunked"),
    "redirect": lambda handler, _: _send(handler, 302, b"", Location=handler.path),
    "long header": _content(b"{}", X_Long="x" * 70_000),
    "echo as error": _echo(400),
    "echo as hits": _echo(200),
    "drip": _drip,
    "endless": _endless,
}


@contextlib.contextmanager
def serve(answer: Callable[[Asked], Any], fault_of: Callable[[Asked], str]) -> Iterator[str]:
    """Serve what `answer` returns, unless there is a fault for the request."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def handle_any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, {}, headers, self.rfile.read(length))
            asked.path = self.path.partition("?")[0]
            made = answer(asked)
            right = made if isinstance(made, Reply) else Reply(made)
            fault = fault_of(asked)
            with contextlib.suppress(OSError, ValueError):  # the client may hang up
                if fault:
                    self.close_connection = True
                    FAULTS[fault](self, right.content)
                else:
                    headers = {name.replace("-", "_"): v for name, v in right.headers.items()}
                    _send(self, right.status, right.data, **headers)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_any  # noqa: N815 - as called

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _answer_hits(asked: Asked) -> Any:
    number = int(asked.body["query"].rsplit(maxsplit=1)[-1])
    return {"hits": [{"id": f"d{(number + step) % QUERIES}"} for step in range(3)]}


def _query_of(asked: Asked, kind: str) -> str:
    """Return the number of the query in a request; empty for requests of the index."""
    if kind == "elasticsearch" and not asked.path.endswith("_search"):
        return ""
    if kind == "dense" and len(asked.body["input"]) > 1:
        return ""
    words = asked.content.decode(errors="replace").replace('"', " ").replace("\\", " ").split()
    places = [place for place, word in enumerate(words) if word == "number"]
    return words[places[0] + 1] if places else ""


def try_once(chance: Random, folder: Path, shared: Path) -> Tally:
    """Run one kind of provider, with faults on some of its queries."""
    del shared
    kinds = [pair.partition(" with ")[0] for pair in sorted(list_pairs())]
    kind = chance.choice(kinds)  # the more faults a kind can meet, the more often it is tried
    tally = Tally()
    source = benchmark(folder, QUERIES)
    if kind == "postgres":
        return _try_postgres(chance, tally, folder, source)
    table = tests.workflows.scripted.FAULTS if kind == "callable" else FAULTS
    names = [name for name in table if name != "hang"]
    chosen = chance.sample(names, FAULTY)
    faults = dict(zip(map(str, chance.sample(range(QUERIES), FAULTY)), chosen, strict=True))
    answers: dict[str, Any] = {
        "http": _answer_hits,
        "elasticsearch": Cluster(),
        "dense": embeddings,
    }
    with contextlib.ExitStack() as stack:
        options: dict[str, Any] = {"faults": {f"q{n}": fault for n, fault in faults.items()}}
        if kind != "callable":
            url = stack.enter_context(
                serve(answers[kind], lambda asked: faults.get(_query_of(asked, kind), ""))
            )
            options = _options(kind, url, folder)
        spec = {"type": {"callable": "scripted"}.get(kind, kind), "name": "p", "options": options}
        run = {"timeout": TIMEOUT, "attempts": 2, "concurrency": 4}
        plan = plan_of(source, spec, run=run, metrics=["R@5"])
        with tally.expect_only_our_errors(f"{kind} with {faults}"):
            result = results_of(plan, folder / "run")["p"]
            tally.check(not result.failure, f"{kind} with {faults}: {result.failure}")
    tally.counts[f"faults of {kind}"] += len(faults)
    tally.counts.update(f"{kind} with {fault}" for fault in faults.values())
    _check(tally, folder, faults, kind)
    return tally


def _options(kind: str, url: str, folder: Path) -> dict[str, Any]:
    if kind == "http":
        return {"url": f"{url}/search", "headers": {"X-Key": CANARY}, "params": {"key": CANARY}}
    if kind == "elasticsearch":
        return {"url": url, "api_key": CANARY}
    embedder = {"base_url": f"{url}/v1", "api_key": CANARY, "cache": str(folder / "cache")}
    return {"embedder": "openai", "embedder_options": embedder}


def _check(tally: Tally, folder: Path, faults: dict[str, str], kind: str) -> None:
    for journal in folder.rglob("results.jsonl"):
        found = {one.query_id: one for one in read_journal(journal)}
        tally.check(len(found) == QUERIES, f"{kind}: {len(found)} of {QUERIES} queries recorded")
        for number in range(QUERIES):
            one = found.get(f"q{number}")
            if one and str(number) not in faults:
                right = one.outcome == "ok" and (
                    kind == "dense" or one.hits[0].doc_id == f"d{number}"
                )
                tally.check(right, f"{kind}: q{number} without a fault: {one.outcome} {one.error}")
    for path in list_files(folder / "run"):
        leaked = CANARY.encode() in path.read_bytes()
        tally.check(not leaked, f"{kind} with {faults}: the key is in {path.name}")


def _try_postgres(chance: Random, tally: Tally, folder: Path, source: str) -> Tally:
    """A server that is no PostgreSQL: it is silent, hangs up, or talks nonsense."""
    fault = chance.choice(NO_POSTGRES)
    server = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()
    kept: list[socket.socket] = []

    def talk() -> None:
        while not ended.is_set():
            try:
                one, _ = server.accept()
            except OSError:
                return
            kept.append(one)
            if fault == "hang up":
                one.close()
            elif fault != "silent":
                one.sendall(b"HTTP/1.1 400 no\r\n\r\n" if fault == "http" else chance.randbytes(99))

    threading.Thread(target=talk, daemon=True).start()
    address = f"postgresql://app:{CANARY.replace('&', '%26').replace('/', '%2F')}@127.0.0.1"
    options = {"dsn": f"{address}:{server.getsockname()[1]}/x"}
    run = {"timeout": 2.0, "index_timeout": 4.0, "attempts": 2}
    plan = plan_of(source, {"type": "postgres", "name": "p", "options": options}, run=run)
    with tally.expect_only_our_errors(f"postgres, {fault}"):
        result = results_of(plan, folder / "run")["p"]
        tally.check(result.failure, f"postgres, {fault}: no failure")
        tally.check(CANARY not in result.failure, f"postgres, {fault}: {result.failure}")
    ended.set()
    for one in (server, *kept):
        one.close()
    tally.counts.update(("faults of postgres", f"postgres with {fault}"))
    for path in list_files(folder / "run"):
        tally.check(CANARY.encode() not in path.read_bytes(), f"the key is in {path.name}")
    return tally
