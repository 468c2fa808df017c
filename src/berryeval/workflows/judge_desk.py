"""The desk of a judge: the pool, ledger and benchmark of a session, and its progress."""

from __future__ import annotations

import getpass
import os
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.text import pluralize
from berryeval._internal.validate import suggest
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import (
    POOL,
    Pool,
    Session,
    build_contests,
    current_votes,
    estimate,
    find_grades,
    forecast,
    grade_scale,
    has_changed,
    make_pair_id,
    open_ledger,
)
from berryeval.relevance import ANSWER_FIELDS
from berryeval.workflows.judged_data import find_benchmark
from berryeval.workflows.plan import name_source
from berryeval.workflows.selection import load_source

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark
    from berryeval.judging import Estimate, Ledger, Outlook, Pair, Vote
    from berryeval.workflows.plan import BenchmarkSpec

JUDGE: Final = "BERRYEVAL_JUDGE"  # variable with the name of the judge


@dataclass(frozen=True)
class OpenPool:
    """A pool that can be judged: its ledger, its benchmark, and what to tell judges first."""

    pool: Pool
    ledger: Ledger
    benchmark: Benchmark
    notes: tuple[str, ...] = ()

    @property
    def queries(self) -> dict[str, str]:
        """The texts of the queries by id."""
        return {query.id: query.text for query in self.benchmark.queries}

    @property
    def scale(self) -> tuple[float, ...]:
        """The grades that a judge may give."""
        return grade_scale(self.benchmark)

    def query_text(self, pair: Pair) -> str:
        """Return the query of a pair."""
        return self.benchmark.query_of[pair.query_id].text

    def describe_wanted(self, pair: Pair) -> list[str]:
        """Return what the query wants, as far as the benchmark says it."""
        query = self.benchmark.query_of[pair.query_id]
        answers = (query.metadata.get(name, query.extra.get(name)) for name in ANSWER_FIELDS)
        expected = next((one for one in answers if isinstance(one, str) and one), "")
        lines = [f"wanted: {query.description}"] if query.description else []
        return [*lines, f"expected answer: {expected}"] if expected else lines


@dataclass(frozen=True, kw_only=True)
class JudgeDesk(OpenPool):
    """An open pool, and the session of one judge."""

    session: Session


def open_pool(benchmark: str | None = None, ledger: str | None = None) -> OpenPool:
    """Open the pool of a benchmark for its judges.

    Args:
        benchmark: Benchmark that was pooled; None for the only one with a pool in this folder.
        ledger: Folder or store with the votes; None for the folder beside the benchmark.
    """
    source, kept, path = _find_pool(benchmark, ledger)
    if not path.is_file():
        raise DataError(f"{kept.folder}: has no pool; make one with berryeval judge pool RUN")
    pool, loaded = Pool.read(path), load_source(source)
    for pair in pool.pairs:
        if pair.query_id not in loaded.query_of:
            raise DataError(
                f"{path}: the query {pair.query_id!r:.80} is not in {loaded.name}; the pool "
                "belongs to another benchmark: pool again, or name it with --benchmark"
            )
    changed = sum(has_changed(pair, loaded) for pair in pool.pairs)
    note = (
        f"the text of {pluralize(changed, 'pair')} of the pool has changed since: pool again with "
        "berryeval judge pool RUN"
    )
    return OpenPool(pool, kept, loaded, (note,) if changed else ())


def _find_pool(
    benchmark: str | None, ledger: str | None
) -> tuple[str | BenchmarkSpec, Ledger, Path]:
    """Return where a benchmark is, its ledger, and the file that its pool has or would have."""
    source = find_benchmark(benchmark, ledger)
    kept = open_ledger(ledger or "", name_source(source))
    return source, kept, kept.folder / POOL


def open_desk(
    benchmark: str | None = None,
    ledger: str | None = None,
    judge: str | None = None,
    *,
    adjudicates: bool = False,
) -> JudgeDesk:
    """Open a session for a judge on the pool of a benchmark.

    Args:
        benchmark: Benchmark that was pooled; None for the only one with a pool in this folder.
        ledger: Folder with the pool and the votes; None for the one beside the benchmark.
        judge: Name of the judge; None for `BERRYEVAL_JUDGE`, else the name of the login.
        adjudicates: Whether to show the pairs that judges disagree about, with their votes.
    """
    opened = open_pool(benchmark, ledger)
    pool, kept, name = opened.pool, opened.ledger, read_judge(judge)
    session = Session(pool, kept, name, opened.scale, adjudicates, opened.queries)
    notes = (*greet_judge(name, session.judges), *opened.notes)
    return JudgeDesk(pool, kept, opened.benchmark, notes, session=session)


def read_judge(judge: str | None) -> str:
    """Return the name of the judge: the given one, that of `BERRYEVAL_JUDGE`, else the login."""
    given = judge if judge is not None else os.environ.get(JUDGE) or getpass.getuser()
    name = given.strip()
    if not name:
        raise ConfigurationError("the name of the judge is empty; give one with --judge NAME")
    if not name.isprintable():
        raise ConfigurationError(f"the name of the judge must be printable, found {name!r:.80}")
    return name


def greet_judge(name: str, known: Collection[str]) -> tuple[str, ...]:
    """Tell a new judge who judged before; a known name in another spelling is an error."""
    if name in known or not known:
        return ()
    same = [one for one in known if _fold(one) == _fold(name)]
    if same:
        raise ConfigurationError(f"no votes of the judge {name!r}; {suggest(name, same)}")
    return (f"first session of {name}; known judges: {', '.join(sorted(known))}",)


def _fold(name: str) -> str:
    return "".join(name.split()).casefold()


# The progress of a pool, and the comparisons that are undecided.


@dataclass(frozen=True)
class JudgeCount:
    """The current votes of a judge: all, and those on pairs of the pool."""

    judge: str
    kind: str
    votes: int
    in_pool: int


@dataclass(frozen=True)
class PoolStatus:
    """The progress of a pool.

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
    """Return the progress of the pool of a benchmark.

    Args:
        benchmark: Benchmark; by default that of the only ledger in the current folder.
        ledger: Place of the ledger; by default beside the benchmark.
        metrics: Metrics to compare by; by default those of the pool.
    """
    _, opened, path = _find_pool(benchmark, ledger)
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
