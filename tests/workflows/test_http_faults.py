"""Faults of a real HTTP server on the loopback: each is the outcome of its query."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from berryeval.errors import ProviderError
from berryeval.providers.base import Provider
from berryeval.providers.catalogue import PROVIDERS
from berryeval.runner.journal import read_journal
from tests.workflows.worlds import LATE, benchmark, plan_of, results_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from berryeval.data.records import Query

BUSY, BROKEN, SLOW, DROPPED, GARBAGE, BUSY_ONCE, BROKEN_ONCE, FORBIDDEN = range(8)
PASSES = 2  # how often those that pass fail


@dataclass
class OverHttp(Provider):
    """A provider over HTTP that names its temporary errors."""

    url: str

    def search(self, query: Query, k: int) -> Any:
        """Send one request."""
        try:
            with urllib.request.urlopen(f"{self.url}/{query.id}?k={k}") as answer:  # noqa: S310 - our own server
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                passing = error.code == 429 or error.code >= 500
                wait = error.headers.get("Retry-After")
            msg = f"{self.url} answered {error.code}"
            raise ProviderError(
                msg, passing=passing, retry_after=float(wait) if wait else None
            ) from None


class Handler(BaseHTTPRequestHandler):
    """A handler that answers by the number of the query."""

    asked: Counter[int]
    ended: threading.Event

    def do_GET(self) -> None:
        """Answer one request."""
        number = int(self.path.split("?")[0].removeprefix("/q"))
        self.asked[number] += 1
        again = self.asked[number] > PASSES
        if number == SLOW:
            self.ended.wait(20)
        elif number == DROPPED:
            self.close_connection = True
            return
        if number == BUSY or (number == BUSY_ONCE and not again):
            self.send_response(429)
            self.send_header("Retry-After", "0.01")
        elif number == BROKEN or (number == BROKEN_ONCE and not again):
            self.send_response(500)
        elif number == FORBIDDEN:
            self.send_response(403)
        else:
            self.send_response(200)
        body = (
            b"<html>"
            if number == GARBAGE
            else json.dumps([{"id": f"d{number}", "doc_id": f"d{number}"}]).encode()
        )
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def serving() -> Iterator[tuple[str, Counter[int]]]:
    """Start a server that counts the requests of each query."""
    kind = type("Own", (Handler,), {"asked": Counter(), "ended": threading.Event()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", kind.asked  # type: ignore[attr-defined]
    finally:
        kind.ended.set()  # type: ignore[attr-defined]
        time.sleep(0.05)
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_fault_of_the_server_is_the_outcome_of_its_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """429, 500, 403, no answer, half an answer, invalid JSON; temporary errors are retried."""
    monkeypatch.setattr(PROVIDERS, "_homes", dict(PROVIDERS._homes))  # it goes again
    PROVIDERS.register("over-http")(OverHttp)
    with serving() as (url, asked):
        spec = {"type": "over-http", "name": "h", "options": {"url": url}}
        run = {"timeout": LATE, "attempts": 3}
        plan = plan_of(benchmark(tmp_path, 20), spec, run=run, metrics=["RR"])
        result = results_of(plan, tmp_path / "run")["h"]
    assert result.folder is not None
    found = {one.query_id: one for one in read_journal(result.folder / "results.jsonl")}
    assert {q: one.outcome for q, one in found.items() if one.outcome != "ok"} == {
        "q0": "error", "q1": "error", "q2": "timeout", "q3": "error", "q4": "error", "q7": "error",
    }  # fmt: skip
    assert [found[f"q{n}"].attempts for n in range(9)] == [3, 3, 3, 3, 1, 3, 3, 1, 1]
    assert found["q0"].error == f"ProviderError: {url} answered 429 (tried 3 times)"
    assert found["q3"].error.startswith("RemoteDisconnected")
    assert asked[BUSY] == asked[BROKEN] == asked[BUSY_ONCE] == asked[BROKEN_ONCE] == 3
    assert result.outcomes == {"ok": 14, "error": 5, "timeout": 1}
    values = result.scores.per_query("RR")
    bad = {q for q, one in found.items() if one.outcome != "ok"}
    assert values == {f"q{n}": float(f"q{n}" not in bad) for n in range(20)}
