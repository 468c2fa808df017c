"""`Scores`: the values of every metric and query of one run, with counts and confidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from berryeval._internal.aggregates import Interval, aggregate, bootstrap_interval, t_interval
from berryeval._internal.notebook import MOST_METRICS, build_frame
from berryeval._internal.text import pluralize, truncate
from berryeval.data import TOKEN_THRESHOLD, Strategy

if TYPE_CHECKING:
    from berryeval._internal.charts import Charts
    from berryeval._internal.notebook import FrameLibrary
    from berryeval._internal.serial import LazyObject
    from berryeval.relevance import Details

Outcome: TypeAlias = Literal["ok", "empty", "missing", "no relevant documents"]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
UNSPECIFIED: Final = "unspecified"


class Statistics(NamedTuple):
    """One metric over all queries: aggregate, standard deviation and confidence interval."""

    metric: str
    aggregate: str
    mean: float
    std: float
    interval: Interval
    queries: int


class Coverage(NamedTuple):
    """Queries by outcome, and the numbers of retrieved and unjudged documents."""

    ok: int
    missing: list[str]
    empty: list[str]
    nothing_relevant: list[str]
    retrieved: int
    unjudged: int


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """The values of every metric for every judged query that counts.

    Two tables are equal if queries, metrics, outcomes, counts and all bytes of the values are
    equal. No value is NaN.

    Attributes:
        metrics: Canonical names of the metrics.
        queries: Query ids, sorted by bytes.
        values: float64, one row per metric, one column per query.
        aggregates: Aggregation of each metric: mean, sum or geometric mean.
        outcomes: Outcome of each query.
        counts: int64, one row per query: retrieved, judged of these, relevant, in the run (0, 1).
        extra_queries: Queries of the run without judgments, which are not scored.
        run_name: Name of the run.
        spellings: Canonical name of each name that the caller used.
        dropped: Number of faulty or repeated rows that a lenient reader dropped.
        left_out: Judged queries that the profile does not count, because the run lacks them.
        strategies: Relevance strategy of each query; empty if judgments decided all.
        token_threshold: Least token overlap of a relevant chunk, for that strategy.
        pack: Pack that decided relevance: name, version, and hash of its rules; or empty.
        notes: Remarks on the relevance decisions, one per line.
    """

    metrics: tuple[str, ...]
    queries: tuple[str, ...]
    values: npt.NDArray[np.float64]
    aggregates: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    counts: npt.NDArray[np.int64]
    extra_queries: tuple[str, ...] = ()
    run_name: str = "run"
    spellings: Mapping[str, str] = field(default_factory=dict)
    dropped: int = 0
    left_out: tuple[str, ...] = ()
    strategies: tuple[Strategy, ...] = ()
    token_threshold: float = TOKEN_THRESHOLD
    pack: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        self.values.flags.writeable = self.counts.flags.writeable = False

    @cached_property
    def mean(self) -> ByMetric:
        """Aggregate of each metric over all queries: the mean, or the metric's own aggregate."""
        return ByMetric(
            self, [aggregate(*row) for row in zip(self.aggregates, self.values, strict=True)]
        )

    @cached_property
    def sum(self) -> ByMetric:
        """Sum of each metric over all queries."""
        return ByMetric(self, [aggregate("sum", row) for row in self.values])

    @cached_property
    def std(self) -> ByMetric:
        """Standard deviation of each metric over the queries (n - 1); 0.0 below two queries."""
        return ByMetric(
            self, [float(row.std(ddof=1)) if len(row) > 1 else 0.0 for row in self.values]
        )

    @property
    def count(self) -> int:
        """Number of queries that count."""
        return len(self.queries)

    @property
    def retrieved(self) -> int:
        """Number of documents in all rankings."""
        return int(self.counts[:, 0].sum())

    @property
    def unjudged(self) -> int:
        """Number of retrieved documents without a judgment."""
        return self.retrieved - int(self.counts[:, 1].sum())

    @cached_property
    def outcome_counts(self) -> dict[Outcome, int]:
        """Number of queries with each outcome."""
        found = Counter(self.outcomes)
        return {outcome: found[outcome] for outcome in OUTCOMES}

    @property
    def shares_no_query(self) -> bool:
        """Whether the run has queries, and the judgments have only others."""
        judged = bool(self.queries or self.left_out)
        return judged and bool(self.extra_queries) and set(self.outcomes) <= {"missing"}

    def details(self, metric: str) -> Details:
        """Return the numbers of queries and relevance strategies behind a score."""
        from berryeval.relevance import Details, cutoff_of, strategy_counts, strategy_used

        counts = strategy_counts(self.strategies, self.count)
        return Details(
            average=self.mean[metric],
            queries_with_relevant=int((self.counts[:, 2] > 0).sum()),
            total=self.count,
            k=cutoff_of(self.metrics[self.row_of(metric)]),
            threshold=self.token_threshold,
            strategy_used=strategy_used(counts),
            strategies=counts,
        )

    def with_outcome(self, outcome: Outcome) -> list[str]:
        """Return the queries with this outcome."""
        pairs = zip(self.queries, self.outcomes, strict=True)
        return [query for query, found in pairs if found == outcome]

    def per_query(self, metric: str) -> dict[str, float]:
        """Return the value of every query."""
        return dict(zip(self.queries, self.values[self.row_of(metric)].tolist(), strict=True))

    def row_of(self, metric: str) -> int:
        """Return the row of `values` for a metric, by any spelling of its name."""
        name = self.spellings.get(str(metric), str(metric))
        if name not in self.metrics:
            from berryeval.metrics import scored_name

            name = scored_name(metric, self.metrics, self.spellings)
        return self.metrics.index(name)

    def ci(
        self,
        metric: str,
        level: float = 0.95,
        method: Literal["bootstrap", "t"] = "bootstrap",
        *,
        seed: int = 0,
    ) -> Interval:
        """Compute a confidence interval of the aggregate, with the queries as the sample.

        "bootstrap" is the percentile interval of 10,000 resamples of the queries (1,000 above 1,000
        queries), drawn from NumPy's PCG64 with `seed`; all metrics share the resamples. "t" is
        Student's interval (of the logarithms for a geometric mean), clipped to the range of the
        metric; it needs SciPy. Without variation (below two queries, equal values, or a geometric
        mean of 0), both ends are the value itself.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, found {level!r}")
        if method not in {"bootstrap", "t"}:
            raise ValueError(f"method must be 'bootstrap' or 't', found {method!r}")
        row = self.row_of(metric)
        how, values = self.aggregates[row], self.values[row]
        if method == "bootstrap" or not len(values):
            return bootstrap_interval(how, values, level, seed)
        from berryeval.metrics import cut_to_range

        return cut_to_range(t_interval(how, values, level), self.metrics[row], how, values)

    def select(self, queries: Iterable[str]) -> Scores:
        """Return the table of these queries only."""
        wanted = set(queries)
        places = [place for place, query in enumerate(self.queries) if query in wanted]
        return replace(
            self,
            queries=tuple(self.queries[place] for place in places),
            values=np.ascontiguousarray(self.values[:, places]),
            outcomes=tuple(self.outcomes[place] for place in places),
            counts=self.counts[places],
            extra_queries=(),
            left_out=(),
            dropped=0,
            strategies=tuple(self.strategies[place] for place in places if self.strategies),
        )

    def without(self, metric: str) -> Scores:
        """Return the table without this metric."""
        gone = self.metrics[self.row_of(metric)]
        rows = [row for row, name in enumerate(self.metrics) if name != gone]
        spellings = {text: name for text, name in self.spellings.items() if name != gone}
        return self._take(rows, spellings)

    def only(self, metrics: Sequence[str]) -> Scores:
        """Return the table of these metrics only, in this order and with these spellings."""
        rows = list(dict.fromkeys(map(self.row_of, metrics)))
        return self._take(rows, {name: self.metrics[self.row_of(name)] for name in metrics})

    def _take(self, rows: list[int], spellings: dict[str, str]) -> Scores:
        return replace(
            self,
            metrics=tuple(self.metrics[row] for row in rows),
            values=self.values[rows],
            aggregates=tuple(self.aggregates[row] for row in rows),
            spellings=spellings,
        )

    def with_metrics_of(self, other: Scores) -> Scores:
        """Return the table with the missing metrics of another table of the same queries."""
        rows = [row for row, name in enumerate(other.metrics) if name not in self.metrics]
        return replace(
            self,
            metrics=(*self.metrics, *(other.metrics[row] for row in rows)),
            values=np.vstack([self.values, other.values[rows]]),
            aggregates=(*self.aggregates, *(other.aggregates[row] for row in rows)),
            spellings={**other.spellings, **self.spellings},
        )

    def by(self, groups: Mapping[str, str | None]) -> dict[str, Scores]:
        """Return a table per group, as in `scores.by(category_of)["FACTUAL"].mean["nDCG@10"]`.

        Queries without a label form the group "unspecified". Groups are sorted by name.
        """
        members: dict[str, list[str]] = {}
        for query in self.queries:
            label = groups.get(query)
            members.setdefault(UNSPECIFIED if label is None else str(label), []).append(query)
        return {label: self.select(members[label]) for label in sorted(members)}

    def coverage(self) -> Coverage:
        """Return the queries by outcome and the numbers of documents."""
        return Coverage(
            self.outcome_counts["ok"],
            self.with_outcome("missing"),
            self.with_outcome("empty"),
            self.with_outcome("no relevant documents"),
            self.retrieved,
            self.unjudged,
        )

    def statistics(self, level: float = 0.95) -> list[Statistics]:
        """Return the aggregate of each metric with its deviation and bootstrap interval."""
        rows = zip(self.metrics, self.aggregates, self.values, strict=True)
        return [
            Statistics(
                metric, how, aggregate(how, values),
                float(values.std(ddof=1)) if len(values) > 1 else 0.0,
                bootstrap_interval(how, values, level), len(values),
            )
            for metric, how, values in rows
        ]  # fmt: skip

    def summary(self, level: float = 0.95) -> dict[str, Any]:
        """Return aggregates, intervals and counts for JSON, in full precision."""
        from berryeval.relevance import strategy_counts

        return {
            "run": self.run_name,
            "queries": self.count,
            "level": level,
            "metrics": {
                one.metric: {
                    "value": one.mean,
                    "aggregate": one.aggregate,
                    "std": one.std,
                    "ci": list(one.interval),
                    "n": one.queries,
                }
                for one in self.statistics(level)
            },
            "outcomes": dict(self.outcome_counts),
            "missing_queries": self.with_outcome("missing"),
            "left_out_queries": list(self.left_out),
            "extra_queries": list(self.extra_queries),
            "retrieved": self.retrieved,
            "unjudged": self.unjudged,
            "dropped_rows": self.dropped,
            "strategies": strategy_counts(self.strategies, self.count),
            "pack": self.pack,
            "notes": list(self.notes),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the whole table for JSON, in full precision; `from_dict` reads it back."""
        from berryeval._internal.serial import to_plain

        return {name: to_plain(part) for name, part in self._parts()}

    def parts(self) -> LazyObject:
        """Return the content of `to_dict`, with the values of one metric at a time."""
        from berryeval._internal.serial import LazyObject

        return LazyObject(self._parts)

    def _parts(self) -> Iterator[tuple[str, Any]]:
        from berryeval._internal.serial import LazyObject

        yield "run", self.run_name
        yield "metrics", self.metrics
        yield "aggregates", self.aggregates
        yield "queries", self.queries
        yield "outcomes", self.outcomes
        yield "counts", self.counts.tolist()
        yield "values", LazyObject(self._rows)
        yield "spellings", dict(self.spellings)
        yield "extra_queries", self.extra_queries
        yield "left_out_queries", self.left_out
        yield "dropped_rows", self.dropped
        yield "strategies", self.strategies
        yield "token_threshold", self.token_threshold
        yield "pack", self.pack
        yield "notes", self.notes

    def _rows(self) -> Iterator[tuple[str, list[float]]]:
        for name, row in zip(self.metrics, self.values, strict=True):
            yield name, row.tolist()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], where: str = "") -> Scores:
        """Read the output of `to_dict`.

        A value that is not a finite number, an array of the wrong length or an unknown outcome
        raises a `DataError` that names metric and query; `where` prefixes its location.
        """
        from berryeval.scoring.score_columns import read_columns

        return cls(**read_columns(data, where))

    def to_json(self) -> str:
        """Return `to_dict` as JSON; equal tables give equal bytes."""
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a data frame with a row per query and columns for outcome and metrics.

        `library` is "pandas" or "polars"; by default pandas, or polars without pandas.
        """
        columns: dict[str, Any] = {"query": list(self.queries), "outcome": list(self.outcomes)}
        columns.update(zip(self.metrics, self.values, strict=True))
        return build_frame(columns, library)

    def plot(self) -> Charts:
        """Draw every metric between 0 and 1 with its 95 % interval, as in the HTML report.

        The chart shows itself in a notebook and has `save(path)`; it needs the extra `report`.
        """
        from berryeval._internal.charts import draw

        return draw("scores", self)

    def __len__(self) -> int:
        return self.count

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scores):
            return NotImplemented
        return self._compared() == other._compared()

    def _compared(self) -> tuple[Any, ...]:
        strategies = self.strategies or ("qrels",) * self.count
        return (
            self.metrics, self.queries, self.aggregates, self.outcomes, self.run_name,
            self.extra_queries, self.left_out, self.dropped, strategies, self.token_threshold,
            self.pack, self.notes, self.values.tobytes(), self.counts.tobytes(),
        )  # fmt: skip

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = [f"{name}={self.mean[name]:.4f}" for name in self.metrics[:MOST_METRICS]]
        if len(self.metrics) > MOST_METRICS:
            shown.append(f"and {len(self.metrics) - MOST_METRICS} more")
        queries = pluralize(len(self), "query")
        return f"Scores({', '.join([repr(truncate(self.run_name)), queries, *shown])})"

    def _repr_html_(self) -> str:
        from berryeval.scoring.score_preview import preview_scores

        return preview_scores(self)


class ByMetric(Mapping[str, float]):
    """One number per metric, accessible by any spelling of its name."""

    def __init__(self, scores: Scores, numbers: list[float]) -> None:
        self._scores = scores
        self._numbers = numbers

    def __getitem__(self, metric: str) -> float:
        return self._numbers[self._scores.row_of(metric)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores.metrics)

    def __len__(self) -> int:
        return len(self._scores.metrics)

    def __repr__(self) -> str:
        return repr(dict(self))
