"""Compare the engine with its peers in one run on one machine, as ratios.

`make bench` runs it and writes docs/benchmarks.md. From files every tool is a process of its own,
start and imports included; from memory all are given the same objects. Every contender must print
the same mean average precision before its time counts.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent))

from data import GROWTH, IN_MEMORY, MARCO, POOLS, Shape
from document import marked_parts

import berryeval
from berryeval._internal import backend as _backend
from berryeval.scoring.engine import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
DOCUMENT = HERE.parent / "docs" / "benchmarks.md"
FIVE = ("map", "P_10", "recall_100", "ndcg_cut_10", "recip_rank")
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Cost:
    """Time and memory of one contender."""

    seconds: float
    megabytes: float
    answer: float


def process_cost(arguments: list[str], rounds: int) -> Cost:
    """Return the fastest time and the largest memory of several fresh processes."""
    best, memory, answer = float("inf"), 0.0, 0.0
    for _ in range(rounds):
        start = time.perf_counter()
        with tempfile.TemporaryFile() as output:
            child = subprocess.Popen([sys.executable, *arguments], stdout=output)
            _, status, usage = os.wait4(child.pid, 0)
            elapsed = time.perf_counter() - start
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode:
                sys.exit(f"{' '.join(arguments)} failed")
            output.seek(0)
            answer = float(output.read().split()[-1])
        best = min(best, elapsed)
        memory = max(memory, usage.ru_maxrss / 1024)
    return Cost(best, memory, answer)


def from_files(shape: Shape, folder: Path, tools: list[str], rounds: int) -> dict[str, Cost]:
    """Run every tool on the same two files."""
    run, qrels = shape.write(folder)
    costs: dict[str, Cost] = {}
    for tool in tools:
        arguments = [str(HERE / "contenders.py"), tool, str(run), str(qrels)]
        if tool == "ranx":
            process_cost(arguments, 1)  # fills its cache of compiled code, which is not timed
        costs[tool] = process_cost(arguments, rounds if tool == "berryeval" else 1)
        if abs(costs[tool].answer - costs["berryeval"].answer) > TOLERANCE:
            sys.exit(
                f"{tool} finds a mean AP of {costs[tool].answer}, berryeval of "
                f"{costs['berryeval'].answer}: not worth timing"
            )
    return costs


def best_seconds(work: Callable[[], Any], rounds: int) -> float:
    """Return the time of the fastest of several calls in this process."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def from_memory(folder: Path) -> dict[str, float]:
    """Time pytrec_eval and BerryEval on the same dicts, and BerryEval on frames."""
    import polars as pl
    import pytrec_eval

    from berryeval.data.qrels import Qrels
    from berryeval.data.run import Run

    run_path, qrels_path = IN_MEMORY.write(folder)
    run = Run.from_trec(run_path).to_dict()
    qrels = {
        query: {document: int(grade) for document, grade in judged.items()}
        for query, judged in Qrels.from_trec(qrels_path).to_dict().items()
    }
    rows = [
        (query, document, score) for query, docs in run.items() for document, score in docs.items()
    ]
    frame = pl.DataFrame(rows, schema=["query", "document", "score"], orient="row")
    arrow = frame.to_arrow(compat_level=pl.CompatLevel.oldest())  # strings as Arrow lays them out
    judged = Qrels.from_dict(qrels)
    wanted = {"map", "P.10", "recall.100", "ndcg_cut.10", "recip_rank"}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, wanted)
    return {
        "pytrec_eval, dicts": best_seconds(lambda: evaluator.evaluate(run), 3),
        "berryeval, dicts": best_seconds(lambda: evaluate(qrels, run, FIVE), 3),
        "berryeval, polars frame": best_seconds(lambda: evaluate(judged, frame, FIVE), 9),
        "berryeval, Arrow table": best_seconds(lambda: evaluate(judged, arrow, FIVE), 9),
    }


def file_table(costs: dict[str, Cost]) -> list[list[str]]:
    """Build a row per tool, with ratios to BerryEval."""
    ours = costs["berryeval"]
    return [
        [
            tool,
            f"{cost.seconds:.2f} s",
            f"{cost.seconds / ours.seconds:.1f}x",
            f"{cost.megabytes:.0f} MB",
            f"{cost.megabytes / ours.megabytes:.1f}x",
        ]
        for tool, cost in costs.items()
    ]


def markdown(title: str, header: list[str], rows: list[list[str]]) -> str:
    """Format a table for the document."""
    lines = [f"## {title}", "", f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows), ""])


