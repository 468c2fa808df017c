"""Statistics on the cluster."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest

import berryeval as be
from berryeval.errors import ConfigurationError, DataError
from berryeval.spark import compare, evaluate
from berryeval.spark.replicates import draw_weights
from berryeval.stats import difference_interval, paired_test
from tests.spark.test_dataframes import as_dicts, frame, judged, make_rows

METRICS = ["nDCG@10", "AP", "GMAP"]


def test_weights_are_poisson_and_depend_on_query_and_replicate_only() -> None:
    draws = np.arange(3000, dtype=np.uint64) * np.uint64(0x2545F4914F6CDD1D)
    weights = draw_weights(draws, 1000)
    assert weights.mean() == pytest.approx(1, abs=0.002)
    assert weights.var() == pytest.approx(1, abs=0.01)
    assert np.abs(np.corrcoef(weights[:, :50].T) - np.eye(50)).max() < 0.1
    assert (draw_weights(draws[7:9], 1000) == weights[7:9]).all()


def test_intervals_do_not_depend_on_partitions_and_agree_with_local_ones(spark: Any) -> None:
    judgments, run = make_rows(1)
    local = be.evaluate(as_dicts(judgments), as_dicts(run), METRICS)
    found = []
    for partitions, broadcast in ((1, True), (5, False)):
        rows = frame(spark, run).repartition(partitions)
        scores = evaluate(judged(spark, judgments), rows, METRICS, broadcast=broadcast)
        found.append((scores.ci("AP"), scores.ci("nDCG@10", method="bootstrap", seed=3)))
        with pytest.raises(ConfigurationError, match="GMAP is a geometric mean"):
            scores.ci("GMAP")
    assert found[0] == found[1]
    student, bootstrap = found[0]
    assert student == pytest.approx(local.ci("AP", method="t"), rel=1e-9)
    expected = local.ci("nDCG@10")
    width = expected.high - expected.low
    assert bootstrap == pytest.approx(expected, abs=0.15 * width)


def test_a_comparison_pairs_queries_on_the_cluster(spark: Any) -> None:
    judgments, first = make_rows(2)
    second = [(query, document, -score) for query, document, score in first]
    tables, values = [], []
    for run in (first, second):
        tables.append(evaluate(judged(spark, judgments), frame(spark, run), METRICS))
        local = be.evaluate(as_dicts(judgments), as_dicts(run), METRICS)
        values.append(local.values[local.row_of("AP")])
    (one, two), (a, b) = tables, values
    found = compare(one, two, "AP", seed=5)
    assert (found.metric, found.queries, found.unpaired) == ("AP", len(a), 0)
    assert found.difference == math.fsum(b - a) / found.queries
    assert found.p_value == pytest.approx(paired_test("t", a, b).p, rel=1e-9)
    student = difference_interval(a, b, 0.95, "t")
    percentile = difference_interval(a, b, 0.95, "percentile")
    assert found.interval == pytest.approx(student, rel=1e-9)
    assert percentile is not None
    assert found.bootstrap == pytest.approx(percentile, abs=0.2 * (percentile[1] - percentile[0]))
    with pytest.raises(ConfigurationError, match="GMAP is a geometric mean"):
        compare(one, two, "GMAP")
    with pytest.raises(TypeError, match=r"scores of berryeval.spark.evaluate, found Scores;"):
        compare(one, cast("Any", two.collect()), "AP")
    with pytest.raises(ValueError, match="seed must be a whole number of 64 bits, found 1844"):
        compare(one, two, "AP", seed=1 << 64)
    other = evaluate({"z": {"a": 1}}, frame(spark, [("z", "a", 1.0)]), ["AP"])
    with pytest.raises(DataError, match="no query in common"):
        compare(one, other, "AP")
