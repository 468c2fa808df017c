"""Votes in the store of past runs, for several people at once."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.files import is_regular
from berryeval._internal.json import encode_json_line
from berryeval.errors import DataError, NotWrittenError
from berryeval.judging.ledger import Ledger, Vote, group_votes, name_place, read_vote, stamp

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from berryeval._internal.files import PathLike
    from berryeval.runs import Database

_DATABASES: Final = (".db", ".sqlite", ".sqlite3")
_AT_ONCE: Final = 500  # checksums in a statement
log = logging.getLogger("berryeval")


def open_ledger(place: PathLike, source: PathLike) -> Ledger:
    """Return the ledger of a benchmark: a folder, or a table of a store.

    Args:
        place: A folder; a SQLite file that exists or ends in .db, or the URL of a PostgreSQL; ""
            for the folder beside the benchmark.
        source: Name or path of the benchmark.
    """
    given = str(place)
    if not given:
        return Ledger(name_place(source))
    path = Path(given)
    is_address = "://" in given or ("=" in given and not path.exists())
    if is_address or is_regular(path) or path.suffix.lower() in _DATABASES:
        return StoreLedger(given, source)
    return Ledger(path)


class StoreLedger(Ledger):
    """The votes on one benchmark in a store, which need not exist yet.

    Benchmarks differ by the names of their files. Every call is one transaction, and a vote that is
    sent twice is there once. `folder`, with the pool, is beside the benchmark.
    """

    def __init__(self, place: str, source: PathLike) -> None:
        from berryeval.runs import Place, to_column_text

        super().__init__(name_place(source))
        self._place = Place.of(place)
        self.shown = self._place.shown
        self._benchmark = to_column_text(self.folder.stem)
        self._holds, self._opening = False, threading.Lock()
        self._held: Database | None = None
        self._own: set[str] = set()  # checksums of votes that this ledger added while held

    def hold(self) -> None:
        """Keep the store open from its next use on, until `close`."""
        self._holds = True

    def close(self) -> None:
        """Close the store."""
        self._holds = False
        self._own.clear()
        if self._held is not None:
            self._held.close()
            self._held = None

    @property
    def exists(self) -> bool:
        """Whether anyone has voted yet."""
        return bool(self._read(limit=1))

    def votes(self) -> list[Vote]:
        """Return every vote, oldest first; damaged rows are left out and counted in the log."""
        rows = self._read()
        found = [vote for line, checksum in rows if (vote := _read_row(line, checksum))]
        if len(found) < len(rows):
            count = len(rows) - len(found)
            log.warning("%s: %d votes are damaged; they do not count", self.shown, count)
        return found

    def append(self, votes: Iterable[Vote]) -> list[Vote]:
        """Add votes and return them as written; all are in the store when this returns."""
        judges = group_votes(votes)
        is_new = not any(vote.time for own in judges.values() for vote in own)
        try:
            with self._open(make=True) as database, database.writing() as connection:
                latest = self._find_latest(connection, judges)
                stamped = [
                    vote
                    for judge, own in judges.items()
                    for vote in stamp(own, latest.get(judge, 0.0))
                ]
                added = self._insert(connection, stamped, is_new=is_new)
        except DataError as error:
            raise NotWrittenError(f"{error}; the votes were not kept") from None
        if self._holds:
            self._own.update(added)
        return stamped

    @contextmanager
    def _open(self, *, make: bool) -> Iterator[Database]:
        from berryeval.runs import Database

        if self._holds:
            with self._opening:
                if self._held is None:
                    self._held = Database(self._place, make=make)
            yield self._held
            return
        database = Database(self._place, make=make)
        try:
            yield database
        finally:
            database.close()

    def read_on(self, mark: Any = None) -> tuple[list[Vote], Any]:
        """Return the votes that came after a mark, and the next mark; None reads all.

        Votes that this ledger added itself are left out while it is held. Waits for writers, also
        for a process that was killed while the server stored its votes.
        """
        from sqlalchemy import select

        from berryeval.runs import NoStoreError, vote_rows

        wanted = (
            select(vote_rows.c.line, vote_rows.c.checksum, vote_rows.c.key)
            .where(vote_rows.c.benchmark == self._benchmark, vote_rows.c.key > (mark or 0))
            .order_by(vote_rows.c.key)
        )
        try:
            with self._open(make=False) as database, database.writing() as connection:
                rows = connection.execute(wanted).all()
        except NoStoreError:
            return [], mark
        others = [(line, checksum) for line, checksum, _ in rows if checksum not in self._own]
        self._own.difference_update(row.checksum for row in rows)
        found = [vote for line, checksum in others if (vote := _read_row(line, checksum))]
        return found, rows[-1].key if rows else mark

    def _read(self, limit: int | None = None) -> Sequence[Any]:
        from sqlalchemy import select

        from berryeval.runs import NoStoreError, vote_rows

        wanted = (
            select(vote_rows.c.line, vote_rows.c.checksum)
            .where(vote_rows.c.benchmark == self._benchmark)
            .order_by(vote_rows.c.moment, vote_rows.c.key)
        )
        try:
            with self._open(make=False) as database, database.reading() as connection:
                return connection.execute(wanted.limit(limit)).all()
        except NoStoreError:
            return []

    def _find_latest(self, connection: Connection, judges: Iterable[str]) -> dict[str, float]:
        """Return the time of the last vote of each judge."""
        from sqlalchemy import func, select

        from berryeval.runs import to_column_text, vote_rows

        name_of = {to_column_text(one): one for one in judges}
        found = (
            select(vote_rows.c.judge, func.max(vote_rows.c.moment))
            .where(vote_rows.c.benchmark == self._benchmark, vote_rows.c.judge.in_(name_of))
            .group_by(vote_rows.c.judge)
        )
        return {name_of[judge]: moment for judge, moment in connection.execute(found)}

    def _insert(
        self, connection: Connection, votes: Sequence[Vote], *, is_new: bool
    ) -> Collection[str]:
        """Add the votes that are not there yet, and return their checksums.

        Votes that were just given a time are new.
        """
        from sqlalchemy import insert

        from berryeval.runs import to_column_text, vote_rows

        rows: dict[str, dict[str, Any]] = {}
        for vote in votes:
            line = encode_json_line(vote.to_json()).decode()
            checksum = _hash(line)
            rows[checksum] = {
                "benchmark": self._benchmark, "judge": to_column_text(vote.judge),
                "moment": vote.moment, "checksum": checksum, "line": line,
            }  # fmt: skip
        for checksum in () if is_new else self._find_known(connection, list(rows)):
            del rows[checksum]
        if rows:
            connection.execute(insert(vote_rows), list(rows.values()))
        return rows.keys()

    def _find_known(self, connection: Connection, checksums: Sequence[str]) -> set[str]:
        """Return the checksums that are in the store."""
        from sqlalchemy import select

        from berryeval.runs import vote_rows

        known: set[str] = set()
        for start in range(0, len(checksums), _AT_ONCE):
            some = vote_rows.c.checksum.in_(checksums[start : start + _AT_ONCE])
            there = select(vote_rows.c.checksum).where(
                vote_rows.c.benchmark == self._benchmark, some
            )
            known.update(connection.scalars(there))
        return known


def _hash(line: str) -> str:
    return hashlib.sha256(line.encode()).hexdigest()


def _read_row(line: str, checksum: str) -> Vote | None:
    return read_vote(line.encode()) if _hash(line) == checksum else None
