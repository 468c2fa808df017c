"""Jobs on a cluster: whole queries, scored in the executors with the native core.

One pass and one shuffle: rows are packed into fragments of queries, partitioned and sorted by a
hash of the query, and each executor scores whole queries of Arrow batches. Files with the rows of
each query together need neither: see `file_parts`.
"""

from __future__ import annotations

import itertools
import logging
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import berryeval
from berryeval._internal import backend as _backend
from berryeval._internal.optional import import_optional
from berryeval.data import Qrels, QueryTable, Run, choose_columns
from berryeval.errors import BerryEvalError, ConfigurationError, DataError, RunFailedError
from berryeval.scoring import (
    as_qrels,
    build_scores,
    explain_levels,
    explain_scores,
    reject_spans,
    score_tables,
)
from berryeval.spark.batch_scoring import (
    KEY,
    ROLES,
    ROWS,
    SIDE,
    SOURCES,
    VALUES,
    Fault,
    FoundError,
    Task,
    build_task,
    read_rows,
)
from berryeval.spark.file_parts import FileParts, divide_files
from berryeval.spark.fragments import FRAGMENT, build_packer
from berryeval.spark.spark_scores import SparkScores, unpack_queries
from berryeval.spark.totals import Moments, Totals

if TYPE_CHECKING:
    import numpy.typing as npt

    from berryeval.data import Kind
    from berryeval.metrics import RequestedMetrics
    from berryeval.scoring import Scores

log = logging.getLogger("berryeval")
MOST_BROADCAST: Final = 1_000_000  # judgments that every executor gets
MOST_SENT: Final = 100_000  # the same through Spark Connect, which sends them with every plan
_LOOKED_AT: Final = 10_000  # rows, to explain why nothing is judged
_WHOLE: Final = ("tinyint", "smallint", "int", "bigint")
_TEXT: Final = ("string", "binary", *_WHOLE)
_NUMBERS: Final = ("float", "double", "decimal", *_WHOLE)
_LONGEST: Final = 500  # characters of a message of Spark
_DATA_ERROR: Final = f"{DataError.__module__}.{DataError.__name__}: "
_FOR_DRIVER: Final = ("package", "again", "fault", "seen", "totals")
_SHIP: Final = (
    f"install berryeval {berryeval.__version__} on every worker, or ship an environment that has "
    "it with spark.archives (docs/scale.md)"
)
_MERGE: Final = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
_PLACE: Final = "place"  # order of the rows of a query
FILE_PLACE: Final = "berryeval.place"  # the same of files, which is never null


@dataclass(frozen=True)
class Options:
    """The options of `evaluate` besides the metrics, and the names of both sides in messages."""

    lenient: bool = False
    given: Mapping[str, str] = field(default_factory=dict)
    order: str | None = None
    broadcast: bool | None = None
    grouped: bool = False
    name: str = "run"
    files: tuple[str, ...] = ()  # Parquet files that are the whole run, in the given order
    sources: Mapping[Kind, str] = field(default_factory=SOURCES.copy)


def score_frames(
    qrels: Any, run: Any, requested: RequestedMetrics, options: Options
) -> SparkScores:
    """Score a DataFrame with parsed metrics; see `evaluate`."""
    import_optional("pyspark", "berryeval.spark", extra="spark")
    reject_spans(requested.metrics)
    if requested.conventions.rule.ties == "given order" and options.order is None:
        raise ConfigurationError(
            "these conventions keep tied documents in the given order, and the rows of a DataFrame "
            "have none; name a column that has it: order='rank'"
        )
    if not is_dataframe(run):
        raise TypeError(f"run must be a Spark DataFrame, found {type(run).__name__}")
    with reporting_failures():
        job = _Job(qrels, run, requested, options)
        scores = job.finish(job.run())
        for note in scores.notes:
            log.warning("%s: %s", scores.run_name, note)
        return scores


