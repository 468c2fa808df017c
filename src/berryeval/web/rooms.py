"""Rooms: the pools of a site, each with its judges, and a writer that stores their votes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

from berryeval.errors import ConfigurationError, DataError, NotWrittenError
from berryeval.judging import (
    ENDING,
    POOL,
    Ballots,
    PairChooser,
    Stop,
    check_grade,
    check_judge,
    name_place,
    open_ledger,
    order_disputed,
)
from berryeval.web.shelf import Kept
from berryeval.web.vote_writer import VoteWriter
from berryeval.workflows import (
    OpenPool,
    PoolRequest,
    choose_store,
    collect_pool,
    find_benchmark,
    greet_judge,
    load_judged,
    locate_run,
    name_source,
    open_pool,
)

if TYPE_CHECKING:
    from concurrent.futures import Future

    from berryeval.judging import Pair, Pool, Vote
    from berryeval.web.site import SiteSettings

T = TypeVar("T")
_REQUEST: Final = "request"  # name of the id of a request, beside the fields of a vote
_PAUSE: Final = 5.0  # seconds between looks at votes that other processes store
_PATIENCE: Final = 10  # choosing by grades may take one part in this many of the time
_POOLS: Final = 4  # pools of runs whose hits are judged one by one
_DEEPEST: Final = 1000  # rank of a hit that can be judged


@dataclass(frozen=True)
class GivenVote:
    """A vote as a judge sends it.

    Attributes:
        request: Id of the request, made by the sender; a vote that is sent twice counts once.
        pair: Id of the pair.
        grade: Grade; None if the judge cannot tell.
        note: Remark.
        withdrawn: Whether it takes the judge's last vote on the pair back.
        adjudicates: Whether it ends a disagreement.
    """

    request: str
    pair: str
    grade: float | None = None
    note: str = ""
    withdrawn: bool = False
    adjudicates: bool = False


class Progress(NamedTuple):
    """Progress of a judge: pairs of the pool, and those that the judge has judged."""

    pairs: int
    judged: int


class Room:
    """A pool and its judges. Votes are in memory, so that no request reads the ledger again.

    `shown` keeps the JSON of pairs as judges see them, by their id.
    """

    def __init__(self, name: str, source: str, opened: OpenPool) -> None:
        self.shown: dict[str, str] = {}
        self.name, self.source, self.opened = name, source, opened
        self._pair_of = {pair.id: pair for pair in opened.pool.pairs}
        self._chooser = PairChooser(opened.pool)
        self._ballots = Ballots(opened.pool, opened.queries)
        self._kept: dict[tuple[str, str], Vote] = {}  # by judge and request
        self._lock, self._looking, self._choosing = (threading.RLock() for _ in range(3))
        self._mark: Any = None
        self._looked, self._graded, self._cost = 0.0, 0.0, 0.0
        self._grades: dict[str, float] = {}
        self._is_unsure = True
        opened.ledger.hold()
        self.look()
        self._writer = VoteWriter(self._store)

    @property
    def pool(self) -> Pool:
        """The pool."""
        return self.opened.pool

    def close(self) -> None:
        """Store the pending votes, and close the ledger."""
        self._writer.close()
        self.opened.ledger.close()

    @property
    def version(self) -> int:
        """A number that grows with every vote."""
        return self._ballots.version

    def look(self) -> None:
        """Take in the votes of other processes, at most every few seconds.

        Votes do not wait for it.
        """
        if self._has_looked():
            return
        with self._looking:
            if self._has_looked():
                return
            self._looked = time.monotonic()
            votes, self._mark = self.opened.ledger.read_on(self._mark)
            self._take(votes)
            self._is_unsure = False

    def _has_looked(self) -> bool:
        return not self._is_unsure and time.monotonic() - self._looked < _PAUSE

    def _take(self, votes: Sequence[Vote]) -> None:
        with self._lock:
            self._ballots.add(votes)
            for vote in votes:
                if request := vote.extra.get(_REQUEST):
                    self._kept[vote.judge, str(request)] = vote

    def greet(self, judge: str) -> tuple[str, ...]:
        """Return the remarks for a judge; a name that looks like another's is an error."""
        with self._lock:
            return (*greet_judge(check_judge(judge), self._ballots.judges), *self.opened.notes)

    def submit(self, judge: str, given: Sequence[GivenVote]) -> Future[list[Vote]]:
        """Store votes of a judge; the future ends when they are on the disk, with all of them."""
        with self._lock:
            votes = [
                self._kept.get((judge, one.request)) or self._make(judge, one) for one in given
            ]
        return self._writer.submit(votes)

    def _make(self, judge: str, given: GivenVote) -> Vote:
        pair = self._pair_of.get(given.pair)
        if pair is None:
            raise DataError(
                f"the pair {given.pair!r:.40} is not in the pool of {self.name} any more; the pool "
                "has changed since it was shown"
            )
        return self.make_vote(judge, pair, given)

    def make_vote(self, judge: str, pair: Pair, given: GivenVote) -> Vote:
        """Return the vote of a judge on a pair."""
        if given.grade is not None:
            check_grade(given.grade, self.opened.scale)
        if judge not in self._ballots.judges:
            self.greet(judge)
        return self._ballots.make_vote(
            pair, None if given.withdrawn else given.grade, judge, note=given.note,
            withdrawn=given.withdrawn, adjudicates=given.adjudicates,
            extra={_REQUEST: given.request},
        )  # fmt: skip

    def vote_on(self, judge: str, pair: Pair, given: GivenVote) -> Vote:
        """Store a vote on a pair that need not be in the pool, and return it as stored."""
        (vote,) = self._writer.submit([self.make_vote(judge, pair, given)]).result()
        return vote

    def _store(self, votes: Sequence[Vote]) -> list[Vote]:
        """Store the votes whose request is new, and return all as they are stored."""
        if self._is_unsure:  # the last votes may be stored although storing them failed
            try:
                self.look()
            except DataError as error:
                raise NotWrittenError(f"{error}; the votes were not kept") from None
        new: dict[tuple[str, str], Vote] = {}
        for vote in votes:
            if _name_request(vote) not in self._kept:
                new.setdefault(_name_request(vote), vote)
        if new:
            try:
                self._take(self.opened.ledger.append(new.values()))
            except BaseException:
                self._is_unsure = True
                raise
        return [self._kept[_name_request(vote)] for vote in votes]

    def measure_progress(self, judge: str) -> Progress:
        """Return the progress of a judge."""
        with self._lock:
            done = self._ballots.judged_by(judge)
            return Progress(len(self._pair_of), len(done & self._pair_of.keys()))

    def choose(
        self, judge: str, count: int, without: Collection[str] = (), *, adjudicates: bool = False
    ) -> list[Pair] | Stop:
        """Return the next pairs of a judge, or the reason to stop.

        Args:
            judge: Name of the judge.
            count: Number of pairs.
            without: Ids of pairs that the judge has already, or does not want to see now.
            adjudicates: Whether to choose from the pairs that judges disagree about.
        """
        self.look()
        gone = set(without)
        with self._lock:
            if adjudicates:
                every = order_disputed(self.pool, self._ballots)
                left = [pair for pair in every if pair.id not in gone]
                return left[:count] or Stop("the judges disagree about no other pair")
            gone |= self._ballots.judged_by(judge)
        open_pairs = (pair for pair in self.pool.pairs if pair.id not in gone)
        if not self._chooser.decides:
            return self._chooser.choose(list(islice(open_pairs, count)), {}, judge, count)
        with self._choosing:
            started = time.monotonic()
            if started - self._graded > _PATIENCE * self._cost:
                with self._lock:
                    self._grades = dict(self._ballots.grades)
                self._graded = started
            found = self._chooser.choose(list(open_pairs), self._grades, judge, count)
            self._cost = max(self._cost / 2, time.monotonic() - started)
            return found

    def votes_on(self, pair: Pair) -> list[Vote]:
        """Return the current votes on a pair; only for those who adjudicate."""
        with self._lock:
            return self._ballots.votes_on(pair.id)

    def count_disputed(self) -> int:
        """Return the number of pairs that judges disagree about."""
        with self._lock:
            return len(self._ballots.disputed.keys() & self._pair_of.keys())

    def count_by_judge(self) -> dict[str, int]:
        """Return how many pairs of the pool each judge has judged, the most first."""
        with self._lock:
            found = {
                one: len(self._ballots.judged_by(one) & self._pair_of.keys())
                for one in self._ballots.judges
            }
        return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def _name_request(vote: Vote) -> tuple[str, str]:
    return vote.judge, str(vote.extra[_REQUEST])


