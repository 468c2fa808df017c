"""A program that scores through Spark Connect: it has no Java and no Spark context of its own."""

from __future__ import annotations

import sys

import berryeval as be
from berryeval.errors import RepeatedDocumentError
from berryeval.spark import compare, evaluate
from tests.spark.test_dataframes import METRICS, as_dicts, frame, judged, make_rows


def check(address: str) -> None:
    """Compare scores through Connect with local ones, both ways to bring judgments."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(address).getOrCreate()
    judgments, run = make_rows(7)
    expected = be.evaluate(as_dicts(judgments), as_dicts(run), METRICS)
    rows = frame(session, run)
    tables = [
        evaluate(judged(session, judgments), rows, METRICS, broadcast=broadcast)
        for broadcast in (True, False)
    ]
    for table in tables:
        assert table.collect() == expected
        assert dict(table.mean) == dict(expected.mean)
        assert table.per_query.count() == expected.count
    assert compare(tables[0], tables[1], "AP").difference == 0
    try:
        evaluate(judged(session, judgments), rows.union(rows), METRICS)
    except RepeatedDocumentError as error:
        sys.stdout.write(f"{error}\n")
    session.stop()


if __name__ == "__main__":
    check(sys.argv[1])