class _Job:
    """One evaluation on a cluster; `table` has the rows that the executors return."""

    def __init__(self, qrels: Any, run: Any, requested: RequestedMetrics, options: Options) -> None:
        self._requested, self._options = requested, options
        is_ordered = options.lenient or options.order is not None
        sources = dict(options.sources)
        named = None if options.order == FILE_PLACE else options.order
        self._task = Task(requested, options.lenient, sources, not is_ordered, order=named)
        self._remote = type(run).__module__.startswith("pyspark.sql.connect")
        self._session = run.sparkSession
        self._run = select_rows(run, "run", options, _columns_of(qrels))
        self._judged_rows: Any = None
        self._judgments = self._load_judgments(qrels, _columns_of(run))
        payload: Any = None
        if self._judgments is not None:
            payload = pickle.dumps(self._judgments)
            if not self._remote:
                payload = self._session.sparkContext.broadcast(payload)
        self._payload = payload  # a lost partition is computed again from it
        self._parts = self._divide_files(run, _columns_of(qrels))
        self.table: Any = None

    def _divide_files(self, run: Any, others: list[str]) -> FileParts | None:
        """Return the files that executors can read themselves: local ones, and all judgments."""
        options = self._options
        if self._judgments is None or self._remote or not options.files:
            return None
        names = choose_names(list(run.columns), "run", options, others)
        return divide_files(options.files, names, self._session.sparkContext.defaultParallelism)

    def run(self) -> dict[str, list[bytes]]:
        """Score all rows, and return what the executors tell the driver."""
        if self._parts is not None:
            found = self._score(replace(self._task, packed=False, parts=self._parts))
            again = self._find_again(found)
            if again is None or self._options.grouped:
                return self._check(found, again)
            self.table.unpersist()
            log.warning(
                "%s: the rows of query %r are not together, so Spark shuffles the run by query; "
                "files with the rows of each query together are scored without that",
                self._options.sources["run"],
                again,
            )
        found = self._score(self._task)
        return self._check(found, self._find_again(found) if self._options.grouped else None)

    def _score(self, task: Task) -> dict[str, list[bytes]]:
        """Run a task on all rows, keep its table, and return the parts for the driver."""
        work = build_task(task, self._payload)
        with _merging_partitions(self._session):
            rows = self._arrange() if task.parts is None else self._number_tasks(task.parts)
            self.table = rows.mapInArrow(work, ROWS).persist()
        found: dict[str, list[bytes]] = {name: [] for name in _FOR_DRIVER}
        names = ", ".join(f"'{name}'" for name in found)
        for row in self.table.filter(f"part IN ({names})").collect():
            found[row["part"]].append(bytes(row["detail"]))
        if found["package"]:
            self.table.unpersist()
            raise RunFailedError(f"{min(found['package']).decode()}; {_SHIP}")
        return found

    def _number_tasks(self, parts: FileParts) -> Any:
        """Return the numbers of the tasks, each in a partition of its own."""
        count = len(parts.tasks)
        return self._session.range(0, count, 1, count)

    def _load_judgments(self, qrels: Any, others: list[str]) -> Qrels | None:
        """Return the judgments that every executor gets; None if they are shuffled."""
        options = self._options
        if not is_dataframe(qrels):
            found = as_qrels(qrels, lenient=options.lenient)
        else:
            rows = self._judged_rows = select_rows(qrels, "qrels", options, others)
            most = MOST_SENT if self._remote else MOST_BROADCAST
            if options.broadcast is False:
                self._reject_grouped("broadcast=False")
                return None
            if options.broadcast is None:
                rows = rows.limit(most + 1)
            ordered = rows.orderBy(*self._row_order(rows)) if options.lenient else rows
            arrow = ordered.toArrow()
            if options.broadcast is None and arrow.num_rows > most:
                self._reject_grouped(f"there are more than {most:,}; force it with broadcast=True")
                return None
            try:
                found = Qrels(read_rows(arrow, "qrels", self._task))
            except FoundError as error:
                raise error.fault.error from None
        if not len(found.table.values):
            usable = " that can be used" if options.lenient else ""
            raise DataError(f"{options.sources['qrels']}: hold no rows{usable}")
        return found

    def _reject_grouped(self, why: str) -> None:
        if self._options.grouped:
            raise ConfigurationError(f"grouped=True needs all judgments in every executor: {why}")

    def _arrange(self) -> Any:
        """Return the rows of both sides, partitioned by query and sorted by its hash."""
        rows = self._pack(self._run)
        if self._judgments is None:
            judged = self._pack(self._judged_rows).selectExpr("*", f"false AS {SIDE}")
            rows = judged.unionByName(rows.selectExpr("*", f"true AS {SIDE}"))
        if not self._options.grouped:
            rows = rows.repartition("query")
        rows = rows.selectExpr(f"xxhash64(query) AS {KEY}", "*")
        return rows.sortWithinPartitions(KEY, *self._row_order(rows)).drop(_PLACE)

    def _pack(self, rows: Any) -> Any:
        """Return rows as fragments, unless their order matters."""
        return rows.mapInArrow(build_packer(), FRAGMENT) if self._task.packed else rows

    def _row_order(self, rows: Any) -> list[Any]:
        """Return the columns that order the rows of a query, if their order matters."""
        if self._task.packed:
            return []
        place = [_PLACE] if self._options.order is not None else []
        return [*place, "document", rows["value"].desc()]

    def _check(self, found: dict[str, list[bytes]], again: str | None) -> dict[str, list[bytes]]:
        """Raise the first fault of the data; `again` is a query in several partitions."""
        try:
            self._raise_fault(found, again)
        except BerryEvalError:
            self.table.unpersist()
            raise
        return found

    def _raise_fault(self, found: Mapping[str, list[bytes]], again: str | None) -> None:
        faults = [Fault.from_bytes(one) for one in found["fault"]]
        if faults:
            raise min(faults, key=lambda one: one.order).error
        if again is not None:
            raise DataError(
                f"{self._options.sources['run']}: the rows of query {again!r} are in several "
                "partitions; leave out grouped=True, or repartition by query"
            )
        totals = [Totals.from_bytes(one) for one in found["totals"]]
        sources = self._options.sources
        usable = " that can be used" if self._options.lenient else ""
        if not sum(one.run_rows for one in totals):
            raise DataError(f"{sources['run']}: holds no rows{usable}")
        if self._judgments is None and not sum(one.judgments for one in totals):
            raise DataError(f"{sources['qrels']}: hold no rows{usable}")

    def _find_again(self, found: Mapping[str, list[bytes]]) -> str | None:
        """Return a query whose rows were scored in several places."""
        if found["again"]:
            return min(found["again"]).decode()
        unique, counts = np.unique(_join_places(found["seen"]), return_counts=True)
        if self._judgments is not None and (counts > 1).any():
            return self._judgments.table.queries[int(unique[counts > 1][0])]
        if not any(Totals.from_bytes(one).extra for one in found["totals"]):
            return None
        extra = unpack_queries(self.table, "extra").groupBy("query").count()
        first = extra.filter("count > 1").orderBy("query").limit(1).collect()
        return first[0]["query"] if first else None

    def finish(self, found: Mapping[str, list[bytes]]) -> SparkScores:
        """Add up what the executors found, and the judged queries that they did not see."""
        totals = Totals([Moments() for _ in self._requested.names])
        for one in found["totals"]:
            totals.add(Totals.from_bytes(one))
        missing = None
        if self._judgments is not None:
            missing = self._score_missing(_join_places(found["seen"]))
            totals.add(Totals.of(missing))
            totals.judgments = len(self._judgments.table.values)
            totals.highest = float(self._judgments.flat.values.max(initial=0.0))
        if _backend.BACKEND not in totals.backends:
            log.warning("the executors score with the %s backend", ", ".join(totals.backends))
        scores = SparkScores(
            self.table, self._requested, totals, self._options.name, missing, self._payload
        )
        return replace(scores, notes=self._explain(scores))

    def _score_missing(self, seen: npt.NDArray[np.int64]) -> Scores:
        """Score the judged queries that are not in the run."""
        judgments: Any = self._judgments
        places = np.setdiff1d(np.arange(len(judgments.table.queries)), seen)
        part = replace(judgments, table=judgments.table.take(places))
        rule = self._requested.conventions.rule
        empty = Run(QueryTable.from_dict({}, kind="run"))
        found = score_tables(part, empty, self._requested.metrics, rule)
        ids = part.table.queries.to_bytes_list()
        return build_scores(ids, judgments.table.dropped, found, self._requested)

    def _explain(self, scores: SparkScores) -> tuple[str, ...]:
        """Explain zeros that come from ids that do not fit, or from a level too high."""
        totals = scores.totals
        shares_query = set(+totals.outcomes) - {"missing"} or not totals.extra
        if shares_query and (totals.judged or not totals.retrieved):
            note = explain_levels(self._requested.metrics, [totals.highest])
            return (note,) if note else ()
        judgments: Any = self._judgments
        task = replace(self._task, lenient=True)
        if self._judged_rows is not None:
            most = _LOOKED_AT if judgments is None else len(judgments.table.values)
            judgments = Qrels(read_rows(_take_first(self._judged_rows, most), "qrels", task))
        return explain_scores(
            scores.example,
            judgments,
            self._requested.metrics,
            lambda: read_rows(self._look_at_run(), "run", task),
        ).notes

    def _look_at_run(self) -> Any:
        """Return the first rows of the run: of its files, or by query and document."""
        if self._parts is None:
            return _take_first(self._run, _LOOKED_AT)
        return self._parts.read_first(_LOOKED_AT)


