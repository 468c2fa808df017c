"""Measure the overhead of a run: time per query and memory with a provider that does nothing.

`make bench` runs it and writes its part of docs/benchmarks.md. The provider returns the same hits
at once: as an ordinary function (which the harness calls in threads), as a coroutine, and for
batches of 32 queries. Every answer is checked, ranked and written to the journal, as in a run. Each
row is a process of its own, which holds all queries and asks the first of them: what its memory
grows by is the harness's. The journal is then read back, judged, scored and recorded, as at the end
of a run: what that holds at most is measured up to the end of `run.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from berryeval.benchmarks import Benchmark
from berryeval.data.records import Anchor, Chunk, Document, Hit, Judgment, Query
from berryeval.providers.base import Provider, build_hit
from berryeval.runner.asking import index_and_ask
from berryeval.runner.attempts import Policy
from berryeval.runner.journal import Answers, Journal, remove_texts
from berryeval.runs.record import BenchmarkRecord, RunRecord
from berryeval.scoring.hit_scoring import judge_and_score
from berryeval.workflows.plan import Plan
from berryeval.workflows.recording import Passages, Recorder, all_metrics
from berryeval.workflows.run_folder import RunFolder
from berryeval.workflows.scope_tally import ScopeTally
from berryeval.workflows.selection import build_relevance

if TYPE_CHECKING:
    from collections.abc import Sequence

HITS = 10
GOAL = 0.3  # milliseconds per query
BATCH = 32
DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
HEADING = "## The harness: a provider that does nothing"


class Null(Provider):
    """A provider with one fixed answer."""

    def __init__(self) -> None:
        self.hits: list[Hit] = []

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Keep the first chunks as the answer."""
        self.hits = [
            build_hit(chunk, float(HITS - n), n + 1) for n, chunk in enumerate(chunks[:HITS])
        ]

    def search(self, query: Query, k: int) -> list[Hit]:
        """Return the fixed answer."""
        del query
        return self.hits[:k]


class NullAsync(Null):
    """The same provider as a coroutine."""

    async def search(self, query: Query, k: int) -> list[Hit]:  # type: ignore[override]
        """Return the fixed answer."""
        del query
        return self.hits[:k]


