"""How far the judging of a pool is, and what is left to decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from berryeval.errors import DataError
from berryeval.judging import (
    POOL,
    Pool,
    build_contests,
    current_votes,
    estimate,
    find_grades,
    forecast,
    make_pair_id,
    open_ledger,
)
from berryeval.workflows.judged_data import find_benchmark

if TYPE_CHECKING:
    from berryeval.judging import Estimate, Outlook, Vote


@dataclass(frozen=True)
class JudgeCount:
    """The current votes of a judge: all, and those on pairs of the pool."""

    judge: str
    kind: str
    votes: int
    in_pool: int


@dataclass(frozen=True)
class PoolStatus:
    """How far the judging of a pool is.

    Attributes:
        path: File of the pool.
        pool: The pool.
        judged: Number of its pairs with a decided grade.
        judges: The judges, those with most votes first.
        outlooks: Every comparison, with about how many more pairs it needs; None if unknown.
        estimates: Estimates from a random pool that is completely judged.
        notes: What else there is to say.
    """

    path: Path
    pool: Pool
    judged: int
    judges: tuple[JudgeCount, ...]
    outlooks: tuple[tuple[Outlook, int | None], ...]
    estimates: tuple[Estimate, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the status for JSON."""
        return {
            "pool": str(self.path),
            "benchmark": self.pool.benchmark,
            "strategy": self.pool.strategy,
            "depth": self.pool.depth,
            "pairs": len(self.pool.pairs),
            "judged": self.judged,
            "judges": [asdict(one) for one in self.judges],
            "comparisons": [{**one.to_json(), "needed": more} for one, more in self.outlooks],
            "estimates": [asdict(one) for one in self.estimates],
            "notes": list(self.notes),
        }


def read_status(
    benchmark: str | None = None, ledger: str | None = None, metrics: Sequence[str] = ()
) -> PoolStatus:
    """Say how far the judging of a benchmark is.

    Args:
        benchmark: Benchmark; by default that of the only ledger in the current folder.
        ledger: Place of the ledger; by default beside the benchmark.
        metrics: Metrics to compare by; by default those of the pool.
    """
    source = find_benchmark(benchmark, ledger)
    opened = open_ledger(ledger or "", source if isinstance(source, str) else source.source)
    path = opened.folder / POOL
    if not path.is_file():
        raise DataError(
            f"there is no pool in {opened.folder}; begin with: berryeval judge pool RUN"
        )
    pool = Pool.read(path)
    votes = opened.votes()
    grades = find_grades(votes)
    left = sum(pair.id not in grades for pair in pool.pairs)
    names = list(metrics or pool.metrics)
    outlooks = []
    for contest in build_contests(pool, names) if len(pool.rankings) > 1 else ():
        contest.judge(grades)
        outlook = contest.look()
        outlooks.append((outlook, 0 if outlook.is_decided else forecast(contest, pool.seed)))
    notes, estimates = [], []
    if pool.strategy == "random" and left:
        notes.append(f"{left} of {len(pool.pairs)} drawn pairs are not judged: no estimates yet")
    elif pool.strategy == "random":
        estimates = [one for name in names for one in estimate(pool, grades, name)]
    if len(pool.rankings) == 1:
        notes.append("one system has nothing to be compared with; add another to the pool")
    return PoolStatus(
        path,
        pool,
        len(pool.pairs) - left,
        tuple(_count_votes(pool, votes)),
        tuple(outlooks),
        tuple(estimates),
        tuple(notes),
    )


def _count_votes(pool: Pool, votes: Sequence[Vote]) -> list[JudgeCount]:
    pooled = {pair.id for pair in pool.pairs}
    every: Counter[tuple[str, str]] = Counter()
    inside: Counter[tuple[str, str]] = Counter()
    for one in current_votes(votes):
        if one.question == "relevance":
            every[one.judge, one.kind] += 1
            inside[one.judge, one.kind] += make_pair_id(one.query_id, one.target) in pooled
    return [JudgeCount(*who, count, inside[who]) for who, count in every.most_common()]