class Rooms:
    """The rooms of a site by name; each opens when it is first needed."""

    def __init__(self, settings: SiteSettings) -> None:
        self._settings = settings
        self._open: dict[str, tuple[object, Room]] = {}
        self._lock = threading.RLock()
        self._hits: Kept[Pool] = Kept(_POOLS)
        self._measured: dict[tuple[str, str], tuple[object, object]] = {}
        self._measuring = threading.Lock()

    @property
    def ledger(self) -> str | None:
        """The place of the votes; None for the folder beside each benchmark."""
        if self._settings.ledger is None and self._settings.users:
            return choose_store(self._settings.store)
        return self._settings.ledger

    def find_pools(self) -> dict[str, Path]:
        """Return the files of the pools that can be judged, by the name of their room."""
        named = self._settings.benchmarks
        folders = [*map(name_place, named)] or sorted(Path().glob(f"*{ENDING}"))
        if self.ledger and Path(self.ledger).is_dir():
            folders = [Path(self.ledger)]
        files = {one.stem: one / POOL for one in folders}
        return {name: path for name, path in files.items() if named or path.is_file()}

    def check(self) -> None:
        """Reject a benchmark that was named and has no pool."""
        for path in self.find_pools().values():
            if not path.is_file():
                raise ConfigurationError(
                    f"{path.parent}: has no pool to judge; make one with berryeval judge pool RUN"
                )

    def get(self, name: str) -> Room:
        """Return a room; it is opened again if its pool has changed."""
        path = self.find_pools().get(name)
        if path is None:
            raise DataError(
                f"no pool {name!r:.80} here; make one with berryeval judge pool RUN, in the folder "
                "of the server"
            )
        source = self._find_source(path)
        return self._enter(name, _sign(path), source, lambda: open_pool(source, self.ledger))

    def find_open(self, name: str) -> Room | None:
        """Return a room that is open already, without a look at the disk."""
        found = self._open.get(name)
        return found[1] if found else None

    def _enter(
        self, name: str, version: object, source: str, opened: Callable[[], OpenPool]
    ) -> Room:
        with self._lock:
            known = self._open.get(name)
            if known is not None and known[0] == version:
                return known[1]
            room = Room(name, source, opened())
            self._open[name] = version, room
        if known is not None:
            known[1].close()
        return room

    def _find_source(self, path: Path) -> str:
        """Return where the benchmark of a pool is."""
        for one in self._settings.benchmarks:
            if name_place(one) == path.parent:
                return one
        with self._lock:
            known = self._open.get(path.parent.stem)
        if known is not None:
            return known[1].source
        return name_source(find_benchmark(None, str(path.parent)))

    def remember(self, room: Room, what: str, measure: Callable[[], T]) -> T:
        """Return a value measured since the last vote, or measure it now, one at a time."""
        key = room.name, what
        with self._measuring:
            version, found = self._measured.get(key, (None, None))
            if version != (room, room.version):
                version, found = (room, room.version), measure()
                self._measured[key] = version, found
            return cast("T", found)

    def close(self) -> None:
        """Store the pending votes, and close every room; the next request opens it again."""
        with self._lock:
            rooms = [room for _, room in self._open.values()]
            self._open.clear()
        for room in rooms:
            room.close()

    def vote_on_hit(
        self, judge: str, run: str, provider: str, query_id: str, rank: int, given: GivenVote,
        benchmark: str | None = None,
    ) -> Vote:  # fmt: skip
        """Store a vote on a hit of a run, which need not be in a pool.

        Args:
            judge: Name of the judge.
            run: Name of the run.
            provider: Name of the provider.
            query_id: Id of the query.
            rank: Rank of the hit, from 1.
            given: Grade, note and request; its `pair` is not used.
            benchmark: Name of the benchmark in the run; None if the run has only one.
        """
        pool, pair = self._find_hit(run, provider, query_id, rank, benchmark)
        name = name_place(pool.benchmark).stem
        if name in self.find_pools():
            room = self.get(name)
        else:
            room = self._enter(name, None, pool.benchmark, lambda: self._open_unpooled(pool))
        return room.vote_on(judge, pair, given)

    def _open_unpooled(self, pool: Pool) -> OpenPool:
        loaded = load_judged(find_benchmark(pool.benchmark), "none").benchmark
        ledger = open_ledger(self.ledger or "", pool.benchmark)
        return OpenPool(replace(pool, pairs=(), rankings={}), ledger, loaded)

    def _find_hit(
        self, run: str, provider: str, query_id: str, rank: int, benchmark: str | None
    ) -> tuple[Pool, Pair]:
        """Return the pair that judges would see for a hit, and the pool of the run."""
        if Path(run).name != run:
            raise DataError(f"no run {run!r:.80}: expected the name of a run, not a path")
        found = locate_run(run, self._settings.store)
        request = PoolRequest(
            (f"{found.name}#{provider}",), depth=_DEEPEST, benchmark=benchmark, everything=True,
            store=self._settings.store,
        )  # fmt: skip
        pool = self._hits.get((found, request), lambda: collect_pool(request).pool)
        (queries,) = pool.rankings.values()
        entries = queries.get(query_id, [])
        if not 1 <= rank <= len(entries):
            raise DataError(
                f"{provider} of {run} has no hit at rank {rank} for the query {query_id!r:.80}"
            )
        return pool, next(pair for pair in pool.pairs if pair.id == entries[rank - 1])


def _sign(path: Path) -> tuple[int, int] | None:
    """Return time and size of a file, to notice when it is written again; None without one."""
    if not path.is_file():
        return None
    found = path.stat()
    return found.st_mtime_ns, found.st_size
