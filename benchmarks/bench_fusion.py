"""Compare fusion with ranx in one run, method by method, as ratios.

`make bench` runs it and writes its part of docs/benchmarks.md. Both are given the same runs as
`Run` objects, built before the clock starts, and give back a `Run`; both normalize with min-max
first. ranx has its code compiled before it is timed. The fused scores must agree before the times
count.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent))

from document import markdown_table, put_between_marks

from berryeval.data import Qrels, Run
from berryeval.fusion import METHODS, FusionModel, fuse, train_fusion

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENT = Path(__file__).parents[1] / "docs" / "benchmarks.md"
WEIGHTS = (0.5, 0.3, 0.2)
MAJORITIES = {"condorcet", "w_condorcet"}  # other orders: see docs/fusion.md
SLOW = {*MAJORITIES, "bordafuse", "w_bordafuse"}  # ranx needs half a second per query
OURS: dict[str, dict[str, Any]] = {"gmnz": {"gamma": 0.4}, "rbc": {"phi": 0.8}}
TABLES = {"bayesfuse": "log_odds", "mapfuse": "map_scores"}


def build_runs(queries: int, depth: int, pool: int) -> list[Run]:
    """Build three runs that rank `depth` of the same `pool` documents of each query."""
    random = np.random.default_rng(2026)
    runs = []
    for name in ("first", "second", "third"):
        ids = np.empty((queries, depth), dtype=np.int64)
        for query in range(queries):
            ids[query] = 1_000_000 + 3_000 * query + random.permutation(pool)[:depth]
        scores = -np.sort(-random.random((queries, depth)) * 20, axis=1)
        runs.append(Run.from_arrays(ids, scores).named(name))
    return runs


def build_qrels(run: Run) -> Qrels:
    """Judge every seventh document of the first fifty of each ranking."""
    rows = run.to_dict()
    return Qrels.from_dict(
        {query: dict.fromkeys(list(found)[:50:7], 1) for query, found in rows.items()}
    )


def timed(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Return the seconds of the fastest call, and its result."""
    best, answer = math.inf, None
    for _ in range(rounds):
        start = time.perf_counter()
        answer = work()
        best = min(best, time.perf_counter() - start)
    return best, answer


def settings_of(method: str, model: FusionModel) -> dict[str, Any]:
    """Return the parameters of a method for ranx."""
    given = dict(OURS.get(method, {}))
    if model.weights:
        given["weights"] = list(model.weights)
    if method == "slidefuse":
        given["w"] = 5
    if model.trained:
        tables = [np.array(numbers) for numbers in model.trained]
        given[TABLES.get(method, "probs")] = (
            [float(table[0]) for table in tables] if method == "mapfuse" else tables
        )
    return given


def build_model(method: str, qrels: Qrels, runs: list[Run]) -> FusionModel:
    """Build the model that both tools use."""
    declared = METHODS[method]
    weights = WEIGHTS if declared.weighting != "no" and method != "rrf" else None
    if declared.train is not None:
        return train_fusion(qrels, runs, method)
    return FusionModel(method, weights=weights or (), parameters=OURS.get(method, {}))


def check_scores(ours: Run, theirs: Any, queries: int) -> None:
    """Stop if a query has other scores."""
    found = ours.table.take(np.arange(0, queries, max(1, queries // 20))).to_dict()
    for query, scores in found.items():
        other = dict(theirs.run[query])
        if scores.keys() != other.keys():
            raise SystemExit(f"query {query}: other documents")
        if not np.allclose([scores[name] for name in other], [*other.values()]):
            raise SystemExit(f"query {query}: other scores")


def measure(queries: int, depth: int, methods: list[str], few: int) -> list[list[str]]:
    """Time both tools and return a row per method."""
    import ranx
    from ranx.meta.fuse import fuse as ranx_fuse

    rows = []
    warm = build_runs(8, 50, 100)
    warm_ranx = [ranx.Run(run.to_dict()) for run in warm]
    sizes: dict[int, tuple[list[Run], list[Any], Qrels]] = {}
    for method in methods:
        size = few if method in SLOW else queries
        if size not in sizes:
            runs = build_runs(size, depth, 2 * depth)
            sizes[size] = runs, [ranx.Run(run.to_dict()) for run in runs], build_qrels(runs[0])
        runs, other, qrels = sizes[size]
        model = build_model(method, qrels, runs)
        given = settings_of(method, model)
        start = time.perf_counter()
        ranx_fuse(warm_ranx, norm="min-max", method=method, params=given)
        compiling = time.perf_counter() - start
        seconds, ours = timed(partial(fuse, runs, model), 3)
        settings = {"norm": "min-max", "method": method, "params": given}
        theirs_in, theirs = timed(partial(ranx_fuse, other, **settings), 1)
        if method not in MAJORITIES:
            check_scores(ours, theirs, size)
        del ours, theirs  # gigabytes, before the next method
        row = [method, f"{size:,}", f"{seconds:.2f} s", f"{theirs_in:.1f} s"]
        rows.append([*row, f"{theirs_in / seconds:.0f} x", f"{compiling:.0f} s"])
        print(*rows[-1], flush=True)
    return rows


def main() -> None:
    """Measure, print the table and write the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--queries", type=int, default=10_000, help="10,000 take more than 13 GB with ranx"
    )
    parser.add_argument("--depth", type=int, default=1_000)
    parser.add_argument("--few", type=int, default=50, help="queries for ranx's slow methods")
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--document", action="store_true")
    given = parser.parse_args()
    rows = measure(given.queries, given.depth, given.methods, given.few)
    header = ["method", "queries", "BerryEval", "ranx", "ratio", "ranx compiles first"]
    table = Table(*header)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    if given.document:
        about = (
            f"Three runs of {given.depth:,} documents per query, ranked from the same "
            f"{2 * given.depth:,}; `Run` objects in and out, norm min-max, fastest of three calls; "
            "ranx compiled before it is timed, one call. The scores of both agree."
        )
        text = f"## Fusion of runs\n\n{about}\n\n{markdown_table(header, rows)}"
        put_between_marks(DOCUMENT, "fusion", text)


if __name__ == "__main__":
    main()
