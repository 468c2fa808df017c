"""What the store costs: writing runs, listing them, a trend, and getting one back.

`make bench` runs it. Runs of two providers with 1,000 queries and 10 hits each are written to a
SQLite file, and to a PostgreSQL of our own where one can be started. Commands are timed as they are
typed, each in a process of its own, with the start of Python and the imports.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

from berryeval.errors import BerryEvalError
from berryeval.providers.own_postgres import OwnPostgres
from berryeval.records import Query
from berryeval.results import (
    AnswerRecord,
    BenchmarkRecord,
    HitRecord,
    Latency,
    ProviderRecord,
    RunRecord,
)
from berryeval.results.standard import STANDARD
from berryeval.scores import Scores
from berryeval.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

HITS = 10
GOAL = 1.0  # seconds
START = datetime(2026, 1, 1, tzinfo=timezone.utc)


def made_run(number: int, queries: int) -> RunRecord:
    """A run with values of its own."""
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
    def table(measures: tuple[str, ...]) -> Scores:
        return Scores(
            measures, names, drawn.random((len(measures), len(names))),
            ("mean",) * len(measures), ("ok",) * len(names),
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


def timed(work: Callable[[], object], times: int = 5) -> float:
    """The median time in seconds."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def measured(place: str, runs: int, queries: int) -> list[tuple[str, float]]:
    """What each thing takes, in seconds."""

    def command(*arguments: str) -> Callable[[], object]:
        line = [sys.executable, "-m", "berryeval", "results", *arguments, "--store", place]
        return lambda: subprocess.run(line, capture_output=True, check=True)

    with open_store(place) as store:
        spent = 0.0
        for number in range(runs):
            record = made_run(number, queries)
            start = time.perf_counter()
            store.add(record)
            spent += time.perf_counter() - start
        inside = [
            ("write a run", spent / runs),
            ("list_runs()", timed(lambda: store.list_runs(measures=["nDCG@10"]))),
            ("trend('nDCG@10')", timed(lambda: store.trend("nDCG@10"))),
            ("get(run), whole", timed(lambda: store.get("run-00000"))),
        ]
    return [
        *inside,
        ("$ results list", timed(command("list"))),
        ("$ results list --limit 0", timed(command("list", "--limit", "0"))),
        ("$ results trend nDCG@10", timed(command("trend", "nDCG@10"))),
        ("$ results --help", timed(command("list", "--help"))),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--queries", type=int, default=1000)
    options = parser.parse_args()
    columns: dict[str, list[tuple[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.db"
        columns["SQLite"] = measured(str(file), options.runs, options.queries)
        size = file.stat().st_size
    try:
        server = OwnPostgres()
    except BerryEvalError as error:
        print(f"without PostgreSQL: {error}")
    else:
        try:
            columns["PostgreSQL"] = measured(server.dsn, options.runs, options.queries)
        finally:
            server.stop()
    table = Table(title=f"{options.runs} runs of 2 providers x {options.queries:,} queries")
    for name in ("what", *columns):
        table.add_column(name, justify="left" if name == "what" else "right")
    for rows in zip(*columns.values(), strict=True):
        table.add_row(rows[0][0], *(f"{seconds * 1e3:,.0f} ms" for _, seconds in rows))
    Console(width=100).print(table)
    print(f"the file: {size / (1 << 20):.1f} MB, {size / options.runs / 1024:.0f} kB a run")
    slowest = max(seconds for rows in columns.values() for what, seconds in rows if what[0] == "$")
    print(f"goal: commands in at most {GOAL} s; the slowest took {slowest:.2f} s")


if __name__ == "__main__":
    main()
