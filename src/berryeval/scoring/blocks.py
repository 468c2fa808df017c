"""Scores of runs that are larger than memory, from blocks of whole queries, one at a time."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from berryeval._internal.files import PathLike, read_beginning, read_in_place, stream_bytes
from berryeval.data import Qrels, QueryTable, Run, StringColumn, sort_blocks
from berryeval.errors import DataError
from berryeval.scoring.engine import (
    MOST_IDS,
    RawScores,
    build_scores,
    explain_scores,
    read_first_rows,
    score_tables,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from berryeval.data import RowSource
    from berryeval.metrics import RequestedMetrics
    from berryeval.scoring.scores import Scores

log = logging.getLogger("berryeval")
_BLOCK_ROWS: Final = 1 << 17
_BEGINNING: Final = 1 << 12  # bytes
_PAUSE: Final = 0.2  # seconds between two looks at the progress


class UngroupedError(DataError):
    """The rows of a query are not together: they must be sorted or grouped by query first."""


class BlockScorer:
    """Scores of a run, block by block; the result is that of the whole run at once.

    It holds the judgments and the values of every judged query, and of the run only a block.
    """

    def __init__(self, judgments: Qrels, requested: RequestedMetrics) -> None:
        """Take the judgments and the metrics."""
        self._judgments = judgments
        self._requested = requested
        self._ids = judgments.table.queries.to_bytes_list()
        self._place_of = {query: place for place, query in enumerate(self._ids)}
        self._values = np.zeros((len(requested.metrics), len(self._ids)))
        self._counts = np.zeros((len(self._ids), 4), dtype=np.int64)
        self._seen = np.zeros(len(self._ids), dtype=np.bool_)
        self._extra: set[bytes] = set()
        self.dropped = 0
        self._beginning: list[QueryTable] = []  # to explain why nothing is judged
        self.rows = 0

    def add(self, block: QueryTable) -> None:
        """Score all rows of some queries; an `UngroupedError` tells of a query seen before."""
        if self.rows < MOST_IDS:
            self._beginning.append(block)
        names = block.queries.to_bytes_list()
        places = np.array([self._place_of.get(name, -1) for name in names], dtype=np.int64)
        judged = places[places >= 0]
        extra = {name for name, place in zip(names, places.tolist(), strict=True) if place < 0}
        if self._seen[judged].any() or not self._extra.isdisjoint(extra):
            again = self._find_again(names, places)
            raise UngroupedError(f"the rows of query {again!r} are not together")
        self._extra |= extra
        self._seen[judged] = True
        self._score(judged, block)
        self.dropped += block.dropped
        self.rows += len(block.values)

    def add_empty(self, queries: Iterable[str]) -> None:
        """Score queries without rows, except those that a block had."""
        names = [query.encode() for query in queries]
        places = [(name, self._place_of.get(name, -1)) for name in names]
        new = [name for name, place in places if not self._is_seen(name, place)]
        if new:
            offsets = np.zeros(len(new) + 1, dtype=np.int64)
            nothing = QueryTable.from_dict({}, kind="run")
            self.add(replace(nothing, queries=StringColumn.from_bytes(new), offsets=offsets))

    def finish(self, name: str = "run", read_run: Callable[[], QueryTable] | None = None) -> Scores:
        """Score the judged queries that no block had as missing, and return the scores.

        `read_run` returns the first rows of the run, in its order; by default, of the blocks.
        """
        missing = np.flatnonzero(~self._seen)
        self._score(missing, QueryTable.from_dict({}, kind="run"))
        extra = [query.decode() for query in sorted(self._extra)]
        found = RawScores(self._values, self._counts, extra, name, self.dropped)
        scores = build_scores(self._ids, self._judgments.table.dropped, found, self._requested)
        return explain_scores(
            scores,
            self._judgments,
            self._requested.metrics,
            read_run or (lambda: QueryTable.joined(self._beginning)),
        )

    def _score(self, places: npt.NDArray[np.int64], block: QueryTable) -> None:
        part = replace(self._judgments, table=self._judgments.table.take(places))
        rule = self._requested.conventions.rule
        found = score_tables(part, Run(block), self._requested.metrics, rule)
        self._values[:, places] = found.values
        self._counts[places] = found.counts

    def _find_again(self, names: list[bytes], places: npt.NDArray[np.int64]) -> str:
        pairs = zip(names, places.tolist(), strict=True)
        again = next(name for name, place in pairs if self._is_seen(name, place))
        return again.decode(errors="backslashreplace")

    def _is_seen(self, name: bytes, place: int) -> bool:
        return name in self._extra or (place >= 0 and bool(self._seen[place]))


class Follower(Protocol):
    """Follows a long job."""

    def advance(self, rows: int, fraction: float) -> None:
        """Take the number of rows so far and the fraction of the run that has been read."""

    def say(self, text: str) -> None:
        """Tell the user something now."""


class LogFollower:
    """Log the messages for the user."""

    def advance(self, rows: int, fraction: float) -> None:
        """Do nothing."""

    def say(self, text: str) -> None:
        """Log a warning."""
        log.warning("%s", text)


def score_source(
    judgments: Qrels,
    source: RowSource,
    requested: RequestedMetrics,
    *,
    lenient: bool = False,
    follower: Follower | None = None,
    least: int = _BLOCK_ROWS,
) -> Scores:
    """Score a run while it is read; if its rows are not grouped by query, sort them on disk."""
    try:
        return _score_blocks(
            judgments, source, source.read_blocks(least=least), requested, follower
        )
    except UngroupedError as error:
        found = str(error)
    (follower or LogFollower()).say(
        f"{source.name}: {found}, so the run is sorted by query on disk (DuckDB); a run with the "
        "rows of each query together is scored without that"
    )
    blocks = sort_blocks(source, "run", lenient=lenient, least=least)
    return _score_blocks(judgments, source, blocks, requested, follower, sorts=True)


def _score_blocks(
    judgments: Qrels,
    source: RowSource,
    blocks: Iterator[QueryTable],
    requested: RequestedMetrics,
    follower: Follower | None,
    *,
    sorts: bool = False,
) -> Scores:
    scorer, name = BlockScorer(judgments, requested), ""

    def look() -> tuple[int, float]:
        read = source.done / max(source.size, 1)
        scored = scorer.rows / max(source.rows, 1)
        return (source.rows + scorer.rows) // 2, (read + scored) / 2 if sorts else read

    with _watching(follower, look):
        for block in blocks:
            scorer.add(block)
            name = block.labels.get("tag", "") or name
    scorer.add_empty(source.empty_queries(scorer.rows + scorer.dropped))
    return scorer.finish(name or "run", lambda: read_first_rows(source))


def read_large(
    path: PathLike, read: Callable[[int, int], bool], size: int, follower: Follower | None
) -> None:
    """Call `read(descriptor, size)` on the text of a large file, decompressed by a thread."""

    def read_watched(descriptor: int, size: int) -> bool:
        line = len(read_beginning(path, _BEGINNING).partition(b"\n")[0]) + 1

        def look() -> tuple[int, float]:
            done = os.lseek(descriptor, 0, os.SEEK_CUR)
            return done // line, done / size

        with _watching(follower, look):
            return read(descriptor, size)

    if not read_in_place(path, read_watched):
        _read_through_pipe(path, lambda outlet: read(outlet, size), size, follower)


def _read_through_pipe(
    path: PathLike, read: Callable[[int], object], size: int, follower: Follower | None
) -> None:
    """Call `read(descriptor)` on the content of a compressed file, which a thread decompresses."""
    outlet, inlet = os.pipe()
    problems: list[Exception] = []
    done = lines = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count

    def fill() -> None:
        nonlocal lines
        try:
            with os.fdopen(inlet, "wb", buffering=1 << 20) as pipe:
                for piece in stream_bytes(path, advance):
                    pipe.write(piece)
                    lines += piece.count(b"\n")
        except BrokenPipeError:
            return  # the reader has seen enough
        except Exception as error:  # noqa: BLE001 - raised below
            problems.append(error)

    worker = threading.Thread(target=fill, name="berryeval unpack", daemon=True)
    worker.start()
    try:
        with _watching(follower, lambda: (lines, done / size)):
            read(outlet)
    finally:
        os.close(outlet)
        worker.join()
    if problems:
        raise problems[0]


@contextmanager
def _watching(follower: Follower | None, look: Callable[[], tuple[int, float]]) -> Iterator[None]:
    """Tell the follower about a job that cannot, several times a second."""
    if follower is None:
        yield
        return
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_PAUSE):
            follower.advance(*look())

    worker = threading.Thread(target=watch, name="berryeval watch", daemon=True)
    worker.start()
    try:
        yield
    finally:
        ended.set()
        worker.join()
