"""Scores of Arrow batches inside an executor: whole queries, one block at a time.

Rows come sorted by the hash of their query. Faults of the data leave the executor as rows, so that
the driver can raise one clear error, always the same one.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import berryeval
from berryeval._internal import backend as _backend
from berryeval._internal.optional import import_optional
from berryeval.data import Qrels, QueryTable, Run, cut_blocks, table_from_frame
from berryeval.errors import BerryEvalError, DataError, MetricError, RepeatedDocumentError
from berryeval.scoring import build_scores, score_tables
from berryeval.spark.fragments import unpack_batches
from berryeval.spark.totals import Totals

if TYPE_CHECKING:
    from berryeval.data import Kind
    from berryeval.metrics import RequestedMetrics
    from berryeval.scoring import Scores
    from berryeval.spark.file_parts import FileParts

KEY: Final = "key"  # hash of the query
SIDE: Final = "side"  # True for a row of the run
COUNTS: Final = ("retrieved", "retrieved_judged", "relevant", "in_run")
ROLES: Final = {"query": "query", "document": "document"}
SOURCES: Final[dict[Kind, str]] = {"qrels": "judgments", "run": "run"}
_ERRORS: Final = {one.__name__: one for one in (DataError, RepeatedDocumentError, MetricError)}
_BLOCK_ROWS: Final = 1 << 19  # of files
VALUES: Final[dict[Kind, str]] = {"qrels": "grade", "run": "score"}


ROWS: Final = "part string, detail binary"  # what executors return
_AT_ONCE: Final = 1 << 16  # queries in one row


def list_fields(metrics: Sequence[str]) -> list[tuple[str, str]]:
    """Return the name and the Spark type of the columns of a query with its scores."""
    return [
        ("query", "string"), ("outcome", "string"),
        *((name, "double") for name in metrics),
        *((name, "long") for name in COUNTS),
    ]  # fmt: skip


@dataclass(frozen=True)
class Task:
    """The work of every partition.

    Attributes:
        requested: Metrics and conventions.
        lenient: Whether to leave out faulty and repeated rows, and count them.
        sources: Names of judgments and run in messages.
        packed: Whether rows come as fragments.
        parts: Files that the executors read; what comes are the numbers of the tasks.
        order: Column that the user named for the order of the rows of the run.
    """

    requested: RequestedMetrics
    lenient: bool
    sources: dict[Kind, str]
    packed: bool = False
    parts: FileParts | None = None
    order: str | None = None


def build_task(task: Task, judgments: Any) -> Callable[..., Any]:
    """Return the function that executors run; it explains a package that is missing there.

    It is sent by value, so that it can start where BerryEval is not installed.
    """
    cloudpickle = import_optional("pyspark.cloudpickle", "berryeval.spark", extra="spark")
    work, version = cloudpickle.dumps(task), berryeval.__version__

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pickle
        import platform

        import pyarrow as pa

        def to_batch(part: str, detail: bytes) -> Any:
            return pa.record_batch({"part": [part], "detail": pa.array([detail], "binary")})

        where = f"the executor on {platform.node()} (Python {platform.python_version()})"
        try:
            import berryeval
        except ImportError as error:
            yield to_batch("package", f"{where} cannot import berryeval: {error}".encode())
            return
        if berryeval.__version__ != version:
            found = f"{where} has berryeval {berryeval.__version__}, the driver has {version}"
            yield to_batch("package", found.encode())
            return
        from berryeval.spark import score_batches

        payload = getattr(judgments, "value", judgments)  # of a broadcast variable
        for part, detail in score_batches(batches, pickle.loads(work), payload):  # noqa: S301 - sent by our own driver
            yield to_batch(part, detail)

    return run


def pack_queries(rows: Any) -> Iterator[bytes]:
    """Yield the bytes of an Arrow table: Spark takes long for many rows, not for large ones."""
    pa = import_optional("pyarrow", "a Spark task", extra="spark")
    for start in range(0, rows.num_rows, _AT_ONCE):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as stream:
            stream.write_table(rows.slice(start, _AT_ONCE))
        yield sink.getvalue().to_pybytes()


def build_unpacker() -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that reads the output of `pack_queries`; it is sent by value."""

    def unpack(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for detail in batch.column("detail"):
                yield from pa.ipc.open_stream(detail.as_buffer())

    return unpack


class Fault(NamedTuple):
    """A fault of the data; the first in order is raised."""

    side: int
    query: str
    document: str
    message: str
    kind: str

    def to_bytes(self) -> bytes:
        """Return the fault as JSON."""
        return json.dumps(self).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Fault:
        """Read the output of `to_bytes`."""
        return cls(*json.loads(data))

    @property
    def order(self) -> tuple[int, bytes, bytes, str]:
        """The key by which the first fault is chosen: judgments first, then by query."""
        return self.side, self.query.encode(), self.document.encode(), self.message

    @property
    def error(self) -> BerryEvalError:
        """The exception that the local engine raises for it."""
        return _ERRORS[self.kind](self.message)


class Judged:
    """All judgments, where every executor has them; places are those of its queries."""

    def __init__(self, judgments: Qrels) -> None:
        self.judgments = judgments

    @cached_property
    def place_of(self) -> dict[bytes, int]:
        """The place of each query."""
        ids = self.judgments.table.queries.to_bytes_list()
        return {query: place for place, query in enumerate(ids)}

    def select(self, run: QueryTable) -> tuple[Qrels, Any]:
        """Return the judgments of the queries of a block, and their places."""
        place_of = self.place_of
        found = (place_of.get(query, -1) for query in run.queries.to_bytes_list())
        places = np.array([place for place in found if place >= 0], dtype=np.int64)
        return replace(self.judgments, table=self.judgments.table.take(places)), places


@lru_cache(maxsize=1)  # a Python worker runs many tasks of one job
def _load_judged(data: bytes) -> Judged:
    return Judged(pickle.loads(data))  # noqa: S301 - sent by our own driver


def score_batches(
    batches: Iterable[Any], task: Task, judgments: bytes | None
) -> Iterator[tuple[str, bytes]]:
    """Yield packed scores by query, and at the end what the driver must know.

    `judgments` are all judgments; None if they come with the rows of the run.
    """
    _limit_threads()
    pa = import_optional("pyarrow", "a Spark task", extra="spark")
    judged = None if judgments is None else _load_judged(judgments)
    scorer = _Scorer(task, judged)
    if task.parts is not None:
        blocks = cut_blocks(task.parts.read(batches), "query", _BLOCK_ROWS)
    else:
        blocks = cut_blocks(unpack_batches(batches) if task.packed else batches, KEY)
    for block in blocks:
        scores = scorer.score(block)
        if scorer.again is not None:
            yield "again", scorer.again
            return
        if scores is not None:
            yield from (("scored", one) for one in pack_queries(list_queries(scores)))
            for part, queries in (("left out", scores.left_out), ("extra", scores.extra_queries)):
                rows = pa.table({"query": pa.array(queries, "string")})
                yield from ((part, one) for one in pack_queries(rows))
    if scorer.fault is not None:
        yield "fault", scorer.fault.to_bytes()
    if scorer.places:
        yield "seen", np.concatenate(scorer.places).astype("<i8").tobytes()
    if scorer.totals is not None:
        yield "totals", scorer.totals.to_bytes()


def _limit_threads() -> None:
    """Use as many threads as Spark has given to a task, unless the user has set a number."""
    if "BERRYEVAL_THREADS" not in os.environ:
        context = import_optional("pyspark", "a Spark task", extra="spark").TaskContext.get()
        os.environ["BERRYEVAL_THREADS"] = str(context.cpus() if context else 1)


class _Scorer:
    """Scores of blocks, and what they have in common."""

    def __init__(self, task: Task, judged: Judged | None) -> None:
        self._task = task
        self._judged = judged
        self.totals: Totals | None = None
        self.fault: Fault | None = None
        self.places: list[Any] = []
        self.again: bytes | None = None  # a query whose rows are not together in the files
        self._seen: set[bytes] = set()

    def score(self, block: Any) -> Scores | None:
        """Return the scores of a block; None if it has a fault, of which the first is kept."""
        try:
            return self._score(block)
        except FoundError as found:
            if self.fault is None or found.fault.order < self.fault.order:
                self.fault = found.fault
            return None

    def _score(self, block: Any) -> Scores:
        task = self._task
        if self._judged is None:
            side = block.column(SIDE)
            compute = import_optional("pyarrow.compute", "a Spark task", extra="spark")
            table = read_rows(block.filter(compute.invert(side)), "qrels", task)
            judgments = Qrels(table)
            run = read_rows(block.filter(side), "run", task)
        else:
            run = read_rows(block, "run", task)
            if task.parts is not None:
                names = run.queries.to_bytes_list()
                self.again = min(self._seen.intersection(names), default=None)
                self._seen.update(names)
            judgments, places = self._judged.select(run)
            self.places.append(places)
        requested = task.requested
        try:
            found = score_tables(judgments, Run(run), requested.metrics, requested.conventions.rule)
            ids = judgments.table.queries.to_bytes_list()
            dropped = 0 if self._judged else judgments.table.dropped
            scores = build_scores(ids, dropped, found, requested)
        except MetricError as error:
            raise FoundError(Fault(2, "", "", str(error), "MetricError")) from None
        totals = Totals.of(scores)
        totals.run_rows = len(run.values)
        if self._judged is None:
            totals.judgments = len(judgments.table.values)
            totals.highest = float(judgments.table.values.max(initial=0.0))
        totals.backends = [_backend.BACKEND]
        if self.totals is None:
            self.totals = totals
        else:
            self.totals.add(totals)
        return scores


class FoundError(Exception):
    """A fault of a block."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def read_rows(rows: Any, kind: Kind, task: Task) -> QueryTable:
    """Convert rows to a table; a fault is a `FoundError` that names query and document."""
    value = VALUES[kind]
    rows = rows.select(["query", "document", "value"]).rename_columns(["query", "document", value])
    try:
        table = table_from_frame(rows, kind, {**ROLES, value: value}, lenient=True)
    except DataError as error:  # text that is not UTF-8
        message = f"{task.sources[kind]}: {error}"
        raise FoundError(Fault(kind == "run", "", "", message, "DataError")) from None
    if table.dropped and not task.lenient:
        order = task.order if kind == "run" else None
        raise FoundError(find_fault(rows, kind, task.sources[kind], order))
    return table


def find_fault(rows: Any, kind: Kind, source: str, order: str | None = None) -> Fault:
    """Return the first fault of rows that have one, by query and document."""
    compute = import_optional("pyarrow.compute", "a Spark task", extra="spark")
    rows = rows.set_column(0, "query", rows.column(0).cast("string"))  # of codes of a dictionary
    value, side = VALUES[kind], int(kind == "run")
    query, document, number = (rows.column(name) for name in ("query", "document", value))
    faults: list[Fault] = []

    def note(mask: Any, what: str) -> None:
        for row in rows.filter(mask).to_pylist():
            names = row["query"] or "", row["document"] or ""
            message = what.format(document=names[1], query=names[0], value=row[value])
            faults.append(Fault(side, *names, f"{source}: {message}", "DataError"))

    of_both = f"the {value} of document {{document!r}} for query {{query!r}}"
    note(compute.is_null(query), "the query of a row with document {document!r} is missing")
    note(compute.is_null(document), "a document of query {query!r} is missing")
    lacks = f" (or the column {order!r} is null)" if order else ""
    note(compute.is_null(number), f"{of_both} is missing or not a number{lacks}")
    note(compute.fill_null(compute.is_nan(number), False), f"{of_both} must not be NaN")
    if kind == "qrels":
        infinite = compute.fill_null(compute.is_inf(number), False)
        note(infinite, f"{of_both} must be finite, found {{value!r}}")
    sound = compute.is_finite(number) if kind == "qrels" else compute.invert(compute.is_nan(number))
    clean = compute.and_(compute.is_valid(query), compute.is_valid(document))
    clean = compute.and_(clean, compute.fill_null(sound, False))
    groups = rows.filter(clean).group_by(["query", "document"]).aggregate([([], "count_all")])
    for row in groups.filter(compute.greater(groups.column("count_all"), 1)).to_pylist():
        names = row["query"], row["document"]
        message = f"{source}: document {names[1]!r} appears twice in query {names[0]!r}"
        faults.append(Fault(side, *names, message, "RepeatedDocumentError"))
    return min(faults, key=lambda one: one.order)


def list_queries(scores: Scores) -> Any:
    """Return a pyarrow table with the columns of `list_fields`."""
    pa = import_optional("pyarrow", "berryeval.spark", extra="spark")
    columns = [pa.array(scores.queries, "string"), pa.array(scores.outcomes, "string")]
    columns += [pa.array(row) for row in scores.values]
    columns += [pa.array(np.ascontiguousarray(row)) for row in scores.counts.T]
    return pa.table(columns, names=["query", "outcome", *scores.metrics, *COUNTS])
