"""Time the array metrics: native, Python reference and NumPy broadcast, in one run.

`make bench` runs it. Every contender computes the same scores (checked before anything is timed)
from the same arrays; times are the best of several rounds, and the ratios are what to read.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

from berryeval._internal import backend as _backend
from berryeval.metrics import _python
from berryeval.metrics.array_checks import PADDING_ID
from berryeval.metrics.arrays import evaluate_arrays

if TYPE_CHECKING:
    from collections.abc import Callable

    from berryeval.metrics.array_checks import MetricResult, QueryDocArray, RelevanceArray

DEPTH, RELEVANT, VOCABULARY = 50, 10, 10_000
KERNEL_NAMES = {
    "recall": "recall",
    "precision": "precision_of_retrieved",
    "mrr": "mrr",
    "ndcg": "ndcg",
    "hit_rate": "hit_rate",
}
IMPORTS_MEASURED = 7


def make_data(queries: int) -> tuple[QueryDocArray, RelevanceArray]:
    """Build rankings without repeated ids (broadcasting counts those twice); a third are hits."""
    rng = np.random.default_rng(7)
    step = rng.integers(1, VOCABULARY // DEPTH, (queries, DEPTH))
    retrieved = np.cumsum(step, axis=1).astype(np.int32)
    retrieved = rng.permuted(retrieved, axis=1)
    step = rng.integers(1, VOCABULARY // RELEVANT, (queries, RELEVANT))
    relevant = (np.cumsum(step, axis=1) + VOCABULARY).astype(np.int32)
    found = rng.random((queries, RELEVANT)) < 1 / 3
    relevant[found] = retrieved[:, :RELEVANT][found]
    relevant[rng.random((queries, RELEVANT)) < 0.1] = PADDING_ID
    retrieved[rng.random((queries, DEPTH)) < 0.02] = PADDING_ID
    return np.ascontiguousarray(retrieved), np.ascontiguousarray(relevant)


def broadcast(name: str, retrieved: QueryDocArray, relevant: RelevanceArray) -> MetricResult:
    """Compute the metric as usual with NumPy: every id against every relevant id."""
    valid = relevant != PADDING_ID
    hits = ((retrieved[:, :, None] == relevant[:, None, :]) & valid[:, None, :]).any(axis=2)
    found = hits.sum(axis=1)
    discounts = 1.0 / np.log2(np.arange(2, retrieved.shape[1] + 2))
    total = valid.sum(axis=1)
    scores: MetricResult
    if name == "recall":
        scores = np.divide(found, total, out=np.zeros(len(found)), where=total > 0)
    elif name == "precision":
        places = (retrieved != PADDING_ID).sum(axis=1)
        scores = np.divide(found, places, out=np.zeros(len(found)), where=places > 0)
    elif name == "mrr":
        scores = np.where(found > 0, 1.0 / (hits.argmax(axis=1) + 1), 0.0)
    elif name == "ndcg":
        ideal = np.concatenate([[0.0], np.cumsum(discounts)])[total]
        scores = np.divide(hits @ discounts, ideal, out=np.zeros(len(found)), where=ideal > 0)
    else:
        scores = np.where(found > 0, 1.0, 0.0)
    return scores.astype(np.float32)


def column_by_column(retrieved: QueryDocArray, relevant: RelevanceArray) -> MetricResult:
    """Compute recall with the fastest known NumPy: one pass per relevant column, no third axis."""
    valid = relevant != PADDING_ID
    found = np.zeros(len(retrieved), dtype=np.int64)
    for column in range(relevant.shape[1]):
        hit = (retrieved == relevant[:, column : column + 1]).any(axis=1)
        found += hit & valid[:, column]
    total = valid.sum(axis=1)
    scores = np.divide(found, total, out=np.zeros(len(found)), where=total > 0)
    result: MetricResult = scores.astype(np.float32)
    return result


def best_ms(work: Callable[[], object], rounds: int) -> float:
    """Return the time of the fastest round, the one with the least interference."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def reference(
    names: list[str], retrieved: QueryDocArray, relevant: RelevanceArray
) -> dict[str, MetricResult]:
    """Call the Python implementation, regardless of the backend in use."""
    requests = [(KERNEL_NAMES[name], retrieved.shape[1]) for name in names]
    out = np.empty((len(names), len(retrieved)), dtype=np.float32)
    _python.score_rows(retrieved, relevant, None, 1.0, requests, out)
    return dict(zip(names, out, strict=True))


def check_agreement(retrieved: QueryDocArray, relevant: RelevanceArray) -> None:
    """Check that all contenders compute the same values before timing them."""
    names = list(KERNEL_NAMES)
    ours = evaluate_arrays(retrieved, relevant, names)
    theirs = reference(names, retrieved, relevant)
    for name in names:
        if ours[name].tobytes() != theirs[name].tobytes():
            sys.exit(f"native and python differ on {name}: not worth timing")
        if not np.allclose(ours[name], broadcast(name, retrieved, relevant), rtol=1e-6):
            sys.exit(f"BerryEval and the NumPy broadcast differ on {name}: not worth timing")
    if not np.array_equal(ours["recall"], column_by_column(retrieved, relevant)):
        sys.exit("BerryEval and column-by-column NumPy differ on recall: not worth timing")


