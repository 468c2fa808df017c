"""Servers whose answers never end: an error or timeout of the query, and no thread is left."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data.records import Query
from berryeval.providers.elasticsearch import Elasticsearch
from berryeval.providers.http import Http
from berryeval.runner.asking import ask_all
from berryeval.runner.attempts import Policy
from tests.bounded import run_bounded
from tests.providers.loopback import Reply, loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from berryeval.runner.outcome import Ranking

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
QUICK = Policy(attempts=1, error_budget=1.0, warm_up=0)
SHORT = Policy(timeout=1.0, attempts=1, error_budget=1.0, warm_up=0)


@contextmanager
def raw_server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Serve one request per connection with bytes of any kind."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                asked = b""
                while not asked.endswith(b"}"):  # unread data would reset the connection
                    asked += connection.recv(65_536)
                answer(connection)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection = listener.accept()[0]
                    threading.Thread(target=serve, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def ask_three(provider: Any, policy: Policy) -> list[Ranking]:
    """Ask three queries, and wait until none of their threads is left."""
    rankings: list[Ranking] = []
    before = set(threading.enumerate())  # other tests leave searches that never end
    queries = [Query(f"q{number}", "tea") for number in range(3)]
    ask_all(provider, queries, 5, rankings.append, policy)
    for thread in set(threading.enumerate()) - before:
        if thread.name == "berryeval worker":
            thread.join(60)
            assert not thread.is_alive()
    provider._server.close()
    return rankings


def drip_header(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        connection.sendall(b"x")
        time.sleep(0.05)


def drip_body(connection: socket.socket) -> None:
    connection.sendall(CHUNKED + b"\r\n")
    while True:
        connection.sendall(b"1\r\n[\r\n")
        time.sleep(0.05)


def say_nothing(connection: socket.socket) -> None:
    while connection.recv(65_536):
        pass


@pytest.mark.parametrize("answer", [drip_header, drip_body, say_nothing])
def test_a_request_ends_with_the_timeout_of_its_query(
    answer: Callable[[socket.socket], None],
) -> None:
    with raw_server(answer) as url:
        rankings = ask_three(Http(url=url), SHORT)
    assert [(one.outcome, one.error) for one in rankings] == [
        ("timeout", "no answer within 1 s")
    ] * 3


def test_a_header_without_an_end_is_an_error() -> None:
    def answer(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
        while True:
            connection.sendall(b"x" * 10_000)

    with raw_server(answer) as url:
        rankings = ask_three(Http(url=url), QUICK)
    assert {one.outcome for one in rankings} == {"error"}


ENDLESS = """
import socket, threading
from berryeval.data.records import Query
from berryeval.errors import ProviderError
from berryeval.providers.http import Http
from berryeval.runner.asking import ask_all
from berryeval.runner.attempts import Policy
found = []
policy = Policy(attempts=1, error_budget=1.0, concurrency=4)
ask_all(Http(url=sys.argv[1]), [Query(f"q{n}", "tea") for n in range(6)], 5, found.append, policy)
for error in sorted({(one.outcome, one.error) for one in found}):
    print(*error)
"""


def endless(connection: socket.socket) -> None:
    connection.sendall(CHUNKED + b"\r\n")
    while True:
        connection.sendall(b"100000\r\n" + b" " * 0x100000 + b"\r\n")


def endless_error(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 404 Not Found\r\n\r\n")
    while True:
        connection.sendall(b"sorry " * 100_000)


@cache
def compress_blanks() -> bytes:
    return gzip.compress(b" " * 300_000_000, compresslevel=1)


def packed(connection: socket.socket) -> None:
    connection.sendall(CHUNKED + b"Content-Encoding: gzip\r\n\r\n")
    body = compress_blanks()
    connection.sendall(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))


def many_values(connection: socket.socket) -> None:
    body = b"[" + b"[]," * 6_000_000 + b"[]]"
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    connection.sendall(head + body)  # without "close", the next query would use the connection


LARGE = "larger than 32 MB; set BERRYEVAL_MAX_ANSWER_MB to allow more"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (endless, f"the answer: {LARGE}"),
        (packed, f"the answer: {LARGE}"),
        (many_values, "the answer: more than 1,000,000 values; set BERRYEVAL_MAX_ANSWER_MB"),
        (endless_error, "status 404 Not Found: sorry sorry"),
    ],
)
def test_large_answers_are_errors_in_bounded_memory(
    answer: Callable[[socket.socket], None], words: str
) -> None:
    with raw_server(answer) as url:
        said = run_bounded(ENDLESS, url)
    assert said.startswith(f"error ProviderError: http: POST {url}: {words}")


@pytest.mark.parametrize(
    ("body", "headers", "words"),
    [
        (b"[" * 100_000, {}, "the answer: nested too deep to read"),
        (b'{"hits": [' + b"9" * 5000 + b"]}", {}, "the answer: Exceeds the limit"),
        (b"{}", {"Content-Encoding": "zstd"}, "asked for gzip, found the encoding 'zstd'"),
        (b"{}", {"Content-Encoding": "gzip"}, "the answer: is not valid gzip data"),
    ],
)
@pytest.mark.parametrize("kind", ["http", "elasticsearch"])
def test_odd_answers_are_errors_of_their_query(
    kind: str, body: bytes, headers: dict[str, str], words: str
) -> None:
    with loopback(lambda _: Reply(body, headers=headers)) as server:
        provider: Any = Http(url=server.url)
        if kind == "elasticsearch":
            provider = Elasticsearch(url=server.url)
            provider._index = "there"  # as after `index`
        rankings = ask_three(provider, QUICK)
    assert all(words in one.error for one in rankings), rankings[0].error


def test_compressed_answers_are_read() -> None:
    body = gzip.compress(json.dumps({"hits": [{"id": "a", "text": "x" * 300_000}]}).encode())
    reply = Reply(body, headers={"Content-Encoding": "gzip"})
    with loopback(lambda _: reply) as server:
        rankings = ask_three(Http(url=server.url), QUICK)
        assert server.asked[0].headers["accept-encoding"] == "gzip"
    assert [hit.id for one in rankings for hit in one.hits] == ["a"] * 3
    assert len(rankings[0].hits[0].text) == 300_000