def _take_first(rows: Any, most: int) -> Any:
    """Return the first rows by query and document: without an order, Spark returns any."""
    whole = rows.dropna(subset=["query", "document", "value"])
    return whole.orderBy("query", "document").limit(most).toArrow()


def _join_places(parts: list[bytes]) -> npt.NDArray[np.int64]:
    return np.frombuffer(b"".join(parts), dtype="<i8")


def is_dataframe(source: object) -> bool:
    """Whether an object is a Spark DataFrame, classic or Connect."""
    kind = type(source)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql")


def _columns_of(source: Any) -> list[str]:
    return list(source.columns) if is_dataframe(source) else []


def select_rows(frame: Any, kind: Kind, options: Options, others: list[str]) -> Any:
    """Return the query, document and value of each row of a DataFrame, with checked types.

    `others` are the columns of the other DataFrame: a name may be of one of them only.
    """
    source, columns = options.sources[kind], list(frame.columns)
    chosen = choose_names(columns, kind, options, others)
    found = dict(frame.dtypes)
    for name, allowed, what in (
        (chosen[0], _TEXT, "ids (strings or whole numbers)"),
        (chosen[1], _TEXT, "ids (strings or whole numbers)"),
        (chosen[2], _NUMBERS, "numbers"),
    ):
        if found[name].partition("(")[0] not in allowed:
            raise DataError(f"{source}: column {name!r} must hold {what}, found {found[name]}")
    kinds = ("string", "string", "double")
    targets = ("query", "document", "value")
    parts = [
        f"CAST({quote(name)} AS {kind}) AS {target}"
        for name, kind, target in zip(chosen, kinds, targets, strict=True)
    ]
    if options.order is not None:
        if options.order in columns:
            place = quote(options.order)
            parts.append(f"{place} AS {_PLACE}")
            if kind == "run":  # a row without a place is faulty
                known = f"IF({place} IS NULL, NULL, {quote(chosen[2])})"
                parts[2] = f"CAST({known} AS double) AS value"
        elif kind == "run":
            raise DataError(
                f"{source}: no column {options.order!r} with the order of the rows; found "
                f"{', '.join(map(repr, columns))}"
            )
        else:
            parts.append(f"NULL AS {_PLACE}")
    return frame.selectExpr(*parts)


