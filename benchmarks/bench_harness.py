"""What the harness costs: time per query and memory over a provider that does nothing.

`make bench` runs it. The provider returns the same hits at once, as an ordinary function (which the
harness calls in threads) and as a coroutine; every answer is checked, ranked and written to the
journal, as in a run. Each row is a process of its own, which holds all queries and asks the first
of them: what its memory grows by is the harness's. The journal is then read back as for scoring.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from berryeval.harness.journal import Journal
from berryeval.harness.lifecycle import index_and_ask
from berryeval.harness.policy import Policy
from berryeval.pipeline.rankings import Answers, lean
from berryeval.providers import Provider
from berryeval.providers.base import hit_of
from berryeval.records import Chunk, Hit, Query

if TYPE_CHECKING:
    from collections.abc import Sequence

HITS = 10
GOAL = 0.3  # milliseconds per query


class Null(Provider):
    """Knows the answer to everything."""

    def __init__(self) -> None:
        self.hits: list[Hit] = []

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Take the first chunks for the answer."""
        self.hits = [hit_of(chunk, float(HITS - n), n + 1) for n, chunk in enumerate(chunks[:HITS])]

    def search(self, query: Query, k: int) -> list[Hit]:
        """The answer."""
        del query
        return self.hits[:k]


class NullAsync(Null):
    """The same as a coroutine."""

    async def search(self, query: Query, k: int) -> list[Hit]:  # type: ignore[override]
        """The answer."""
        del query
        return self.hits[:k]


def peak() -> float:
    """The most memory this process has used, in MB."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def measured(kind: str, asked: int, held: int, concurrency: int) -> dict[str, Any]:
    """Ask so many of the queries that are held."""
    chunks = [Chunk(f"c{n}", "d", f"text {n}" * 20, n, n + 1, ("A", "B")) for n in range(HITS)]
    queries = [Query(f"q{n}", "text") for n in range(held)]
    chunks_of = {chunk.id: chunk for chunk in chunks}
    provider = NullAsync() if kind == "coroutine" else Null()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.jsonl"
        before = peak()
        with Journal(path, {"k": HITS}) as journal:
            start = time.perf_counter()
            index_and_ask(
                provider, chunks, queries[:asked], HITS,
                lambda ranking: journal.add(lean(ranking, chunks_of)),
                Policy(concurrency=concurrency),
            )  # fmt: skip
            seconds = time.perf_counter() - start
        grown = peak() - before
        start = time.perf_counter()
        answers = Answers.read(path, queries[:asked], chunks)
        reading = time.perf_counter() - start
    return {
        "answered": sum(ranking.outcome == "ok" for ranking in answers.rankings),
        "asking": seconds / asked * 1e3,
        "grown": grown,
        "reading": reading / asked * 1e3,
        "held": peak() - before - grown,
    }


def in_process(*arguments: object) -> Any:
    """`measured`, in a process of its own."""
    command = [sys.executable, __file__, "--one", *map(str, arguments)]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        kind, *numbers = options.one
        print(json.dumps(measured(kind, *map(int, numbers))))
        return
    table = Table(title=f"A provider that does nothing, {options.concurrency} queries at once")
    for name in ("provider", "queries", "answered", "asking", "grows by", "reading", "holds"):
        table.add_column(name, justify="left" if name == "provider" else "right")
    worst = 0.0
    for kind in ("function", "coroutine"):
        for asked in (max(options.queries // 10, 1), options.queries):
            one = in_process(kind, asked, options.queries, options.concurrency)
            worst = max(worst, one["asking"])
            table.add_row(
                kind, f"{asked:,}", f"{one['answered']:,}", f"{one['asking']:.3f} ms",
                f"{one['grown']:.1f} MB", f"{one['reading']:.3f} ms", f"{one['held']:.1f} MB",
            )  # fmt: skip
    Console(width=100).print(table)
    print("asking, reading: per query; holds: more, while all answers are held for scoring")
    print(f"goal: at most {GOAL} ms per query asked; the most was {worst:.3f} ms")


if __name__ == "__main__":
    main()
