"""Measure runs that are larger than memory: peak memory and rows per second of `evaluate`.

`make bench-scale` runs it. A run with 1,000 rows per query and ids of ten bytes is written as
Parquet, TREC, compressed TREC and CSV, and scored in a process of its own, whose peak memory
(VmHWM) is read at its end. The whole run in memory (`Run.load`) is the yardstick. The same rows in
a random order show the cost of sorting on disk, with DuckDB and, for comparison, with Polars.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from document import markdown_table, put_between_marks
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

PER_QUERY: Final = 1_000
PIECE: Final = 1_000_000  # rows written at once
IDS: Final = 900_000_000
STRIDE: Final = 899_981  # no common divisor with IDS: no document twice in a query
METRICS: Final = ["nDCG@10", "AP", "RR", "P@10", "Recall@100"]
PAGE: Final = Path(__file__).parents[1] / "docs" / "scale.md"
MOST_MB, LEAST_SHARE = 300, 0.7
SCHEMA: Final = pa.schema(
    [("query", pa.string()), ("document", pa.string()), ("score", pa.float64())]
)


def make_rows(count: int, *, shuffled: bool = False) -> Iterator[pa.Table]:
    """Yield the rows of a run, grouped by query or in a fixed order that scatters every query."""
    step = 7_368_787 if shuffled else 1  # a prime: every row once
    for start in range(0, count, PIECE):
        row = np.arange(start, min(start + PIECE, count), dtype=np.int64) * step % count
        yield build_rows(row // PER_QUERY, row % PER_QUERY)


def build_rows(query: np.ndarray[Any, Any], place: np.ndarray[Any, Any]) -> pa.Table:
    """Build the rows at these places of the rankings of queries."""
    document = IDS // 9 + (query * 7_654_321 + place * STRIDE) % IDS
    noise = (document * 2_654_435_761) % 10_000
    score = np.round(100 - place / 10 + noise / 1_000, 3)
    names = [_spell("q", IDS // 9 + query), _spell("d", document)]
    return pa.table([*names, pa.array(score)], schema=SCHEMA)


def _spell(letter: str, numbers: np.ndarray[Any, Any]) -> Any:
    return pc.binary_join_element_wise(letter, pc.cast(pa.array(numbers), pa.string()), "")


def write_judgments(path: Path, count: int) -> None:
    """Judge ten documents of every query."""
    query = np.repeat(np.arange(count // PER_QUERY, dtype=np.int64), 10)
    place = np.tile(np.arange(0, PER_QUERY, 100, dtype=np.int64), count // PER_QUERY)
    rows = build_rows(query, place).rename_columns(["query", "document", "grade"])
    pq.write_table(rows.set_column(2, "grade", pa.array(1 + (query + place // 100) % 3)), path)


def write_run(path: Path, count: int, *, shuffled: bool = False) -> None:
    """Write a run as Parquet, CSV or TREC, by the name of the file."""
    rows = make_rows(count, shuffled=shuffled)
    if path.suffix == ".parquet":
        with pq.ParquetWriter(path, SCHEMA, compression="zstd") as parquet:
            for table in rows:
                parquet.write_table(table)
        return
    if path.suffix == ".csv":
        with pa.csv.CSVWriter(path, SCHEMA) as csv:
            for table in rows:
                csv.write_table(table)
        return
    opener: Any = gzip.open if path.suffix == ".gz" else Path.open
    options = {"compresslevel": 1} if path.suffix == ".gz" else {}
    with opener(path, "wb", **options) as stream:
        for table in rows:
            score = pc.cast(table["score"], pa.string())
            parts = (table["query"], " Q0 ", table["document"], " 1 ", score, " bench\n")
            lines = pc.binary_join_element_wise(*parts, "").combine_chunks()
            stream.write(lines.buffers()[2])  # the lines one after another


CHILD: Final = """
import json, sys, time
import berryeval as be
import pyarrow.parquet
qrels = be.Qrels.load(sys.argv[1])
start = time.perf_counter()
run = be.Run.load(sys.argv[2]) if sys.argv[3] == "memory" else sys.argv[2]
scores = be.evaluate(qrels, run, sys.argv[4].split(","))
spent = time.perf_counter() - start
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
peak = int(status["VmHWM"].split()[0]) / 1000
print(json.dumps({"seconds": spent, "peak": peak, "values": scores.values.tobytes().hex()[-64:],
                  "mean": scores.mean["nDCG@10"]}))
