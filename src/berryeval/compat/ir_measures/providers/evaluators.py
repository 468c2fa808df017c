"""The evaluators of providers: their precision, rounding and corrections, over this engine."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator
from functools import lru_cache, reduce
from typing import Any, ClassVar, NamedTuple

from berryeval.compat.ir_measures.measures import catalogue as known
from berryeval.compat.ir_measures.measures.base import NOT_PROVIDED, MeanAgg, Measure, SumAgg
from berryeval.compat.ir_measures.providers.base import Evaluator
from berryeval.compat.ir_measures.util import (
    Metric,
    QrelsConverter,
    RunConverter,
    as_dict,
)
from berryeval.compat.lenient_scorer import LenientScorer
from berryeval.data import Qrels, QueryTable, RankingRule, Run
from berryeval.metrics import PROFILES, definitions
from berryeval.metrics import Metric as OwnMetric
from berryeval.scoring import DictPlan, DictScorer, TupleRows, score_tables


class CwlMetric(NamedTuple):
    """The value of a C/W/L measure, with what its user model expects."""

    query_id: str
    measure: Measure
    value: float
    expected_total_utility: float
    expected_cost: float
    expected_total_cost: float
    expected_items: float


@lru_cache(maxsize=256)
def _plan(measures: tuple[Measure, ...], rule: RankingRule) -> DictPlan:
    """Return our metrics by the names of measures."""
    return DictPlan({str(one): own_metric(one) for one in measures}, rule)


def own_metric(measure: Measure) -> OwnMetric:
    """Return our metric for a measure."""
    chosen = {
        name: measure[name]
        for name in measure.SUPPORTED_PARAMS
        if measure[name] is not NOT_PROVIDED and name != "gains"
    }
    if measure.NAME == "SetF":
        chosen["beta"] = math.sqrt(chosen["beta"])  # the square is the parameter of trec_eval
    elif measure.NAME == "SDCG":
        del chosen["dcg"]  # it has one choice
    return PROFILES["ir_measures"].apply_to(definitions()[str(measure.NAME)](**chosen))


class EngineEvaluator(Evaluator):
    """Scores dicts with the rule of a provider; subclasses change values as it does."""

    SCORER: ClassVar[type[DictScorer]] = LenientScorer

    def __init__(self, measures: list[Measure], qrels: Any, rule: RankingRule) -> None:
        rows = self._read(qrels)
        self._rule = rule
        self._tables: list[tuple[list[Measure], DictScorer]] = []
        self._judgments: list[tuple[list[Measure], Qrels]] = []  # of files, to score files
        plain = not any(one.params.get("gains") for one in measures)
        if isinstance(rows, QueryTable) and plain:
            super().__init__(measures, set(rows.queries))
            self._judgments.append((measures, Qrels(rows)))
        elif isinstance(rows, TupleRows) and plain:
            scorer = self.SCORER(rows, _plan(tuple(measures), rule))
            super().__init__(measures, set(scorer.queries))
            self._tables.append((measures, scorer))
        else:
            judged = as_dict(rows, int)
            super().__init__(measures, set(judged))
            for group, grades in _split_gains(measures, judged):
                self._tables.append((group, self.SCORER(grades, _plan(tuple(group), rule))))

    def _read(self, qrels: Any) -> dict[str, dict[str, int]] | TupleRows | QueryTable:
        return QrelsConverter(qrels).as_rows()

    def _score(self, run: Any) -> Iterator[tuple[list[Measure], dict[str, dict[str, float]]]]:
        rows = RunConverter(run).as_rows()
        if isinstance(rows, QueryTable) and self._judgments:
            for group, judgments in self._judgments:
                yield group, self._score_table(group, judgments, Run(rows))
            return
        if not isinstance(rows, TupleRows):
            rows = as_dict(rows)
        tables = self._tables or [
            (group, self.SCORER(as_dict(judged.table, int), _plan(tuple(group), self._rule)))
            for group, judged in self._judgments
        ]
        for group, scorer in tables:
            yield group, scorer.score(rows)

    def _score_table(
        self, group: list[Measure], judgments: Qrels, run: Run
    ) -> dict[str, dict[str, float]]:
        metrics = _plan(tuple(group), self._rule).metrics
        found = score_tables(judgments, run, list(metrics.values()), self._rule)
        rows = zip(judgments.table.queries, found.values.T.tolist(), strict=True)
        values = {query: dict(zip(metrics, row, strict=True)) for query, row in rows}
        return {query: values[query] for query in run.table.queries if query in values}

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Yield the values of the queries of the run, then those of missing queries."""
        missing: list[Metric] = []
        for group, found in self._score(run):
            for query, values in found.items():
                for measure, value in zip(group, values.values(), strict=True):
                    yield Metric(query, measure, value)
            left = sorted(self.qrel_qids - found.keys())
            missing.extend(Metric(query, one, one.DEFAULT) for one in group for query in left)
        yield from sorted(missing, key=lambda metric: (str(metric.measure), metric.query_id))

    def calc_aggregate(self, run: Any) -> dict[Measure, float]:
        """Return the aggregated value of each measure."""
        result: dict[Measure, float] = {}
        for group, found in self._score(run):
            columns = list(zip(*(values.values() for values in found.values()), strict=True))
            missing = len(self.qrel_qids - found.keys())
            for measure, column in zip(group, columns or [()] * len(group), strict=True):
                result[measure] = _aggregate(measure, column, missing)
        return {measure: result[measure] for measure in self.measures}


