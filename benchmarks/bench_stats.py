"""Compare resampling tests and intervals with ranx and SciPy in one run, as ratios.

`make bench` runs it and writes its part of docs/benchmarks.md. All are given the same values; ranx
has its code compiled before it is timed. Every p must lie within the error of the samples, and ours
must be the same on any number of threads, before the times count.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent))

from document import markdown_table, put_between_marks

from berryeval._internal import backend as _backend
from berryeval.stats.intervals import difference_interval
from berryeval.stats.tests import paired_test

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENT = Path(__file__).parents[1] / "docs" / "benchmarks.md"
RESAMPLES = 10_000


def timed(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Return the seconds of the fastest call, and its result."""
    best, answer = math.inf, None
    for _ in range(rounds):
        start = time.perf_counter()
        answer = work()
        best = min(best, time.perf_counter() - start)
    return best, answer


def on_threads(threads: int, work: Callable[[], Any]) -> Callable[[], Any]:
    """Run the same work with the given number of threads."""

    def limited() -> Any:
        os.environ["BERRYEVAL_THREADS"] = str(threads)
        try:
            return work()
        finally:
            del os.environ["BERRYEVAL_THREADS"]

    return limited


def randomization(a: Any, b: Any, samples: int) -> list[tuple[str, float, float]]:
    """Return seconds and p-value of every contender."""
    from ranx.statistical_tests.fisher_randomization_test import fisher_randomization_test
    from scipy import stats

    def ours() -> float | None:
        return paired_test("randomization", a, b, samples=samples).p

    def ranx() -> float:
        return float(fisher_randomization_test(a, b, n_permutations=samples)[0])

    def scipy() -> float:
        few = max(1, samples // 10)  # and its time times ten: it needs a table of all of them
        return float(
            stats.permutation_test(
                (b, a),
                lambda x, y, axis: (x - y).mean(axis=axis),
                permutation_type="samples",
                vectorized=True,
                batch=500,
                n_resamples=few,
                rng=np.random.default_rng(0),
            ).pvalue
        )

    fisher_randomization_test(a[:10], b[:10], n_permutations=10)  # compiles
    found = [("ranx fisher", *timed(ranx, 3))]
    seconds, p = timed(scipy, 3)
    found.append(("scipy permutation_test (a tenth, times ten)", 10 * seconds, p))
    for threads in (1, 2, 8):
        name = f"berryeval, {threads} thread{'s' if threads > 1 else ''}"
        found.append((name, *timed(on_threads(threads, ours), 30)))
    return found


def intervals(a: Any, b: Any) -> list[tuple[str, float, Any]]:
    """Return seconds and BCa interval of every contender."""
    from scipy import stats

    def scipy() -> Any:
        random = np.random.default_rng(0)
        return stats.bootstrap(
            (b - a,), np.mean, n_resamples=RESAMPLES, method="BCa", rng=random
        ).confidence_interval

    def ours() -> Any:
        return difference_interval(a, b, method="bca", resamples=RESAMPLES)

    return [("scipy bootstrap", *timed(scipy, 10)), ("berryeval", *timed(ours, 30))]


def check_p_values(found: list[tuple[str, float, float]], samples: int) -> None:
    """Check that all agree within sampling error, and ours exactly on any number of threads."""
    p_values = {name: p for name, _, p in found}
    ours = {p for name, p in p_values.items() if name.startswith("berryeval")}
    if len(ours) != 1:
        sys.exit(f"our p depends on the threads: {p_values}")
    p = ours.pop()
    for name, other in p_values.items():
        error = math.sqrt(p * (1 - p) / samples)
        if "scipy" in name:  # a tenth of the samples, and twice the smaller of two tails
            error *= 2 * math.sqrt(10)
        if abs(other - p) > 5 * error * math.sqrt(2):
            sys.exit(f"{name} finds p = {other}, berryeval p = {p}: not worth timing")


def main() -> None:
    """Measure, print, and write the part of the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--no-document", action="store_true", help="print only")
    arguments = parser.parse_args()
    if _backend.native is None:
        sys.exit(f"the native module is not in use ({_backend.native_problem}): nothing to compare")
    random = np.random.default_rng(0)
    a = random.random(arguments.queries)
    b = a + random.normal(0.2 / math.sqrt(arguments.queries), 0.1, arguments.queries)
    tested = randomization(a, b, arguments.samples)
    check_p_values(tested, arguments.samples)
    base = tested[0][1]
    rows = [[n, f"{1e3 * s:,.1f} ms", f"{base / s:,.0f}x", f"{p:.4f}"] for n, s, p in tested]
    covered = intervals(a, b)
    ends = [
        [n, f"{1e3 * s:,.1f} ms", f"{covered[0][1] / s:,.0f}x", f"{i[0]:+.5f} to {i[1]:+.5f}"]
        for n, s, i in covered
    ]
    queries, samples = f"{arguments.queries:,} queries", f"{arguments.samples:,} permutations"
    tables = [
        (f"Randomization test: {samples} x {queries}", "faster than ranx", "p", rows),
        (f"BCa interval: {RESAMPLES:,} resamples x {queries}", "faster than SciPy", "ends", ends),
    ]
    sections = []
    console = Console(width=110)
    for title, ratio, answer, lines in tables:
        header = ["what", "time", ratio, answer]
        table = Table(*header, title=title, title_justify="left")
        for line in lines:
            table.add_row(*line)
        console.print(table)
        sections.append(f"## {title}\n\n{markdown_table(header, lines)}")
    if not arguments.no_document:
        put_between_marks(DOCUMENT, "statistics", "\n\n".join(sections))


if __name__ == "__main__":
    main()
