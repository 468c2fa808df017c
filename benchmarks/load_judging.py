"""Judge with many people at once while the server is killed, and check every grade afterwards.

Run with `make load-judging`. Every judge is a connection that asks for pairs and votes on them
without a pause, much faster than people can. The server is killed with SIGKILL meanwhile and
started again; judges send what was not acknowledged once more, as the page does. At the end the
votes in the store are compared with what was sent.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks import Benchmark, write_benchmark
from berryeval.data import Anchor, Document, Query
from berryeval.judging import Pair, Pool, make_pair_id, open_ledger

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME: Final = "load"
AHEAD: Final = 12  # pairs that a judge fetches, as the page does
LOW: Final = 8
PAUSE: Final = 0.05  # seconds before what was lost is sent again
PATIENCE: Final = 120  # seconds without an answer that mean a broken server
WORDS: Final = (
    "tea", "water", "minutes", "steep", "leaf", "cup", "heat", "green", "black", "pot", "boil",
)  # fmt: skip


def add_people(store: str, count: int) -> dict[str, str]:
    """Add judges to the people of a store, and return their tokens by name."""
    from berryeval.web.accounts import UserAccounts

    accounts = UserAccounts(store, b"")
    accounts.add_first("admin")
    return dict(accounts.add(f"judge-{number:02}", "judge") for number in range(count))


def write_pool(folder: Path, count: int) -> None:
    """Write a benchmark and a pool of `count` pairs, ten for each query."""
    rng = random.Random(0)  # noqa: S311 - texts
    documents = tuple(
        Document(f"d{n}", " ".join(rng.choices(WORDS, k=120)), f"Page {n}") for n in range(10)
    )
    queries = tuple(
        Query(f"q{n}", f"how many {' '.join(rng.sample(WORDS, 4))}")
        for n in range((count + 9) // 10)
    )
    write_benchmark(Benchmark(NAME, documents, queries), folder / NAME)
    pairs = [
        Pair(
            make_pair_id(query.id, Anchor(document=one.id)),
            query.id,
            Anchor(document=one.id),
            one.text,
        )
        for query in queries
        for one in documents
    ]
    (folder / f"{NAME}.judged").mkdir()
    pool = Pool(str(folder / NAME), "", "depth", 10, 0, tuple(pairs[:count]))
    pool.write(folder / f"{NAME}.judged" / "pool.json")


@dataclass
class Load:
    """What judges sent, and how long it took.

    Attributes:
        sent: By judge and request, the pair and the grade, once acknowledged.
        times: Seconds from a request that stored a vote to its answer.
        waits: Seconds from the first attempt to the acknowledgement, kills included.
        fetches: Seconds of the requests for pairs.
        again: Requests that were sent more than once.
    """

    sent: dict[tuple[str, str], tuple[str, float]] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    fetches: list[float] = field(default_factory=list)
    again: int = 0


class Judge:
    """A judge with a connection of its own."""

    def __init__(self, name: str, token: str, port: int, load: Load, think: float) -> None:
        self._name, self._token, self._port = name, token, port
        self._load, self._think = load, think
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._rng = random.Random(name)  # noqa: S311 - grades

    async def work(self) -> None:
        """Judge until no pair is left."""
        ahead: list[str] = []
        while True:
            if len(ahead) < LOW:
                without = ",".join(ahead)
                path = f"pairs?count={AHEAD}&without={without}"
                found = await self._insist("GET", path, None, self._load.fetches)
                ahead += [one["id"] for one in found["pairs"]]
            if not ahead:
                break
            await self._vote(ahead.pop(0))
            if self._think:
                await asyncio.sleep(self._rng.expovariate(1 / self._think))
        if self._streams is not None:
            self._streams[1].close()

    async def _vote(self, pair: str) -> None:
        request, grade = secrets.token_hex(16), self._rng.randrange(4)
        body = {"votes": [{"request": request, "pair": pair, "grade": grade}]}
        started = time.perf_counter()
        await self._insist("POST", "votes", body, self._load.times)
        self._load.waits.append(time.perf_counter() - started)
        self._load.sent[self._name, request] = pair, grade

    async def _insist(self, method: str, path: str, body: Any, times: list[float]) -> Any:
        """Send a request until it is answered."""
        attempts, first = 0, time.perf_counter()
        while True:
            started = time.perf_counter()
            if started - first > PATIENCE:
                raise SystemExit(f"no answer for {PATIENCE} seconds")
            try:
                status, found = await asyncio.wait_for(self._ask(method, path, body), 30)
            except (OSError, EOFError, asyncio.TimeoutError, ValueError):
                status, found = 0, None
                self._drop()
            if status == 200:
                times.append(time.perf_counter() - started)
                self._load.again += attempts > 0 and method == "POST"
                return found
            if 400 <= status < 500:
                raise SystemExit(f"{self._name}: {status} {found}")
            attempts += 1
            await asyncio.sleep(PAUSE)

    def _drop(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _ask(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        data = b"" if body is None else json.dumps(body).encode()
        writer.write(
            f"{method} /api/v1/judging/{NAME}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            f"Authorization: Bearer {self._token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(data)}\r\n\r\n".encode()
            + data
        )
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = next(
            int(line.partition(":")[2])
            for line in head.split("\r\n")
            if line.lower().startswith("content-length:")
        )
        return int(head.split(" ", 2)[1]), json.loads(await reader.readexactly(length))


def start_server(folder: Path, port: int, store: str) -> subprocess.Popen[bytes]:
    """Start a server process."""
    options = ["--users", "--judge", "admin", "--store", store, "--port", str(port)]
    command = [sys.executable, "-m", "berryeval", "serve", *options]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)


async def judge_all(
    folder: Path, port: int, store: str, options: argparse.Namespace
) -> tuple[Load, float]:
    """Let all judges work, and kill the server meanwhile; return what they sent, and seconds."""
    people = add_people(store, options.judges)
    load, server = Load(), start_server(folder, port, store)
    total = options.judges * options.votes
    try:
        await asyncio.wait_for(_wait_for(port), PATIENCE)
        started = time.perf_counter()
        judges = [Judge(name, token, port, load, options.think) for name, token in people.items()]
        working = asyncio.gather(*(one.work() for one in judges))
        for number in range(options.kills):
            while len(load.sent) < total * (number + 1) / (options.kills + 1):
                await asyncio.sleep(0.002)
                if working.done():
                    break
            server.send_signal(signal.SIGKILL)
            server.wait()
            server = start_server(folder, port, store)
        await working
        return load, time.perf_counter() - started
    finally:
        server.kill()
        server.wait()


async def _wait_for(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:  # noqa: PERF203 - until it answers
            await asyncio.sleep(PAUSE)
        else:
            writer.close()
            return


def check_votes(folder: Path, store: str, load: Load, expected: int) -> dict[str, Any]:
    """Compare the votes in the store with what was acknowledged."""
    votes = open_ledger(store, folder / NAME).votes()
    stored: dict[tuple[str, str], list[tuple[str, float | None]]] = {}
    for one in votes:
        key = one.judge, str(one.extra["request"])
        stored.setdefault(key, []).append((make_pair_id(one.query_id, one.target), one.grade))
    right = sum(stored.get(key) == [sent] for key, sent in load.sent.items())
    pairs = {(one.judge, one.key) for one in votes}
    return {
        "expected": expected,
        "acknowledged": len(load.sent),
        "stored": len(votes),
        "lost": len(load.sent) - right,
        "doubled": len(votes) - len(pairs),
    }


def find_quantiles(times: list[float]) -> dict[str, float]:
    """Return p50, p95 and the longest time, in milliseconds."""
    ordered = sorted(times)
    picked = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    return {
        name: round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)
        for name, share in picked.items()
    }


@contextmanager
def open_place(kind: str, folder: Path) -> Iterator[str]:
    """Return the place of a new store."""
    if kind == "sqlite":
        yield str(folder / "votes.db")
        return
    if kind != "postgresql":
        yield kind
        return
    from berryeval.providers.postgres_server import LocalPostgres

    server = LocalPostgres()
    try:
        yield server.dsn
    finally:
        server.stop()


def measure(kind: str, options: argparse.Namespace) -> dict[str, Any]:
    """Judge against one kind of store, and return the numbers."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = stack.enter_context(open_place(kind, folder))
        write_pool(folder, options.votes)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        before = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        load, seconds = asyncio.run(judge_all(folder, port, store, options))
        found = check_votes(folder, store, load, options.judges * options.votes)
    return {
        "store": kind if "://" not in kind else "postgresql",
        **found,
        "sent again": load.again,
        "seconds": round(seconds, 1),
        "vote ms": find_quantiles(load.times),
        "with kills ms": find_quantiles(load.waits),
        "pairs ms": find_quantiles(load.fetches),
        "load before": round(before, 1),
        "processors": os.cpu_count(),
    }


def main() -> int:
    """Measure, print, and return 1 if a vote was lost or doubled."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judges", type=int, default=50)
    parser.add_argument("--votes", type=int, default=200, help="votes of each judge")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--think", type=float, default=0.0, help="mean seconds between votes")
    parser.add_argument("--stores", nargs="*", default=["sqlite", "postgresql"])
    options = parser.parse_args()
    wrong = 0
    for kind in options.stores:
        found = measure(kind, options)
        print(json.dumps(found), flush=True)
        wrong += found["lost"] + found["doubled"] + abs(found["stored"] - found["expected"])
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