"""
SORT: Final = """
import json, sys, time
import polars as pl
import pyarrow.parquet as pq
start = time.perf_counter()
rows = pl.scan_parquet(sys.argv[1], row_index_name="row")
rows = rows.sort(pl.col("query").hash(), "row")
rows.sink_parquet(sys.argv[2])
count = sum(len(batch) for batch in pq.ParquetFile(sys.argv[2]).iter_batches())
spent = time.perf_counter() - start
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({"seconds": spent, "peak": int(status["VmHWM"].split()[0]) / 1000}))
"""


def measure(code: str, *arguments: object, times: int = 1) -> dict[str, Any]:
    """Run code in processes of their own; return the result of the fastest."""
    found = []
    for _ in range(times):
        command = [sys.executable, "-c", code, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{arguments}: {done.stderr[-2000:]}")
        found.append(json.loads(done.stdout))
    return min(found, key=lambda one: one["seconds"])


class Bench:
    """The measurements, and the table that shows them."""

    def __init__(self, folder: Path, times: int) -> None:
        self.folder = folder
        self.times = times
        self.rows: list[list[str]] = []
        self.faults: list[str] = []

    def score(
        self,
        name: str,
        count: int,
        *,
        how: str = "stream",
        shuffled: bool = False,
        judged: int = 0,
    ) -> dict[str, Any]:
        """Write a run unless it is there, score it, and add a line to the table.

        Ten documents are judged of every query, or of those of the first `judged` rows.
        """
        qrels = self.folder / f"qrels-{judged or count}.parquet"
        run = self.folder / f"{count}-{'shuffled' if shuffled else 'grouped'}{name}"
        if not qrels.exists():
            write_judgments(qrels, count)
        if not run.exists():
            write_run(run, count, shuffled=shuffled)
        times = self.times if count <= 10 * PIECE else 1
        found = measure(CHILD, qrels, run, how, ",".join(METRICS), times=times)
        what = "in any order, sorted on disk" if shuffled else "grouped"
        form = f"{name.removeprefix('.')}, {what}" + (", in memory" if how == "memory" else "")
        if judged:
            form += f", {judged // PER_QUERY:,} queries judged"
        self.add(form, count, run.stat().st_size, found)
        return found

    def add(self, form: str, count: int, size: int, found: dict[str, Any]) -> None:
        """Add a line to the table."""
        rate = count / found["seconds"] / 1e6
        self.rows.append(
            [form, f"{count / 1e6:,.0f}", f"{size / 1e6:,.0f}", f"{found['peak']:,.0f}",
             f"{found['seconds']:.1f}", f"{rate:.2f}"]
        )  # fmt: skip
        Console(stderr=True).print(*self.rows[-1], sep="  ")

    def require(self, what: str, *, met: bool) -> None:
        """Remember a bar that is not met."""
        if not met:
            self.faults.append(what)


def run_bench(bench: Bench, small: int, large: int) -> None:
    """Take all measurements."""
    for name in (".parquet", ".trec", ".trec.gz", ".csv"):
        memory = bench.score(name, small, how="memory")
        stream = bench.score(name, small)
        share = memory["seconds"] / stream["seconds"]
        bench.require(f"{name}: {share:.0%} of the in-memory path", met=share >= LEAST_SHARE)
        bench.require(f"{name}: other values", met=stream["values"] == memory["values"])
    for name in (".parquet", ".trec"):
        found = bench.score(name, large)
        bench.require(f"{name}: {found['peak']:.0f} MB", met=found["peak"] <= MOST_MB)
        bench.score(name, large, judged=small)
    grouped = bench.score(".parquet", small)
    bench.rows.pop()
    for count in (small, large):
        found = bench.score(".parquet", count, shuffled=True)
        if count == small:
            bench.require("sorted: other values", met=found["values"] == grouped["values"])
    shuffled = bench.folder / f"{large}-shuffled.parquet"
    peer = measure(SORT, shuffled, bench.folder / "sorted.parquet")
    bench.add("parquet, only sorted, by Polars", large, shuffled.stat().st_size, peer)


def main() -> None:
    """Parse the options, measure, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millions", type=int, nargs=2, default=(10, 100))
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="keep the files there")
    parser.add_argument("--document", action="store_true", help="write docs/scale.md")
    options = parser.parse_args()
    small, large = (count * PIECE for count in options.millions)
    head = ["run", "million rows", "MB on disk", "peak MB", "seconds", "million rows/s"]
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="bench-scale-") as made:
        folder = options.folder or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(folder, options.times)
        run_bench(bench, small, large)
    table = Table(*head)
    for row in bench.rows:
        table.add_row(*row)
    Console().print(table)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    print(f"{machine}; {time.perf_counter() - started:.0f} s in all")
    if options.document:
        text = f"{markdown_table(head, bench.rows)}\n\n{machine}; best of {options.times} runs."
        put_between_marks(PAGE, "local scale", text)
    for fault in bench.faults:
        print(f"not met: {fault}")
    sys.exit(bool(bench.faults))


if __name__ == "__main__":
    main()
