"""`berryeval judge pool` and `berryeval judge status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.cli.flags import Flag, Metrics

if TYPE_CHECKING:
    from berryeval.workflows import Pooling


def pool(
    *runs: str,
    depth: int = 10,
    strategy: str = "depth",
    share: float | None = None,
    count: int | None = None,
    seed: int = 0,
    metrics: Metrics = None,
    benchmark: str | None = None,
    ledger: str | None = None,
    all: Flag = False,  # noqa: A002 - its flag
    json: Flag = False,
) -> None:
    """Pool the unjudged hits of runs, blind and shuffled, for judging.

    Example: berryeval judge pool latest --strategy decisive

    Args:
        runs: Runs (folders, names, latest), RUN#PROVIDER, or TREC files with --benchmark.
        depth: Number of hits of each ranking to look at.
        strategy: depth (all pairs), random (a sample with known probabilities), or decisive (next
            the pair that can change the difference between the systems most).
        share: Share of the pairs that random draws, on average; default: 0.2.
        count: Number of pairs that random draws, on average.
        seed: Random seed of the order and of what is drawn.
        metrics: Metrics whose differences matter: -m nDCG@10; sums over ranks only.
        benchmark: Benchmark; default: that of the runs.
        ledger: Folder or store of the judgments; default: NAME.judged beside the benchmark.
        all: Pool judged hits too, for a second judge.
        json: JSON output.
    """
    from berryeval.metrics import split_names
    from berryeval.workflows import PoolRequest, pool_runs

    names = tuple(split_names(metrics or []))
    done = pool_runs(
        PoolRequest(
            runs, depth, strategy, share, count, seed, names, benchmark, ledger, everything=all
        )
    )
    if json:
        _print_pool_json(done)
    else:
        _print_pool(done)


def _print_pool(done: Pooling) -> None:
    from berryeval._internal.text import format_command, pluralize
    from berryeval.cli.output import console, print_indented

    screen, found = console(), done.pool
    queries = pluralize(len({pair.query_id for pair in found.pairs}), "query", "queries")
    before = len(found.pairs) - done.added
    kept = f", {before:,} were there" if before else ""
    screen.print(
        f"{len(found.pairs):,} pairs of {queries} from {pluralize(len(found.rankings), 'system')}"
        f" to depth {found.depth} ({done.added:,} added{kept}): {done.path}"
    )
    for note in done.notes:
        print_indented(screen, f"note: {note}", 0, style="yellow")
    if found.pairs:
        screen.print(f"next: {format_command('judge', 'next')}")
    else:
        screen.print("nothing to judge: every hit is judged")


def _print_pool_json(done: Pooling) -> None:
    from berryeval.cli.output import print_json

    found = done.pool
    data = {
        "pool": str(done.path),
        "benchmark": found.benchmark,
        "strategy": found.strategy,
        "depth": found.depth,
        "seed": found.seed,
        "metrics": list(found.metrics),
        "systems": dict(found.systems),
        "pairs": len(found.pairs),
        "added": done.added,
        "notes": list(done.notes),
    }
    print_json("judge pool", data)