def _aggregate(measure: Measure, column: Iterable[float], missing: int) -> float:
    aggregator = measure.aggregator()
    if type(aggregator) is MeanAgg or type(aggregator) is SumAgg:
        values = tuple(column)
        # Added one by one, as the peer does: sum() rounds less from Python 3.12 on.
        aggregator.sum = reduce(operator.add, values, aggregator.sum)
        if missing:
            aggregator.sum += missing * measure.DEFAULT
        if isinstance(aggregator, MeanAgg):
            aggregator.count = len(values) + missing
        return aggregator.result()
    for value in (*column, *[measure.DEFAULT] * missing):
        aggregator.add(value)
    return aggregator.result()


def _split_gains(
    measures: list[Measure], judged: dict[str, dict[str, int]]
) -> Iterator[tuple[list[Measure], dict[str, dict[str, int]]]]:
    """Yield measures that share judgments: gains of nDCG replace the grades."""
    rows = {query: row for query, row in judged.items() if row}
    plain = [one for one in measures if one.params.get("gains") is None]
    if plain:
        yield plain, rows
    for one in measures:
        gains = one.params.get("gains")
        if gains is not None:
            yield (
                [one],
                {
                    query: {document: gains.get(grade, grade) for document, grade in row.items()}
                    for query, row in rows.items()
                },
            )


class AdaptedEvaluator(EngineEvaluator):
    """Changes each value; `extra` measures are computed for that and not shown."""

    def __init__(
        self, measures: list[Measure], qrels: Any, rule: RankingRule, extra: list[Measure]
    ) -> None:
        super().__init__(list(dict.fromkeys([*measures, *extra])), qrels, rule)
        self.measures = measures

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Yield the values of the queries of the run, then those of missing queries."""
        return Evaluator.iter_calc(self, run)

    def calc_aggregate(self, run: Any) -> dict[Measure, float]:
        """Return the aggregated value of each measure."""
        return Evaluator.calc_aggregate(self, run)

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        for group, found in self._score(run):
            shown = [measure for measure in self.measures if measure in group]
            for query, values in found.items():
                for measure in shown:
                    yield from self._adapt(query, measure, values)

    def _adapt(self, query: str, measure: Measure, values: dict[str, float]) -> Iterator[Any]:
        raise NotImplementedError


class AccuracyEvaluator(AdaptedEvaluator):
    """Leaves out queries without a relevant document in the ranking, missing ones too."""

    def __init__(self, measures: list[Measure], qrels: Any, rule: RankingRule) -> None:
        self._first = {one: known.RR(**one.params) for one in measures}
        super().__init__(measures, qrels, rule, list(self._first.values()))

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Yield the values of queries with a relevant document."""
        return self._iter_calc(run)

    def _adapt(self, query: str, measure: Measure, values: dict[str, float]) -> Iterator[Any]:
        if values[str(self._first[measure])]:
            yield Metric(query, measure, values[str(measure)])


class PytrecEvaluator(EngineEvaluator):
    """Takes the numbers that pytrec_eval takes: no others."""

    SCORER = DictScorer


class SetFEvaluator(AdaptedEvaluator):
    """Computes SetF from precision and recall, so that its weight needs no square root."""

    SCORER = DictScorer

    def __init__(self, measures: list[Measure], qrels: Any, rule: RankingRule) -> None:
        self._parts = {
            one: (known.SetP(rel=one["rel"], judged_only=one["judged_only"]), _recall_of(one))
            for one in measures
            if one.NAME == "SetF"
        }
        super().__init__(
            measures, qrels, rule, [one for two in self._parts.values() for one in two]
        )

    def _adapt(self, query: str, measure: Measure, values: dict[str, float]) -> Iterator[Any]:
        value = values[str(measure)]
        if value and measure in self._parts:
            precision, recall = (values[str(one)] for one in self._parts[measure])
            weight = measure["beta"]
            value = (weight + 1.0) * precision * recall / (recall + weight * precision)
        yield Metric(query, measure, value)


def _recall_of(measure: Measure) -> Measure:
    return known.SetR(rel=measure["rel"])


class GdevalEvaluator(AdaptedEvaluator):
    """Rounds to five decimals, as gdeval prints; nDCG has gains of 2^grade - 1."""

    def __init__(self, measures: list[Measure], qrels: Any, rule: RankingRule) -> None:
        self._own = {one: one(dcg="exp-log2") if one.NAME == "nDCG" else one for one in measures}
        super().__init__(measures, qrels, rule, list(self._own.values()))

    def _adapt(self, query: str, measure: Measure, values: dict[str, float]) -> Iterator[Any]:
        yield Metric(query, measure, float(f"{values[str(self._own[measure])]:.5f}"))


