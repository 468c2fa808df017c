"""The desk of a judge: the pool, the ledger and the benchmark that a session needs."""

from __future__ import annotations

import getpass
import os
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from berryeval._internal.text import pluralize
from berryeval._internal.validate import suggest
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import POOL, Pool, Session, grade_scale, has_changed, open_ledger
from berryeval.relevance import ANSWER_FIELDS
from berryeval.workflows.judged_data import find_benchmark
from berryeval.workflows.selection import load_source

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark
    from berryeval.judging import Ledger, Pair

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
    source = find_benchmark(benchmark, ledger)
    kept = open_ledger(ledger or "", source if isinstance(source, str) else source.source)
    path = kept.folder / POOL
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
