"""Files and addresses that Spark reads, as in `berryeval score --engine spark`."""

from __future__ import annotations

import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.files import STDIN, plain_suffix
from berryeval._internal.optional import import_optional
from berryeval.errors import ConfigurationError, DataError, MissingDependencyError
from berryeval.spark.dataframes import (
    FILE_PLACE,
    Options,
    choose_names,
    first_line,
    is_dataframe,
    quote,
    reporting_failures,
    score_frames,
)
from berryeval.workflows import score_files

if TYPE_CHECKING:
    from berryeval.data import Kind
    from berryeval.metrics import RequestedMetrics
    from berryeval.scoring import Follower, Scores
    from berryeval.workflows import FileScores

log = logging.getLogger("berryeval")
_FAULTY: Final = "berryeval.faulty"
# Java also reads 1d, 1f and 0x1p3 as numbers; no other reader does.
_NUMBER: Final = "^[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|(?i:nan|inf(inity)?))$"
_CSV: Final = re.compile(r"\.csv(\.(gz|bz2|zst|lz4|snappy|deflate))?$", re.IGNORECASE)
_FILE_ORDER: Final = (
    "struct(_metadata.file_path, _metadata.file_block_start, monotonically_increasing_id())"
)


def score_spark_files(
    qrels: str,
    run: str,
    metrics: Sequence[str],
    *,
    master: str | None = None,
    profile: str = "berryeval",
    lenient: bool = False,
    audit: bool = False,
    by: str | None = None,
    follower: Follower | None = None,
) -> FileScores:
    """Score files with Spark: Parquet and CSV, folders, globs and addresses such as s3a://.

    Judgments may also be a local file of any format. The other arguments are those of
    `score_files`.

    Args:
        qrels: Judgments.
        run: Run.
        metrics: Names of metrics.
        master: Where Spark runs: local[2], spark://, yarn, k8s://, or sc:// for Spark Connect.
        profile: Name of the conventions to follow.
        lenient: Skip faulty and repeated rows, and count them.
        audit: Not possible with Spark.
        by: JSON file that maps query ids to labels.
        follower: Unused: Spark shows its own progress.
    """
    if audit:
        raise ConfigurationError("--audit reads the whole run and cannot be done by Spark")
    if STDIN in {qrels, run}:
        raise ConfigurationError("Spark cannot read stdin; write the rows to a file")

    def score(
        qrels: str, run: str, requested: RequestedMetrics, *, lenient: bool, **_: Any
    ) -> Scores:
        with ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
            session = stack.enter_context(open_session(master))
            options = Options(lenient=lenient, sources={"qrels": qrels, "run": run})
            judgments: Any = qrels
            with reporting_failures():
                if not _is_other_file(qrels):
                    judgments = read_file(session, "qrels", options, ordered=lenient)
                rows, options = open_run(session, judgments, requested, options)
            return score_frames(judgments, rows, requested, options).collect()

    return score_files(
        qrels,
        run,
        metrics,
        profile=profile,
        lenient=lenient,
        by=by,
        follower=follower,
        scorer=score,
    )


def open_run(
    session: Any, qrels: Any, requested: RequestedMetrics, options: Options
) -> tuple[Any, Options]:
    """Return the rows of a run in files, and what is known of their order and their places."""
    has_order = options.order is not None
    ordered = not has_order and (
        options.lenient or requested.conventions.rule.ties == "given order"
    )
    others = list(qrels.columns) if is_dataframe(qrels) else []
    with reporting_failures():
        rows = read_file(session, "run", options, others, ordered=ordered)
        is_read_here = not has_order and not _is_csv(options.sources["run"])
        files = tuple(rows.inputFiles()) if is_read_here else ()
    return rows, replace(options, files=files, order=FILE_PLACE if ordered else options.order)