class CwlEvaluator(AdaptedEvaluator):
    """Adds the expectations of measures whose weights do not depend on the ranking."""

    def __init__(self, measures: list[Measure], qrels: Any, rule: RankingRule) -> None:
        levels = {one["rel"] for one in measures if one.NAME == "AP"}
        counts = [(known.NumRet(rel=rel), known.NumRel(rel=rel)) for rel in levels]
        super().__init__(measures, qrels, rule, [one for pair in counts for one in pair])

    def _adapt(self, query: str, measure: Measure, values: dict[str, float]) -> Iterator[Any]:
        value = values[str(measure)]
        if measure.NAME == "AP" and value:  # the mean over relevant documents that were retrieved
            level = measure["rel"]
            value *= values[str(known.NumRel(rel=level))] / values[str(known.NumRet(rel=level))]
        if measure.NAME == "P":
            items = float(measure["cutoff"])
            value = sum([1.0 / items] * round(value * items), 0.0)
        elif measure.NAME == "RBP":
            items = 1.0 / (1.0 - measure["p"])
        elif measure.NAME == "SDCG":
            items = sum(1.0 / math.log2(rank + 1) for rank in range(1, measure["cutoff"] + 1))
        else:
            yield Metric(query, measure, value)
            return
        yield CwlMetric(query, measure, value, round(value * items, 12), 1.0, items, items)


class JudgedEvaluator(EngineEvaluator):
    """Counts documents of the pool that were not judged, with negative grades, as judged."""

    def _read(self, qrels: Any) -> dict[str, dict[str, int]]:
        rows = QrelsConverter(qrels).as_dict_of_dict()
        return {
            query: {document: max(grade, 0) for document, grade in row.items()}
            for query, row in rows.items()
        }


class CompatEvaluator(Evaluator):
    """Overlap with an ideal ranking, whose ties are those of the judgments as they were given."""

    def __init__(self, measures: list[Measure], qrels: Any, rule: RankingRule) -> None:
        self._judged = QrelsConverter(qrels).as_dict_of_dict()
        super().__init__(measures, set(self._judged))
        self._rule = rule

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        rows = RunConverter(run).as_dict_of_dict()
        for measure in self.measures:
            for query, row in rows.items():
                if query in self._judged:
                    value = _compatibility(self._judged[query], row, **_options(measure))
                    yield Metric(query, measure, value)


def _options(measure: Measure) -> dict[str, Any]:
    return {"p": measure["p"], "normalize": measure["normalize"]}


def _compatibility(
    grades: dict[str, int], scores: dict[str, float], *, p: float, normalize: bool
) -> float:
    ranking = sorted(sorted(scores), key=lambda document: -scores[document])
    ideal = [document for document, grade in grades.items() if grade > 0]
    ideal.sort(key=lambda document: (-grades[document], -scores.get(document, 0.0)))
    depth = max(len(ranking), len(ideal))
    value = _overlap(ranking, ideal, p, depth)
    best = _overlap(ideal, ideal, p, depth) if normalize else 1.0
    return value / best if best > 0 else value


def _overlap(ranking: list[str], ideal: list[str], p: float, depth: int) -> float:
    """Return the rank-biased overlap of two rankings."""
    seen: set[str] = set()
    shared, total, weights, weight = 0, 0.0, 0.0, 1.0
    for rank in range(depth):
        for document in {*ranking[rank : rank + 1], *ideal[rank : rank + 1]}:
            in_both = ranking[rank : rank + 1] == ideal[rank : rank + 1]
            shared += in_both or document in seen
            seen.add(document)
        total += weight * shared / (rank + 1)
        weights += weight
        weight *= p
    return total / weights if weights else 0.0


class DiversityEvaluator(Evaluator):
    """Scores judgments by subtopic, the field `iteration`."""

    def __init__(self, measures: list[Measure], qrels: Any, rule: RankingRule) -> None:
        rows = QrelsConverter(qrels).as_namedtuple_iter()
        last = {(row[0], row[1], getattr(row, "iteration", "0")): row[2] for row in rows}
        super().__init__(measures, {query for query, _, _ in last})
        records = [(query, doc, grade, topic) for (query, doc, topic), grade in last.items()]
        self._judgments = Qrels.from_records(records)
        self._rule = rule

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        rows = Run.from_dict(RunConverter(run).as_dict_of_dict())
        measures = list(self.measures)
        own = [own_metric(one) for one in measures]
        found = score_tables(self._judgments, rows, own, self._rule)
        for place, query in enumerate(self._judgments.table.queries):
            if found.counts[place, 3]:
                for measure, value in zip(measures, found.values[:, place].tolist(), strict=True):
                    yield Metric(query, measure, value)