def show(console: Console, title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a table to the terminal."""
    table = Table(*header, title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def main() -> None:
    """Measure, print, and write the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=HERE.parent / "build" / "bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tools", default="berryeval,pytrec_eval,ir_measures,ranx")
    arguments = parser.parse_args()
    if _backend.native is None:
        sys.exit(f"the native module is not in use ({_backend.native_problem}): nothing to compare")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    console = Console(width=110)
    header = ["tool", "time", "time / ours", "peak memory", "memory / ours"]
    sections = []
    for shape in (MARCO, POOLS):
        costs = from_files(shape, arguments.folder, arguments.tools.split(","), arguments.rounds)
        title = (
            f"From files: {shape.queries:,} queries x {shape.depth:,} documents, "
            f"{shape.judged} judged per query, five metrics"
        )
        rows = file_table(costs)
        show(console, title, header, rows)
        sections.append(markdown(title, header, rows))
    tables = [*more_files(arguments.folder, arguments.rounds), memory(arguments.folder)]
    for title, head, rows in tables:
        show(console, title, head, rows)
        sections.append(markdown(title, head, rows))
    write_document(sections)
    console.print(f"written to {DOCUMENT.relative_to(HERE.parent)}")


def more_files(folder: Path, rounds: int) -> list[tuple[str, list[str], list[list[str]]]]:
    """Measure how the cost grows with metrics, threads and rows."""
    script = str(HERE / "contenders.py")
    run, qrels = MARCO.write(folder)
    five = process_cost([script, "berryeval", str(run), str(qrels)], rounds)
    everything = process_cost([script, "berryeval", str(run), str(qrels), "all"], rounds)
    os.environ["BERRYEVAL_THREADS"] = "1"
    single = process_cost([script, "berryeval", str(run), str(qrels)], rounds)
    del os.environ["BERRYEVAL_THREADS"]
    ours = [
        ["five metrics", f"{five.seconds:.2f} s", "1.0x"],
        [
            "five metrics, one thread",
            f"{single.seconds:.2f} s",
            f"{single.seconds / five.seconds:.1f}x",
        ],
        [
            "all metrics of trec_eval -m all_trec",
            f"{everything.seconds:.2f} s",
            f"{everything.seconds / five.seconds:.1f}x",
        ],
    ]
    growth = []
    for shape in GROWTH:
        run, qrels = shape.write(folder)
        cost = process_cost([script, "berryeval", str(run), str(qrels)], rounds)
        per_row = 1e9 * cost.seconds / (shape.queries * shape.depth)
        growth.append(
            [f"{shape.queries * shape.depth:,}", f"{cost.seconds:.3f} s", f"{per_row:.0f} ns"]
        )
    return [
        ("BerryEval on the first files, process start included", ["what", "time", "ratio"], ours),
        ("Growth with the rows, process start included", ["rows", "time", "per row"], growth),
    ]


def memory(folder: Path) -> tuple[str, list[str], list[list[str]]]:
    """Measure objects in memory."""
    times = from_memory(folder)
    base = times["pytrec_eval, dicts"]
    rows = [
        [name, f"{1e3 * seconds:.0f} ms", f"{base / seconds:.1f}x"]
        for name, seconds in times.items()
    ]
    title = (
        f"From memory: {IN_MEMORY.queries:,} queries x {IN_MEMORY.depth:,} documents, "
        f"{IN_MEMORY.judged} judged per query, five metrics"
    )
    return title, ["what", "time", "faster than pytrec_eval"], rows


def write_document(sections: list[str]) -> None:
    """Write docs/benchmarks.md except the parts that other programs write."""
    others = marked_parts(DOCUMENT.read_text(encoding="utf-8")) if DOCUMENT.exists() else []
    introduction = (
        "# Benchmarks\n\n"
        "Written by `make bench`. Times are from one machine; compare the ratios.\n"
        f"Versions: BerryEval {berryeval.__version__}, Python {platform.python_version()}, "
        f"{os.cpu_count()} processors.\n\n"
        "From files, every tool runs in its own process: the time includes interpreter start,\n"
        "imports, reading and scoring (with the compiled code of ranx cached). All tools must\n"
        "agree on the mean average precision before they are timed.\n\n"
    )
    DOCUMENT.write_text(introduction + "\n".join([*sections, *others]), encoding="utf-8")


if __name__ == "__main__":
    main()