def read_file(
    session: Any, kind: Kind, options: Options, others: Sequence[str] = (), *, ordered: bool = False
) -> Any:
    """Return the rows of a Parquet or CSV file, folder or glob, with their order if `ordered`."""
    errors = import_optional("pyspark.errors", "--engine spark", extra="spark")
    path = options.sources[kind]
    is_csv = _is_csv(path)
    if _is_other_file(path):
        raise DataError(
            f"{path}: Spark reads Parquet and CSV; convert the file, or leave out --engine"
        )
    try:
        rows = _read_csv(session, path) if is_csv else session.read.parquet(path)
        place = [f"{_FILE_ORDER} AS {quote(FILE_PLACE)}"] if ordered else []
        if not is_csv:
            return rows.selectExpr("*", *place)
        names = choose_names(list(rows.columns), kind, options, [*others])
        number = quote(names[2])  # a row with too few or too many cells is faulty
        ok = f"{quote(_FAULTY)} IS NULL AND trim({number}) RLIKE '{_NUMBER}'"
        parts = [
            *map(quote, names[:2]),
            f"if({ok}, try_cast({number} AS DOUBLE), NULL) AS {number}",
        ]
        return rows.selectExpr(*parts, *place)
    except errors.AnalysisException as error:
        raise DataError(f"{path}: {first_line(error)}") from None


def _is_other_file(path: str) -> bool:
    """Whether a path is a local file of a format that Spark does not read."""
    is_parquet = plain_suffix(path) in {".parquet", ".pq"}
    return Path(path).is_file() and not is_parquet and not _is_csv(path)


def _is_csv(path: str) -> bool:
    """Whether a path is of CSV files: by its name, or if it is a local folder, by what is in it."""
    if _CSV.search(path):
        return True
    return Path(path).is_dir() and any(_CSV.search(one.name) for one in Path(path).iterdir())


def _read_csv(session: Any, path: str) -> Any:
    """Return the cells as text, and one more column: the rows with too few or too many cells.

    Quotes and separators are those of the local engine; files with other headers are an error.
    """
    types = import_optional("pyspark.sql.types", "--engine spark", extra="spark")
    options: dict[str, Any] = {"header": True, "escape": '"', "enforceSchema": False}
    names = session.read.csv(path, **options).columns
    if len(names) == 1:
        options["sep"] = max(",;\t", key=names[0].count)
        names = session.read.csv(path, **options).columns
    schema = types.StructType()
    for name in (*names, _FAULTY):
        schema.add(name, "string")
    counting = session.read.option("columnPruning", False)  # also the cells that are not needed
    return counting.csv(path, schema, columnNameOfCorruptRecord=_FAULTY, **options)


def find_session() -> Any:
    """Return the Spark session of this process."""
    sql = import_optional("pyspark.sql", "berryeval.spark", extra="spark")
    session = sql.SparkSession.getActiveSession()
    if session is None:
        raise ConfigurationError("there is no Spark session: start one to score files")
    return session


@contextmanager
def open_session(master: str | None) -> Iterator[Any]:
    """Start Spark, or use the one of this process, and stop what was started."""
    sql = import_optional("pyspark.sql", "--engine spark", extra="spark")
    running = sql.SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    builder = sql.SparkSession.builder
    if master and master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        settings = {"spark.app.name": "berryeval score", "spark.ui.showConsoleProgress": "false",
                    "spark.log.level": "ERROR"}  # fmt: skip
        for name, setting in settings.items():
            builder = builder.config(name, setting)
        builder = builder.master(master) if master else builder
    with reporting_failures():
        try:
            session = builder.getOrCreate()
        except import_optional("pyspark.errors", "spark").PySparkRuntimeError as error:
            if "JAVA_GATEWAY_EXITED" not in str(error):
                raise
            raise MissingDependencyError(
                "Spark did not start; it needs Java 17 or later: install it, or set JAVA_HOME"
            ) from None
    if not (master or "").startswith("sc://") and not log.isEnabledFor(logging.DEBUG):
        session.sparkContext.setLogLevel("OFF")  # of the driver: a failure is one line of ours
    try:
        yield session
    finally:
        session.stop()
