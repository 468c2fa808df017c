"""Time `berryeval.compat.ranx` beside ranx in one run, as ratios.

Both are given the same rows, by the same calls: only the import differs. ranx compiles its code on
first use; that call is timed in a process of its own with an empty cache, and stated apart. Means
and p-values must agree before the times count.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

METRICS = ["map@100", "mrr@100", "ndcg@10"]
MODULES = ("ranx", "berryeval.compat.ranx")
SIZES = ((1_000, 10, 100), (200, 100, 1_000))  # queries, judgments, documents per query
RUNS = 5


def draw_rows(queries: int, judgments: int, documents: int) -> tuple[Any, list[Any]]:
    """Draw judgments, and runs without ties."""
    chance = np.random.default_rng(0)
    names = [f"d{place:05}" for place in range(4 * documents)]
    qrels: dict[str, Any] = {}
    runs: list[Any] = [{} for _ in range(RUNS)]
    for query in range(queries):
        judged = chance.choice(len(names), judgments, replace=False)
        qrels[f"q{query:04}"] = {names[one]: int(chance.integers(1, 4)) for one in judged}
        for run in runs:
            found = chance.permutation(len(names))[:documents]
            scores = np.sort(chance.random(documents))[::-1].tolist()
            run[f"q{query:04}"] = {
                names[one]: score for one, score in zip(found, scores, strict=True)
            }
    return qrels, runs


def time_best(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Return the seconds of the fastest call, and its result."""
    best, answer = math.inf, None
    for _ in range(rounds):
        start = time.perf_counter()
        answer = work()
        best = min(best, time.perf_counter() - start)
    return best, answer


def bench_ranx(module: str, rows: tuple[Any, list[Any]], rounds: int) -> dict[str, Any]:
    """Return seconds and result of each call with one of the two modules, compiled before."""
    tool = import_module(module)
    qrels, runs = rows
    judged = tool.Qrels(qrels)
    systems = [tool.Run(run, name=f"run {place}") for place, run in enumerate(runs)]

    def compare(test: str) -> Any:
        return tool.compare(judged, systems, METRICS, stat_test=test).to_dict()

    calls: dict[str, Callable[[], Any]] = {
        "evaluate": lambda: tool.evaluate(judged, systems[0], METRICS),
        "Qrels(dict), Run(dict)": lambda: (tool.Qrels(qrels), tool.Run(runs[0]))[1].size,
        "evaluate(dict, dict)": lambda: tool.evaluate(qrels, runs[0], METRICS),
        f"compare {RUNS} runs, student": lambda: compare("student"),
        f"compare {RUNS} runs, fisher": lambda: compare("fisher"),
    }
    for call in calls.values():
        call()
    return {name: time_best(call, rounds) for name, call in calls.items()}


def check_results(name: str, ours: Any, theirs: Any) -> None:
    """Exit if means differ, or p-values by more than the error of random samples."""
    if isinstance(ours, dict) and "model_names" in ours:
        for model in ours["model_names"]:
            check_results(name, ours[model]["scores"], theirs[model]["scores"])
            for other, values in ours[model]["comparisons"].items():
                allowed = 0.08 if "fisher" in name else 1e-9
                for metric, p in values.items():
                    if abs(p - theirs[model]["comparisons"][other][metric]) > allowed:
                        sys.exit(f"{name}: p-values of {model} and {other} differ in {metric}")
    elif isinstance(ours, dict):
        if any(not math.isclose(ours[key], theirs[key], rel_tol=1e-9) for key in theirs):
            sys.exit(f"{name}: {ours} is not {theirs}")
    elif ours != theirs:
        sys.exit(f"{name}: {ours} is not {theirs}")


FIRST_CALL = """
import time
start = time.perf_counter()
from {module} import Qrels, Run, evaluate
qrels = {{f"q{{q}}": {{"d1": 1}} for q in range(20)}}
run = {{f"q{{q}}": {{"d1": 1.0, "d2": 0.5}} for q in range(20)}}
evaluate(Qrels(qrels), Run(run), {metrics!r})
print(time.perf_counter() - start)
"""


def time_first_call(module: str) -> float:
    """Return the seconds from import to the first scores of 20 queries, with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        code = FIRST_CALL.format(module=module, metrics=METRICS)
        found = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": folder},
            capture_output=True,
            check=True,
        )
    return float(found.stdout.split()[-1])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    console = Console(width=110)
    theirs, ours = map(time_first_call, MODULES)
    console.print(
        f"First call, with import and compilation: {theirs:.1f} s, {ours:.2f} s,", end=" "
    )
    console.print(f"{theirs / ours:,.0f}x")
    for queries, judgments, documents in SIZES:
        rows = draw_rows(queries, judgments, documents)
        found = [bench_ranx(module, rows, arguments.rounds) for module in MODULES]
        title = f"{queries:,} queries x {documents:,} documents, {judgments} judged; compiled"
        table = Table("call", *MODULES, "ratio", title=title, title_justify="left")
        for name, (seconds, answer) in found[0].items():
            check_results(name, found[1][name][1], answer)
            fast = found[1][name][0]
            table.add_row(name, f"{1e3 * seconds:,.1f} ms", f"{1e3 * fast:,.1f} ms",
                          f"{seconds / fast:,.1f}x")  # fmt: skip
        console.print(table)


if __name__ == "__main__":
    main()
