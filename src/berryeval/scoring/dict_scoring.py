"""`DictScorer`: judgments that are read once, and runs in dicts scored against them.

The native scorer reads the dicts of the caller where they are, without tables in between, which is
what counts for many small runs. It gives the values of `evaluate`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from berryeval._internal import backend as _backend
from berryeval.data import QueryTable, describe, judge_documents
from berryeval.errors import DataError
from berryeval.metrics import native_spec
from berryeval.scoring.engine import value_of

if TYPE_CHECKING:
    from berryeval.data import RankingRule
    from berryeval.metrics import Metric


class DictPlan:
    """Metrics and rules of scorers, described once for many of them.

    Args:
        metrics: Metrics of rankings with a native twin, by the names of the result.
        rule: Order of the documents of a ranking.
        judged_only: Whether documents without a judgment leave the ranking before any metric.
    """

    def __init__(
        self, metrics: Mapping[str, Metric], rule: RankingRule, *, judged_only: bool = False
    ) -> None:
        self.metrics = metrics
        self.rule = rule
        self.judged_only = judged_only
        self.read: Callable[[Any, Any], Any] = _read_in_python
        if _backend.native is not None:
            described = _backend.native.DictPlan(
                list(metrics), [native_spec(metric) for metric in metrics.values()],
                rule.ties, rule.single_precision, rule.depth or 0, judged_only,
            )  # fmt: skip
            self.read = partial(_backend.native.DictScorer, described)


def _read_in_python(rows: Any, fields: Any) -> Any:
    """Read no judgments: without native code, Python checks and keeps them."""
    del rows, fields
    raise TypeError


@dataclass(frozen=True)
class TupleRows:
    """Judgments or a run as tuples.

    Attributes:
        rows: One tuple per document; the last value of a document counts.
        fields: Where a tuple holds the query, the document and the value.
    """

    rows: list[tuple[Any, ...]]
    fields: tuple[int, int, int]

    def group(self) -> dict[Any, dict[Any, Any]]:
        """Convert the tuples to `{query: {document: value}}`."""
        return group_tuples(self.rows, *self.fields)


class DictScorer:
    """Score runs `{query: {document: score}}` against judgments `{query: {document: grade}}`.

    Grades are whole numbers. Ids and numbers of other types raise a `TypeError`. Queries without
    judgments are left out.

    Args:
        judgments: Judgments, copied.
        plan: Metrics and rules.
    """

    def __init__(
        self, judgments: Mapping[str, Mapping[str, int]] | TupleRows, plan: DictPlan
    ) -> None:
        self._plan = plan
        try:
            if type(judgments) is TupleRows:
                self._native = plan.read(judgments.rows, judgments.fields)
            else:
                self._native = plan.read(judgments, None)
        except TypeError:  # the checks below say what is wrong
            self._native = None
        else:
            return
        if isinstance(judgments, TupleRows):  # mixed queries and repeated documents, too
            DictScorer.__init__(self, judgments.group(), plan)
            return
        _check_rows(judgments, int, "grade")
        rows = {query: row for query, row in judgments.items() if row}
        self._judgments = QueryTable.from_dict(_plain(rows), kind="qrels")

    @property
    def queries(self) -> list[str]:
        """The judged queries."""
        if self._native is not None:
            found: list[str] = self._native.queries()
            return found
        return list(self._judgments.queries)

    def score(
        self, run: Mapping[str, Mapping[str, float]] | TupleRows
    ) -> dict[str, dict[str, float]]:
        """Return the values by name of each query that is judged, in the order of the run."""
        if self._native is not None:
            found: dict[str, dict[str, float]] | None
            if type(run) is TupleRows:
                found = self._native.score(run.rows, run.fields)
            else:
                found = self._native.score(run, None)
            if found is not None:
                return found
        if isinstance(run, TupleRows):
            return self.score(run.group())
        return self._score_in_python(run)

    def _score_in_python(
        self, run: Mapping[str, Mapping[str, float]]
    ) -> dict[str, dict[str, float]]:
        _check_rows(run, (int, float), "score")
        table = QueryTable.from_dict(_plain(run), kind="run")
        places = {query: place for place, query in enumerate(self._judgments.queries)}
        return {
            query: self._values(query, places[query], table, place)
            for place, query in enumerate(table.queries)
            if query in places
        }

    def _values(self, query: str, judged: int, run: QueryTable, place: int) -> dict[str, float]:
        ranking = judge_documents(self._judgments, judged, run, place, self._plan.rule)
        if self._plan.judged_only:
            ranking = ranking.condensed()
        return {name: value_of(one, ranking, query) for name, one in self._plan.metrics.items()}


def _check_rows(rows: Any, numbers: type | tuple[type, ...], value: str) -> None:
    """Raise a TypeError for anything but `{str: {str: number}}`."""
    if not isinstance(rows, dict):
        raise TypeError(f"expected a dict {{query: {{document: {value}}}}}, found {describe(rows)}")
    for query, row in rows.items():
        if not isinstance(query, str):
            raise TypeError(f"a query id must be a str, found {describe(query)}")
        if not isinstance(row, dict):
            raise TypeError(
                f"query {query!r} must map documents to {value}s in a dict, found {describe(row)}"
            )
        for document, number in row.items():
            if not isinstance(document, str):
                raise TypeError(f"a document id must be a str, found {describe(document)}")
            if not isinstance(number, numbers):
                wanted = "an int" if numbers is int else "an int or a float"
                raise TypeError(
                    f"the {value} of document {document!r} for query {query!r} must be {wanted}, "
                    f"found {describe(number)}"
                )


def _plain(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the rows with bools as ints."""
    return {
        query: {document: +number for document, number in row.items()}
        for query, row in rows.items()
    }


def group_tuples(rows: Any, query_at: int, document_at: int, value_at: int) -> dict[Any, Any]:
    """Convert tuples to `{query: {document: value}}`; the last value of a document counts."""
    if _backend.native is not None:
        return dict(_backend.native.group_tuples(rows, query_at, document_at, value_at))
    found: dict[Any, dict[Any, Any]] = {}
    for row in rows:
        if not isinstance(row, tuple):
            raise DataError(f"every row must be a tuple, found {describe(row)}")
        found.setdefault(row[query_at], {})[row[document_at]] = row[value_at]
    return found
