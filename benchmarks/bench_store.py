"""Time the store: writing runs, listing them, a trend, and reading one back.

`make bench` runs it. Runs of two providers with 1,000 queries and 10 hits each are written to a
SQLite file, and to a local PostgreSQL where one can be started. Commands are timed as they are
typed, each in a process of its own, with the start of Python and the imports.
"""

from __future__ import annotations

import argparse
import functools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from berryeval.data.records import Query
from berryeval.errors import BerryEvalError
from berryeval.providers.postgres_server import LocalPostgres
from berryeval.runs.answers import AnswerRecord, HitRecord
from berryeval.runs.record import STANDARD, BenchmarkRecord, ProviderRecord, RunRecord
from berryeval.runs.stages import Latency
from berryeval.runs.store.store import open_store
from berryeval.scoring.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from berryeval.scoring.scores import Outcome

HITS = 10
GOAL = 1.0  # seconds
START = datetime(2026, 1, 1, tzinfo=timezone.utc)


class Spent(NamedTuple):
    """Wall-clock and processor seconds; the latter vary less on a busy machine."""

    wall: float
    used: float


def made_run(number: int, queries: int) -> RunRecord:
    """Build a run with random values."""
    drawn = np.random.default_rng(number)
    names = tuple(f"q{n:06}" for n in range(queries))
    part = BenchmarkRecord(
        "made",
        "sha256:made",
        HITS,
        tuple(Query(name, f"the question of {name}") for name in names),
        tuple(_provider(kind, names, drawn) for kind in ("bm25", "dense")),
    )
    created = (START + timedelta(hours=number)).isoformat()
    return RunRecord(f"run-{number:05}", created, (part,), {"benchmarks": ["made"]})


def _provider(kind: str, names: tuple[str, ...], drawn: np.random.Generator) -> ProviderRecord:
    answered: Outcome = "ok"

    def table(metrics: tuple[str, ...]) -> Scores:
        return Scores(
            metrics, names, drawn.random((len(metrics), len(names))),
            ("mean",) * len(metrics), (answered,) * len(names),
            np.ones((len(names), 4), dtype=np.int64), run_name=kind,
        )  # fmt: skip

    numbers = drawn.random((len(names), HITS)).tolist()
    return ProviderRecord(
        kind,
        kind,
        scores=table(("nDCG@10", "AP")),
        standard=table(tuple(STANDARD)),
        answers=tuple(
            AnswerRecord(
                name,
                "ok",
                tuple(HitRecord(f"document-{int(x * 1e6)}", x, 1.0) for x in row),
                latency=row[0],
            )
            for name, row in zip(names, numbers, strict=True)
        ),
        outcomes={"ok": len(names)},
        latency=Latency(0.1, 0.2, 0.3, 0.4),
    )


def timed(work: Callable[[], object], times: int) -> Spent:
    """Return the median wall-clock time and the least processor time."""
    walls, used = [], []
    for _ in range(times):
        before, start = os.times(), time.perf_counter()
        work()
        walls.append(time.perf_counter() - start)
        used.append(sum(os.times()[:4]) - sum(before[:4]))
    return Spent(statistics.median(walls), min(used))


def measured(place: str, runs: int, queries: int, times: int) -> list[tuple[str, Spent]]:
    """Return the time of each operation."""

    def command(*arguments: str) -> Callable[[], object]:
        line = [sys.executable, "-m", "berryeval", "runs", *arguments, "--store", place]
        return lambda: subprocess.run(line, capture_output=True, check=True)

    with open_store(place) as store:
        writing = []
        for number in range(runs):
            record = made_run(number, queries)
            writing.append(timed(functools.partial(store.add, record), 1))
        wall, used = (statistics.median(column) for column in zip(*writing, strict=True))
        inside = [
            ("write a run", Spent(wall, used)),
            ("list_runs()", timed(lambda: store.list_runs(metrics=["nDCG@10"]), times)),
            ("page_runs(sort='nDCG@10')", timed(lambda: store.page_runs(sort="nDCG@10"), times)),
            ("trend('nDCG@10')", timed(lambda: store.trend("nDCG@10"), times)),
            ("get(run), whole", timed(lambda: store.get("run-00000"), times)),
        ]
    return [
        *inside,
        ("$ runs list", timed(command("list"), times)),
        ("$ runs list --limit 0", timed(command("list", "--limit", "0"), times)),
        ("$ runs trend nDCG@10", timed(command("trend", "nDCG@10"), times)),
        ("$ runs list --help", timed(command("list", "--help"), times)),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--times", type=int, default=5, help="repetitions of each command")
    options = parser.parse_args()
    columns: dict[str, list[tuple[str, Spent]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.db"
        columns["SQLite"] = measured(str(file), options.runs, options.queries, options.times)
        size = file.stat().st_size
    try:
        server = LocalPostgres()
    except BerryEvalError as error:
        print(f"without PostgreSQL: {error}")
    else:
        try:
            columns["PostgreSQL"] = measured(
                server.dsn, options.runs, options.queries, options.times
            )
        finally:
            server.stop()
    table = Table(title=f"{options.runs} runs of 2 providers x {options.queries:,} queries")
    for name in ("what", *columns):
        table.add_column(name, justify="left" if name == "what" else "right")
    for rows in zip(*columns.values(), strict=True):
        cells = (f"{one.wall * 1e3:,.0f} ({one.used * 1e3:,.0f}) ms" for _, one in rows)
        table.add_row(rows[0][0], *cells)
    Console(width=100).print(table)
    print(f"the file: {size / (1 << 20):.1f} MB, {size / options.runs / 1024:.0f} kB a run")
    commands = [one for rows in columns.values() for what, one in rows if what[0] == "$"]
    print("in parentheses: processor time, this process and those it started")
    print(
        f"goal: commands in at most {GOAL} s; the slowest took {max(commands).wall:.2f} s, of "
        f"processors {max(one.used for one in commands):.2f} s"
    )


if __name__ == "__main__":
    main()
