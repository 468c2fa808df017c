"""`berryeval judge pool` and `berryeval judge status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.cli.flags import Flag, Metrics

if TYPE_CHECKING:
    from berryeval.judging import Estimate, Outlook
    from berryeval.workflows import Pooling, PoolStatus


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
    queries = pluralize(len({pair.query_id for pair in found.pairs}), "query")
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


def status(
    *,
    metrics: Metrics = None,
    benchmark: str | None = None,
    ledger: str | None = None,
    json: Flag = False,
) -> None:
    """Show what is judged, how far differences can still move, and what is left to decide.

    Args:
        metrics: Metrics to compare by: -m nDCG@10 P@10; default: those of the pool.
        benchmark: Benchmark; default: that of the only ledger in the current folder.
        ledger: Folder or store of the judgments; default: NAME.judged beside the benchmark.
        json: JSON output.
    """
    from berryeval.cli.output import print_json
    from berryeval.metrics import split_names
    from berryeval.workflows import read_status

    found = read_status(benchmark, ledger, split_names(metrics or []))
    if json:
        print_json("judge status", found.to_json())
    else:
        _print_status(found)


def _print_status(found: PoolStatus) -> None:
    from berryeval._internal.numbers import format_share
    from berryeval._internal.text import pluralize
    from berryeval.cli.output import build_table, console, print_indented

    screen, pool = console(), found.pool
    queries = pluralize(len({pair.query_id for pair in pool.pairs}), "query")
    share = f" ({format_share(found.judged / len(pool.pairs))})" if pool.pairs else ""
    screen.print(
        f"{found.path}: {found.judged:,} of {len(pool.pairs):,} pairs of {queries} judged{share}; "
        f"strategy {pool.strategy}, depth {pool.depth}",
        style="bold",
    )
    if found.judges:
        rows = [(one.judge, one.kind, f"{one.votes:,}", f"{one.in_pool:,}") for one in found.judges]
        screen.print()
        screen.print(build_table(("judge", "kind", "votes", "in pool"), rows, right=("votes",)))
    if found.outlooks:
        titles = ("system", "metric", "judged", "difference", "can become", "verdict", "needs")
        screen.print()
        screen.print(build_table(titles, (_describe(*one) for one in found.outlooks)))
        screen.print(f"against {found.outlooks[0][0].baseline}; unjudged pairs count as 0")
    if found.estimates:
        screen.print()
        shown = map(_describe_estimate, found.estimates)
        screen.print(build_table(("estimate", "metric", "mean", "95 % interval"), shown))
    for note in found.notes:
        print_indented(screen, f"note: {note}", 0, style="yellow")


def _describe(one: Outlook, needed: int | None) -> tuple[str, ...]:
    from berryeval._internal.numbers import format_delta, format_delta_interval

    sure = "certain" if one.is_certain else f"{one.probability:.0%}"
    more = "nothing more" if one.is_decided else "all" if needed is None else f"about {needed:,}"
    return (
        one.system,
        one.metric,
        f"{one.judged:,} of {one.pairs:,}",
        format_delta(one.difference),
        format_delta_interval(one.low, one.high),
        f"{one.verdict} ({sure})",
        more,
    )


def _describe_estimate(one: Estimate) -> tuple[str, ...]:
    from berryeval._internal.numbers import format_delta, format_interval, format_metric

    what = f"{one.system} - {one.baseline}" if one.baseline else one.system
    mean = format_delta(one.mean) if one.baseline else format_metric(one.mean)
    reach = format_interval(*one.interval, digits=3) if one.interval else "unknown"
    return (what, one.metric, mean, reach)