def choose_names(
    columns: list[str], kind: Kind, options: Options, others: list[str]
) -> tuple[str, str, str]:
    """Return the columns with query, document and value; `others` are those of the other side."""
    given = {
        role: name
        for role, name in options.given.items()
        if role == VALUES[kind] or (role in ROLES and (name in columns or name not in others))
    }
    return choose_columns(columns, kind, given, options.sources[kind])


def quote(name: str) -> str:
    """Quote the name of a column for SQL."""
    return "`" + name.replace("`", "``") + "`"


@contextmanager
def _merging_partitions(session: Any) -> Iterator[None]:
    """Let Spark merge small partitions of what is persisted meanwhile, as it does elsewhere."""
    before = session.conf.get(_MERGE, None)
    session.conf.set(_MERGE, "true")
    try:
        yield
    finally:
        if before is None:
            session.conf.unset(_MERGE)
        else:
            session.conf.set(_MERGE, before)


@contextmanager
def reporting_failures() -> Iterator[None]:
    """Convert exceptions of Spark into one line each."""
    errors = import_optional("pyspark.errors", "berryeval.spark", extra="spark")
    py4j = import_optional("py4j.protocol", "berryeval.spark", extra="spark")
    try:
        yield
    except (errors.PySparkException, py4j.Py4JError) as error:
        line = first_line(error)
        if line.startswith(_DATA_ERROR):  # of an executor that reads files
            raise DataError(line.removeprefix(_DATA_ERROR)) from error
        raise RunFailedError(f"Spark: {line}") from error


def first_line(error: Exception) -> str:
    """Return the line of an exception that says what happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if "Traceback (most recent call last):" in lines:  # of a Python worker, then lines of Java
        lines = lines[lines.index("Traceback (most recent call last):") + 1 :]
        python = list(itertools.takewhile(lambda line: not line.startswith("at "), lines))
        return (python or lines)[-1][:_LONGEST]
    wanted = [line for line in lines if not line.startswith(("An error occurred", "at "))]
    first = (wanted or lines or [type(error).__name__])[0].removeprefix(": ")
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return "; ".join([first, *causes[-1:]])[:_LONGEST]
