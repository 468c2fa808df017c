"""`SparkScores`: the scores of a run on a cluster, and their summary on the driver."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from berryeval._internal.optional import import_optional
from berryeval._internal.text import pluralize
from berryeval.errors import DataError
from berryeval.scoring import ByMetric, Scores
from berryeval.spark.batch_scoring import COUNTS, build_unpacker, list_fields, list_queries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval._internal.aggregates import Interval
    from berryeval.metrics import RequestedMetrics
    from berryeval.spark.totals import Totals

MOST_COLLECTED: Final = 5_000_000  # queries
QUERY: Final = (("query", "string"),)


@dataclass(frozen=True, eq=False, repr=False)
class SparkScores:
    """The scores of a run: per query as a DataFrame, in sum on the driver.

    Attributes:
        table: Persisted rows of the executors; see `per_query`.
        requested: Metrics and conventions.
        totals: Sums over all queries.
        run_name: Name of the run.
        absent: Scores of the judged queries that are not in the run, if the driver computed them.
        payload: The judgments that every executor has; kept for partitions that are lost.
        notes: Remarks on scores that say nothing about the run.
    """

    table: Any
    requested: RequestedMetrics
    totals: Totals
    run_name: str = "run"
    absent: Scores | None = None
    payload: Any = None
    notes: tuple[str, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """Canonical names of the metrics."""
        return self.requested.names

    @property
    def count(self) -> int:
        """Number of queries that count."""
        return self.totals.queries

    @cached_property
    def mean(self) -> ByMetric:
        """Aggregate of each metric over all queries: the bytes of `Scores.mean`."""
        pairs = zip(self.totals.columns, self.requested.aggregates, strict=True)
        return ByMetric(self.example, [column.aggregate(how) for column, how in pairs])

    @cached_property
    def sum(self) -> ByMetric:
        """Sum of each metric over all queries."""
        return ByMetric(self.example, [one.aggregate("sum") for one in self.totals.columns])

    @cached_property
    def std(self) -> ByMetric:
        """Standard deviation of each metric over the queries (n - 1); 0.0 below two queries."""
        return ByMetric(self.example, [one.std for one in self.totals.columns])

    @cached_property
    def example(self) -> Scores:
        """A table of one query with all counts, for names of metrics and for notes."""
        totals = self.totals
        missing = not set(+totals.outcomes) - {"missing"}
        return Scores(
            self.requested.names,
            (totals.first_judged,),
            np.zeros((len(self.requested.names), 1)),
            self.requested.aggregates,
            ("missing" if missing else "ok",),
            np.array([[totals.retrieved, totals.judged, 0, not missing]], dtype=np.int64),
            (totals.first_extra,) if totals.extra else (),
            self.run_name,
            self.requested.spellings,
        )

    @property
    def per_query(self) -> Any:
        """DataFrame: query, outcome, a column per metric, and the counts of documents."""
        rows = unpack_queries(self.table, "scored", list_fields(self.metrics))
        if self.absent is None or not self.absent.count:
            return rows
        absent = self.table.sparkSession.createDataFrame(list_queries(self.absent), rows.schema)
        return rows.unionByName(absent)

    @property
    def extra_queries(self) -> Any:
        """DataFrame of the queries of the run without judgments, which are not scored."""
        return unpack_queries(self.table, "extra").distinct()

    def collect(self, most: int = MOST_COLLECTED) -> Scores:
        """Return the scores as a local table, equal to that of `berryeval.evaluate`.

        More than `most` queries are an error: use `per_query` on the cluster instead.
        """
        size = self.count + self.totals.extra + self.totals.left_out
        if size > most:
            raise DataError(
                f"{size:,} queries are more than collect() takes ({most:,}): use per_query on the "
                "cluster, or raise the limit: collect(most=...)"
            )
        pa = import_optional("pyarrow", "berryeval.spark", extra="spark")
        rows = self.table.filter("part IN ('scored', 'extra', 'left out')").toArrow()
        found: dict[str, list[Any]] = {"scored": [], "extra": [], "left out": []}
        for part, detail in zip(
            rows.column("part").to_pylist(), rows.column("detail"), strict=True
        ):
            found[part].append(pa.ipc.open_stream(detail.as_buffer()).read_all())
        queries, outcomes = (_join(found["scored"], name) for name in ("query", "outcome"))
        values = np.array([_join(found["scored"], name) for name in self.metrics], np.float64)
        counts = np.array([_join(found["scored"], name) for name in COUNTS], np.int64).T
        extra, left_out = set(_join(found["extra"], "query")), _join(found["left out"], "query")
        if self.absent is not None:
            queries += self.absent.queries
            outcomes += self.absent.outcomes
            values = np.hstack([values, self.absent.values])
            counts = np.vstack([counts, self.absent.counts])
            left_out += self.absent.left_out
        order = sorted(range(len(queries)), key=lambda place: queries[place].encode())
        return Scores(
            self.requested.names,
            tuple([queries[place] for place in order]),
            np.ascontiguousarray(values[:, order]),
            self.requested.aggregates,
            tuple([outcomes[place] for place in order]),
            np.ascontiguousarray(counts[order]),
            tuple(sorted(extra, key=str.encode)),
            self.run_name,
            self.requested.spellings,
            self.totals.dropped,
            tuple(sorted(left_out, key=str.encode)),
            notes=self.notes,
        )

    def ci(
        self,
        metric: str,
        level: float = 0.95,
        method: Literal["t", "bootstrap"] = "t",
        *,
        seed: int = 0,
    ) -> Interval:
        """Compute a confidence interval of a mean, with the queries as the sample.

        "t" is Student's interval, from sums that the driver has. "bootstrap" is the percentile
        interval of 1,000 replicates, drawn on the cluster: each query gets a Poisson weight from a
        hash of seed, query and replicate. Neither depends on the partitioning.
        """
        from berryeval.spark.replicates import estimate_interval

        return estimate_interval(self, metric, level, method, seed=seed)

    def unpersist(self) -> None:
        """Free the memory that the table of queries takes on the cluster."""
        self.table.unpersist()

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value:.4f}" for name, value in self.mean.items())
        queries = pluralize(self.count, "query", "queries")
        return f"SparkScores({self.run_name!r}, {queries}, {shown})"


def _join(tables: list[Any], name: str) -> list[Any]:
    return [value for table in tables for value in table.column(name).to_pylist()]


def unpack_queries(table: Any, part: str, fields: Sequence[tuple[str, str]] = QUERY) -> Any:
    """Return the rows of a part of what executors returned, as a DataFrame."""
    types = import_optional("pyspark.sql.types", "berryeval.spark", extra="spark")
    schema = types.StructType()
    for name, kind in fields:
        schema.add(name, kind)
    return table.filter(f"part = '{part}'").mapInArrow(build_unpacker(), schema)
