"""Confidence intervals and paired tests of tables that are too large to collect.

The bootstrap draws a Poisson weight for each query and replicate from a hash of seed, query and
replicate, and sums are exact: the result does not depend on the partitioning. Tables that can be
collected have more: `SparkScores.collect` and `berryeval.compare`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from berryeval._internal.aggregates import Interval
from berryeval._internal.optional import import_optional
from berryeval.errors import ConfigurationError, DataError
from berryeval.metrics import cut_to_range
from berryeval.spark.dataframes import quote, reporting_failures
from berryeval.spark.spark_scores import SparkScores
from berryeval.spark.totals import Moments
from berryeval.stats import check_level, student_interval, student_p

if TYPE_CHECKING:
    import numpy.typing as npt

REPLICATES: Final = 1_000
_BITS: Final = 30  # precision of a value in the bootstrap, relative to the largest
_ROWS_AT_ONCE: Final = 4096  # times replicates: cells of the table of weights
_SEEDS: Final = 1 << 63
_DRAWS: Final = 1 << 16  # each replicate draws 16 bits


@dataclass(frozen=True)
class ClusterComparison:
    """The paired difference of two runs in one metric: `b - a` of each query that both have.

    Attributes:
        metric: Name of the metric.
        queries: Number of queries in both runs.
        unpaired: Number of queries in only one of them, which are left out.
        difference: Mean difference.
        std: Standard deviation of the differences.
        p_value: p-value of the paired t test.
        interval: Student's t interval of the mean difference.
        bootstrap: Bootstrap percentile interval of the mean difference.
        level: Confidence level.
    """

    metric: str
    queries: int
    unpaired: int
    difference: float
    std: float
    p_value: float
    interval: Interval
    bootstrap: Interval
    level: float


def compare(
    a: SparkScores, b: SparkScores, metric: str, *, level: float = 0.95, seed: int = 0
) -> ClusterComparison:
    """Compare two runs by query on the cluster: paired t test and bootstrap."""
    check_level(level)
    for side in (a, b):
        if not isinstance(side, SparkScores):
            raise TypeError(
                f"both runs must be scores of berryeval.spark.evaluate, found "
                f"{type(side).__name__}; berryeval.compare takes local ones, also of collect()"
            )
    name = a.example.metrics[a.example.row_of(metric)]
    other = b.example.metrics[b.example.row_of(metric)]
    if name != other:
        raise ConfigurationError(f"{metric} is {name} in one table and {other} in the other")
    if a.requested.aggregates[a.metrics.index(name)] == "geometric mean":
        raise ConfigurationError(f"{name} is a geometric mean; compare it after collect()")
    sides = [
        one.per_query.selectExpr("query", f"{quote(name)} AS {side}")
        for one, side in ((a, "a"), (b, "b"))
    ]
    differences = sides[0].join(sides[1], "query").selectExpr("query", "b - a AS value")
    moments = sum_values(differences)
    if not moments.count:
        raise DataError(f"the runs have no query in common: {a.run_name} and {b.run_name}")
    mean = moments.aggregate()
    error = moments.std / math.sqrt(moments.count)
    return ClusterComparison(
        name,
        moments.count,
        a.count + b.count - 2 * moments.count,
        mean,
        moments.std,
        student_p(mean, error, moments.count - 1) if moments.count > 1 else math.nan,
        student_interval(mean, error, moments.count - 1, level)
        if moments.count > 1
        else Interval(-math.inf, math.inf),
        bootstrap_mean(differences, moments, level, seed),
        level,
    )


def estimate_interval(
    scores: SparkScores, metric: str, level: float = 0.95, method: str = "t", *, seed: int = 0
) -> Interval:
    """Return the interval of a mean over all queries: "t" from the sums, or "bootstrap"."""
    check_level(level)
    row = scores.example.row_of(metric)
    name, how = scores.metrics[row], scores.requested.aggregates[row]
    moments = scores.totals.columns[row]
    if method not in {"t", "bootstrap"}:
        raise ValueError(f"method must be 'bootstrap' or 't', found {method!r}")
    if how != "mean":
        raise ConfigurationError(f"{name} is a {how}; use collect().ci({name!r})")
    mean = moments.aggregate()
    if moments.count < 2 or moments.least == moments.most:  # noqa: PLR2004 - one value does not vary
        return Interval(mean, mean)
    if method == "bootstrap":
        values = scores.per_query.selectExpr("query", f"{quote(name)} AS value")
        return bootstrap_mean(values, moments, level, seed)
    error = moments.std / math.sqrt(moments.count)
    found = student_interval(mean, error, moments.count - 1, level)
    return cut_to_range(found, name, how, np.array([moments.least, moments.most]))


def sum_values(rows: Any) -> Moments:
    """Return the exact sums of the column `value`."""

    def work(batches: Iterable[Any]) -> Iterator[bytes]:
        total = Moments()
        for batch in batches:
            total += Moments.of(batch.column("value").to_numpy())
        yield json.dumps(total.to_list()).encode()

    found = Moments()
    for part in _run(rows, work):
        found += Moments.from_list(json.loads(part))
    return found


def bootstrap_mean(
    rows: Any, moments: Moments, level: float, seed: int, replicates: int = REPLICATES
) -> Interval:
    """Return the percentile interval of the mean of `value` over Poisson replicates."""
    if moments.least == moments.most:
        return Interval(*[moments.aggregate()] * 2)
    if not -_SEEDS <= seed < _SEEDS:
        raise ValueError(f"seed must be a whole number of 64 bits, found {seed}")
    exponent = _BITS - math.frexp(max(abs(moments.least), abs(moments.most)))[1]
    keys = rows.selectExpr(f"xxhash64(query, {int(seed)}L) AS draw", "value")

    def work(batches: Iterable[Any]) -> Iterator[bytes]:
        sums = np.zeros((2, replicates), dtype=np.int64)
        for batch in batches:
            draws = batch.column("draw").to_numpy().view(np.uint64)
            values = np.rint(np.ldexp(batch.column("value").to_numpy(), exponent))
            for start in range(0, len(draws), _ROWS_AT_ONCE):
                part = slice(start, start + _ROWS_AT_ONCE)
                weights = draw_weights(draws[part], replicates)
                # Whole numbers below 2**53: the product is exact in any order.
                product = np.stack([values[part], np.ones(len(weights))]) @ weights
                sums += product.astype(np.int64)
        yield sums.astype("<i8").tobytes()

    total = np.zeros((2, replicates), dtype=object)
    for part in _run(keys, work):
        total += np.frombuffer(part, dtype="<i8").reshape(2, replicates).astype(object)
    means = np.array([math.ldexp(top / max(below, 1), -exponent) for top, below in total.T])
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def draw_weights(draws: npt.NDArray[np.uint64], replicates: int) -> npt.NDArray[np.float64]:
    """Return a Poisson weight of mean 1 for each query and replicate, from a hash of the query."""
    words = -(-replicates // 4)
    steps = np.arange(1, words + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = draws[:, None] + steps
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    bits = mixed.astype("<u8").view("<u2")[:, :replicates]
    weights: npt.NDArray[np.float64] = _poisson_table()[bits]
    return weights


@cache
def _poisson_table() -> npt.NDArray[np.float64]:
    """Return the weight of each of the 16-bit draws."""
    ends, share, total = [], math.exp(-1), 0.0
    for count in range(9):
        total += share
        ends.append(round(total * _DRAWS))
        share /= count + 1
    return np.searchsorted(ends, np.arange(_DRAWS), side="right").astype(np.float64)


def _run(rows: Any, work: Callable[[Iterable[Any]], Iterator[bytes]]) -> list[bytes]:
    """Return what each partition of a DataFrame yields."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        pa = import_optional("pyarrow", "a Spark task", extra="spark")
        for part in work(batches):
            yield pa.RecordBatch.from_pydict({"part": pa.array([part], "binary")})

    with reporting_failures():
        return [bytes(row["part"]) for row in rows.mapInArrow(run, "part binary").collect()]