def bench_metrics(console: Console, retrieved: QueryDocArray, relevant: RelevanceArray) -> None:
    """Time each metric alone and all five in one call."""
    names = list(KERNEL_NAMES)
    table = Table(title=f"{len(retrieved):,} queries, top {DEPTH}, {RELEVANT} relevant")
    table.add_column("metric")
    for column in ("native", "1 thread", "python", "NumPy"):
        table.add_column(f"{column}\nms", justify="right")
    table.add_column("NumPy /\nnative", justify="right", style="bold")
    table.add_column("NumPy /\n1 thread", justify="right")
    table.add_column("python /\nnative", justify="right")
    native_ms: dict[str, float] = {}
    single_ms: dict[str, float] = {}
    for row in [[name] for name in names] + [names]:
        label = row[0] if len(row) == 1 else "all five"
        native = best_ms(lambda row=row: evaluate_arrays(retrieved, relevant, row), 15)  # type: ignore[misc]
        single = one_thread_ms(retrieved, relevant, row)
        python = best_ms(lambda row=row: reference(row, retrieved, relevant), 1)  # type: ignore[misc]
        numpy_ms = sum(
            best_ms(lambda name=name: broadcast(name, retrieved, relevant), 3)  # type: ignore[misc]
            for name in row
        )
        native_ms[label], single_ms[label] = native, single
        cells = [f"{native:.2f}", f"{single:.2f}", f"{python:.0f}", f"{numpy_ms:.0f}"]
        ratios = [f"{numpy_ms / native:.1f}x", f"{numpy_ms / single:.1f}x"]
        table.add_row(label, *cells, *ratios, f"{python / native:.0f}x")
    console.print(table)
    console.print("NumPy: the usual broadcast, one call per metric; native: all threads.")
    slowest = max(native_ms[name] for name in names)
    mean = sum(native_ms[name] for name in names) / len(names)
    console.print(
        f"five in one call / one metric: {native_ms['all five'] / mean:.2f} "
        f"(the mean one), {native_ms['all five'] / slowest:.2f} (the slowest one)"
    )
    columns = best_ms(lambda: column_by_column(retrieved, relevant), 3)
    console.print(
        f"recall with column-by-column NumPy, the fastest we know: {columns:.1f} ms, "
        f"{columns / native_ms['recall']:.1f}x native"
    )
    bench_bandwidth(console, retrieved, relevant, single_ms["recall"])


def one_thread_ms(retrieved: QueryDocArray, relevant: RelevanceArray, names: list[str]) -> float:
    """Time the native backend on one thread."""
    before = os.environ.get("BERRYEVAL_THREADS")
    os.environ["BERRYEVAL_THREADS"] = "1"
    try:
        return best_ms(lambda: evaluate_arrays(retrieved, relevant, names), 15)
    finally:
        if before is None:
            del os.environ["BERRYEVAL_THREADS"]
        else:
            os.environ["BERRYEVAL_THREADS"] = before


def bench_bandwidth(
    console: Console, retrieved: QueryDocArray, relevant: RelevanceArray, one_thread_ms: float
) -> None:
    """Compare the native metric with memory bandwidth, both on one core."""
    read = retrieved.nbytes + relevant.nbytes
    plain_ms = best_ms(lambda: np.bitwise_or.reduce(retrieved, axis=None), 15)
    bandwidth = retrieved.nbytes / plain_ms / 1e6
    reached = read / one_thread_ms / 1e6
    share = reached / bandwidth
    limit = "the look-up of each id" if share < 0.5 else "the memory"
    console.print(
        f"limit: on one thread recall reads {read / 1e6:.1f} MB at {reached:.1f} GB/s, "
        f"{100 * share:.0f} % of the {bandwidth:.1f} GB/s at which that core reads the same array, "
        f"and looks up {retrieved.size / one_thread_ms / 1e6:.2f} ids per ns: "
        f"the limit is {limit}."
    )


def bench_import(console: Console) -> None:
    """Time `import berryeval.metrics` beyond NumPy, in alternating fresh processes."""
    best = {"numpy": float("inf"), "berryeval.metrics": float("inf")}
    for _ in range(IMPORTS_MEASURED):
        for module, fastest in best.items():
            script = (
                "import time; start = time.perf_counter(); "
                f"import {module}; print(time.perf_counter() - start)"
            )
            done = subprocess.run(
                [sys.executable, "-c", script], capture_output=True, text=True, check=True
            )
            best[module] = min(fastest, float(done.stdout) * 1e3)
    numpy_ms, ours_ms = best.values()
    console.print(
        f"import: numpy {numpy_ms:.0f} ms, berryeval.metrics {ours_ms:.0f} ms (NumPy included), "
        f"{ours_ms - numpy_ms:+.1f} ms (allowed: +30 ms)"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=100_000)
    arguments = parser.parse_args()
    if _backend.native is None:
        sys.exit(f"the native module is not in use ({_backend.native_problem}): nothing to compare")
    console = Console(width=110)
    retrieved, relevant = make_data(arguments.queries)
    check_agreement(retrieved[:2_000], relevant[:2_000])
    bench_metrics(console, retrieved, relevant)
    bench_import(console)


if __name__ == "__main__":
    main()