class NullBatches(Null):
    """The same provider with batches."""

    def search_many(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return the fixed answer for each query."""
        return [self.hits[:k] for _ in queries]


KINDS = {"function": Null, "coroutine": NullAsync, "batches of 32": NullBatches}


def peak() -> float:
    """Return the peak memory of this process in MB."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def measured(kind: str, asked: int, held: int, concurrency: int) -> dict[str, Any]:
    """Ask the first `asked` of `held` queries."""
    chunks = [Chunk(f"c{n}", "d", f"text {n}" * 20, n, n + 1, ("A", "B")) for n in range(HITS)]
    queries = [Query(f"q{n}", "text") for n in range(held)]
    chunks_of = {chunk.id: chunk for chunk in chunks}
    benchmark = judged_benchmark(queries[:asked], chunks)
    provider = KINDS[kind]()
    batch = BATCH if kind.startswith("batch") else 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.jsonl"
        before = peak()
        with Journal(path, {"k": HITS}) as journal:
            start, worked = time.perf_counter(), time.process_time()
            index_and_ask(
                provider, chunks, queries[:asked], HITS,
                lambda ranking: journal.add(remove_texts(ranking, chunks_of)),
                Policy(concurrency=concurrency, batch=batch),
            )  # fmt: skip
            seconds, worked = time.perf_counter() - start, time.process_time() - worked
        grown = peak() - before
        start = time.perf_counter()
        with Answers.open(path, queries[:asked], chunks) as answers:
            answered = sum(answers.ranking(query).outcome == "ok" for query in answers)
        reading = time.perf_counter() - start
        start = time.perf_counter()
        score_and_record(path, benchmark, chunks)
        recording = time.perf_counter() - start
    return {
        "answered": answered,
        "asking": seconds / asked * 1e3,
        "work": worked / asked * 1e3,
        "grown": grown,
        "reading": reading / asked * 1e3,
        "recording": recording / asked * 1e3,
        "held": peak() - before - grown,
    }


def judged_benchmark(queries: list[Query], chunks: list[Chunk]) -> Benchmark:
    """Build one judgment per query."""
    document = Document("d", "".join(chunk.text for chunk in chunks))
    judgments = tuple(
        Judgment(query.id, Anchor(chunk=chunks[place % HITS].id), 1)
        for place, query in enumerate(queries)
    )
    return Benchmark("null", (document,), tuple(queries), judgments)


def score_and_record(journal: Path, benchmark: Benchmark, chunks: list[Chunk]) -> None:
    """Time the work after the last answer: judge, score and write `run.json`."""
    queries = benchmark.queries
    plan = Plan.model_validate({"benchmarks": ["null"], "providers": ["null"], "k": HITS})
    passages = Passages()
    with Answers.open(journal, queries, chunks) as answers:
        relevance = build_relevance(benchmark, queries, chunks)
        scopes = ScopeTally(benchmark, chunks)
        recorder = Recorder(queries, answers, passages, scopes, relevance.targets)
        metrics = all_metrics(plan.scored)
        scores = judge_and_score(relevance, answers, metrics, seen=recorder.add)
        provider = recorder.build_record(plan.providers[0], plan.depth, plan.scored, scores)
    part = BenchmarkRecord("null", "", HITS, queries, (provider,), tuple(passages))
    folder = RunFolder(journal.parent)
    folder.write_record(RunRecord("null", "", (part,)))


COLUMNS = (
    "provider", "queries", "answered", "asking", "work", "grows by", "reading", "recording",
    "holds",
)  # fmt: skip
WORDS = (
    "asking, reading and recording are times per query; work is the processor time of asking; "
    "recording includes reading, judging, scoring and writing the record; holds is the peak of "
    "additional memory until the record is written"
)


def in_process(*arguments: object) -> Any:
    """Call `measured` in a fresh process."""
    command = [sys.executable, __file__, "--one", *map(str, arguments)]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--document", action="store_true", help="write docs/benchmarks.md")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        kind, *numbers = options.one
        print(json.dumps(measured(kind, *map(int, numbers))))
        return
    table = Table(title=f"A provider that does nothing, {options.concurrency} queries at once")
    for name in COLUMNS:
        first = name == "provider"
        table.add_column(name, justify="left" if first else "right", no_wrap=first)
    worst = 0.0
    rows = []
    for kind in KINDS:
        for asked in (max(options.queries // 10, 1), options.queries):
            one = in_process(kind, asked, options.queries, options.concurrency)
            worst = max(worst, one["asking"])
            row = (
                kind, f"{asked:,}", f"{one['answered']:,}", f"{one['asking']:.3f} ms",
                f"{one['work']:.3f} ms",
                f"{one['grown']:.1f} MB", f"{one['reading']:.3f} ms",
                f"{one['recording']:.3f} ms", f"{one['held']:.1f} MB",
            )  # fmt: skip
            table.add_row(*row)
            rows.append(row)
    Console(width=120).print(table)
    print(WORDS)
    print(f"goal: at most {GOAL} ms per query asked; the most was {worst:.3f} ms")
    if options.document:
        write_section(rows, options.concurrency)


def write_section(rows: Sequence[Sequence[str]], concurrency: int) -> None:
    """Write the last part of docs/benchmarks.md."""
    before = DOCUMENT.read_text(encoding="utf-8").partition(HEADING)[0].rstrip()
    lines = [
        f"{HEADING}, {concurrency} at once",
        "",
        f"Each row is a separate process: {WORDS}.",
        f"The load was {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors; if the load",
        "exceeds the number of processors, compare `work`.",
    ]
    lines += ["", f"| {' | '.join(COLUMNS)} |"]
    lines += ["| --- |" + " --- |" * (len(COLUMNS) - 1)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    DOCUMENT.write_text("\n".join([before, "", *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
