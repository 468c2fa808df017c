"""`evaluate`: score a DataFrame or files on a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from berryeval.metrics import Conventions, Metric, request_metrics
from berryeval.spark.dataframes import Options, score_frames
from berryeval.spark.spark_files import find_session, open_run

if TYPE_CHECKING:
    from berryeval.spark.spark_scores import SparkScores


def evaluate(  # noqa: PLR0913 - options are keywords
    qrels: Any,
    run: Any,
    metrics: Iterable[str | Metric],
    *,
    profile: str | Conventions = "berryeval",
    lenient: bool = False,
    query: str | None = None,
    document: str | None = None,
    score: str | None = None,
    grade: str | None = None,
    order: str | None = None,
    broadcast: bool | None = None,
    grouped: bool = False,
    name: str = "run",
) -> SparkScores:
    """Score a run on a Spark cluster; values and means are those of `berryeval.evaluate`.

    The job runs at once; the table of queries stays persisted (`unpersist` frees it). Faults of the
    data raise the exceptions of `berryeval.evaluate`: the first by query, so always the same one.

    Args:
        qrels: DataFrame of judgments (classic or Spark Connect), or an argument of `Qrels.load`.
        run: DataFrame with columns for query, document and score; or Parquet or CSV files: a path,
            a folder, a glob or an address that Spark reads. Parquet files that every worker sees
            under a local path are read without Java, and without a shuffle if the rows of each
            query are together.
        metrics: Names in any spelling, or `Metric` objects.
        profile: Conventions to follow: a name in `PROFILES`, or `Conventions`.
        lenient: Drop faulty rows and repeated documents and count them, instead of raising an
            error. Of a repeated document the first row by `order` counts, and without it the row
            with the highest score or grade.
        query: Column of the query, if it has none of the usual names.
        document: Column of the document.
        score: Column of the score.
        grade: Column of the grade.
        order: Column that gives the order of the rows of a query, which a DataFrame has not; for
            profiles that keep tied documents in the given order. Rows with the same place are
            ordered by document; a row without one is faulty. Files have an order.
        broadcast: Whether every executor gets all judgments, so that only the run is shuffled;
            by default if there are at most a million (100,000 through Spark Connect).
        grouped: Whether all rows of a query are in one partition already, as in a bucketed table:
            nothing is shuffled. A query in two partitions is an error.
        name: Name of the run.
    """
    names = {"query": query, "document": document, "score": score, "grade": grade}
    given = {role: column for role, column in names.items() if column is not None}
    options = Options(lenient, given, order, broadcast, grouped, name)
    requested = request_metrics(metrics, profile)
    if isinstance(run, str | os.PathLike):
        options = replace(options, sources={**options.sources, "run": os.fspath(run)})
        run, options = open_run(find_session(), qrels, requested, options)
    return score_frames(qrels, run, requested, options)
